"""The published files of the Daily: their paths, their dates, and reading one of them, checked."""

import re
from datetime import date
from typing import Final

from pipeline.daily.calendar import hole_number
from pipeline.daily.checks import daily_faults
from pipeline.errors import CheckError, DamagedError, MissingError
from pipeline.store.documents import Document, parse
from pipeline.store.storage import Storage
from pipeline.store.text import MAX_FAULTS, listed

DAILY_FOLDER: Final = "daily/"
SOLUTION_FOLDER: Final = "daily/solutions/"
PRIVATE_SOLUTION_FOLDER: Final = "private/solutions/"
INDEX_PATH: Final = "daily/index.json"

_FILE_NAME: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\.json")


def daily_path(day: date) -> str:
    """Path of the daily of a date."""
    return f"{DAILY_FOLDER}{day}.json"


def solution_path(day: date) -> str:
    """Path of the solution of a date once the date is over."""
    return f"{SOLUTION_FOLDER}{day}.json"


def private_solution_path(day: date) -> str:
    """Path where the solution of a date waits until the date is over."""
    return f"{PRIVATE_SOLUTION_FOLDER}{day}.json"


def day_of(path: str, folder: str) -> date | None:
    """Return the date of a file directly inside a folder of dailies or solutions; None for any other path."""
    match = _FILE_NAME.fullmatch(path.removeprefix(folder))
    try:
        return date.fromisoformat(match[1]) if match else None
    except ValueError:  # such as 2026-02-30
        return None


def days_in(storage: Storage, folder: str) -> tuple[date, ...]:
    """Return the dates that have a file directly inside a folder of dailies or solutions, ascending."""
    days = (day_of(path, folder) for path in storage.list(folder))
    return tuple(day for day in days if day is not None)


def published_days(storage: Storage) -> tuple[date, ...]:
    """Return the dates that have a daily, ascending."""
    return days_in(storage, DAILY_FOLDER)


def published_bytes(storage: Storage, day: date) -> bytes:
    """Return the bytes of the daily of a date, unchecked.

    Raises:
        UsageError: if the date is before the first hole.
        CheckError: if the hole is not published.
    """
    hole_number(day)
    try:
        return storage.read(daily_path(day))
    except MissingError as error:
        raise CheckError(
            f"the Daily hole of {day} is not published; `fairway daily publish` publishes those that are due"
        ) from error


def published_daily(storage: Storage, day: date) -> Document:
    """Return the daily of a date, checked.

    Raises:
        UsageError: if the date is before the first hole.
        CheckError: if the hole is not published.
        DamagedError: if the daily is damaged.
    """
    return checked_daily(published_bytes(storage, day), day)


def checked_daily(data: bytes, day: date) -> Document:
    """Parse a daily and check it against its schema, itself and the date in its file name.

    Raises:
        DamagedError: if it is damaged, with up to `MAX_FAULTS` of its faults.
    """
    path = daily_path(day)
    document = parse(data, path)
    faults = daily_faults(document)
    if not faults and document["date"] != day.isoformat():
        faults = (f"$.date: {document['date']} is not the date in the file name",)
    if faults:
        raise DamagedError(f"{path} is damaged: {listed(faults, MAX_FAULTS, '; ')}")
    return document
