"""Run records: one small JSON document for each run of a job, in `runs/`, never changed afterwards.

Times belong here and nowhere else, so that everything else is the same bytes whenever it is made. Within a
major version of the schema fields are only added; a reader passes over those it does not know.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from typing import Any, Final

from pipeline.errors import DamagedError, MissingError, StorageError
from pipeline.store.documents import Document, parse, render
from pipeline.store.storage import Storage
from pipeline.store.text import shortened
from pipeline.work.counts import COUNTED, Counts, LevelCounts, Stages

RUN_SCHEMA: Final = "fairway-run/1.2"
RUN_PREFIX: Final = "runs/"

_READ: Final = re.compile(r"fairway-run/1\.[0-9]{1,4}", re.ASCII)
_RUN_ID: Final = re.compile(r"[0-9]{8}T[0-9]{6}Z-([0-9]{1,10})", re.ASCII)
_DECIMALS: Final = 3  # of seconds
_MOST_LOOKED_AT: Final = 300  # records, for a job that has not run for long


class Outcome(StrEnum):
    """How a run ended."""

    DONE = "done"
    NOTHING = "nothing to do"
    FAILED = "failed"
    STOPPED = "stopped"

    @property
    def is_good(self) -> bool:
        """Whether the run went to its end and did all that was due."""
        return self in (Outcome.DONE, Outcome.NOTHING)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a run of a job did.

    Attributes:
        job: the command.
        outcome: how it ended.
        started: when it began, aware.
        ended: when it ended, aware.
        process: id of its process, which tells two runs of one second apart.
        counts: what it made.
        workers: threads that computed.
        version: of Fairway.
        error: the message of a run that failed; None otherwise.
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
        """How long it took."""
        return (self.ended - self.started).total_seconds()


def run_id(started: datetime, process: int) -> str:
    """Name of a run: when it began, in UTC, and its process."""
    return f"{started.astimezone(UTC):%Y%m%dT%H%M%SZ}-{process}"


def record_path(record: RunRecord) -> str:
    """Where a record lies in the data root."""
    return f"{RUN_PREFIX}{record.run_id}.json"


def record_document(record: RunRecord) -> Document:
    """A record as a JSON document, which hooks are given too."""
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
    """Write a record; a run that begins twice in a second within one process replaces its own.

    Returns:
        Its path.

    Raises:
        StorageError: it cannot be written.
    """
    path = record_path(record)
    storage.replace(path, render(record_document(record)))
    return path


def run_paths(storage: Storage) -> tuple[str, ...]:
    """Paths of the run records, ascending in the moments that their runs began."""
    paths = storage.list(RUN_PREFIX)
    return tuple(path for path in paths if path.endswith(".json") and path.count("/") == 1)


def read_record(storage: Storage, path: str) -> RunRecord:
    """One record.

    Raises:
        MissingError: there is no such file.
        DamagedError: it is not what Fairway writes.
    """
    return parse_record(storage.read(path), path)


def latest_records(storage: Storage) -> Iterator[RunRecord | DamagedError]:
    """Records from the newest on, read as they are asked for; of one that is damaged what is wrong with it.

    Raises:
        StorageError: the data root cannot be read.
    """
    for path in reversed(run_paths(storage)):
        try:
            yield read_record(storage, path)
        except MissingError:
            continue  # somebody has cleared it away in the meantime
        except DamagedError as damage:
            yield damage
        except StorageError as fault:  # nothing but the history depends on one that cannot be read
            yield DamagedError(str(fault))


def attempt_of(records: Iterable[RunRecord | DamagedError], job: str, now: datetime | None = None) -> int:
    """Which attempt in a row the next run of a job is: 1, and one more for each that has failed.

    Args:
        records: from `latest_records`; they are read back to the last good run of the job, but not for ever.
        job: the command.
        now: runs that ended later are passed over: the clock was ahead then. None to believe all of them.
    """
    attempt = 1
    for record in islice(records, _MOST_LOOKED_AT):
        if isinstance(record, RunRecord) and record.job == job and (now is None or record.ended <= now):
            if record.outcome.is_good:
                break
            attempt += record.outcome is Outcome.FAILED
    return attempt


def parse_record(data: bytes, path: str) -> RunRecord:
    """Read the file of a record, of this version of its schema or of an earlier or later minor one.

    Args:
        data: the file.
        path: where it lies.

    Raises:
        DamagedError: it is not what Fairway writes, with what is wrong.
    """
    document = parse(data, path)
    schema = document.get("schema")
    if not (isinstance(schema, str) and _READ.fullmatch(schema)):
        raise DamagedError(f"{path} is no run record that this Fairway reads: its schema is {_short(schema)}")
    try:
        record = _record(document)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise DamagedError(f"{path} is damaged: {reason}") from error
    if record_path(record) != path:
        raise DamagedError(f"{path} is damaged: it tells of the run {record.run_id}")
    return record


def _record(document: Mapping[str, Any]) -> RunRecord:
    name = _of(document, "run_id", str)
    match = _RUN_ID.fullmatch(name)
    if match is None:
        raise ValueError(f"run_id is {_short(name)}, which names no run")
    started = _moment(document, "started")
    record = RunRecord(
        job=_of(document, "job", str),
        outcome=Outcome(_of(document, "outcome", str)),
        started=started,
        ended=_moment(document, "ended"),
        process=int(match[1]),
        counts=_counts(document),
        workers=_count(document, "workers"),
        version=_of(document, "version", str),
        error=_of(document, "error", str | None),
    )
    if record.run_id != name:
        raise ValueError(f"run_id is {_short(name)}, and started says {record.run_id}")
    return record


def _counts(document: Mapping[str, Any]) -> Counts:
    """The counts of a record; those that 1.1 did not have yet are nothing there."""
    counts = Counts()
    for name in COUNTED:
        setattr(counts, name, _count(document, name))
    counts.change = None if document["change"] is None else _count(document, "change")
    if "levels" in document:
        counts.missed, counts.attempt = _count(document, "missed"), _count(document, "attempt")
        counts.levels = dict(map(_level, _of(document, "levels", list)))
        seconds = _of(document, "stages", dict)
        counts.stages = Stages(**{each.name: _seconds(seconds, each.name) for each in fields(Stages)})
    return counts


def _level(row: object) -> tuple[str, LevelCounts]:
    if not isinstance(row, dict):
        raise TypeError(f"levels holds {_short(row)}, which is no object")
    counts = {each.name: _count(row, each.name) for each in fields(LevelCounts)}
    return _of(row, "level", str), LevelCounts(**counts)


def _count(document: Mapping[str, Any], name: str) -> int:
    value = document[name]
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} is {_short(value)}, which is no count")
    return value


def _seconds(document: Mapping[str, Any], name: str) -> float:
    value = document[name]
    if type(value) not in (int, float) or value < 0:
        raise ValueError(f"{name} is {_short(value)}, which is no number of seconds")
    return float(value)


def _moment(document: Mapping[str, Any], name: str) -> datetime:
    moment = datetime.fromisoformat(_of(document, name, str))
    if moment.tzinfo is None:
        raise ValueError(f"{name} is {_short(document[name])}, which names no time zone")
    return moment


def _of(document: Mapping[str, Any], name: str, kind: Any) -> Any:
    value = document[name]
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {_short(value)}, which is of the wrong kind")
    return value


def _moment_text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _short(value: object) -> str:
    return shortened(repr(value))
