"""Publishing: for each date its solution, then the daily, then the index. A published hole never changes.

Each step can be repeated, so a run that was killed is completed by the next one, to the same bytes. Damaged
earlier files do not block publishing; the error is raised at the end.
"""

from collections.abc import Callable, Collection, Iterable, Sequence, Set
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from typing import Final

from pipeline.daily.calendar import hole_number, is_over
from pipeline.daily.checks import daily_faults, solution_faults
from pipeline.daily.files import (
    INDEX_PATH,
    PRIVATE_SOLUTION_FOLDER,
    SOLUTION_FOLDER,
    daily_path,
    private_solution_path,
    solution_path,
)
from pipeline.daily.hole import choose, daily_bytes, solution_bytes
from pipeline.daily.ledger import Entry, Ledger, read_ledger
from pipeline.deals.certify import warm_up
from pipeline.errors import AlreadyThereError, CheckError, DamagedError, MisplacedError
from pipeline.store.documents import parse
from pipeline.store.storage import Storage
from pipeline.store.text import listed, sha256_of
from pipeline.work.counts import Clock, Stages, Stopwatch, no_clock
from pipeline.work.executors import Work

TASK: Final = "daily"


@dataclass(frozen=True, slots=True)
class Published:
    """What one run of `publish` did.

    Attributes:
        made: the dates it published, ascending.
        there: how many of the requested dates were published before.
        released: the dates whose waiting solution it made public, ascending.
    """

    made: tuple[date, ...]
    there: int
    released: tuple[date, ...]


@dataclass(frozen=True, slots=True)
class MadeDaily:
    """A hole ready to be published: the bytes of its files, its ledger entry, and the time it took."""

    daily: bytes
    solution: bytes
    entry: Entry
    stages: Stages = field(default_factory=Stages, compare=False)


def make_daily(day: date, key: bytes | None, clock: Clock = no_clock) -> MadeDaily:
    """Choose the hole of a date, write its documents and check them as a reader would; pure.

    Raises:
        UsageError: if the date is before the first hole, or the key does not have 32 bytes.
        CheckError: if a document fails its checks and must not be published.
    """
    watch = Stopwatch(clock)
    hole = choose(day, key, watch)
    daily, solution = daily_bytes(hole), solution_bytes(hole)
    document = parse(daily, daily_path(day))
    faults = daily_faults(document) or solution_faults(parse(solution, solution_path(day)), document)
    if faults:
        raise CheckError(f"the hole of {day} failed its checks and was not published: {'; '.join(faults)}")
    certified = hole.certified
    entry = Entry(
        day=day,
        hole=hole.hole,
        par=certified.par,
        puzzle_id=certified.deal.puzzle_id,
        key_id=hole.key_id,
        sha256=sha256_of(daily),
        solution_sha256=sha256_of(solution),
    )
    return MadeDaily(daily, solution, entry, watch.stages)


def publish(
    storage: Storage,
    days: Iterable[date],
    key: bytes | None,
    now: datetime,
    work: Work,
    early: Collection[date] = (),
) -> Published:
    """Publish the holes of these dates that are not published yet, and the solutions of dates that are over.

    Args:
        storage: the data root, whose lock the caller holds.
        days: dates from 2026-01-01 on, in any order; published holes stay as they are.
        key: the secret key in force, or None.
        now: the current time, with its time zone.
        work: chooses the holes, reports each, and counts the files.
        early: dates whose solution is made public now, even if they are not over.

    Raises:
        UsageError: if a date is before the first hole; nothing was done.
        CheckError: if a hole must not be published, because its puzzle is published under another date or
            another hole was published for its date before, or something that is not a file is in the place of
            one. Everything else was done.
        DamagedError: if an earlier file is damaged; it was left alone. Everything else was done.
    """

    def may_release(day: date) -> bool:
        return day in early or is_over(day, now)

    requested = sorted(set(days))
    for day in requested[:1]:
        hole_number(day)  # before anything is written
    ledger = read_ledger(storage)
    missing = [day for day in requested if not ledger.is_published(day)]
    if missing and ledger.index_error is None and ledger.index is None:
        _write_index(storage, ledger)  # from now on, dailies without an index mean damage, not a killed run
    refusals = _publish_missing(storage, ledger, missing, key, work, may_release)
    released, lost = _release(storage, ledger, may_release)
    work.counts.solutions += len(released)
    try:
        _write_index(storage, ledger)
    except MisplacedError as error:
        lost = [str(error), *lost]
    damage = [fault for day, fault in ledger.faults().items() if day not in refusals]
    faults = [*refusals.values(), *damage, *lost]
    if faults:
        kind = CheckError if refusals else DamagedError
        remedy = "; run `fairway verify`, then `fairway repair`" if damage or lost else ""
        raise kind(f"{listed(faults, sep=' -- ')}{remedy}")
    return Published(tuple(missing), len(requested) - len(missing), released)


def _publish_missing(
    storage: Storage,
    ledger: Ledger,
    missing: Sequence[date],
    key: bytes | None,
    work: Work,
    may_release: Callable[[date], bool],
) -> dict[date, str]:
    """Publish holes, and return why any was not, by date."""
    if missing:
        warm_up()
    counts = work.counts
    leftovers = {*storage.list(PRIVATE_SOLUTION_FOLDER), *storage.list(SOLUTION_FOLDER)}
    refusals: dict[date, str] = {}
    with closing(work.in_order(partial(make_daily, key=key, clock=counts.clock), missing)) as results:
        for done, made in enumerate(results, start=1):
            counts.stages.add(made.stages)
            refusal = ledger.refusal(made.entry)
            if refusal is None:
                watch = Stopwatch(counts.clock)
                try:
                    _publish_one(storage, ledger, made, leftovers, is_public=may_release(made.entry.day))
                except MisplacedError as error:
                    refusal = str(error)
                else:
                    watch.lap("writing")
                    counts.stages.add(watch.stages)
                    counts.dailies += 1
            if refusal is not None:
                refusals[made.entry.day] = refusal
            work.progress.update(TASK, done, len(missing))
    return refusals


def _publish_one(
    storage: Storage, ledger: Ledger, made: MadeDaily, leftovers: Set[str], *, is_public: bool
) -> None:
    """Publish one hole: first its solution, so that a daily never promises one that is not there."""
    day = made.entry.day
    places = [private_solution_path(day), solution_path(day)]
    place, other = reversed(places) if is_public else places
    # Without a daily, a solution in either place was left by a killed run, maybe under another key.
    _put_solution(storage, place, made.solution)
    if other in leftovers:
        storage.remove(other)
    storage.create(daily_path(day), made.daily)
    ledger.add(made.entry, place)


def _release(
    storage: Storage, ledger: Ledger, may_release: Callable[[date], bool]
) -> tuple[tuple[date, ...], list[str]]:
    """Make solutions public, and return their dates and which solutions are lost or wrong."""
    released: list[date] = []
    lost: list[str] = []
    for day, files in sorted(ledger.days.items()):
        if files.entry is None or not may_release(day):
            continue
        private, public = private_solution_path(day), solution_path(day)
        if not files.is_released:
            if files.solutions.get(private, "missing") is not None:
                lost.append(f"neither {private} nor {public} has the hash in {daily_path(day)}")
                continue
            _put_solution(storage, public, storage.read(private))
            ledger.days[day] = replace(files, solutions={public: None})
            released.append(day)
        if private in files.solutions:
            storage.remove(private)
    return tuple(released), lost


def _put_solution(storage: Storage, path: str, data: bytes) -> None:
    try:
        storage.create(path, data)
    except AlreadyThereError:
        if storage.read(path) != data:
            storage.replace(path, data)


def _write_index(storage: Storage, ledger: Ledger) -> None:
    data = ledger.index_bytes()
    if data != ledger.index:
        storage.replace(INDEX_PATH, data)
        ledger.index = data
