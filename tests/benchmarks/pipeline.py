"""The pipeline from deal numbers to the bytes of a part, with one thread and with two.

It includes everything that a night does except writing: shuffles, search, steady player, policy, replay,
puzzle ids, rows, Parquet. Two processes with one thread each run in the same rounds: they share nothing, so
they show how much of the loss of two threads is due to the machine.
"""

from collections.abc import Callable, Iterator
from contextlib import closing

from pipeline.deals.levels import LEVELS
from pipeline.pools.nights import make_parts
from pipeline.pools.parquet import DEALS_SCHEMA, part_bytes
from pipeline.pools.puzzles import PuzzleIds
from pipeline.work.executors import local_work
from tests.benchmarks.figures import Bench, Figure
from tests.benchmarks.pipeline_worker import Worker, made_at_once, workers
from tests.benchmarks.timing import Spent, in_turn, process_clock, ratios, timed


def measure(bench: Bench) -> Iterator[Figure]:
    """Measure all levels."""
    for level in LEVELS:
        bench.report(f"pipeline, {level}: {bench.rounds} rounds of {bench.certified:,} certified deals")
        yield from _of_level(level, bench)


def _of_level(level: str, bench: Bench) -> Iterator[Figure]:
    size = bench.certified
    with workers(2, level, size) as processes:
        works: dict[str, Callable[[], Spent]] = {
            "one": lambda: made(level, size, 1),
            "two": lambda: made(level, size, 2),
            "one process": lambda: _by_processes(processes[:1], size),
            "two processes": lambda: _by_processes(processes, size),
        }
        spent = in_turn(bench.rounds, works)
    one, two = spent["one"], spent["two"]
    unit = "deals per second"
    yield Figure(f"{level}: certified by one core", unit, tuple(1 / each.cpu for each in one))
    yield Figure(f"{level}: certified by one thread, wall", unit, tuple(1 / each.wall for each in one))
    yield Figure(f"{level}: certified by two threads, wall", unit, tuple(1 / each.wall for each in two))
    speedup = ratios((each.wall for each in one), (each.wall for each in two))
    yield Figure(f"{level}: two threads to one", "ratio", speedup)
    alone, both = spent["one process"], spent["two processes"]
    ceiling = ratios((each.wall for each in alone), (each.wall for each in both))
    yield Figure(f"{level}: two processes to one", "ratio", ceiling)


def _by_processes(processes: list[Worker], size: int) -> Spent:
    """Return the wall time per deal if every process makes a part at the same time."""
    return Spent(made_at_once(processes), 0.0).each(size * len(processes))


def made(level: str, size: int, workers: int) -> Spent:
    """Make one part; return the time per deal, of all threads of the process together."""

    def work() -> None:
        with (
            local_work(workers) as threads,
            closing(make_parts(LEVELS[level], 0, [size], PuzzleIds(), threads)) as parts,
        ):
            part_bytes(next(parts).rows, DEALS_SCHEMA)

    _, spent = timed(work, process_clock)
    return spent.each(size)
