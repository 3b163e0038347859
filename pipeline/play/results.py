"""Results of played holes: checked, and compared with par, the best score and the steady player.

A line is replayed. A score without a line is accepted unless it is better than the best possible score.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from math import fsum
from typing import Final, TypeAlias

from pipeline.daily.checks import deal_of
from pipeline.daily.files import published_daily
from pipeline.deals.levels import par_of_mean
from pipeline.errors import CheckError
from pipeline.store.storage import Storage
from pipeline.work.executors import Work
from solver.errors import LineError, UsageError
from solver.players.steady import rate
from solver.search.exact import solve
from solver.table.deal import Deal
from solver.table.moves import run_lengths
from solver.table.replay import Replay, replay
from solver.table.rules import Rules, rules_named
from solver.table.score import LOWEST_SCORE, means_cleared

_CHUNK: Final = 1024  # results held in memory while their holes are rated

Hole: TypeAlias = tuple[Deal, Rules] | date
"""The hole that was played: a deal under its rules, or the Daily hole of a date."""


@dataclass(frozen=True, slots=True)
class Result:
    """A result as it was submitted, with a line, a score or both; what was not given is None.

    `where` is the file and line it was read from, for messages. A deal that is given by its cards and a Daily
    hole have no number.
    """

    where: str
    hole: Hole
    number: int | None
    line: str | None
    score: int | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class RatedHole:
    """A hole with the figures that results are compared with.

    Attributes:
        deal: the cards.
        rules: the King rule.
        par: its par.
        reached: a score that is known to be possible, not necessarily the best.
        steady_mean: mean score of the steady player.
        steady_at_par: probability that the steady player makes par or better.
    """

    deal: Deal
    rules: Rules
    par: int
    reached: int
    steady_mean: Fraction
    steady_at_par: float


@dataclass(frozen=True, slots=True)
class Played:
    """A result that has been checked.

    Attributes:
        hole: the hole that was played.
        number: the deal number; None if unknown.
        day: the date of a Daily hole; None for other holes.
        cleared: whether the columns are empty.
        score: at the end of the line, whether or not the hole was finished.
        seconds: time taken; None if unknown.
        moves: number of moves; None without a line.
        longest_run: the most plays between two draws; None without a line.
    """

    hole: RatedHole
    number: int | None
    day: date | None
    cleared: bool
    score: int
    seconds: float | None
    moves: int | None
    longest_run: int | None

    @property
    def against_par(self) -> int:
        """The score minus the par."""
        return self.score - self.hole.par


def checked(results: Iterable[Result], storage: Storage, work: Work) -> Iterator[Played]:
    """Check results, in their order; each hole is rated once.

    They are read in chunks, so they may come from a generator.

    Raises:
        UsageError: a result is not possible; the earlier ones have been yielded.
        CheckError: the Daily hole of a date is not published; the earlier ones have been yielded.
        DamagedError: a Daily hole is damaged.
    """
    rated: dict[Hole, RatedHole] = {}
    for chunk in _chunks(results):
        holes = (result.hole for result in chunk if result.hole not in rated)
        deals = [hole for hole in dict.fromkeys(holes) if not isinstance(hole, date)]
        rated.update(zip(deals, work.in_order(_rated_pair, deals), strict=True))
        for result in chunk:
            if isinstance(result.hole, date) and result.hole not in rated:
                rated[result.hole] = _rated_date(storage, result.hole, result.where)
            yield played(result, rated[result.hole])


def rated_deal(deal: Deal, rules: Rules) -> RatedHole:
    """Rate a deal with the steady player."""
    distribution = rate(deal, rules)
    par = par_of_mean(distribution.mean_exact)
    # Scores of the steady player are possible. It never draws while it can play, so better ones may exist.
    reached = next(score for score, mass in enumerate(distribution.masses, LOWEST_SCORE) if mass)
    return RatedHole(deal, rules, par, reached, distribution.mean_exact, distribution.at_most(par))


def rated_daily(storage: Storage, day: date) -> RatedHole:
    """Return the published Daily hole of a date.

    Raises:
        CheckError: it is not published.
        DamagedError: it is damaged.
    """
    daily = published_daily(storage, day)
    par, steady = daily["par"], daily["steady"]
    return RatedHole(
        deal=deal_of(daily),
        rules=rules_named(daily["rules"]["name"]),
        par=par,
        reached=daily["best_score"],
        steady_mean=Fraction(steady["mean"]),
        steady_at_par=fsum(steady["probabilities"][: par - LOWEST_SCORE + 1]),
    )


def played(result: Result, hole: RatedHole) -> Played:
    """Check a result.

    Raises:
        LineError: a move of its line is not legal.
        UsageError: its score is not the score of its line, or is better than the best possible score.
    """
    day = result.hole if isinstance(result.hole, date) else None
    if result.line is not None:
        end = _replayed(result, hole)
        moves, run = len(result.line), max(run_lengths(result.line))
        return Played(hole, result.number, day, end.cleared, end.score, result.seconds, moves, run)
    score = result.score
    if score is None:
        raise UsageError(f"{result.where}: neither a line nor a score; give one of them")
    if score < hole.reached and score < (best := _best_score(hole.deal, hole.rules)):
        raise UsageError(f"{result.where}: a score of {score} is not possible; the best is {best}")
    return Played(hole, result.number, day, means_cleared(score), score, result.seconds, None, None)


def _replayed(result: Result, hole: RatedHole) -> Replay:
    try:
        end = replay(hole.deal, hole.rules, result.line or "")
    except LineError as error:
        raise error.in_line(result.where) from error
    if result.score not in (None, end.score):
        raise UsageError(
            f"{result.where}: the score is given as {result.score}, but the line scores {end.score}; omit one"
        )
    return end


@cache
def _best_score(deal: Deal, rules: Rules) -> int:
    best_score = solve(deal, rules).best_score
    if best_score is None:
        raise AssertionError("the search for the fewest cards left gave no score")
    return best_score


def _rated_pair(hole: tuple[Deal, Rules]) -> RatedHole:
    return rated_deal(*hole)


def _rated_date(storage: Storage, day: date, where: str) -> RatedHole:
    try:
        return rated_daily(storage, day)
    except CheckError as error:
        raise CheckError(f"{where}: {error}") from error


def _chunks(results: Iterable[Result]) -> Iterator[list[Result]]:
    chunk: list[Result] = []
    try:
        for result in results:
            chunk.append(result)
            if len(chunk) == _CHUNK:
                yield chunk
                chunk = []
    except UsageError:
        yield chunk  # faults in earlier results are reported first
        raise
    yield chunk
