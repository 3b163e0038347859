"""Repair of what is published: dailies, their solutions, and the index.

A daily is restored only to the bytes whose hash the index has kept since it was published, and a solution
only to the bytes whose hash is in its daily. Neither needs the secret key if the cards of the daily can
still be read.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from functools import partial
from typing import Final

from pipeline.daily.calendar import is_over
from pipeline.daily.files import INDEX_PATH, daily_path, private_solution_path, solution_path
from pipeline.daily.hole import DailyHole, choose, daily_bytes, solution_bytes
from pipeline.daily.key import DailyKey
from pipeline.daily.ledger import DayFiles, Ledger, read_ledger
from pipeline.deals.certify import certify, warm_up
from pipeline.deals.levels import FIRST_DAILY, daily_level, daily_version
from pipeline.errors import DamagedError, StorageError, VersionError
from pipeline.integrity.dry_run import RepairLog, restore
from pipeline.store.documents import DAILY_SCHEMA, parse
from pipeline.store.storage import Storage
from pipeline.store.text import sha256_of
from pipeline.work.executors import Work
from solver.errors import UsageError
from solver.table.deal import parse_deal

TASK: Final = "dailies"


def repair_dailies(storage: Storage, key: DailyKey | None, now: datetime, log: RepairLog, work: Work) -> None:
    """Restore dailies, then solutions, which are public if their date is over by `now`, then the index."""
    ledger = read_ledger(storage, is_thorough=True)
    if isinstance(ledger.index_error, VersionError):
        log.refuse(INDEX_PATH, f"{ledger.index_error}; use the version of Fairway that wrote it")
        return
    if _repair_damaged(storage, ledger, key, log, work):
        ledger = read_ledger(storage, is_thorough=True)
    if _repair_solutions(storage, ledger, now, log, work):
        ledger = read_ledger(storage, is_thorough=True)
    _repair_index(storage, ledger, log)


def _repair_damaged(
    storage: Storage, ledger: Ledger, key: DailyKey | None, log: RepairLog, work: Work
) -> bool:
    """Restore the dailies that are not sound, and return whether there were any."""
    lost: list[tuple[DayFiles, bytes | None]] = []
    for day, files in ledger.days.items():
        if files.fault is not None and files.listed is None:
            log.refuse(
                daily_path(day),
                f"{files.fault}; {INDEX_PATH} has no hash of it: restore a copy or move it away",
            )
        elif files.fault is not None:
            lost.append((files, _found_bytes(storage, files)))
    if lost:
        warm_up()
    restored = partial(_published_bytes, keys=(None,) if key is None else (key, None))
    for done, ((files, _), data) in enumerate(zip(lost, work.in_order(restored, lost), strict=True), start=1):
        path = daily_path(files.day)
        if data is not None:
            restore(storage, log, path, data, f"{files.fault}; made again, byte for byte")
        else:
            accept = f", or remove {INDEX_PATH} if the daily is right" if files.entry is not None else ""
            reason = (
                "neither its cards nor its date, with or without today's key, reproduces the published hole"
            )
            log.refuse(path, f"{files.fault}; {reason}: restore a copy{accept}")
        work.progress.update(TASK, done, len(lost))
    return bool(lost)


def _found_bytes(storage: Storage, files: DayFiles) -> bytes | None:
    """Return the content of a damaged daily; None if it is missing or cannot be read."""
    try:
        return storage.read(daily_path(files.day)) if files.exists else None
    except StorageError:
        return None


def _published_bytes(lost: tuple[DayFiles, bytes | None], keys: Sequence[DailyKey | None]) -> bytes | None:
    """Return the bytes of a daily as it was published; None if nothing here gives them."""
    files, found = lost
    for hole in _candidates(files.day, found, keys):
        data = daily_bytes(hole)
        if files.listed is not None and sha256_of(data) == files.listed["sha256"]:
            return data
    return None


def _candidates(day: date, found: bytes | None, keys: Sequence[DailyKey | None]) -> Iterator[DailyHole]:
    own = None if found is None else _hole_of_cards(found, day)
    if own is not None:
        yield own
    for version in dict.fromkeys((daily_version(day), FIRST_DAILY)):
        for key in keys:
            yield choose(day, key, version=version)


def _hole_of_cards(data: bytes, day: date) -> DailyHole | None:
    """Return the hole with the cards of a daily, whatever else it says; None if they cannot be read."""
    try:
        document = parse(data, daily_path(day))
        text, attempt, key = (document.get(name) for name in ("deal", "attempt", "key_id"))
        if not isinstance(text, str) or type(attempt) is not int or not isinstance(key, str | None):
            return None
        deal = parse_deal(text)
        version = FIRST_DAILY if document.get("schema") == DAILY_SCHEMA else daily_version(day)
        certified = certify(daily_level(day, version), deal, attempt)
    except (DamagedError, UsageError):
        return None
    return None if certified is None else DailyHole(day, attempt, key, version, certified)


def _repair_solutions(storage: Storage, ledger: Ledger, now: datetime, log: RepairLog, work: Work) -> bool:
    """Restore the solutions of sound dailies, and return whether any was missing or wrong."""
    wrong = {day: paths for day, files in ledger.days.items() if (paths := _wrong_solutions(files, now))}
    if wrong:
        warm_up()
    dailies = [(day, storage.read(daily_path(day))) for day in wrong]
    for (day, _), data in zip(dailies, work.in_order(_solution_of, dailies), strict=True):
        files = ledger.days[day]
        is_right = files.entry is not None and sha256_of(data or b"") == files.entry.solution_sha256
        for path in wrong[day]:
            fault = files.solutions.get(path) or f"{path} is missing, but {daily_path(day)} has its hash"
            if data is not None and is_right:
                restore(storage, log, path, data, f"{fault}; made again from the cards, byte for byte")
            else:
                log.refuse(path, f"{fault}; the cards give another solution today: restore a copy")
    return bool(wrong)


def _wrong_solutions(files: DayFiles, now: datetime) -> list[str]:
    """Return the paths under which the solution of a sound daily is wrong, or the one where it is missing."""
    if files.fault is not None:
        return []
    if files.solutions:
        return [path for path, fault in files.solutions.items() if fault is not None]
    is_public = is_over(files.day, now) or bool(files.listed and files.listed["solution"])
    return [solution_path(files.day) if is_public else private_solution_path(files.day)]


def _solution_of(daily: tuple[date, bytes]) -> bytes | None:
    day, data = daily
    hole = _hole_of_cards(data, day)
    return None if hole is None else solution_bytes(hole)


def _repair_index(storage: Storage, ledger: Ledger, log: RepairLog) -> None:
    if any(files.fault is not None and files.listed is not None for files in ledger.days.values()):
        return  # the index may be the only record of how a daily was published
    data = ledger.index_bytes()
    if data == ledger.index or (ledger.index is None and ledger.index_error is None):
        return
    fault = ledger.index_error or f"{INDEX_PATH} does not match the dailies"
    restore(storage, log, INDEX_PATH, data, f"{fault}; rebuilt from the dailies")
