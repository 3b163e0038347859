"""Measuring time, alternating pieces of work, and ratios and spreads of the results."""

import resource
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Spent:
    """A duration in seconds, or a reading of a clock.

    Attributes:
        wall: wall time.
        cpu: processor time, which is more reliable on a busy machine.
    """

    wall: float
    cpu: float

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(self.wall - other.wall, self.cpu - other.cpu)

    def each(self, count: int) -> "Spent":
        """Return the share of one of `count` equal pieces."""
        return Spent(self.wall / count, self.cpu / count)


Clock = Callable[[], Spent]


def thread_clock() -> Spent:
    """Read wall time and the processor time of this thread."""
    return Spent(time.perf_counter(), time.thread_time())


def process_clock() -> Spent:
    """Read wall time and the processor time of all threads of this process."""
    return Spent(time.perf_counter(), time.process_time())


def children_clock() -> Spent:
    """Read wall time and the processor time of all finished child processes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Spent(time.perf_counter(), usage.ru_utime + usage.ru_stime)


def timed(work: Callable[[], _Result], clock: Clock = thread_clock) -> tuple[_Result, Spent]:
    """Do a piece of work; return its result and the time spent."""
    start = clock()
    result = work()
    return result, clock() - start


def in_turn(rounds: int, works: Mapping[str, Callable[[], _Result]]) -> dict[str, tuple[_Result, ...]]:
    """Do each piece of work once per round, so that slow periods of the machine affect all of them.

    Returns:
        The results of each piece by round; results of one round are close in time.
    """
    results: dict[str, list[_Result]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            results[name].append(work())
    return {name: tuple(found) for name, found in results.items()}


def ratios(ours: Iterable[float], theirs: Iterable[float]) -> tuple[float, ...]:
    """Return the ratio of ours to theirs by round, in which slow periods cancel out."""
    return tuple(own / other for own, other in zip(ours, theirs, strict=True))


def cpu_microseconds(spent: Iterable[Spent]) -> tuple[float, ...]:
    """Return the processor times in microseconds."""
    return tuple(1e6 * each.cpu for each in spent)


def wall_milliseconds(spent: Iterable[Spent]) -> tuple[float, ...]:
    """Return the wall times in milliseconds."""
    return tuple(1e3 * each.wall for each in spent)


@dataclass(frozen=True, slots=True)
class Spread:
    """Median and range of several rounds."""

    median: float
    least: float
    most: float


def spread_of(values: tuple[float, ...]) -> Spread:
    """Return median and range of at least one value."""
    return Spread(statistics.median(values), min(values), max(values))
