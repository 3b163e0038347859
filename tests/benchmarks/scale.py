"""A pool of a million deals: made in bounded memory, resumed after a kill, switched to in one step.

Each run is a separate process and is done once: it takes minutes, and memory is the same each time.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pipeline.pools.catalog import load_catalog
from pipeline.pools.parts import PART_ROWS
from pipeline.store.storage import LocalStorage
from tests.benchmarks import memory_worker, scale_worker
from tests.benchmarks.children import run_child
from tests.benchmarks.command import fairway
from tests.benchmarks.figures import Bench, Figure

_MEGABYTE: Final = 1e6
_MILLISECONDS: Final = 1e3


@dataclass(frozen=True, slots=True)
class Made:
    """The report of one process.

    Attributes:
        loaded: bytes resident before the regeneration began.
        peak: largest number of bytes resident after that.
        seconds: wall time of the regeneration.
    """

    loaded: int
    peak: int
    seconds: float


def measure(bench: Bench) -> Iterator[Figure]:
    """Measure all sizes; nothing if the system does not report the peak of a process."""
    if not memory_worker.can_measure():
        bench.report("scale: not measured, as /proc/self/status and /proc/self/clear_refs are not available")
        return
    for rows in bench.pool_rows:
        bench.report(f"scale: making a pool of {rows:,} deals and resuming it")
        yield from _of_size(bench.folder / f"scale-{rows}", rows)


def _of_size(folder: Path, rows: int) -> Iterator[Figure]:
    name, parts = f"{rows:,} rows", -(-rows // PART_ROWS)
    stopped = made(folder, rows, parts)  # killed when all parts are there, before the switch
    resumed = made(folder, rows)
    pool = load_catalog(LocalStorage(folder)).pool(scale_worker.LEVEL)
    if (pool.size, len(pool.parts)) != (rows, parts):
        raise ValueError(f"a pool of {rows} deals has {pool.size} in {len(pool.parts)} parts")
    peak = max(stopped.peak, resumed.peak)
    yield Figure(f"all but the solving, {name}", "deals per second", (rows / stopped.seconds,))
    yield Figure(f"resuming and switching, {name}", "s", (resumed.seconds,))
    yield Figure(f"peak in all, {name}", "MB", (peak / _MEGABYTE,))
    yield Figure(f"beyond what was loaded, {name}", "MB", ((peak - stopped.loaded) / _MEGABYTE,))
    for command in ("status", "history"):
        level = (scale_worker.LEVEL,) if command == "history" else ()
        _, spent = fairway("pool", command, *level, "--data", folder)
        yield Figure(f"pool {command} of one level, {name}", "ms", (spent.wall * _MILLISECONDS,))


def made(folder: Path, rows: int, parts: int = 0) -> Made:
    """Run `scale_worker` to its end, or until it has made so many parts."""
    program = (sys.executable, "-m", scale_worker.__name__, str(folder), str(rows), str(parts))
    done = run_child(*program)
    return Made(**json.loads(done.stdout))
