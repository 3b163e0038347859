"""What a player's page shows: how many holes and rounds, how well, how fast, how many dates in a row."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from statistics import fmean
from typing import Final, TypeVar

from pipeline.play.played_rounds import PlayedRound, best_of
from pipeline.play.results import Played

_DAY: Final = timedelta(days=1)
_Value = TypeVar("_Value", int, float)


@dataclass(frozen=True, slots=True)
class Average:
    """How holes were played against par.

    Attributes:
        holes: how many.
        against_par: mean of score less par.
    """

    holes: int
    against_par: float


@dataclass(frozen=True, slots=True)
class Streak:
    """Dates in a row on which the Daily hole was played, however well.

    Attributes:
        dates: how many dates it was played on in all.
        longest: the most in a row.
        last: those in a row that end with the last one.
        last_date: the last one.
    """

    dates: int
    longest: int
    last: int
    last_date: date


@dataclass(frozen=True, slots=True)
class PlayerPage:
    """A player's page.

    Attributes:
        holes: how many were played.
        cleared: how many of them were cleared.
        rounds: how many were played to their end.
        rounds_won: how many of them at par or better.
        best_round: the one furthest under par; None where none was played.
        overall: all holes against par; None where none was played.
        by_par: holes against par, for each par that was played, ascending.
        longest_run: the most plays between two draws; None without a line.
        best_seconds: the shortest time that a hole was cleared in; None where that is not known.
        fewest_moves: the shortest line that cleared a hole; None where there is none.
        streak: of Daily holes; None where none was played.
    """

    holes: int
    cleared: int
    rounds: int
    rounds_won: int
    best_round: PlayedRound | None
    overall: Average | None
    by_par: dict[int, Average]
    longest_run: int | None
    best_seconds: float | None
    fewest_moves: int | None
    streak: Streak | None


def player_page(results: Sequence[Played], rounds: Sequence[PlayedRound]) -> PlayerPage:
    """The page of whoever played these holes.

    Args:
        results: in the order they were played.
        rounds: that they make up.
    """
    cleared = [played for played in results if played.is_cleared]
    return PlayerPage(
        holes=len(results),
        cleared=len(cleared),
        rounds=len(rounds),
        rounds_won=sum(played.is_won for played in rounds),
        best_round=best_of(rounds),
        overall=Average(len(results), fmean(played.against_par for played in results)) if results else None,
        by_par=_by_par(results),
        longest_run=max(_known(played.longest_run for played in results), default=None),
        best_seconds=min(_known(played.seconds for played in cleared), default=None),
        fewest_moves=min(_known(played.moves for played in cleared), default=None),
        streak=streak_of({played.day for played in results if played.day is not None}),
    )


def streak_of(days: Collection[date]) -> Streak | None:
    """The streaks among dates; None where there are none."""
    longest = last = 0
    before = None
    for day in sorted(days):
        last = last + 1 if before is not None and day - before == _DAY else 1
        longest, before = max(longest, last), day
    return None if before is None else Streak(len(days), longest, last, before)


def _by_par(results: Iterable[Played]) -> dict[int, Average]:
    against: dict[int, list[int]] = defaultdict(list)
    for played in results:
        against[played.hole.par].append(played.against_par)
    return {par: Average(len(against[par]), fmean(against[par])) for par in sorted(against)}


def _known(values: Iterable[_Value | None]) -> Iterator[_Value]:
    return (value for value in values if value is not None)
