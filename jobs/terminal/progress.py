"""Shows the progress of work on standard error: bars on a terminal, a few plain lines elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

from rich import progress as bars
from rich.console import Console

from jobs.terminal.log import is_json
from jobs.terminal.output import duration_text, note, shown_text
from pipeline.work.progress import Progress

_TENTHS: Final = 10
_LINE_EVERY: Final = 1000  # items, if the total is unknown
_BAR_EVERY: Final = 0.05  # seconds between two updates of a bar


class LineProgress:
    """Writes one line when a task begins, one for about every tenth of it, and one at its end.

    Args:
        write: takes each line.
        clock: seconds since any fixed time, to estimate the time left; None for no estimate.
    """

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float] | None = None) -> None:
        self._write = write
        self._clock = clock
        self._last: dict[str, int] = {}
        self._begun: dict[str, tuple[float, int]] = {}

    def update(self, task: str, done: int, total: int) -> None:
        """See `Progress.update`; a total of 0 is unknown."""
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
        """Estimate the time left from the speed since the first update."""
        if self._clock is None:
            return ""
        now = self._clock()
        begun, before = self._begun.setdefault(task, (now, done))
        if before == done or done >= total:
            return ""
        return f", about {duration_text((now - begun) / (done - before) * (total - done))} left"


class _BarProgress:
    """Shows one bar per task.

    Args:
        display: rich's progress display, running.
    """

    def __init__(self, display: bars.Progress) -> None:
        self._display = display
        self._tasks: dict[str, bars.TaskID] = {}
        self._next = 0.0

    def update(self, task: str, done: int, total: int) -> None:
        """See `Progress.update`; a total of 0 is unknown."""
        if task not in self._tasks:
            self._tasks[task] = self._display.add_task(shown_text(task), total=total or None)
        now = monotonic()
        if now >= self._next or done == total:
            self._display.update(self._tasks[task], completed=done)
            self._next = now + _BAR_EVERY


@contextmanager
def shown_progress(
    *, with_bars: bool = True, time_left: bool = False, write: Callable[[str], None] = note
) -> Iterator[Progress]:
    """Show the progress of the work in the block.

    Args:
        with_bars: whether to show bars if standard error is a terminal.
        time_left: whether to estimate the time left, for work that takes many minutes.
        write: takes the lines if no bars are shown.
    """
    if is_json() or not (with_bars and sys.stderr.isatty()):
        yield LineProgress(write, monotonic if time_left else None)
        return
    columns = [
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
    ]
    if time_left:
        columns += [bars.TextColumn("left"), bars.TimeRemainingColumn()]
    with bars.Progress(*columns, console=Console(stderr=True), redirect_stdout=False) as display:
        yield _BarProgress(display)
