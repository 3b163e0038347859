"""What is published: the dailies and solutions that lie in the data root, and the index that lists them.

The index is derived, with one exception: it keeps the hash of a daily from the moment it was published. So
an entry is never rewritten to fit a file that has changed, or dropped because its file is gone; that is
reported.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from pipeline.daily.checks import daily_faults
from pipeline.daily.hole import hole_of
from pipeline.errors import CheckError, DamagedError, MissingError
from pipeline.store.documents import INDEX_SCHEMA, Document, parse, render, schema_faults
from pipeline.store.storage import Storage
from pipeline.store.text import sha256_of

DAILY_FOLDER: Final = "daily/"
SOLUTION_FOLDER: Final = "daily/solutions/"
PRIVATE_SOLUTION_FOLDER: Final = "private/solutions/"
INDEX_PATH: Final = "daily/index.json"

_READ_HERE: Final = {"hole": int, "par": int, "puzzle_id": str, "solution_sha256": str}
_FILE_NAME: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\.json")


@dataclass(frozen=True, slots=True)
class Entry:
    """One published hole, as the index lists it.

    Attributes:
        day: its date.
        hole: its number.
        par: its par.
        sha256: hash of the daily's bytes.
        solution_sha256: hash of the solution's bytes.
        is_released: whether the right solution is out, in `daily/solutions`.
    """

    day: date
    hole: int
    par: int
    sha256: str
    solution_sha256: str
    is_released: bool

    def document(self) -> dict[str, Any]:
        """The entry in the index; paths are relative to the index."""
        file = f"{self.day}.json"
        solution = {"file": f"solutions/{file}", "sha256": self.solution_sha256}
        return {
            "date": self.day.isoformat(),
            "hole": self.hole,
            "par": self.par,
            "file": file,
            "sha256": self.sha256,
            "solution": solution if self.is_released else None,
        }


@dataclass(slots=True)
class Ledger:
    """Everything that is published, after one pass over the files; it grows with each hole that is added.

    Attributes:
        days: the dates that have a file, whatever is in it; they are taken.
        entries: the readable ones by date.
        puzzles: the date that has each puzzle id.
        listed: the entries of the index as it was found, by date; empty where it was missing or damaged.
        damage: what is wrong with the files, one line for each.
    """

    days: set[date]
    entries: dict[date, Entry]
    puzzles: dict[str, date]
    listed: Mapping[date, Document]
    damage: list[str]

    def add(self, entry: Entry, puzzle_id: str) -> None:
        """Count in a hole that has just been published."""
        self.days.add(entry.day)
        self.entries[entry.day] = entry
        self.puzzles[puzzle_id] = entry.day

    def refusal(self, entry: Entry, puzzle_id: str) -> str | None:
        """Why a hole for a free date must not be published; None where it may."""
        listed = self.listed.get(entry.day)
        if listed is not None and listed["sha256"] != entry.sha256:
            return f"{entry.day} was not published: another hole was, before. {_gone(entry.day)}"
        if puzzle_id in self.puzzles:
            other = daily_path(self.puzzles[puzzle_id])
            return f"{entry.day} was not published: its puzzle {puzzle_id} is out already, as {other}"
        return None

    def faults(self) -> tuple[str, ...]:
        """What is wrong, each with its file and how to mend it."""
        return (*self.damage, *(_gone(day) for day in sorted(self.listed.keys() - self.days)))

    def index_bytes(self) -> bytes:
        """The index: what is there; for what has changed or is gone, the entry as it was published."""
        documents = {day: entry.document() for day, entry in self.entries.items()}
        for day, listed in self.listed.items():
            if day not in documents or documents[day]["sha256"] != listed["sha256"]:
                documents[day] = listed
        return render_index(documents)


def render_index(entries: Mapping[date, Document]) -> bytes:
    """The bytes of an index with these entries, by date."""
    return render({"schema": INDEX_SCHEMA, "dailies": [entries[day] for day in sorted(entries)]})


def daily_path(day: date) -> str:
    """Where the daily of a date lies once it is published."""
    return f"{DAILY_FOLDER}{day}.json"


def solution_path(day: date) -> str:
    """Where the solution of a date lies once the date is over."""
    return f"{SOLUTION_FOLDER}{day}.json"


def private_solution_path(day: date) -> str:
    """Where the solution of a date waits until then."""
    return f"{PRIVATE_SOLUTION_FOLDER}{day}.json"


def published_days(storage: Storage) -> tuple[date, ...]:
    """The dates that have a daily, in order."""
    return days_in(storage, DAILY_FOLDER)


def published_bytes(storage: Storage, day: date) -> bytes:
    """The bytes of the daily of a date, whatever is in them.

    Raises:
        UsageError: the date lies before the first hole.
        CheckError: the hole is not published.
    """
    hole_of(day)
    try:
        return storage.read(daily_path(day))
    except MissingError as error:
        raise CheckError(
            f"the Daily hole of {day} is not published; `fairway daily publish` puts out those that are due"
        ) from error


def published_daily(storage: Storage, day: date) -> Document:
    """The daily of a date, checked.

    Raises:
        UsageError: the date lies before the first hole.
        CheckError: the hole is not published.
        DamagedError: it is not what it must be.
    """
    document = parse(published_bytes(storage, day), daily_path(day))
    check_daily(document, day)
    return document


def days_in(storage: Storage, folder: str) -> tuple[date, ...]:
    """The dates that have a file right inside a folder of dailies or solutions, in order."""
    days = (day_of(path, folder) for path in storage.list(folder))
    return tuple(day for day in days if day is not None)


def day_of(path: str, folder: str) -> date | None:
    """The date that a path right inside a folder is named by; None for any other path."""
    match = _FILE_NAME.fullmatch(path.removeprefix(folder))
    try:
        return date.fromisoformat(match[1]) if match else None
    except ValueError:  # such as 2026-02-30
        return None


def read_ledger(storage: Storage) -> Ledger:
    """Look through everything that is published, once; what is damaged is noted and stands as it is."""
    ledger = Ledger(set(published_days(storage)), {}, {}, _listed(storage), [])
    with_solution = set(days_in(storage, SOLUTION_FOLDER))
    for day in sorted(ledger.days):
        listed = ledger.listed.get(day)
        try:
            entry, puzzle_id = _read_entry(storage, day, listed)
        except DamagedError as error:
            ledger.damage.append(str(error))
            continue
        if listed is not None and listed["sha256"] != entry.sha256:
            ledger.damage.append(_changed(day))
        if day in with_solution:
            is_right = sha256_of(storage.read(solution_path(day))) == entry.solution_sha256
            entry = replace(entry, is_released=is_right)
        ledger.entries[day] = entry
        ledger.puzzles.setdefault(puzzle_id, day)
    return ledger


def check_daily(document: Document, day: date) -> None:
    """Check all of a daily against its schema, itself, and the date it lies under.

    Raises:
        DamagedError: with everything that is wrong.
    """
    faults = daily_faults(document)
    if not faults and document["date"] != day.isoformat():
        faults = (f"$.date: {document['date']} is not that of the file's name",)
    if faults:
        raise DamagedError(f"{daily_path(day)}: {'; '.join(faults)}; restore it from a copy")


def parse_index(data: bytes) -> dict[date, Document]:
    """The entries of an index, by date.

    Raises:
        DamagedError: it is no index, or lists a date twice.
    """
    document = parse(data, INDEX_PATH)
    faults = schema_faults(document, INDEX_SCHEMA)
    if faults:
        raise DamagedError(f"{INDEX_PATH}: {'; '.join(faults)}")
    try:
        entries = {date.fromisoformat(entry["date"]): entry for entry in document["dailies"]}
    except ValueError as error:
        raise DamagedError(f"{INDEX_PATH}: a date that does not exist: {error}") from error
    if list(entries) != sorted(entries) or len(entries) < len(document["dailies"]):
        raise DamagedError(f"{INDEX_PATH}: the dates are not in order, each once")
    return entries


def _listed(storage: Storage) -> dict[date, Document]:
    try:
        return parse_index(storage.read(INDEX_PATH))
    except (MissingError, DamagedError):  # it will be rebuilt from what is there
        return {}


def _read_entry(storage: Storage, day: date, listed: Document | None) -> tuple[Entry, str]:
    """The entry of a daily, its solution aside, and its puzzle id."""
    path = daily_path(day)
    data = storage.read(path)
    sha256 = sha256_of(data)
    daily = parse(data, path)
    # What the index lists went through every check before; to repeat them takes 2 ms for each day there was.
    is_known = listed is not None and listed["sha256"] == sha256
    if not is_known or not all(isinstance(daily.get(name), kind) for name, kind in _READ_HERE.items()):
        check_daily(daily, day)
    entry = Entry(day, daily["hole"], daily["par"], sha256, daily["solution_sha256"], is_released=False)
    return entry, daily["puzzle_id"]


def _changed(day: date) -> str:
    path = daily_path(day)
    return (
        f"{path} has changed since {INDEX_PATH} listed it; restore it from a copy"
        f" (where the daily is right, remove {INDEX_PATH}: it is rebuilt from what is there)"
    )


def _gone(day: date) -> str:
    return (
        f"{daily_path(day)} is gone, but {INDEX_PATH} lists it; restore it from a copy"
        f" (to give it up, remove {INDEX_PATH}: it is rebuilt from what is there)"
    )
