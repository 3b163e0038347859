"""Work handed to an executor, with the results in the order of the work."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Executor, Future
from typing import Final, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

AHEAD: Final = 32  # pieces handed out and not yet taken back: enough to keep some machines busy


def in_order(
    executor: Executor, function: Callable[[_Item], _Result], items: Iterable[_Item], ahead: int = AHEAD
) -> Generator[_Result, None, None]:
    """Results of a function, in the order of its items, whoever finishes first.

    Args:
        executor: works them out.
        function: pure; for an executor of processes it must be picklable, like items and results.
        items: taken as they are handed out.
        ahead: how many pieces at most are handed out and not yet taken back.

    Raises:
        Exception: whatever the function raised for the item that is next; what was not begun is dropped.
    """
    pending: deque[Future[_Result]] = deque()
    try:
        for item in items:
            pending.append(executor.submit(function, item))
            if len(pending) >= ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        for future in pending:
            future.cancel()
