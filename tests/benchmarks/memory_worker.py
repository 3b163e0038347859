"""The process whose memory is measured: `python -m tests.benchmarks.memory_worker WORKERS DEALS`.

It reads its peak from /proc/self/status after resetting it. getrusage would count from the start of the
process, with the compiler's memory, and even with that of the process which started it.
"""

import json
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Final

from pipeline.deals.batches import certify_batch
from pipeline.deals.certify import warm_up
from pipeline.deals.levels import LEVELS
from pipeline.deals.shuffle import deal_numbered
from pipeline.work.executors import local_work
from solver.players.varied import VARIED
from solver.search.exact import solve

_STATUS: Final = Path("/proc/self/status")
_CLEAR: Final = Path("/proc/self/clear_refs")
_CLEAR_PEAK: Final = "5"
_KILOBYTE: Final = 1024
_BATCH: Final = 20  # deal numbers


def can_measure() -> bool:
    """Whether this system reports the peak of a process and allows to reset it."""
    try:
        _CLEAR.write_text(_CLEAR_PEAK, "ascii")
        return resident("VmHWM") > 0
    except (OSError, KeyError):
        return False


def main(workers: int, deals: int) -> None:
    """Load everything, let the workers work, print the memory used."""
    warm_up()
    VARIED.clear_masses([deal_numbered(0)], LEVELS["medium"].rules)
    _CLEAR.write_text(_CLEAR_PEAK, "ascii")
    loaded = resident("VmRSS")
    if workers:
        _work(workers, deals)
    peak = resident("VmHWM")
    sys.stdout.write(json.dumps({"loaded": loaded, "peak": peak, "buffers": _buffers()}))


def _work(workers: int, deals: int) -> None:
    """Certify the deals for all levels, search for the fewest cards, and let the varied player play.

    Together these use every buffer. Certifying does not need all of them for every level.
    """
    items = ((level, first) for first in range(0, deals, _BATCH) for level in LEVELS)
    with local_work(workers) as work:
        for _ in work.in_order(_batch, items):
            pass  # results are dropped


def _batch(item: tuple[str, int]) -> object:
    level, first = item
    for number in range(first, first + _BATCH):
        solve(deal_numbered(number), LEVELS[level].rules)
    return certify_batch(LEVELS[level], first, _BATCH)


def _buffers() -> int:
    """Return the bytes that a new thread allocates at its first deal."""
    tracemalloc.start()
    thread = threading.Thread(target=_batch, args=(("medium", 0),))
    before, _ = tracemalloc.get_traced_memory()
    thread.start()
    thread.join()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak - before


def resident(field: str) -> int:
    """Return a field of the status of this process, in bytes."""
    lines = (line.split() for line in _STATUS.read_text("ascii").splitlines())
    return next(int(line[1]) * _KILOBYTE for line in lines if line[0] == f"{field}:")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
