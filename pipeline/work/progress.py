"""The interface through which long work reports its progress."""

from typing import Final, Protocol


class Progress(Protocol):
    """A receiver of progress; it is called often, from the main thread, so it must be fast."""

    def update(self, task: str, done: int, total: int) -> None:
        """Report how far a task is.

        Args:
            task: name of the task, such as that of a level.
            done: how much is done, 0 .. total.
            total: the whole; it does not change during a task.
        """


class _Silent:
    def update(self, task: str, done: int, total: int) -> None:
        """Do nothing."""


SILENT: Final[Progress] = _Silent()
