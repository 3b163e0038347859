"""How long work tells how far it has come, without knowing who listens."""

from typing import Final, Protocol


class Progress(Protocol):
    """Whoever listens; it is called from the main thread, and so often that it must be quick."""

    def update(self, task: str, done: int, total: int) -> None:
        """Say how far a task is.

        Args:
            task: its name, such as a level's.
            done: how much of it is done, 0 .. total.
            total: how much there is in all; the same throughout one task.
        """


class _Silent:
    def update(self, task: str, done: int, total: int) -> None:
        """Tell nobody."""


SILENT: Final[Progress] = _Silent()
