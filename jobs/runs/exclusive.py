"""What every job that changes a data root has around it: the lock, the record, the derived views, the log."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from jobs.runs.aftermath import tell
from jobs.runs.context import Tools
from jobs.runs.lock import root_lock
from jobs.runs.run import Run, recorded
from jobs.settings.model import Settings
from jobs.watch.logs import details, log, named_run
from pipeline.errors import BusyError, DamagedError
from pipeline.pools.catalog import load_catalog
from pipeline.query.views import write_views
from pipeline.store.storage import LocalStorage
from pipeline.work.records import Tally, attempt_of, latest_records
from solver.errors import FairwayError


@contextmanager
def exclusive_run(
    storage: LocalStorage,
    job: str,
    settings: Settings,
    tools: Tools,
    last: Callable[[], None] = lambda: None,
) -> Iterator[Tally]:
    """Run the block as a job: alone, cleared of what killed writes left, recorded, with `catalog.sql` right.

    The views are there before anything that they show, so that one who misses them knows that they were
    removed. However the run ends, it is told of once the data root is free again.

    Args:
        storage: the data root.
        job: the command, for the record.
        settings: in force.
        tools: the outside world.
        last: called once all of that is done, while the data root is still held.

    Yields:
        The tally for the block to count up.

    Raises:
        BusyError: another run holds the data root.
        StorageError: the data root cannot be written.
        DamagedError: the catalog is damaged at the end.
    """
    run = Run.begun(job, tools.clock(), settings.workers, tools.version, tools.stopwatch)
    with _told(storage, run, settings, tools), root_lock(storage.root, run.started):
        with _views_at_the_end(storage), _cleared_and_recorded(storage, run, tools):
            with suppress(DamagedError):  # the job meets it where it needs the catalog, or the end does
                write_views(storage, load_catalog(storage))
            yield run.tally
        last()


@contextmanager
def mending_run(storage: LocalStorage, job: str, settings: Settings, tools: Tools) -> Iterator[Tally]:
    """Run the block as `exclusive_run` does, but let the catalog be damaged and stay so."""
    run = Run.begun(job, tools.clock(), settings.workers, tools.version, tools.stopwatch)
    with _told(storage, run, settings, tools), root_lock(storage.root, run.started):
        with _cleared_and_recorded(storage, run, tools):
            yield run.tally
        with suppress(DamagedError):  # the block has told of it
            write_views(storage, load_catalog(storage))


@contextmanager
def _told(storage: LocalStorage, run: Run, settings: Settings, tools: Tools) -> Iterator[None]:
    """Tell whoever wants to know how the run of the block has ended; one that had to wait is none."""
    with named_run(run.run_id):
        try:
            yield
        except BusyError:
            raise
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            tell(storage, run.told(tools.clock(), error), settings, tools)
            raise
        tell(storage, run.told(tools.clock(), None), settings, tools)


@contextmanager
def _cleared_and_recorded(storage: LocalStorage, run: Run, tools: Tools) -> Iterator[None]:
    log.info("%s begins", run.job, extra=details(event="begin", job=run.job))
    run.tally.attempt = attempt_of(latest_records(storage), run.job, run.started)
    with recorded(storage, run, tools.clock):
        storage.clear_leftovers()
        yield


@contextmanager
def _views_at_the_end(storage: LocalStorage) -> Iterator[None]:
    """Bring `catalog.sql` up to date after the block, also for what it had made before it was stopped."""
    try:
        yield
    except (FairwayError, KeyboardInterrupt, SystemExit):
        with suppress(FairwayError):  # what stopped the run may stop this too, and is what must be told
            write_views(storage, load_catalog(storage))
        raise
    write_views(storage, load_catalog(storage))
