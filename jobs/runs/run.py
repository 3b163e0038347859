"""A run of a job: its state while it runs, and the record it leaves however it ends."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from jobs.runs.context import JobContext
from jobs.watch.logs import details, log
from pipeline.errors import StorageError
from pipeline.store.storage import Storage
from pipeline.store.text import message_of
from pipeline.work.counts import Counts
from pipeline.work.records import (
    Outcome,
    RunRecord,
    forget_nothing_done,
    latest_records,
    run_id,
    write_record,
)
from solver.errors import FairwayError


class Run:
    """A run in progress: its job, when it started, its id, and what it has made so far."""

    def __init__(self, job: str, workers: int, context: JobContext) -> None:
        self.job: Final = job
        self.started: Final = context.clock()
        self.run_id: Final = run_id(self.started, os.getpid())
        self.counts: Final = Counts(clock=context.stopwatch)
        self._workers = workers
        self._context = context
        self._record: RunRecord | None = None

    @contextmanager
    def recorded(self, storage: Storage) -> Iterator[None]:
        """Write the record of the run when the block ends, however it ends; the caller holds the lock.

        Records of earlier runs of the job that had nothing to do are removed after a good one.

        Raises:
            StorageError: if the record of a successful run cannot be written.
        """
        try:
            yield
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            try:
                _write(storage, self._end(error))
            except StorageError as fault:  # the error that ended the run is the one to raise
                log.warning("the run record was not written: %s", fault, extra=details(event="record"))
            raise
        record = self._end()
        _write(storage, record)
        try:
            forget_nothing_done(storage, record)
        except StorageError as fault:  # the run itself is complete and recorded
            log.warning("earlier run records were not removed: %s", fault, extra=details(event="record"))

    def final_record(self, error: BaseException | None = None) -> RunRecord:
        """Return the record to report: the one on disk, unless the run failed after it was made."""
        if self._record is None or (error is not None and self._record.outcome.is_good):
            return self._end(error)
        return self._record

    def _end(self, error: BaseException | None = None) -> RunRecord:
        outcome, message = _outcome_of(self.counts, error)
        self._record = RunRecord(
            job=self.job,
            outcome=outcome,
            started=self.started,
            ended=self._context.clock(),
            process=os.getpid(),
            counts=self.counts,
            workers=self._workers,
            version=self._context.version,
            error=message,
        )
        return self._record


def _outcome_of(counts: Counts, error: BaseException | None) -> tuple[Outcome, str | None]:
    match error:
        case None:
            return (Outcome.NOTHING if counts.is_nothing else Outcome.DONE), None
        case FairwayError():
            return Outcome.FAILED, message_of(str(error))
        case Exception():
            return Outcome.FAILED, message_of(f"internal error: {type(error).__name__}: {error}")
    return Outcome.STOPPED, None


def _write(storage: Storage, record: RunRecord) -> None:
    """Write a record, even if a signal to stop arrives while it is written."""
    try:
        write_record(storage, record)
    except (KeyboardInterrupt, SystemExit):
        write_record(storage, record)
        raise


def runs_by_change(storage: Storage) -> dict[int, RunRecord]:
    """Map each change of the catalog to the record of the run that made it.

    Changes made by runs that were killed are missing, as are damaged records.

    Raises:
        StorageError: if the data root cannot be read.
    """
    records = (record for record in latest_records(storage) if isinstance(record, RunRecord))
    newest_first = [(record.counts.change, record) for record in records]
    return {change: record for change, record in reversed(newest_first) if change is not None}
