"""Repair of solutions: each is made anew from the cards of its daily, and put where it belongs.

The hash in the daily decides, so the secret key is not needed: a solution depends on the cards alone.
"""

from collections.abc import Mapping
from concurrent.futures import Executor
from datetime import date, datetime

from pipeline.daily.hole import DailyHole, is_over, solution_bytes
from pipeline.daily.ledger import (
    PRIVATE_SOLUTION_FOLDER,
    SOLUTION_FOLDER,
    Entry,
    daily_path,
    days_in,
    private_solution_path,
    read_ledger,
    solution_path,
)
from pipeline.deals.certify import certify, warm_up
from pipeline.deals.levels import DAILY
from pipeline.integrity.dry_run import Mending, put
from pipeline.store.documents import Document, parse
from pipeline.store.storage import Storage
from pipeline.store.text import sha256_of
from pipeline.work.ordered import in_order
from solver.errors import UsageError
from solver.table.deal import parse_deal


def mend_solutions(
    storage: Storage, listed: Mapping[date, Document], now: datetime, mending: Mending, executor: Executor
) -> None:
    """Make the solutions anew that are missing, or are not what their dailies promise.

    Args:
        storage: the data root.
        listed: what the index lists; a daily that is not the one listed there promises nothing.
        now: the moment, aware: where a solution belongs depends on it.
        mending: takes what is done and what cannot be.
        executor: works holes out.
    """
    there = {folder: set(days_in(storage, folder)) for folder in (PRIVATE_SOLUTION_FOLDER, SOLUTION_FOLDER)}
    entries: dict[date, Entry] = {}
    places: dict[date, list[str]] = {}
    for day, entry in read_ledger(storage).entries.items():
        if day in listed and listed[day]["sha256"] != entry.sha256:
            continue
        is_out = is_over(day, now) or bool(day in listed and listed[day]["solution"])
        wrong = _wrong_places(storage, entry, there, is_out=is_out)
        if wrong:
            entries[day], places[day] = entry, wrong
    if places:
        warm_up()
    work = [(day, storage.read(daily_path(day))) for day in places]
    for (day, _), data in zip(work, in_order(executor, _solution_of, work), strict=True):
        right = data is not None and sha256_of(data) == entries[day].solution_sha256
        for path in places[day]:
            _put_right(storage, path, data if right else None, daily_path(day), mending)


def hole_of_cards(document: Document, day: date) -> DailyHole | None:
    """The hole that the cards of a daily make, whatever else it says; None where they make none.

    Args:
        document: the daily, in any state.
        day: its date.
    """
    text, attempt, key = (document.get(name) for name in ("deal", "attempt", "key_id"))
    if not isinstance(text, str) or type(attempt) is not int or not isinstance(key, str | None):
        return None
    try:
        certified = certify(DAILY, parse_deal(text), attempt)
    except UsageError:
        return None
    return None if certified is None else DailyHole(day, attempt, key, certified)


def _wrong_places(
    storage: Storage, entry: Entry, there: Mapping[str, set[date]], *, is_out: bool
) -> list[str]:
    """Paths under which a solution is wrong, or the one under which it is missing."""
    copies = [f"{folder}{entry.day}.json" for folder, days in there.items() if entry.day in days]
    if not copies:
        return [(solution_path if is_out else private_solution_path)(entry.day)]
    return [path for path in copies if sha256_of(storage.read(path)) != entry.solution_sha256]


def _solution_of(work: tuple[date, bytes]) -> bytes | None:
    day, data = work
    hole = hole_of_cards(parse(data, daily_path(day)), day)
    return None if hole is None else solution_bytes(hole)


def _put_right(storage: Storage, path: str, data: bytes | None, daily: str, mending: Mending) -> None:
    is_there = path in storage.list(path)
    fault = f"not the solution that {daily} promises" if is_there else f"missing, though {daily} promises it"
    if data is None:
        mending.refuse(path, f"{fault}; its cards give another one today: restore a copy")
    else:
        put(storage, path, data)
        mending.mend(path, f"{fault}; made anew from its cards, to the hash there")
