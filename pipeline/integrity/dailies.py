"""Verification of what is published: every daily and solution, the index, and each hole chosen anew."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import Final

from pipeline.daily.checks import solution_faults
from pipeline.daily.hole import choose, daily_bytes, key_id
from pipeline.daily.ledger import (
    DAILY_FOLDER,
    INDEX_PATH,
    PRIVATE_SOLUTION_FOLDER,
    SOLUTION_FOLDER,
    Ledger,
    check_daily,
    daily_path,
    day_of,
    days_in,
    parse_index,
    published_days,
    read_ledger,
    render_index,
)
from pipeline.deals.certify import warm_up
from pipeline.errors import DamagedError, StorageError
from pipeline.integrity.report import Check, Report
from pipeline.store.documents import Document, parse, render
from pipeline.store.storage import Storage
from pipeline.store.text import sha256_of
from pipeline.work.ordered import in_order
from pipeline.work.progress import Progress

DAILIES_TASK: Final = "dailies"


@dataclass(frozen=True, slots=True)
class Daily:
    """A published hole without fault of its own.

    Attributes:
        day: its date.
        data: the bytes of the file.
        document: what they say.
    """

    day: date
    data: bytes
    document: Document


def verify_dailies(storage: Storage, report: Report) -> list[Daily]:
    """Check everything that is published, as far as it goes without solving.

    Args:
        storage: the data root; it is only read.
        report: takes what is found.

    Returns:
        The dailies without fault of their own.
    """
    dailies = _read_dailies(storage, report)
    _check_unique(report, dailies)
    _check_solutions(storage, report, dailies)
    _check_index(storage, report)
    return dailies


def choose_anew(
    report: Report, dailies: Sequence[Daily], key: bytes | None, executor: Executor, progress: Progress
) -> None:
    """Choose the published holes anew and compare.

    Args:
        report: takes what is found.
        dailies: the published holes.
        key: the secret key in force; holes of another one cannot be chosen anew.
        executor: chooses them.
        progress: told of each hole.
    """
    known: dict[str | None, bytes | None] = {None: None}
    if key is not None:
        known[key_id(key)] = key
    checkable = [daily for daily in dailies if daily.document["key_id"] in known]
    if checkable:
        warm_up()
    with report.check("holes chosen anew", "dailies", DAILY_FOLDER) as check:
        _note_keys(dailies, known, check)
        work = [(daily.day, known[daily.document["key_id"]]) for daily in checkable]
        for daily, anew in zip(checkable, in_order(executor, _chosen, work), strict=True):
            check.checked += 1
            progress.update(DAILIES_TASK, check.checked, len(checkable))
            if anew != daily.data:
                _note_difference(daily, parse(anew, daily_path(daily.day)), check)


def _read_dailies(storage: Storage, report: Report) -> list[Daily]:
    dailies: list[Daily] = []
    with report.check("dailies faultless, under their own date", "dailies", DAILY_FOLDER) as check:
        for path in storage.list(DAILY_FOLDER):
            day = day_of(path, DAILY_FOLDER)
            if day is not None:
                check.checked += 1
                dailies.extend(_read_daily(storage, day, check))
            elif path != INDEX_PATH and day_of(path, SOLUTION_FOLDER) is None:
                check.note(path, "no file of this name is published")
        _note_gaps(published_days(storage), check)
    return dailies


def _read_daily(storage: Storage, day: date, check: Check) -> Iterator[Daily]:
    path = daily_path(day)
    try:
        data = storage.read(path)
        document = parse(data, path)
        check_daily(document, day)
    except (DamagedError, StorageError) as error:
        check.problem(path, str(error))
        return
    if render(document) != data:
        check.problem(path, "not in the form that is published: other blanks, or another order of keys")
    yield Daily(day, data, document)


def _note_gaps(days: Sequence[date], check: Check) -> None:
    for before, after in pairwise(days):
        missing = (after - before).days - 1
        if missing:
            check.note(DAILY_FOLDER, f"no hole for {missing} dates between {before} and {after}")


def _check_unique(report: Report, dailies: Sequence[Daily]) -> None:
    seen: dict[str, date] = {}
    with report.check("no puzzle on two dates", "dailies", DAILY_FOLDER) as check:
        for daily in dailies:
            check.checked += 1
            first = seen.setdefault(daily.document["puzzle_id"], daily.day)
            if first != daily.day:
                check.problem(daily_path(daily.day), f"its puzzle is that of {daily_path(first)} too")


def _check_solutions(storage: Storage, report: Report, dailies: Sequence[Daily]) -> None:
    with report.check("solutions there, as hashed, replayed", "solutions", PRIVATE_SOLUTION_FOLDER) as check:
        folders = {
            folder: set(days_in(storage, folder)) for folder in (PRIVATE_SOLUTION_FOLDER, SOLUTION_FOLDER)
        }
        for daily in dailies:
            copies = [f"{folder}{daily.day}.json" for folder, days in folders.items() if daily.day in days]
            if not copies:
                check.problem(daily_path(daily.day), "its solution is missing")
            for path in copies:
                check.checked += 1
                check.collect(path, _solution_faults(storage, path, daily))
        published = set(published_days(storage))
        for folder, days in folders.items():
            for day in sorted(days - published):
                check.note(f"{folder}{day}.json", "no hole is published for its date")


def _solution_faults(storage: Storage, path: str, daily: Daily) -> tuple[str, ...]:
    try:
        data = storage.read(path)
        if sha256_of(data) != daily.document["solution_sha256"]:
            return ("not the solution that the daily promises",)
        return solution_faults(parse(data, path), daily.document)
    except (DamagedError, StorageError) as error:
        return (str(error),)


def _check_index(storage: Storage, report: Report) -> None:
    with report.check("dailies as the index hashed them", "dailies", INDEX_PATH) as check:
        ledger = read_ledger(storage)
        if not ledger.days and INDEX_PATH not in storage.list(INDEX_PATH):
            return  # nothing was ever published
        data = storage.read(INDEX_PATH)
        listed = parse_index(data)
        check.checked += len(listed)
        for day, document in listed.items():
            _check_entry(ledger, day, document, check)
        if render_index(listed) != data:
            check.problem(
                INDEX_PATH, "not in the form that is published: other blanks, or another order of keys"
            )
        if not check.problems and data != ledger.index_bytes():
            check.note(INDEX_PATH, "behind what is there; the next run that publishes completes it")


def _check_entry(ledger: Ledger, day: date, listed: Document, check: Check) -> None:
    entry = ledger.entries.get(day)
    if day not in ledger.days or (entry is not None and entry.sha256 != listed["sha256"]):
        check.problem(daily_path(day), "not the file that the index lists: it has changed or is gone")
    elif entry is not None:  # one that cannot be read has been reported as such
        # A run that was killed leaves an index that does not list a solution yet.
        before, after = (replace(entry, is_released=released).document() for released in (False, True))
        if listed != before and (listed != after or not entry.is_released):
            check.problem(INDEX_PATH, f"its entry of {day} is not what lies there")


def _chosen(wanted: tuple[date, bytes | None]) -> bytes:
    day, key = wanted
    return daily_bytes(choose(day, key))


def _note_keys(dailies: Sequence[Daily], known: Mapping[str | None, bytes | None], check: Check) -> None:
    ids = Counter(daily.document["key_id"] for daily in dailies)
    for other in sorted(name for name in ids if name is not None and name not in known):
        check.note(DAILY_FOLDER, f"{ids[other]} holes of key {other}: not checkable without that key")
    if ids[None] and len(known) > 1:
        check.note(
            DAILY_FOLDER,
            f"{ids[None]} holes were published without a key; with the one in force, others would be chosen",
        )


def _note_difference(daily: Daily, anew: Document, check: Check) -> None:
    path, document = daily_path(daily.day), daily.document
    if document["versions"] != anew["versions"]:
        check.note(path, "differs: made by other versions; the published hole stands")
    elif document["deal"] != anew["deal"]:
        attempts = f"today's code would choose attempt {anew['attempt']}, not {document['attempt']}"
        check.note(path, f"differs: {attempts}; the published hole stands")
    else:
        wrong = [name for name in anew if document[name] != anew[name]]
        check.problem(path, f"worked out anew, the same deal gives another {', '.join(wrong) or 'form'}")
