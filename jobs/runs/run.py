"""Runs of jobs: what one is while it goes on, the record it leaves however it ends, and who made what."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from pipeline.errors import DamagedError, MissingError, StorageError
from pipeline.store.documents import parse
from pipeline.store.storage import Storage
from pipeline.work.counts import Clock
from pipeline.work.records import Outcome, RunRecord, Tally, run_id, run_paths, write_record
from solver.errors import FairwayError


@dataclass(slots=True)
class Run:
    """A run of a job while it goes on.

    Attributes:
        job: the command.
        started: when it began, aware.
        process: id of its process.
        workers: threads that compute.
        version: of Fairway.
        tally: what it has made so far.
        record: the one that has been made of it; None before its end.
    """

    job: str
    started: datetime
    process: int
    workers: int
    version: str
    tally: Tally
    record: RunRecord | None = None

    @classmethod
    def begun(cls, job: str, now: datetime, workers: int, version: str, stopwatch: Clock) -> Self:
        """A run of this process that begins now and has made nothing yet.

        Args:
            job: the command.
            now: an aware moment.
            workers: threads that compute.
            version: of Fairway.
            stopwatch: seconds from any fixed moment, which stages are timed with.
        """
        return cls(job, now, os.getpid(), workers, version, Tally(clock=stopwatch))

    @property
    def run_id(self) -> str:
        """Its name."""
        return run_id(self.started, self.process)

    def told(self, now: datetime, error: BaseException | None) -> RunRecord:
        """What is to be told of the run: its record, unless it only failed after that was made.

        Args:
            now: the moment, aware.
            error: what ended it; None where it came to its end.
        """
        failed_later = self.record is not None and error is not None and self.record.outcome.is_good
        return self.ended(now, error) if self.record is None or failed_later else self.record

    def ended(self, now: datetime, error: BaseException | None = None) -> RunRecord:
        """Make the record of the run.

        Args:
            now: the moment, aware.
            error: what ended it; None where it came to its end.
        """
        outcome, message = _end_of(self.tally, error)
        self.record = RunRecord(
            self.job,
            outcome,
            self.started,
            now,
            self.process,
            self.tally,
            self.workers,
            self.version,
            message,
        )
        return self.record


def _end_of(tally: Tally, error: BaseException | None) -> tuple[Outcome, str | None]:
    match error:
        case None:
            return (Outcome.NOTHING if tally.is_nothing else Outcome.DONE), None
        case FairwayError():
            return Outcome.FAILED, str(error)
        case Exception():
            return Outcome.FAILED, f"a fault of the program: {type(error).__name__}: {error}"
    return Outcome.STOPPED, None


@contextmanager
def recorded(storage: Storage, run: Run, clock: Callable[[], datetime]) -> Iterator[None]:
    """Record the run of the block, however it ends.

    Args:
        storage: the data root, whose lock the caller holds.
        run: from `Run.begun`.
        clock: tells the moment, aware.

    Raises:
        StorageError: the record of a run that went well cannot be written.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt, SystemExit) as error:
        with suppress(StorageError):  # what stopped the run may stop its record too, and is what must be told
            _write(storage, run.ended(clock(), error))
        raise
    _write(storage, run.ended(clock()))


def _write(storage: Storage, record: RunRecord) -> None:
    """Write a record, also where a signal to stop comes just then."""
    try:
        write_record(storage, record)
    except (KeyboardInterrupt, SystemExit):
        write_record(storage, record)
        raise


@dataclass(frozen=True, slots=True)
class Made:
    """Who made a change of the catalog.

    Attributes:
        job: the command.
        ended: when that run ended, aware.
    """

    job: str
    ended: datetime


def changes_made(storage: Storage) -> dict[int, Made]:
    """What the run records say of the changes of the catalog, by their number.

    A run that was killed has left no record, and a record that is damaged says nothing.

    Raises:
        StorageError: the data root cannot be read.
    """
    made: dict[int, Made] = {}
    for path in run_paths(storage):
        try:
            record = parse(storage.read(path), path)
            change, ended = record["change"], datetime.fromisoformat(record["ended"])
        except (DamagedError, MissingError, KeyError, TypeError, ValueError):
            continue
        if isinstance(change, int) and ended.tzinfo is not None:
            made[change] = Made(str(record.get("job")), ended)
    return made
