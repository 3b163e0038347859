"""From a deal to a certified one: cleared by proof, rated, admitted by the policy, its line replayed.

Everything here is a pure function of its arguments, with plain values in and out, so that a batch can run in
a thread, in another process or on another machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pipeline.deals.columns import COLUMNS
from pipeline.deals.levels import Level, level_named, par_of
from pipeline.deals.shuffle import MOST_DEAL_NUMBER, deal_numbered
from pipeline.errors import CheckError
from pipeline.work.counts import Clock, Stages, Stopwatch, no_clock
from solver.errors import LineError, UsageError
from solver.players import steady
from solver.players.distribution import ScoreDistribution
from solver.search import exact as search
from solver.search.exact import Solution
from solver.table.deal import Deal
from solver.table.replay import replay


@dataclass(frozen=True)
class CertifiedDeal:
    """A deal that its level's policy admits, with what was proved of it.

    Attributes:
        level: name of the level.
        deal_number: the number that names it; of a Daily hole, the attempt.
        deal: the deal.
        rules: name of the level's rules.
        par: par v1.
        best_score: the least score that can be reached, at most 0.
        line: line v1, which reaches it.
        draws: draws in that line.
        distribution: the steady player's scores.
    """

    level: str
    deal_number: int
    deal: Deal
    rules: str
    par: int
    best_score: int
    line: str
    draws: int
    distribution: ScoreDistribution

    @cached_property
    def row(self) -> tuple[Any, ...]:
        """Its values in the order of `COLUMNS`."""
        return tuple([column.value(self) for column in COLUMNS])


@dataclass(frozen=True, slots=True)
class Batch:
    """What became of the deals of consecutive numbers.

    Attributes:
        first: the first number.
        count: how many they are.
        deals: those that the level's policy admits, ascending.
        cleared: the numbers of those that can be cleared, ascending.
        stages: how long it took; two batches are the same whatever that says.
    """

    first: int
    count: int
    deals: tuple[CertifiedDeal, ...]
    cleared: tuple[int, ...] = ()
    stages: Stages = field(default_factory=Stages, compare=False)


def certify(level: Level, deal: Deal, number: int, watch: Stopwatch | None = None) -> CertifiedDeal | None:
    """Certify one deal; None where it cannot be cleared or the policy does not admit it.

    Args:
        level: whose rules and policy hold.
        deal: the deal.
        number: what the result is to carry as its deal number.
        watch: is told of each stage.

    Raises:
        CheckError: the search's line does not do under replay what the search says.
    """
    _, certified = _judged(level, [(number, deal)], watch or Stopwatch(no_clock))
    return certified[0] if certified else None


def certify_batch(level_name: str, first: int, count: int, clock: Clock = no_clock) -> Batch:
    """Certify the deals of consecutive numbers.

    Args:
        level_name: a row of `LEVELS`.
        first: the first deal number.
        count: how many numbers, at least 1.
        clock: that the stages are timed with, by whoever does the work.

    Raises:
        UsageError: no such level, or numbers out of range.
        CheckError: see `certify`.
    """
    level = level_named(level_name)
    if count < 1 or not 0 <= first <= MOST_DEAL_NUMBER - (count - 1):
        raise UsageError(f"{count} deals from number {first} on are not in 0 .. {MOST_DEAL_NUMBER}")
    watch = Stopwatch(clock)
    sampled = [(number, deal_numbered(number)) for number in range(first, first + count)]
    watch.lap("sampling")
    cleared, certified = _judged(level, sampled, watch)
    for deal in certified:
        _ = deal.row  # worked out here, where others work too: a part is put together by one thread alone
    watch.lap("rating")
    return Batch(first, count, certified, cleared, watch.stages)


def _judged(
    level: Level, deals: Sequence[tuple[int, Deal]], watch: Stopwatch
) -> tuple[tuple[int, ...], tuple[CertifiedDeal, ...]]:
    """The numbers of those deals that can be cleared, and what those the policy admits are certified as.

    Each kernel is called once for all deals.
    """
    solutions = search.solve_each([deal for _, deal in deals], level.rules, fewest=False)
    solved = list(zip(deals, solutions, strict=True))
    cleared = [(number, deal, solution) for (number, deal), solution in solved if solution.cleared]
    watch.lap("solving")
    distributions = steady.rate_each([deal for _, deal, _ in cleared], level.rules)
    rated = zip(cleared, distributions, strict=True)
    admitted = [(*each, distribution) for each, distribution in rated if level.admits(distribution)]
    watch.lap("rating")
    certified = tuple(_certified(level, *each) for each in admitted)
    watch.lap("solving")
    return tuple(number for number, *_ in cleared), certified


def _certified(
    level: Level, number: int, deal: Deal, solution: Solution, distribution: ScoreDistribution
) -> CertifiedDeal:
    best_score, line, draws = _replayed(level, deal, number, solution)
    return CertifiedDeal(
        level=level.name,
        deal_number=number,
        deal=deal,
        rules=level.rules.name,
        par=par_of(distribution),
        best_score=best_score,
        line=line,
        draws=draws,
        distribution=distribution,
    )


def warm_up() -> None:
    """Compile or load all kernels; to be done in the main thread before work is handed out.

    A signal is not seen while the main thread waits for a worker that compiles.
    """
    search.warm_up()
    steady.warm_up()


def _replayed(level: Level, deal: Deal, number: int, solution: Solution) -> tuple[int, str, int]:
    """Best score, line and draws of a cleared deal, held against the independent replay."""
    line = solution.line or ""
    try:
        found = replay(deal, level.rules, line)
    except LineError as fault:
        raise CheckError(
            f"{level.name} deal {number}: the line {line!r} fails its replay: {fault}"
        ) from fault
    claimed = (True, solution.best_score, solution.draws)
    if (found.cleared, found.score, found.draws) != claimed:
        raise CheckError(
            f"{level.name} deal {number}: the search claims score {solution.best_score} and {solution.draws} "
            f"draws, the replay of {line!r} ends with {found}; report it, nothing was stored"
        )
    return found.score, line, found.draws
