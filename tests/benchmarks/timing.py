"""Time spent, and the little arithmetic on it: pieces of work in turn, ratios pair by pair, spreads."""

import resource
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds that something took, or a moment as a clock shows it.

    Attributes:
        wall: on the wall clock.
        cpu: of processor time; on a busy machine this is the one that can be trusted.
    """

    wall: float
    cpu: float

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(self.wall - other.wall, self.cpu - other.cpu)

    def each(self, count: int) -> "Spent":
        """The share of one of `count` equal pieces."""
        return Spent(self.wall / count, self.cpu / count)


Clock = Callable[[], Spent]


def thread_clock() -> Spent:
    """Processor time of this thread."""
    return Spent(time.perf_counter(), time.thread_time())


def process_clock() -> Spent:
    """Processor time of all threads of this process."""
    return Spent(time.perf_counter(), time.process_time())


def children_clock() -> Spent:
    """Processor time of all processes that this one has started and waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Spent(time.perf_counter(), usage.ru_utime + usage.ru_stime)


def timed(work: Callable[[], _Result], clock: Clock = thread_clock) -> tuple[_Result, Spent]:
    """What a piece of work returns, and what it took."""
    start = clock()
    result = work()
    return result, clock() - start


def in_turn(rounds: int, works: Mapping[str, Callable[[], _Result]]) -> dict[str, tuple[_Result, ...]]:
    """Do each piece of work once a round, so that a slow spell of the machine falls on all of them.

    Returns:
        For each piece its results, round by round: results of one round are neighbours in time.
    """
    results: dict[str, list[_Result]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            results[name].append(work())
    return {name: tuple(found) for name, found in results.items()}


def ratios(ours: Iterable[float], theirs: Iterable[float]) -> tuple[float, ...]:
    """Ours to theirs, round by round: a slow spell in one round is in both and cancels out."""
    return tuple(own / other for own, other in zip(ours, theirs, strict=True))


def cpu_microseconds(spent: Iterable[Spent]) -> tuple[float, ...]:
    """Processor time of each, in microseconds."""
    return tuple(1e6 * each.cpu for each in spent)


def wall_milliseconds(spent: Iterable[Spent]) -> tuple[float, ...]:
    """Wall time of each, in milliseconds."""
    return tuple(1e3 * each.wall for each in spent)


@dataclass(frozen=True, slots=True)
class Spread:
    """What several rounds found."""

    median: float
    least: float
    most: float


def spread_of(values: tuple[float, ...]) -> Spread:
    """Median and range of the values of all rounds, at least one."""
    return Spread(statistics.median(values), min(values), max(values))
