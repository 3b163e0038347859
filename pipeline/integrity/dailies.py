"""Verification of what is published: every daily and solution, the index, and each hole chosen again."""

from collections import Counter
from collections.abc import Mapping
from datetime import date
from itertools import pairwise
from typing import Final

from pipeline.daily.checks import solution_faults
from pipeline.daily.files import (
    DAILY_FOLDER,
    INDEX_PATH,
    PRIVATE_SOLUTION_FOLDER,
    SOLUTION_FOLDER,
    daily_path,
    day_of,
    days_in,
    private_solution_path,
    published_days,
    solution_path,
)
from pipeline.daily.hole import choose, daily_bytes, key_id
from pipeline.daily.ledger import Entry, Ledger, parse_index, read_ledger, render_index
from pipeline.deals.certify import warm_up
from pipeline.deals.levels import FIRST_DAILY, daily_version
from pipeline.errors import MissingError
from pipeline.integrity.report import Check, Report
from pipeline.store.documents import DAILY_SCHEMA, parse
from pipeline.store.storage import Storage
from pipeline.work.executors import Work

DAILIES_TASK: Final = "dailies"


def verify_dailies(storage: Storage, report: Report) -> Ledger | None:
    """Run all checks of what is published that need no solving.

    Returns:
        What is published; None if it cannot be read.
    """
    ledger: Ledger | None = None
    with report.check("dailies valid", "dailies", DAILY_FOLDER) as check:
        ledger = read_ledger(storage, is_thorough=True)
        _check_dailies(storage, ledger, check)
    if ledger is None:
        return None
    with report.check("no puzzle on two dates", "dailies", DAILY_FOLDER) as check:
        for entry in _entries(ledger):
            check.checked += 1
            first = ledger.puzzles[entry.puzzle_id]
            if first != entry.day:
                check.problem(daily_path(entry.day), f"{daily_path(first)} has the same puzzle")
    with report.check(
        "solutions match their hashes and replay", "solutions", PRIVATE_SOLUTION_FOLDER
    ) as check:
        _check_solutions(storage, ledger, check)
    with report.check("dailies match the index", "dailies", INDEX_PATH) as check:
        _check_index(ledger, check)
    return ledger


def choose_again(storage: Storage, report: Report, ledger: Ledger, key: bytes | None, work: Work) -> None:
    """Choose the published holes again, if their key is known, and compare them with their files."""
    keys: dict[str | None, bytes | None] = {None: None}
    if key is not None:
        keys[key_id(key)] = key
    entries = [entry for entry in _entries(ledger) if entry.key_id in keys]
    if entries:
        warm_up()
    with report.check("holes chosen again", "dailies", DAILY_FOLDER) as check:
        _note_keys(ledger, keys, check)
        wanted = ((entry.day, keys[entry.key_id], _version_of(storage, entry.day)) for entry in entries)
        for entry, again in zip(entries, work.in_order(_chosen, wanted), strict=True):
            check.checked += 1
            work.progress.update(DAILIES_TASK, check.checked, len(entries))
            _compare(entry.day, storage.read(daily_path(entry.day)), again, check)


def _entries(ledger: Ledger) -> list[Entry]:
    """Return the entries of the dailies that are valid by themselves."""
    return [files.entry for files in ledger.days.values() if files.entry is not None]


def _check_dailies(storage: Storage, ledger: Ledger, check: Check) -> None:
    for path in storage.list(DAILY_FOLDER):
        day = day_of(path, DAILY_FOLDER)
        if day is not None:
            check.checked += 1
            files = ledger.days.get(day)  # none if it was published since the ledger was read
            if files is not None and files.entry is None and files.fault is not None:
                check.problem(path, files.fault)
        elif path != INDEX_PATH and day_of(path, SOLUTION_FOLDER) is None:
            check.note(path, "not the name of a published file")
    for before, after in pairwise(published_days(storage)):
        missing = (after - before).days - 1
        if missing:
            check.note(DAILY_FOLDER, f"{missing} dates between {before} and {after} have no hole")


def _check_solutions(storage: Storage, ledger: Ledger, check: Check) -> None:
    for files in ledger.days.values():
        if files.entry is None:
            continue
        if not files.solutions:
            check.problem(daily_path(files.day), "its solution is missing")
        for path, fault in files.solutions.items():
            check.checked += 1
            if fault is not None:
                check.problem(path, fault)
            else:
                daily = parse(storage.read(daily_path(files.day)), daily_path(files.day))
                solution = parse(_solution_bytes(storage, path, files.day), path)
                check.collect(path, solution_faults(solution, daily))
    for folder in (PRIVATE_SOLUTION_FOLDER, SOLUTION_FOLDER):
        for day in days_in(storage, folder):
            if not ledger.is_published(day):
                check.note(f"{folder}{day}.json", "no hole is published for its date")


def _solution_bytes(storage: Storage, path: str, day: date) -> bytes:
    """Read a solution, even if it was made public since its path was found."""
    try:
        return storage.read(path)
    except MissingError:
        if path != private_solution_path(day):
            raise
        return storage.read(solution_path(day))


def _check_index(ledger: Ledger, check: Check) -> None:
    if ledger.index_error is not None:
        raise ledger.index_error
    if ledger.index is None:
        return  # nothing was ever published
    entries = parse_index(ledger.index)
    check.checked += len(entries)
    for day, listed in entries.items():
        files = ledger.days[day]
        if files.fault is not None:
            if files.entry is not None or not files.exists:  # a damaged daily is reported by its own check
                check.problem(daily_path(day), files.fault)
        elif files.entry is not None:
            # A killed run leaves an index that does not list the last solutions.
            right = [files.entry.document(is_released=released) for released in {False, files.is_released}]
            if listed not in right:
                check.problem(INDEX_PATH, f"its entry of {day} does not match the daily")
    if render_index(entries) != ledger.index:
        check.problem(INDEX_PATH, "damaged: it has other spaces or another order of keys")
    if not check.problems and ledger.index != ledger.index_bytes():
        check.note(INDEX_PATH, "out of date; the next run that publishes updates it")


def _version_of(storage: Storage, day: date) -> int:
    """Return the version of the definition that chose a published hole; an earlier Fairway knew only one."""
    path = daily_path(day)
    is_first = parse(storage.read(path), path)["schema"] == DAILY_SCHEMA
    return FIRST_DAILY if is_first else daily_version(day)


def _chosen(wanted: tuple[date, bytes | None, int]) -> bytes:
    day, key, version = wanted
    return daily_bytes(choose(day, key, version=version))


def _note_keys(ledger: Ledger, keys: Mapping[str | None, bytes | None], check: Check) -> None:
    holes = Counter(entry.key_id for entry in _entries(ledger))
    for other in sorted(name for name in holes if name is not None and name not in keys):
        check.note(DAILY_FOLDER, f"{holes[other]} holes of key {other} cannot be checked without that key")
    if holes[None] and len(keys) > 1:
        check.note(
            DAILY_FOLDER,
            f"{holes[None]} holes were published without a key; the key in force would choose others",
        )


def _compare(day: date, data: bytes, again: bytes, check: Check) -> None:
    """Compare a published daily with the one that would be published today."""
    if again == data:
        return
    path = daily_path(day)
    published, today = parse(data, path), parse(again, path)
    if published["versions"] != today["versions"]:
        check.note(path, "made by other versions, so today's hole differs; the published hole stands")
    elif published["deal"] != today["deal"]:
        attempts = f"attempt {today['attempt']} instead of attempt {published['attempt']}"
        check.note(path, f"today's code would choose {attempts}; the published hole stands")
    else:
        wrong = [name for name in today if published[name] != today[name]]
        check.problem(path, f"made again, the same deal gives another {', '.join(wrong)}")
