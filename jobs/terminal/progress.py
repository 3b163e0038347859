"""How far work is: a bar for each task on a terminal, a few plain lines anywhere else; on standard error."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from jobs.terminal.log import is_json
from jobs.terminal.output import note
from pipeline.work.progress import Progress

if TYPE_CHECKING:  # it takes longer to load than help takes to print
    from rich import progress as rich_progress

_TENTHS: Final = 10
_LINE_EVERY: Final = 1000  # where nobody knows how much there is in all
_BAR_EVERY: Final = 0.05  # seconds between two changes of a bar
_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_SMALL: Final = 2  # from twice a unit on, a duration is told in that unit


class LineProgress:
    """A line when a task begins, one about each tenth of it, and one at its end.

    Args:
        write: takes each line.
        clock: seconds from any fixed moment, to estimate the time left; None for no estimate.
    """

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float] | None = None) -> None:
        self._write = write
        self._clock = clock
        self._last: dict[str, int] = {}
        self._begun: dict[str, tuple[float, int]] = {}

    def update(self, task: str, done: int, total: int) -> None:
        """See `Progress.update`; a total of 0 is an unknown one."""
        step = done * _TENTHS // total if total else done // _LINE_EVERY
        if step == self._last.get(task):
            return
        left = self._time_left(task, done, total)
        if task not in self._last and total:
            self._write(f"{task}: 0 of {total:,}")
        if step or not total:
            self._write(f"{task}: {done:,} of {total:,}{left}" if total else f"{task}: {done:,}")
        self._last[task] = step

    def _time_left(self, task: str, done: int, total: int) -> str:
        """An estimate from how fast the task has gone since it was first heard of."""
        if self._clock is None:
            return ""
        now = self._clock()
        begun, before = self._begun.setdefault(task, (now, done))
        if before == done or done >= total:
            return ""
        return f", about {duration_text((now - begun) / (done - before) * (total - done))} left"


class BarProgress:
    """A bar for each task.

    Args:
        bars: rich's progress display, running.
        clock: seconds from any fixed moment.
    """

    def __init__(self, bars: "rich_progress.Progress", clock: Callable[[], float]) -> None:
        self._bars = bars
        self._clock = clock
        self._tasks: dict[str, rich_progress.TaskID] = {}
        self._next = 0.0

    def update(self, task: str, done: int, total: int) -> None:
        """See `Progress.update`; a total of 0 is an unknown one."""
        if task not in self._tasks:
            self._tasks[task] = self._bars.add_task(task, total=total or None)
        now = self._clock()
        if now >= self._next or done == total:
            self._bars.update(self._tasks[task], completed=done)
            self._next = now + _BAR_EVERY


def duration_text(seconds: float) -> str:
    """A rough duration, as `40 s`, `12 min` or `3 h`."""
    if seconds < _SMALL * _MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < _SMALL * _HOUR else f"{seconds / _HOUR:.0f} h"


@contextmanager
def shown_progress(
    *, bars: bool = True, time_left: bool = False, write: Callable[[str], None] = note
) -> Iterator[Progress]:
    """A listener for the work of the block.

    Args:
        bars: whether bars may be shown, if standard error is a terminal.
        time_left: whether to estimate the time left too: for work of many minutes.
        write: takes the lines where no bars are shown.
    """
    from time import monotonic

    if is_json() or not (bars and sys.stderr.isatty()):
        yield LineProgress(write, monotonic if time_left else None)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars

    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    columns += [TextColumn("left"), TimeRemainingColumn()] if time_left else []
    with Bars(*columns, console=Console(stderr=True), redirect_stdout=False) as display:
        yield BarProgress(display, monotonic)
