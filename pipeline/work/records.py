"""Run records: one small JSON document per run of a job, in `runs/`, never changed afterwards.

Times belong here and nowhere else, so that everything else has the same bytes whenever it is made. Within a
major version of the schema fields are only added; readers ignore unknown fields.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from typing import Final

from pipeline.errors import DamagedError, MissingError, StorageError
from pipeline.store.documents import Document, adapter_of, damaged, parse, render, validated
from pipeline.store.storage import Storage
from pipeline.store.text import quoted, shortened
from pipeline.work.counts import COUNTED, Counts, LevelCounts, Stages

RUN_SCHEMA: Final = "fairway-run/1.2"
RUN_PREFIX: Final = "runs/"

_READABLE: Final = re.compile(r"fairway-run/1\.[0-9]{1,4}", re.ASCII)
_RUN_ID: Final = re.compile(r"[0-9]{8}T[0-9]{6}Z-([0-9]{1,10})", re.ASCII)
_DECIMALS: Final = 3  # of seconds
_MAX_LOOKBACK: Final = 300  # records to search for the last good run of a job


class Outcome(StrEnum):
    """How a run ended."""

    DONE = "done"
    NOTHING = "nothing to do"
    FAILED = "failed"
    STOPPED = "stopped"

    @property
    def is_good(self) -> bool:
        """Whether the run completed everything that was due."""
        return self in (Outcome.DONE, Outcome.NOTHING)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a run of a job did; all times have a time zone.

    The process id distinguishes runs that start in the same second; only a failed run has an error message.
    """

    job: str
    outcome: Outcome
    started: datetime
    ended: datetime
    process: int
    counts: Counts
    workers: int
    version: str
    error: str | None

    @property
    def run_id(self) -> str:
        """Name of the run."""
        return run_id(self.started, self.process)

    @property
    def seconds(self) -> float:
        """Duration of the run."""
        return (self.ended - self.started).total_seconds()


def prepare_reading() -> None:
    """Build what reads run records, which would drop the exception of a signal that arrives meanwhile."""
    adapter_of(_Document)


def run_id(started: datetime, process: int) -> str:
    """Return the name of a run: its start time in UTC and its process id."""
    return f"{started.astimezone(UTC):%Y%m%dT%H%M%SZ}-{process}"


def record_path(record: RunRecord) -> str:
    """Return the path of a record in the data root."""
    return f"{RUN_PREFIX}{record.run_id}.json"


def record_document(record: RunRecord) -> Document:
    """Return a record as a JSON document; hooks receive the same one."""
    counts = record.counts
    return {
        "schema": RUN_SCHEMA,
        "run_id": record.run_id,
        "job": record.job,
        "outcome": record.outcome.value,
        "started": _moment_text(record.started),
        "ended": _moment_text(record.ended),
        "seconds": record.seconds,
        **{name: getattr(counts, name) for name in COUNTED},
        "change": counts.change,
        "missed": counts.missed,
        "attempt": counts.attempt,
        "levels": [{"level": name, **asdict(counts)} for name, counts in counts.levels.items()],
        "stages": {name: round(seconds, _DECIMALS) for name, seconds in asdict(counts.stages).items()},
        "workers": record.workers,
        "version": record.version,
        "error": record.error,
    }


def write_record(storage: Storage, record: RunRecord) -> str:
    """Write a record; a second run of one process in the same second replaces the first record.

    Returns:
        The path of the record.

    Raises:
        StorageError: if it cannot be written.
    """
    path = record_path(record)
    storage.replace(path, render(record_document(record)))
    return path


def run_paths(storage: Storage) -> tuple[str, ...]:
    """Return the paths of the run records, oldest first."""
    paths = storage.list(RUN_PREFIX)
    return tuple(path for path in paths if path.endswith(".json") and path.count("/") == 1)


def read_record(storage: Storage, path: str) -> RunRecord:
    """Read one record.

    Raises:
        MissingError: if there is no such file.
        DamagedError: if it is not a run record that Fairway writes.
    """
    return parse_record(storage.read(path), path)


def latest_records(storage: Storage) -> Iterator[RunRecord | DamagedError]:
    """Read the records lazily, newest first; a damaged one is replaced by the error that describes it.

    Raises:
        StorageError: if the data root cannot be read.
    """
    for path in reversed(run_paths(storage)):
        try:
            yield read_record(storage, path)
        except MissingError:
            continue  # removed in the meantime
        except DamagedError as damage:
            yield damage
        except StorageError as fault:  # an unreadable record affects only the history
            yield DamagedError(str(fault))


def forget_nothing_done(storage: Storage, record: RunRecord) -> None:
    """Remove the latest earlier records of a job that say that there was nothing to do.

    A job that looks for work every hour would leave thousands per year. Records of failures stay, and
    so does the last good one, from which the attempts after it are counted.

    Args:
        storage: the data root.
        record: the record of a good run that was written last.

    Raises:
        StorageError: if one cannot be removed.
    """
    for earlier in islice(latest_records(storage), _MAX_LOOKBACK):
        if isinstance(earlier, DamagedError) or earlier.job != record.job:
            continue
        if earlier.outcome is Outcome.DONE:
            break
        if earlier.outcome is Outcome.NOTHING and earlier.run_id != record.run_id:
            storage.remove(record_path(earlier))


def old_records(storage: Storage, before: datetime, first_change: int) -> tuple[str, ...]:
    """Return the paths of run records that nobody needs any more, oldest first.

    Args:
        storage: the data root.
        before: records of runs that started later stay.
        first_change: records of this change of the catalog and of later ones stay, for their times.

    Raises:
        StorageError: if the data root cannot be read.
    """
    last = f"{RUN_PREFIX}{before.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    old = []
    for path in run_paths(storage):
        if path >= last:
            break
        with suppress(DamagedError, MissingError):  # a damaged one is for the operator to look at
            change = read_record(storage, path).counts.change
            if change is None or change < first_change:
                old.append(path)
    return tuple(old)


def attempt_of(records: Iterable[RunRecord | DamagedError], job: str, now: datetime | None = None) -> int:
    """Return the number of a job's next attempt: 1, plus 1 per failed run since its last good run.

    Args:
        records: from `latest_records`; only a limited number is searched for the last good run.
        job: name of the command.
        now: runs that ended after this time are ignored, because the clock was wrong; None to use all.
    """
    attempt = 1
    for record in islice(records, _MAX_LOOKBACK):
        if isinstance(record, RunRecord) and record.job == job and (now is None or record.ended <= now):
            if record.outcome.is_good:
                break
            attempt += record.outcome is Outcome.FAILED
    return attempt


def parse_record(data: bytes, path: str) -> RunRecord:
    """Read the file of a record, with this minor version of its schema or an earlier or later one.

    Raises:
        DamagedError: if it is not a run record that Fairway writes; the message says what is wrong.
    """
    schema = parse(data, path).get("schema")
    if not (isinstance(schema, str) and _READABLE.fullmatch(schema)):
        raise DamagedError(
            f"{path} is not a run record that this Fairway reads: its schema is {shortened(repr(schema))}"
        )
    record = _record(validated(_Document, data, path), path)
    if record_path(record) != path:
        raise DamagedError(f"{path} is damaged: it is the record of the run {record.run_id}")
    return record


@dataclass(frozen=True, slots=True)
class _Level:
    level: str
    sampled: int
    cleared: int
    admitted: int
    written: int


@dataclass(frozen=True, slots=True)
class _Document:
    """What `record_document` writes; the fields with a default are missing in version 1.1."""

    run_id: str
    job: str
    outcome: Outcome
    started: datetime
    ended: datetime
    nights: int
    sampled: int
    deals: int
    dailies: int
    solutions: int
    removed: int
    mended: int
    refused: int
    change: int | None
    workers: int
    version: str
    error: str | None
    missed: int = 0
    attempt: int = 1
    levels: tuple[_Level, ...] = ()
    stages: Stages | None = None


def _record(document: _Document, path: str) -> RunRecord:
    faults = []
    match = _RUN_ID.fullmatch(document.run_id)
    if match is None:
        faults.append(f"run_id is {quoted(document.run_id)}, which does not name a run")
    for name in ("started", "ended"):
        if getattr(document, name).tzinfo is None:
            faults.append(f"{name} has no time zone")
    counts = {name: getattr(document, name) for name in (*COUNTED, "change", "missed", "attempt")}
    if any(value is not None and value < 0 for value in (*counts.values(), document.workers)):
        faults.append("it contains a negative count")
    if match is None or faults:
        raise damaged(path, faults)
    levels = {
        row.level: LevelCounts(row.sampled, row.cleared, row.admitted, row.written) for row in document.levels
    }
    record = RunRecord(
        job=document.job,
        outcome=document.outcome,
        started=document.started,
        ended=document.ended,
        process=int(match[1]),
        counts=Counts(stages=document.stages or Stages(), levels=levels, **counts),
        workers=document.workers,
        version=document.version,
        error=document.error,
    )
    try:
        expected = record.run_id
    except OverflowError as error:  # a time in year 1 or 9999 that UTC moves out of range
        raise damaged(path, [f"started is {document.started}: {error}"]) from error
    if expected != document.run_id:
        raise damaged(path, [f"run_id is {document.run_id}, but started gives {expected}"])
    return record


def _moment_text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
