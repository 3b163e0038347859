"""The pipeline: deal numbers in, the bytes of a part out, by one thread and by two in turn.

All is in it that a night does short of the disk: shuffles, search, steady player, policy, replay, puzzle
ids, rows, Parquet.
"""

from collections.abc import Iterator
from contextlib import closing

from pipeline.executors import batches_ahead, local_executor
from pipeline.generate import make_parts
from pipeline.levels import LEVELS
from pipeline.progress import SILENT
from pipeline.schema import part_bytes
from tests.benchmarks.figures import Bench, Figure
from tests.benchmarks.timing import Spent, in_turn, process_clock, ratios, timed


def measure(bench: Bench) -> Iterator[Figure]:
    """The figures of all levels."""
    for level in LEVELS:
        bench.tell(f"pipeline, {level}: {bench.rounds} rounds of {bench.certified:,} certified deals")
        yield from _of_level(level, bench)


def _of_level(level: str, bench: Bench) -> Iterator[Figure]:
    spent = in_turn(
        bench.rounds,
        {"one": lambda: _made(level, bench.certified, 1), "two": lambda: _made(level, bench.certified, 2)},
    )
    one, two = spent["one"], spent["two"]
    unit = "deals a second"
    yield Figure(f"{level}: certified by one core", unit, tuple(1 / each.cpu for each in one))
    yield Figure(f"{level}: certified by one thread, wall", unit, tuple(1 / each.wall for each in one))
    yield Figure(f"{level}: certified by two threads, wall", unit, tuple(1 / each.wall for each in two))
    speedup = ratios((each.wall for each in one), (each.wall for each in two))
    yield Figure(f"{level}: two threads to one", "ratio", speedup)


def _made(level: str, size: int, workers: int) -> Spent:
    """Make one part; what each of its deals took, by all threads of the process together."""

    def work() -> None:
        with (
            local_executor(workers) as executor,
            closing(
                make_parts(level, 0, [size], set(), executor, SILENT, ahead=batches_ahead(workers))
            ) as parts,
        ):
            part_bytes(next(parts).rows)

    _, spent = timed(work, process_clock)
    return spent.each(size)
