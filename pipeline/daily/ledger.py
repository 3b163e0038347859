"""The ledger: what is published, found in one walk over the dailies, their solutions and the index.

Publishing, verifying and repairing all start from it, so that a file is sound for all of them or for none.

The index is derived from the files, with one exception: it keeps the hash with which each daily was
published. So an entry is never rewritten to fit a file that has changed, and never dropped because its file
is missing.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final

from pipeline.daily.files import (
    INDEX_PATH,
    PRIVATE_SOLUTION_FOLDER,
    SOLUTION_FOLDER,
    checked_daily,
    daily_path,
    days_in,
    private_solution_path,
    published_days,
    solution_path,
)
from pipeline.errors import DamagedError, MissingError, StorageError, VersionError
from pipeline.store.documents import INDEX_SCHEMA, Document, parse, render, schema_faults
from pipeline.store.storage import Storage
from pipeline.store.text import MAX_FAULTS, listed, sha256_of

_ENTRY_TYPES: Final[Mapping[str, Any]] = {
    "hole": int,
    "par": int,
    "puzzle_id": str,
    "key_id": str | None,
    "solution_sha256": str,
}


@dataclass(frozen=True, slots=True)
class Entry:
    """What the ledger keeps of one valid daily: values of its document, and the hash of its bytes."""

    day: date
    hole: int
    par: int
    puzzle_id: str
    key_id: str | None
    sha256: str
    solution_sha256: str

    def document(self, *, is_released: bool) -> Document:
        """Return the entry as the index lists it; paths are relative to the index."""
        file = f"{self.day}.json"
        solution = {"file": f"solutions/{file}", "sha256": self.solution_sha256}
        return {
            "date": self.day.isoformat(),
            "hole": self.hole,
            "par": self.par,
            "file": file,
            "sha256": self.sha256,
            "solution": solution if is_released else None,
        }


@dataclass(frozen=True, slots=True)
class DayFiles:
    """The files of one date, and what is wrong with them.

    Attributes:
        day: the date.
        exists: whether there is a daily, damaged or not; nothing else is published for the date then.
        listed: the date's entry in the index; None if there is none.
        entry: what the daily says; None if it is missing or damaged.
        fault: why the daily is not the one that was published; None if it is.
        solutions: what is wrong with each copy of the solution, by path; None if it has the hash in the
            daily.
    """

    day: date
    exists: bool
    listed: Document | None
    entry: Entry | None
    fault: str | None
    solutions: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def is_released(self) -> bool:
        """Whether the right solution is public."""
        return self.solutions.get(solution_path(self.day), "missing") is None

    def document(self) -> Document | None:
        """Return the date's entry for the index: as it was published if the daily is not sound now."""
        if self.entry is None or (self.fault is not None and self.listed is not None):
            return self.listed
        was_released = self.listed is not None and self.listed["solution"] is not None
        return self.entry.document(is_released=self.is_released or was_released)


@dataclass(slots=True)
class Ledger:
    """Everything that is published.

    Attributes:
        days: the dates that have a daily or are listed in the index, ascending as they were read.
        puzzles: the first date of each puzzle.
        index: the bytes of the index; None if it is missing.
        index_error: why the index cannot be used; None if it can, or if nothing was ever published.
    """

    days: dict[date, DayFiles]
    puzzles: dict[str, date]
    index: bytes | None
    index_error: DamagedError | MissingError | None

    def is_published(self, day: date) -> bool:
        """Return whether a date has a daily, damaged or not."""
        return day in self.days and self.days[day].exists

    def add(self, entry: Entry, solution: str) -> None:
        """Add a hole that has just been published, and the path of its solution."""
        listed = self.days[entry.day].listed if entry.day in self.days else None
        self.days[entry.day] = DayFiles(entry.day, True, listed, entry, None, {solution: None})
        self.puzzles.setdefault(entry.puzzle_id, entry.day)

    def refusal(self, entry: Entry) -> str | None:
        """Return why a hole must not be published for a date without a daily; None if it may."""
        known = self.days.get(entry.day)
        if known is not None and known.listed is not None and known.listed["sha256"] != entry.sha256:
            return (
                f"{daily_path(entry.day)} is missing, and the key in force gives another hole than the one"
                " published: restore a copy, or run `fairway repair` with the key of that time"
            )
        if entry.puzzle_id in self.puzzles:
            other = daily_path(self.puzzles[entry.puzzle_id])
            return f"{entry.day} was not published: {other} already has its puzzle {entry.puzzle_id}"
        return None

    def faults(self) -> dict[date, str]:
        """Return what is wrong with the dailies, one sentence per file, by date."""
        return {day: files.fault for day, files in self.days.items() if files.fault is not None}

    def index_bytes(self) -> bytes:
        """Return the index as it must be now."""
        documents = {day: files.document() for day, files in self.days.items()}
        return render_index({day: document for day, document in documents.items() if document is not None})


def render_index(entries: Mapping[date, Document]) -> bytes:
    """Return the bytes of an index with these entries."""
    return render({"schema": INDEX_SCHEMA, "dailies": [entries[day] for day in sorted(entries)]})


def parse_index(data: bytes) -> dict[date, Document]:
    """Return the entries of an index, by date.

    Raises:
        DamagedError: if it is not an index, or its dates are not ascending.
        VersionError: if it has another schema version.
    """
    document = parse(data, INDEX_PATH)
    schema = document.get("schema")
    if schema != INDEX_SCHEMA and str(schema).startswith(INDEX_SCHEMA.partition("/")[0] + "/"):
        raise VersionError(f"{INDEX_PATH} has the schema {schema!r}, this Fairway reads {INDEX_SCHEMA!r}")
    faults = schema_faults(document, INDEX_SCHEMA)
    if faults:
        raise DamagedError(f"{INDEX_PATH} is damaged: {listed(faults, MAX_FAULTS, '; ')}")
    try:
        entries = {date.fromisoformat(entry["date"]): entry for entry in document["dailies"]}
    except ValueError as fault:
        raise DamagedError(f"{INDEX_PATH} is damaged: it has a date that does not exist: {fault}") from fault
    if list(entries) != sorted(entries) or len(entries) < len(document["dailies"]):
        raise DamagedError(f"{INDEX_PATH} is damaged: its dates are not in ascending order")
    return entries


def read_ledger(storage: Storage, *, is_thorough: bool = False) -> Ledger:
    """Read everything that is published. Damage is recorded, not raised.

    Args:
        storage: the data root.
        is_thorough: check every daily in full. Otherwise a daily with the hash in the index is trusted,
            because it was checked when it was listed; that saves 2 ms per daily.

    Raises:
        StorageError: if the folders cannot be listed.
    """
    index, index_error, listed = _read_index(storage)
    dailies = set(published_days(storage))
    if isinstance(index_error, MissingError) and not dailies:
        index_error = None
    solutions = {
        solution_path: set(days_in(storage, SOLUTION_FOLDER)),
        private_solution_path: set(days_in(storage, PRIVATE_SOLUTION_FOLDER)),
    }
    ledger = Ledger({}, {}, index, index_error)
    for day in sorted(dailies | listed.keys()):
        copies = [path_of(day) for path_of, days in solutions.items() if day in days]
        files = _read_day(storage, day, listed.get(day), exists=day in dailies, is_thorough=is_thorough)
        entry = files.entry
        if entry is not None:
            files = replace(files, solutions=_solutions(storage, copies, entry))
            ledger.puzzles.setdefault(entry.puzzle_id, day)
        ledger.days[day] = files
    return ledger


def _read_index(
    storage: Storage,
) -> tuple[bytes | None, DamagedError | MissingError | None, dict[date, Document]]:
    try:
        data = storage.read(INDEX_PATH)
    except MissingError:
        return None, MissingError(f"{INDEX_PATH} is missing"), {}
    except StorageError as error:
        return None, DamagedError(str(error)), {}
    try:
        return data, None, parse_index(data)
    except DamagedError as error:
        return data, error, {}


def _read_day(
    storage: Storage, day: date, listed: Document | None, *, exists: bool, is_thorough: bool
) -> DayFiles:
    path = daily_path(day)
    if not exists:
        return DayFiles(day, False, listed, None, f"{path} is missing, but {INDEX_PATH} lists it")
    published_sha256 = None if listed is None else listed["sha256"]
    try:
        entry = _read_entry(storage, day, None if is_thorough else published_sha256)
    except (DamagedError, StorageError) as error:
        return DayFiles(day, True, listed, None, str(error))
    fault = None
    if published_sha256 not in (None, entry.sha256):
        fault = f"{path} has changed since {INDEX_PATH} listed it"
    return DayFiles(day, True, listed, entry, fault)


def _read_entry(storage: Storage, day: date, trusted_sha256: str | None) -> Entry:
    data = storage.read(daily_path(day))
    sha256 = sha256_of(data)
    document = parse(data, daily_path(day))
    has_types = all(isinstance(document.get(name), kind) for name, kind in _ENTRY_TYPES.items())
    if sha256 != trusted_sha256 or not has_types:
        checked_daily(data, day)
        if render(document) != data:
            raise DamagedError(f"{daily_path(day)} is damaged: it has other spaces or another order of keys")
    return Entry(day=day, sha256=sha256, **{name: document[name] for name in _ENTRY_TYPES})


def _solutions(storage: Storage, copies: Iterable[str], entry: Entry) -> dict[str, str | None]:
    """Return what is wrong with each copy of a solution, even if it is made public meanwhile."""
    found: dict[str, str | None] = {}
    for path in (*copies, solution_path(entry.day)):
        if path not in found:
            with suppress(MissingError):
                found[path] = _solution_fault(storage, path, entry)
    return found


def _solution_fault(storage: Storage, path: str, entry: Entry) -> str | None:
    try:
        is_right = sha256_of(storage.read(path)) == entry.solution_sha256
    except MissingError:
        raise
    except StorageError as error:
        return str(error)
    return None if is_right else f"{path} does not have the hash in {daily_path(entry.day)}"
