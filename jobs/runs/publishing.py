"""Publishing Daily holes apart from a night: for a range of dates that the person who runs it gives."""

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from jobs.runs.context import Tools
from jobs.runs.exclusive import exclusive_run
from jobs.settings.model import Settings
from pipeline.store.storage import LocalStorage

if TYPE_CHECKING:  # the module has kernels, whose cache must be found first
    from pipeline.daily.publish import Published


def run_publish(
    storage: LocalStorage,
    days: Sequence[date],
    settings: Settings,
    tools: Tools,
    *,
    solutions_now: bool = False,
) -> "Published":
    """Publish the holes of these dates that are not out yet, and leave a record in `runs/`.

    Args:
        storage: the data root.
        days: dates from 2026-01-01 on.
        settings: in force; the key is one of them.
        tools: the outside world.
        solutions_now: put the solutions of these dates out at once, though the dates are not over.

    Raises:
        BusyError: another run holds the data root.
        FairwayError: see `pipeline.daily.publish.publish`.
    """
    with exclusive_run(storage, "daily publish", settings, tools) as tally:
        from pipeline.daily.publish import publish
        from pipeline.work.executors import local_work

        early = frozenset(days) if solutions_now else frozenset()
        with local_work(settings.workers, tools.progress, tally) as work:
            return publish(storage, days, settings.daily_key, tools.clock(), work, early)
