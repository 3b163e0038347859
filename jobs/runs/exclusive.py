"""Context managers for jobs: lock, run record, `catalog.sql`, and the report once the run has ended."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from jobs.runs.context import JobContext
from jobs.runs.lock import root_lock
from jobs.runs.run import Run
from jobs.settings.model import Settings
from jobs.watch.hooks import run_hooks
from jobs.watch.logs import details, log, named_run
from jobs.watch.metrics import write_metrics
from pipeline.errors import BusyError, DamagedError, StorageError
from pipeline.pools.catalog import load_catalog
from pipeline.query.views import write_views
from pipeline.store.storage import LocalStorage
from pipeline.work.counts import Counts
from pipeline.work.records import Outcome, RunRecord, attempt_of, latest_records, record_document
from solver.errors import FairwayError


@contextmanager
def job_run(
    storage: LocalStorage,
    job: str,
    settings: Settings,
    context: JobContext,
    before_release: Callable[[], None] = lambda: None,
) -> Iterator[Counts]:
    """Run the block as a job, alone on the data root.

    Leftovers of interrupted writes are removed first. The run is recorded and `catalog.sql` is brought up to
    date, however the block ends. If everything succeeded, `before_release` is called before the lock is
    released. Metrics and hooks follow when it has been released.

    Yields:
        The counts of the run, for the block to update.

    Raises:
        BusyError: if another run holds the lock.
        StorageError: if the data root cannot be written.
        DamagedError: if the catalog is damaged at the end.
    """
    with _locked_run(storage, job, settings, context) as run:
        with _views_updated(storage), _recorded(storage, run):
            # The views come before anything they show, so a missing file means that it was removed.
            with suppress(DamagedError, StorageError):  # raised where the job needs the file, or at the end
                write_views(storage, load_catalog(storage))
            yield run.counts
        before_release()


@contextmanager
def repair_run(storage: LocalStorage, job: str, settings: Settings, context: JobContext) -> Iterator[Counts]:
    """Run the block like `job_run`, but accept a damaged catalog."""
    with _locked_run(storage, job, settings, context) as run:
        with _recorded(storage, run):
            yield run.counts
        with suppress(DamagedError, StorageError):  # already reported by the block
            write_views(storage, load_catalog(storage))


def report_run(storage: LocalStorage, record: RunRecord, settings: Settings, context: JobContext) -> None:
    """Report a run that has ended: log, metrics, the operator's commands. Failures here are only logged."""
    _log_end(record)
    refresh_metrics(storage, record, settings, context)
    run_hooks(record, storage.root, settings.hooks, context.variables)


def refresh_metrics(
    storage: LocalStorage, record: RunRecord | None, settings: Settings, context: JobContext
) -> None:
    """Write the current metrics, with the run that has just ended, if any; a failure is logged."""
    if not storage.root.is_dir():  # writing would create it again
        log.warning("metrics were not written: %s is gone", storage.root, extra=details(event="metrics"))
        return
    try:
        write_metrics(storage, record, settings, context.clock(), context.version)
    except (FairwayError, OSError, ImportError) as error:  # without free file handles even imports fail
        log.warning("metrics were not written: %s", error, extra=details(event="metrics"))


@contextmanager
def _locked_run(storage: LocalStorage, job: str, settings: Settings, context: JobContext) -> Iterator[Run]:
    """Hold the lock during a run, then report how it ended; a run that never got the lock is not reported."""
    run = Run(job, settings.workers, context)
    with named_run(run.run_id):
        try:
            with root_lock(storage.root, run.started):
                yield run
        except BusyError:
            raise
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            report_run(storage, run.final_record(error), settings, context)
            raise
        report_run(storage, run.final_record(), settings, context)


@contextmanager
def _recorded(storage: LocalStorage, run: Run) -> Iterator[None]:
    log.info("%s started", run.job, extra=details(event="begin", job=run.job))
    run.counts.attempt = attempt_of(latest_records(storage), run.job, run.started)
    with run.recorded(storage):
        storage.clear_leftovers()
        yield


@contextmanager
def _views_updated(storage: LocalStorage) -> Iterator[None]:
    """Bring `catalog.sql` up to date after the block, even if the block was stopped."""
    try:
        yield
    except (FairwayError, KeyboardInterrupt, SystemExit):
        with suppress(FairwayError):  # the first error is the one to raise
            write_views(storage, load_catalog(storage))
        raise
    write_views(storage, load_catalog(storage))


def _log_end(record: RunRecord) -> None:
    extra = details(event="end", record=record_document(record))
    if record.outcome is Outcome.FAILED:
        log.error("%s failed after %.1f s: %s", record.job, record.seconds, record.error, extra=extra)
    elif record.outcome is Outcome.DONE:
        made = f"{record.counts.deals:,} deals, {record.counts.dailies:,} Daily holes"
        log.info("%s done in %.1f s: %s", record.job, record.seconds, made, extra=extra)
    else:
        log.info("%s: %s, after %.1f s", record.job, record.outcome.value, record.seconds, extra=extra)
