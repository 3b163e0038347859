"""Counts and times of work, updated while it goes on, so that they are valid however the work ends.

They are kept apart from the results: no byte of a part or a hole depends on them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Final, TypeAlias

Clock: TypeAlias = Callable[[], float]  # seconds from any fixed moment

COUNTED: Final = ("nights", "sampled", "deals", "dailies", "solutions", "removed", "mended", "refused")


def no_clock() -> float:
    """Return 0: the clock for work that is not timed."""
    return 0.0


@dataclass(slots=True)
class Stages:
    """Seconds of work per stage, added up over all threads.

    Attributes:
        sampling: shuffling deals from their numbers or dates.
        solving: the exact search, and the replay of its lines.
        rating: the players, the policy, the par and the values of a row.
        writing: putting files in place.
    """

    sampling: float = 0.0
    solving: float = 0.0
    rating: float = 0.0
    writing: float = 0.0

    @property
    def total(self) -> float:
        """Seconds of all stages."""
        return self.sampling + self.solving + self.rating + self.writing

    def add(self, other: "Stages") -> None:
        """Add the seconds of other work."""
        for stage in fields(self):
            setattr(self, stage.name, getattr(self, stage.name) + getattr(other, stage.name))


class Stopwatch:
    """Divides the time since its creation among the stages of some work.

    Attributes:
        stages: the seconds so far.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since = clock()
        self.stages = Stages()

    def lap(self, stage: str) -> None:
        """Add the time since the last lap to a stage of `Stages`."""
        now = self._clock()
        setattr(self.stages, stage, getattr(self.stages, stage) + now - self._since)
        self._since = now


@dataclass(slots=True)
class LevelCounts:
    """What was made for one level.

    Attributes:
        sampled: deal numbers sampled.
        cleared: how many of their deals can be cleared.
        admitted: how many of those the level's policy admits.
        written: deals written to parts: admitted deals whose puzzle was not in the pool.
    """

    sampled: int = 0
    cleared: int = 0
    admitted: int = 0
    written: int = 0


@dataclass(slots=True)
class Counts:
    """What a run has made so far; counted up while the work goes on.

    Attributes:
        clock: times the work.
        stages: seconds of work, by stage.
        levels: counts per level for which deals were made.
        dailies: Daily holes published.
        solutions: solutions released because their dates are over.
        nights: nights added to the pools.
        sampled: deal numbers sampled for them, over all levels.
        deals: deals added, over all levels.
        removed: files removed because nothing refers to them.
        mended: damaged files that were repaired.
        refused: damaged files that could not be repaired.
        change: number of the catalog change that the run made, or None.
        missed: nights for which no run had succeeded when the next night came.
        attempt: 1, plus one for each failed run of the same job since its last success.
    """

    clock: Clock = field(default=no_clock, compare=False)
    stages: Stages = field(default_factory=Stages, compare=False)
    levels: dict[str, LevelCounts] = field(default_factory=dict)
    dailies: int = 0
    solutions: int = 0
    nights: int = 0
    sampled: int = 0
    deals: int = 0
    removed: int = 0
    mended: int = 0
    refused: int = 0
    change: int | None = None
    missed: int = 0
    attempt: int = 1

    @property
    def is_nothing(self) -> bool:
        """Whether the run made nothing, not even in part."""
        return not (any(getattr(self, name) for name in COUNTED) or self.levels or self.change or self.missed)

    def level(self, name: str) -> LevelCounts:
        """Return the counts of a level, which start at zero."""
        return self.levels.setdefault(name, LevelCounts())
