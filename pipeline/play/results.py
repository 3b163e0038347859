"""Results: holes as somebody played them, checked, and held against the deal and the steady player.

A line is replayed. A score that comes without one is believed unless it is better than the best there is.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from math import fsum
from typing import Final, TypeAlias

from pipeline.daily.checks import deal_of
from pipeline.daily.files import published_daily
from pipeline.deals.levels import par_of
from pipeline.errors import CheckError
from pipeline.store.storage import Storage
from pipeline.work.ordered import in_order
from solver.errors import LineError, UsageError
from solver.table.deal import Deal
from solver.table.moves import run_lengths
from solver.table.replay import replay
from solver.table.rules import Rules, rules_named
from solver.table.score import LOWEST_SCORE, means_cleared

_CHUNK: Final = 1024  # results held at a time until their holes are rated

Hole: TypeAlias = tuple[Deal, Rules] | date
"""What was played: a deal under its rules, or the Daily hole of a date."""


@dataclass(frozen=True, slots=True)
class Result:
    """What is told of one hole that somebody played; a line or a score, or both.

    Attributes:
        where: it is told, for messages.
        hole: what was played.
        number: the deal's number; None where the deal is told by its cards, or is a Daily hole.
        line: the moves; None where they are not told.
        score: the score; None where it is not told.
        seconds: how long it took; None where that is not told.
    """

    where: str
    hole: Hole
    number: int | None
    line: str | None
    score: int | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class RatedHole:
    """A hole with all that a result is held against.

    Attributes:
        deal: the cards.
        rules: what it is played by.
        par: its par.
        reached: a score that can be reached for certain, though not always the best.
        steady_mean: the steady player's mean score.
        steady_at_par: how likely the steady player makes par or better.
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
        hole: what was played.
        number: the deal's number; None where it is not known.
        day: the date, for a Daily hole.
        score: as it stands where the line ends, whether or not the hole was over.
        seconds: how long it took; None where that is not known.
        moves: how many moves the line has; None without one.
        longest_run: the most plays between two draws; None without a line.
    """

    hole: RatedHole
    number: int | None
    day: date | None
    score: int
    seconds: float | None
    moves: int | None
    longest_run: int | None

    @property
    def is_cleared(self) -> bool:
        """Whether no card is left in the columns."""
        return means_cleared(self.score)

    @property
    def against_par(self) -> int:
        """The score less the par."""
        return self.score - self.hole.par


def checked(results: Iterable[Result], storage: Storage, executor: Executor, ahead: int) -> Iterator[Played]:
    """Results held against their holes, in their order; each hole is rated once.

    Args:
        results: they may come one by one; only some are held at a time.
        storage: the data root with the Daily holes; it is only read.
        executor: rates the deals; kernels must have been loaded.
        ahead: how many holes at most are handed out at a time.

    Raises:
        UsageError: a result that cannot be, with where it is told; those before it have been yielded.
        CheckError: the Daily hole of a date is not published; likewise.
        DamagedError: a Daily hole is not what it must be.
    """
    rated: dict[Hole, RatedHole] = {}
    for chunk in _chunks(results):
        holes = (result.hole for result in chunk if result.hole not in rated)
        deals = [hole for hole in dict.fromkeys(holes) if not isinstance(hole, date)]
        rated.update(zip(deals, in_order(executor, _rated_pair, deals, ahead), strict=True))
        for result in chunk:
            if isinstance(result.hole, date) and result.hole not in rated:
                rated[result.hole] = _rated_date(storage, result.hole, result.where)
            yield played(result, rated[result.hole])


def rated_deal(deal: Deal, rules: Rules) -> RatedHole:
    """Rate a deal by the steady player; kernels must have been loaded."""
    from solver.players.steady import rate  # it has kernels, whose cache must be found first

    distribution = rate(deal, rules)
    par = par_of(distribution)
    # What it ever makes can be made. It never draws while it can play, so there may be better.
    reached = next(score for score, mass in enumerate(distribution.masses, LOWEST_SCORE) if mass)
    return RatedHole(deal, rules, par, reached, distribution.mean_exact, distribution.at_most(par))


def rated_daily(storage: Storage, day: date) -> RatedHole:
    """The Daily hole of a date as it is published.

    Raises:
        CheckError: it is not published.
        DamagedError: it is not what it must be.
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
        LineError: its line breaks the rules; it says where it is told.
        UsageError: its score is not that of its line, or cannot be reached.
    """
    score, moves, run = result.score, None, None
    if result.line is not None:
        score = _replayed_score(result, hole)
        moves = len(result.line)
        run = max(run_lengths(result.line))
    if score is None:
        raise UsageError(f"{result.where}: neither a line nor a score")
    if score < hole.reached and score < (best := _best_score(hole.deal, hole.rules)):
        raise UsageError(f"{result.where}: a score of {score} cannot be reached, the best one is {best}")
    day = result.hole if isinstance(result.hole, date) else None
    return Played(hole, result.number, day, score, result.seconds, moves, run)


def _replayed_score(result: Result, hole: RatedHole) -> int:
    try:
        found = replay(hole.deal, hole.rules, result.line or "").score
    except LineError as error:
        raise error.in_line(result.where) from error
    if result.score not in (None, found):
        raise UsageError(
            f"{result.where}: the score is told as {result.score}, but the line gives {found}; leave one out"
        )
    return found


@cache
def _best_score(deal: Deal, rules: Rules) -> int:
    from solver.search.exact import solve  # as above

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
        yield chunk  # what is wrong there is told first
        raise
    yield chunk
