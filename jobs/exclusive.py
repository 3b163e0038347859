"""What every job that changes a data root has around it: the lock, the run's record, the derived views."""

from collections.abc import Iterator
from contextlib import contextmanager

from jobs.lock import root_lock
from jobs.runs import Tally, recorded
from jobs.settings import Settings
from jobs.tools import Tools
from pipeline.catalog import load_catalog
from pipeline.storage import LocalStorage
from pipeline.views import write_views


@contextmanager
def exclusive_run(storage: LocalStorage, job: str, settings: Settings, tools: Tools) -> Iterator[Tally]:
    """Run the block as a job: alone, cleared of what killed runs left, recorded, `catalog.sql` written last.

    Args:
        storage: the data root.
        job: the command, for the record.
        settings: in force.
        tools: the outside world.

    Yields:
        The tally for the block to count up.

    Raises:
        BusyError: another run holds the data root.
        StorageError: the data root cannot be written.
    """
    with root_lock(storage.root, tools.clock()):
        try:
            with recorded(storage, job, settings.workers, tools.version, tools.clock) as tally:
                storage.clear_leftovers()
                yield tally
        finally:  # also for what the run had made before it was stopped
            write_views(storage, load_catalog(storage))
