"""Batches: the certified rows of consecutive deal numbers, the unit of work that is handed to workers."""

from dataclasses import dataclass, field

from pipeline.deals.certify import certify_each
from pipeline.deals.columns import Row, row_of
from pipeline.deals.levels import Level
from pipeline.deals.shuffle import MOST_DEAL_NUMBER, deal_numbered
from pipeline.work.counts import Clock, Stages, Stopwatch, no_clock
from solver.errors import UsageError


@dataclass(frozen=True, slots=True)
class Batch:
    """The result for consecutive deal numbers.

    Attributes:
        first: the first number.
        count: how many numbers.
        rows: the deals that the level's policy admits, by ascending number.
        cleared: the numbers whose deal can be cleared, ascending.
        stages: how long it took; comparisons ignore it.
    """

    first: int
    count: int
    rows: tuple[Row, ...]
    cleared: tuple[int, ...] = ()
    stages: Stages = field(default_factory=Stages, compare=False)


def certify_batch(level: Level, first: int, count: int, clock: Clock = no_clock) -> Batch:
    """Certify the deals of consecutive numbers.

    The rows are worked out here, in the worker: a part is put together by one thread only.

    Args:
        level: the level whose policy admits deals.
        first: the first deal number.
        count: how many numbers, at least 1.
        clock: times the stages.

    Raises:
        UsageError: if the numbers are out of range.
        CheckError: see `certify`.
    """
    if count < 1 or not 0 <= first <= MOST_DEAL_NUMBER - (count - 1):
        raise UsageError(f"{count} deals from number {first} on are not in 0 .. {MOST_DEAL_NUMBER}")
    watch = Stopwatch(clock)
    deals = [(number, deal_numbered(number)) for number in range(first, first + count)]
    watch.lap("sampling")
    cleared, certified = certify_each(level, deals, watch)
    rows = tuple(row_of(deal) for deal in certified)
    watch.lap("rating")
    return Batch(first, count, rows, cleared, watch.stages)
