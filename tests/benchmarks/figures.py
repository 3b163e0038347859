"""A figure, what it must reach, and the judgement that decides the exit code."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.benchmarks.timing import Spread, spread_of

Figures = Mapping[str, Sequence["Figure"]]
"""What was measured: figures by subject."""

Name = tuple[str, str]
"""Subject, and name of the figure in it."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing measured in every round.

    Attributes:
        name: unique in its subject.
        unit: of the values.
        values: one a round.
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
    """What the median of a figure is held against.

    Attributes:
        must: beyond it the run fails.
        aim: what the work is meant to reach; None where that is the same.
        sense: which side of the limits is the good one.
    """

    must: float
    aim: float | None = None
    sense: Literal["at most", "at least"] = "at most"

    def reaches(self, value: float, limit: float) -> bool:
        """Whether a value is on the good side of a limit, or on it."""
        return value <= limit if self.sense == "at most" else value >= limit

    def verdict(self, value: float) -> str:
        """In a word or two how a value does."""
        if not self.reaches(value, self.must):
            return "FAILED"
        return "met" if self.aim is None else "aim met" if self.reaches(value, self.aim) else "must met"


Targets = Mapping[Name, Target]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What of the targets was not reached.

    Attributes:
        failed: figures whose median does not reach its must.
        missing: targets of the subjects that ran for which nothing was measured.
    """

    failed: tuple[Name, ...]
    missing: tuple[Name, ...]


def judged(found: Figures, targets: Targets) -> Judgement:
    """Hold all figures of the subjects that ran against their targets."""
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
    """What a subject is given.

    Attributes:
        deals: how many deals the search, the command and the player are measured on: numbers 0, 1, ..
        rounds: how often everything is measured.
        certified: deals of a part that the pipeline makes each round.
        sampled: real deals of each level that synthetic pools are multiplied from.
        pool_rows: sizes of the synthetic pools, in rows over all levels.
        folder: an empty folder for whatever has to lie on a disk.
        tell: takes a line on how far the work is.
    """

    deals: int
    rounds: int
    certified: int
    sampled: int
    pool_rows: tuple[int, ...]
    folder: Path
    tell: Callable[[str], None]


Measure = Callable[[Bench], Iterable[Figure]]
"""A subject: measures its figures one after another."""


def unique(subject: str, figures: Iterable[Figure]) -> Iterator[Figure]:
    """The same figures; two of one name would hide each other from the judgement.

    Raises:
        ValueError: there are two.
    """
    seen: set[str] = set()
    for figure in figures:
        if figure.name in seen:
            raise ValueError(f"{subject} has two figures named {figure.name!r}")
        seen.add(figure.name)
        yield figure
