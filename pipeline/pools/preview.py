"""A preview of a policy: what a level would admit of a sample of shuffles. Nothing is written."""

from collections import Counter
from contextlib import closing
from dataclasses import dataclass

from pipeline.deals.levels import Level
from pipeline.pools.nights import certified_batches
from pipeline.work.executors import Work


@dataclass(frozen=True, slots=True)
class Preview:
    """What a policy admits of consecutive deal numbers.

    Attributes:
        level: the level, with the policy.
        first: the first deal number.
        sampled: how many numbers.
        cleared: how many of their deals can be cleared.
        means: the steady means of the deals that are admitted, in number order.
        pars: how many of those have each par, ascending.
        difficulties: how many of those have each difficulty, ascending.
        seconds: processor time of the workers.
    """

    level: Level
    first: int
    sampled: int
    cleared: int
    means: tuple[float, ...]
    pars: dict[int, int]
    difficulties: dict[int, int]
    seconds: float

    @property
    def admitted(self) -> int:
        """How many deals are admitted."""
        return len(self.means)

    @property
    def mean(self) -> float | None:
        """The mean of the steady means of the deals that are admitted; None if none is."""
        return sum(self.means) / self.admitted if self.means else None

    def shuffles_for(self, deals: int) -> float | None:
        """Return how many shuffles have to be sampled for so many deals; None if none is admitted."""
        return deals * self.sampled / self.admitted if self.admitted else None

    def seconds_for(self, deals: int) -> float | None:
        """Return the processor time of so many deals; None if none is admitted."""
        return deals * self.seconds / self.admitted if self.admitted else None

    @property
    def deals_per_round(self) -> float | None:
        """How many deals a round takes, if pars stay in this mix; None without a course.

        Infinite if a par of the course did not occur.
        """
        needed = Counter(self.level.course)
        if not needed:
            return None
        shares = {par: self.pars.get(par, 0) / max(self.admitted, 1) for par in needed}
        return max(count / shares[par] if shares[par] else float("inf") for par, count in needed.items())


def preview(level: Level, first: int, count: int, work: Work) -> Preview:
    """Certify consecutive deal numbers by a level's policy.

    Args:
        level: the level, with the policy.
        first: the first deal number.
        count: how many numbers, at least 1.
        work: runs `certify_batch`; each deal is reported, with the level as the task.

    Raises:
        UsageError: a number is out of range.
        CheckError: a line fails its replay.
    """
    means: list[float] = []
    pars: Counter[int] = Counter()
    difficulties: Counter[int] = Counter()
    cleared, seconds, done = 0, 0.0, 0
    with closing(certified_batches(level, first, first + count - 1, work)) as batches:
        for batch in batches:
            means += (row.value("steady_mean") for row in batch.rows)
            pars.update(row.par for row in batch.rows)
            difficulties.update(row.value("difficulty") for row in batch.rows)
            cleared += len(batch.cleared)
            seconds += batch.stages.total
            done += batch.count
            work.progress.update(level.name, done, count)
    return Preview(
        level, first, count, cleared, tuple(means), _ascending(pars), _ascending(difficulties), seconds
    )


def _ascending(counts: Counter[int]) -> dict[int, int]:
    return dict(sorted(counts.items()))
