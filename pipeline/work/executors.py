"""How batches are executed: an executor, the batches in flight, progress and counts as one value.

The pipeline asks for no more than a `concurrent.futures.Executor`, so that another engine can stand in for
the threads of this process.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

from pipeline.work.counts import Counts
from pipeline.work.progress import SILENT, Progress
from solver.errors import UsageError

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

MOST_WORKERS: Final = 256

_AHEAD: Final = 32  # enough to keep several machines busy
_BATCHES_PER_WORKER: Final = 2  # one running and one waiting, so that no worker waits for the main thread


@dataclass(frozen=True, slots=True)
class Work:
    """How work is carried out; the caller that starts it passes it down.

    Attributes:
        executor: runs the batches.
        progress: receives how far each task is.
        counts: updated while the work goes on.
        ahead: maximum number of batches that are handed out and not yet returned.
    """

    executor: Executor
    progress: Progress = SILENT
    counts: Counts = field(default_factory=Counts)
    ahead: int = _AHEAD

    def in_order(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item]
    ) -> Generator[_Result, None, None]:
        """Yield the results of a function in the order of its items, whichever finishes first.

        Close the generator to cancel what has not started.

        Args:
            function: pure; for an executor of processes it must be picklable, like items and results.
            items: consumed as they are handed out.

        Raises:
            Exception: the error that the function raised for the next item.
        """
        pending: deque[Future[_Result]] = deque()
        try:
            for item in items:
                pending.append(self.executor.submit(function, item))
                if len(pending) >= self.ahead:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


@contextmanager
def local_work(workers: int, progress: Progress = SILENT, counts: Counts | None = None) -> Iterator[Work]:
    """Provide threads of this process; the kernels release the GIL, so they run in parallel.

    Raises:
        UsageError: if the number of workers is not in 1 .. `MOST_WORKERS`.
    """
    if not 1 <= workers <= MOST_WORKERS:
        raise UsageError(f"{workers} workers; give a number from 1 to {MOST_WORKERS}")
    with ThreadPoolExecutor(workers, thread_name_prefix="fairway") as executor:
        yield Work(executor, progress, counts or Counts(), _BATCHES_PER_WORKER * workers)
