"""Where batches run: threads of this process today.

The pipeline itself asks for no more than `concurrent.futures.Executor`, so that another engine can stand in.
"""

from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Final

from solver.errors import UsageError

MOST_WORKERS: Final = 256

_BATCHES_A_WORKER: Final = 2  # one at work and one waiting, so that no worker ever waits for the main thread


def local_executor(workers: int) -> Executor:
    """Threads of this process; the kernels release the interpreter's lock, so they work at the same time.

    Raises:
        UsageError: the number of workers is not in 1 .. `MOST_WORKERS`.
    """
    if not 1 <= workers <= MOST_WORKERS:
        raise UsageError(f"{workers} workers; give a number from 1 to {MOST_WORKERS}")
    return ThreadPoolExecutor(workers, thread_name_prefix="fairway")


def batches_ahead(workers: int) -> int:
    """How many batches to keep in flight for this many workers."""
    return _BATCHES_A_WORKER * workers
