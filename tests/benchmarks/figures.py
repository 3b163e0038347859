"""Figures, their limits, and the judgement that decides the exit code."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.benchmarks.timing import Spread, spread_of

Figures = Mapping[str, Sequence["Figure"]]
"""Figures by subject."""

Name = tuple[str, str]
"""Subject and name of a figure."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One quantity, measured in every round.

    Attributes:
        name: unique in its subject.
        unit: unit of the values.
        values: one per round.
    """

    name: str
    unit: str
    values: tuple[float, ...]

    @property
    def spread(self) -> Spread:
        """Median and range over the rounds."""
        return spread_of(self.values)


@dataclass(frozen=True, slots=True)
class Target:
    """The limits for the median of a figure.

    Attributes:
        must: the run fails if the median does not reach it.
        aim: what the work is meant to reach; None if that is the same.
        sense: whether values must be at most or at least the limits.
    """

    must: float
    aim: float | None = None
    sense: Literal["at most", "at least"] = "at most"

    def reaches(self, value: float, limit: float) -> bool:
        """Whether a value reaches a limit."""
        return value <= limit if self.sense == "at most" else value >= limit

    def verdict(self, value: float) -> str:
        """Return one or two words on a value."""
        if not self.reaches(value, self.must):
            return "FAILED"
        return "met" if self.aim is None else "aim met" if self.reaches(value, self.aim) else "must met"


Targets = Mapping[Name, Target]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The targets that were not reached.

    Attributes:
        failed: figures whose median does not reach its `must`.
        missing: targets of the subjects that ran for which nothing was measured.
    """

    failed: tuple[Name, ...]
    missing: tuple[Name, ...]


def judged(found: Figures, targets: Targets) -> Judgement:
    """Compare all figures of the subjects that ran with their targets."""
    medians = {
        (subject, figure.name): figure.spread.median
        for subject, figures in found.items()
        for figure in figures
    }
    failed = [name for name, target in targets.items() if name in medians and not _met(target, medians[name])]
    missing = [name for name in targets if name[0] in found and name not in medians]
    return Judgement(tuple(failed), tuple(missing))


def _met(target: Target, median: float) -> bool:
    return target.reaches(median, target.must)


@dataclass(frozen=True, slots=True)
class Bench:
    """The arguments of a subject.

    Attributes:
        deals: number of deals for the search, the command and the player: numbers 0, 1, ..
        rounds: how often everything is measured.
        certified: deals of a part that the pipeline makes each round.
        sampled: real deals per level from which synthetic pools are made.
        pool_rows: sizes of the synthetic pools, in rows over all levels.
        folder: an empty folder for files.
        report: called with a line of progress.
    """

    deals: int
    rounds: int
    certified: int
    sampled: int
    pool_rows: tuple[int, ...]
    folder: Path
    report: Callable[[str], None]


Measure = Callable[[Bench], Iterable[Figure]]
"""A subject, which yields its figures."""


def unique(subject: str, figures: Iterable[Figure]) -> Iterator[Figure]:
    """Yield the same figures, whose names must differ.

    Raises:
        ValueError: if two have the same name.
    """
    seen: set[str] = set()
    for figure in figures:
        if figure.name in seen:
            raise ValueError(f"{subject} has two figures named {figure.name!r}")
        seen.add(figure.name)
        yield figure
