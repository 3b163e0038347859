"""Memory of a worker in addition to the libraries, measured in separate processes.

The memory of one worker is the peak of a process minus what it used when everything was loaded and no worker
had started. Processes without a worker show the error of such a difference.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from tests.benchmarks import memory_worker
from tests.benchmarks.children import run_child
from tests.benchmarks.figures import Bench, Figure
from tests.benchmarks.timing import in_turn

_MEGABYTE: Final = 1e6
_WORKERS: Final = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Memory:
    """The report of one process, in bytes.

    Attributes:
        loaded: resident when libraries and kernels were loaded.
        peak: largest resident size after that.
        buffers: allocated by a thread at its first deal, by `tracemalloc`; some of it is never touched.
    """

    loaded: int
    peak: int
    buffers: int

    @property
    def more(self) -> float:
        """Memory of the workers, in MB."""
        return (self.peak - self.loaded) / _MEGABYTE


def measure(bench: Bench) -> Iterator[Figure]:
    """Measure processes with 0, 1 and 2 workers; nothing if the system does not report memory."""
    if not memory_worker.can_measure():
        bench.report("memory: not measured, as /proc/self/status and /proc/self/clear_refs are not available")
        return
    bench.report(f"memory: {bench.rounds} rounds of processes with 0, 1 and 2 workers")
    found = in_turn(
        bench.rounds, {str(workers): partial(_measured, workers, bench.deals) for workers in _WORKERS}
    )
    none, one, two = (found[str(workers)] for workers in _WORKERS)
    yield Figure("libraries and kernels", "MB", tuple(each.loaded / _MEGABYTE for each in none))
    yield Figure("no worker", "MB", tuple(each.more for each in none))
    yield Figure("a worker alone", "MB", tuple(each.more for each in one))
    yield Figure("each of two workers", "MB", tuple(each.more / 2 for each in two))
    yield Figure("buffers of a thread", "MB", tuple(each.buffers / _MEGABYTE for each in none))


def _measured(workers: int, deals: int) -> Memory:
    program = (sys.executable, "-m", memory_worker.__name__, str(workers), str(deals))
    done = run_child(*program)
    return Memory(**json.loads(done.stdout))
