"""A run of a job: its state while it runs, and the record it leaves however it ends."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from jobs.runs.context import JobContext
from pipeline.errors import StorageError
from pipeline.store.storage import Storage
from pipeline.work.counts import Counts
from pipeline.work.records import Outcome, RunRecord, latest_records, run_id, write_record
from solver.errors import FairwayError


@dataclass(slots=True)
class Run:
    """A run in progress; the fields are those of its `RunRecord`, which it has once it has ended."""

    job: str
    started: datetime
    process: int
    workers: int
    version: str
    counts: Counts
    record: RunRecord | None = None

    @classmethod
    def start(cls, job: str, workers: int, context: JobContext) -> Self:
        """Start a run of this process now."""
        return cls(
            job, context.clock(), os.getpid(), workers, context.version, Counts(clock=context.stopwatch)
        )

    @property
    def run_id(self) -> str:
        """Name of the run."""
        return run_id(self.started, self.process)

    def end(self, now: datetime, error: BaseException | None = None) -> RunRecord:
        """Make the record of the run, which ended with an error or, with None, completed."""
        outcome, message = _outcome_of(self.counts, error)
        self.record = RunRecord(
            self.job,
            outcome,
            self.started,
            now,
            self.process,
            self.counts,
            self.workers,
            self.version,
            message,
        )
        return self.record

    def final_record(self, now: datetime, error: BaseException | None = None) -> RunRecord:
        """Return the record to report: the one on disk, unless the run failed after it was made."""
        if self.record is None or (error is not None and self.record.outcome.is_good):
            return self.end(now, error)
        return self.record


def _outcome_of(counts: Counts, error: BaseException | None) -> tuple[Outcome, str | None]:
    match error:
        case None:
            return (Outcome.NOTHING if counts.is_nothing else Outcome.DONE), None
        case FairwayError():
            return Outcome.FAILED, str(error)
        case Exception():
            return Outcome.FAILED, f"internal error: {type(error).__name__}: {error}"
    return Outcome.STOPPED, None


@contextmanager
def recorded(storage: Storage, run: Run, clock: Callable[[], datetime]) -> Iterator[None]:
    """Write the record of the run when the block ends, however it ends; the caller holds the lock.

    Raises:
        StorageError: if the record of a successful run cannot be written.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt, SystemExit) as error:
        with suppress(StorageError):  # the error that ended the run is the one to raise
            _write(storage, run.end(clock(), error))
        raise
    _write(storage, run.end(clock()))


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
