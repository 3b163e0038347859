"""A player's results: rounds, averages, records and streaks.

Each deal of a pool belongs to at most one round. The n-th playing of a round consists of the n-th result on
each of its holes, in whatever order they were played: a round counts when its last hole has been played, and
again when all holes have been played again.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from statistics import fmean
from typing import Final, TypeVar

from pipeline.play.results import Played
from pipeline.play.rounds import Place, places
from pipeline.pools.catalog import Catalog, Pool
from pipeline.pools.parts import read_named_part
from pipeline.store.storage import Storage

_COLUMNS: Final = ("deal_number", "par")
_DAY: Final = timedelta(days=1)
_Value = TypeVar("_Value", int, float)


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """A completed round, with the sums of the scores and of the pars of its holes."""

    level: str
    round: int
    score: int
    par: int

    @property
    def against_par(self) -> int:
        """The score minus the par."""
        return self.score - self.par

    @property
    def is_won(self) -> bool:
        """Whether the round was played at par or better."""
        return self.score <= self.par


@dataclass(frozen=True, slots=True)
class Average:
    """The average result of a number of holes: the mean of score minus par."""

    holes: int
    against_par: float


@dataclass(frozen=True, slots=True)
class Streak:
    """A number of dates, such as those whose Daily hole was played or cleared, and the streaks in them.

    `longest` is the length of the longest streak, `last` that of the streak that ends on the last date.
    Without any date, the three numbers are 0 and `last_date` is None.
    """

    dates: int
    longest: int
    last: int
    last_date: date | None


@dataclass(frozen=True, slots=True)
class PlayerPage:
    """A player's page.

    Attributes:
        holes: number of holes played.
        cleared: number of them that were cleared.
        rounds: number of completed rounds.
        rounds_won: number of them at par or better.
        best_round: the round furthest under par; None without rounds.
        overall: average over all holes; None without holes.
        by_par: averages by par, ascending.
        longest_run: the most plays between two draws; None without a line.
        best_seconds: shortest time in which a hole was cleared; None if unknown.
        fewest_moves: fewest moves with which a hole was cleared; None if unknown.
        dailies: the dates whose Daily hole was played, whatever the score.
        dailies_cleared: those of them whose Daily hole was cleared.
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
    dailies: Streak
    dailies_cleared: Streak


def player_page(results: Sequence[Played], rounds: Sequence[PlayedRound]) -> PlayerPage:
    """Summarise the results of one player, in the order of play, and the rounds that they complete."""
    cleared = [played for played in results if played.cleared]
    return PlayerPage(
        holes=len(results),
        cleared=len(cleared),
        rounds=len(rounds),
        rounds_won=sum(played.is_won for played in rounds),
        best_round=best_of(rounds),
        overall=_average([played.against_par for played in results]) if results else None,
        by_par=_by_par(results),
        longest_run=max(_known(played.longest_run for played in results), default=None),
        best_seconds=min(_known(played.seconds for played in cleared), default=None),
        fewest_moves=min(_known(played.moves for played in cleared), default=None),
        dailies=streak_of({played.day for played in results if played.day is not None}),
        dailies_cleared=streak_of({played.day for played in cleared if played.day is not None}),
    )


def played_rounds(results: Sequence[Played], storage: Storage, catalog: Catalog) -> tuple[PlayedRound, ...]:
    """Find the rounds of the current generations that results, in the order of play, complete.

    They are in the order of levels, numbers and playings. Only results that name their deal by its number
    count; Daily holes belong to no round.

    Raises:
        DamagedError: a part differs from what the catalog says.
    """
    rounds: list[PlayedRound] = []
    for pool in catalog.pools:
        scores: dict[int, list[int]] = defaultdict(list)
        for played in results:
            if played.number is not None and played.hole.rules.name == pool.policy.rules:
                scores[played.number].append(played.score)
        if scores and pool.policy.course:
            found = places_in(storage, pool, scores)
            rounds += rounds_in(pool.level, pool.policy.course, scores, found)
    return tuple(rounds)


def rounds_in(
    level: str, course: Sequence[int], scores: Mapping[int, Sequence[int]], found: Mapping[int, Place]
) -> Iterator[PlayedRound]:
    """Find the rounds that scores complete.

    Args:
        level: name of the level.
        course: pars of a round's holes.
        scores: by deal number, in the order in which they were played.
        found: places of those deal numbers that belong to a round.
    """
    holes: dict[int, list[Sequence[int]]] = defaultdict(list)
    for number, place in found.items():
        holes[place.round].append(scores[number])
    for number in sorted(holes):
        if len(holes[number]) == len(course):
            for card in zip(*holes[number], strict=False):  # as often as the hole played least often
                yield PlayedRound(level, number, sum(card), sum(course))


def best_of(rounds: Iterable[PlayedRound]) -> PlayedRound | None:
    """Return the first of the rounds that are furthest under par; None if there are no rounds."""
    return min(rounds, key=lambda played: played.against_par, default=None)


def places_in(storage: Storage, pool: Pool, numbers: Collection[int]) -> dict[int, Place]:
    """Find the places of deals in the rounds of a pool; numbers without a place are left out.

    Only parts whose range contains one of the numbers are read.

    Raises:
        DamagedError: a part differs from what the catalog says.
    """
    course, wanted = pool.policy.course, sorted(numbers)
    before: Counter[int] = Counter()
    found: dict[int, Place] = {}
    for part in pool.parts:
        if bisect_left(wanted, part.first) < bisect_left(wanted, part.last + 1):
            table = read_named_part(storage, part, _COLUMNS)
            of_deals = places(table["par"].to_pylist(), course, before)
            for number, place in zip(table["deal_number"].to_pylist(), of_deals, strict=True):
                if place is not None and number in numbers:
                    found[number] = place
        before.update(part.pars)
    return found


def streak_of(days: Collection[date]) -> Streak:
    """Count the streaks in a set of dates, which may be empty."""
    longest = last = 0
    previous = None
    for day in sorted(days):
        last = last + 1 if previous is not None and day - previous == _DAY else 1
        longest, previous = max(longest, last), day
    return Streak(len(days), longest, last, previous)


def _average(against_par: Sequence[int]) -> Average:
    return Average(len(against_par), fmean(against_par))


def _by_par(results: Iterable[Played]) -> dict[int, Average]:
    against: dict[int, list[int]] = defaultdict(list)
    for played in results:
        against[played.hole.par].append(played.against_par)
    return {par: _average(against[par]) for par in sorted(against)}


def _known(values: Iterable[_Value | None]) -> Iterator[_Value]:
    return (value for value in values if value is not None)
