"""Run records: one small JSON document for each run of a job, in `runs/`, never changed afterwards.

Times belong here and nowhere else, so that everything else is the same bytes whenever it is made.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from pipeline.documents import parse, render
from pipeline.errors import DamagedError, MissingError, StorageError
from pipeline.storage import Storage
from pipeline.views import RUN_PREFIX, run_paths
from solver.errors import FairwayError

RUN_SCHEMA: Final = "fairway-run/1.1"


@dataclass(slots=True)
class Tally:
    """What a run has made so far; it is counted up while the run goes on.

    Attributes:
        nights: nights added to the pools.
        sampled: deal numbers looked at for them, over all levels.
        deals: deals added, over all levels.
        dailies: Daily holes published.
        solutions: solutions put out because their date is over.
        removed: files removed because nothing points to them any more.
        mended: damaged files that were made anew.
        refused: damaged files that could not be.
        change: the change of the catalog that it made; None where it made none.
    """

    nights: int = 0
    sampled: int = 0
    deals: int = 0
    dailies: int = 0
    solutions: int = 0
    removed: int = 0
    mended: int = 0
    refused: int = 0
    change: int | None = None


class Outcome(StrEnum):
    """How a run ended."""

    DONE = "done"
    NOTHING = "nothing to do"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a run of a job did.

    Attributes:
        job: the command.
        outcome: how it ended.
        started: when it began, aware.
        ended: when it ended, aware.
        process: id of its process, which tells two runs of one second apart.
        tally: what it made.
        workers: threads that computed.
        version: of Fairway.
        error: the message of a run that failed; None otherwise.
    """

    job: str
    outcome: Outcome
    started: datetime
    ended: datetime
    process: int
    tally: Tally
    workers: int
    version: str
    error: str | None

    @property
    def run_id(self) -> str:
        """Name of the run: when it began, in UTC, and its process."""
        return f"{self.started.astimezone(UTC):%Y%m%dT%H%M%SZ}-{self.process}"


def record_path(record: RunRecord) -> str:
    """Where a record lies in the data root."""
    return f"{RUN_PREFIX}{record.run_id}.json"


def record_bytes(record: RunRecord) -> bytes:
    """A record as its file."""
    return render(
        {
            "schema": RUN_SCHEMA,
            "run_id": record.run_id,
            "job": record.job,
            "outcome": record.outcome.value,
            "started": _moment(record.started),
            "ended": _moment(record.ended),
            "seconds": (record.ended - record.started).total_seconds(),
            "nights": record.tally.nights,
            "sampled": record.tally.sampled,
            "deals": record.tally.deals,
            "dailies": record.tally.dailies,
            "solutions": record.tally.solutions,
            "removed": record.tally.removed,
            "mended": record.tally.mended,
            "refused": record.tally.refused,
            "change": record.tally.change,
            "workers": record.workers,
            "version": record.version,
            "error": record.error,
        }
    )


def write_record(storage: Storage, record: RunRecord) -> str:
    """Write a record; a run that begins twice in a second within one process replaces its own.

    Returns:
        Its path.

    Raises:
        StorageError: it cannot be written.
    """
    path = record_path(record)
    storage.replace(path, record_bytes(record))
    return path


@contextmanager
def recorded(
    storage: Storage, job: str, workers: int, version: str, clock: Callable[[], datetime]
) -> Iterator[Tally]:
    """Record the run of the block, however it ends.

    Args:
        storage: the data root, whose lock the caller holds.
        job: the command.
        workers: threads that compute.
        version: of Fairway.
        clock: tells the moment, aware.

    Yields:
        The tally for the block to count up.

    Raises:
        StorageError: the record of a run that went well cannot be written.
    """
    tally, started = Tally(), clock()

    def write(outcome: Outcome, error: str | None = None) -> None:
        record = RunRecord(job, outcome, started, clock(), os.getpid(), tally, workers, version, error)
        write_record(storage, record)

    try:
        yield tally
    except FairwayError as error:
        with suppress(StorageError):  # what stopped the run may stop its record too, and is what must be told
            write(Outcome.FAILED, str(error))
        raise
    except (KeyboardInterrupt, SystemExit):
        with suppress(StorageError):
            write(Outcome.STOPPED)
        raise
    write(Outcome.DONE if tally != Tally() else Outcome.NOTHING)


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


def _moment(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
