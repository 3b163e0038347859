"""Publishing: for each date first its solution, then the daily, then the index; what is out never changes.

Each step can be repeated, so a run that was killed is completed by the next one, to the same bytes. Damage to
something older stands in nobody's way: everything else is published first, and then it is raised.
"""

from collections.abc import Callable, Collection, Iterable, Sequence, Set
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from typing import Final

from pipeline.daily.checks import daily_faults, solution_faults
from pipeline.daily.hole import choose, daily_bytes, hole_of, is_over, solution_bytes
from pipeline.daily.ledger import (
    INDEX_PATH,
    PRIVATE_SOLUTION_FOLDER,
    SOLUTION_FOLDER,
    Entry,
    Ledger,
    daily_path,
    days_in,
    private_solution_path,
    read_ledger,
    solution_path,
)
from pipeline.deals.certify import warm_up
from pipeline.errors import AlreadyThereError, CheckError, DamagedError, MissingError
from pipeline.store.documents import parse
from pipeline.store.storage import Storage
from pipeline.store.text import MAX_LISTED, listed, sha256_of
from pipeline.work.counts import Clock, Counts, Stages, Stopwatch, no_clock
from pipeline.work.ordered import in_order
from pipeline.work.progress import Progress

TASK: Final = "daily"


@dataclass(frozen=True, slots=True)
class Published:
    """What a run of `publish` did.

    Attributes:
        made: the dates that have been published by it, in order.
        there: how many of the dates asked for were out before.
        released: the dates whose solution it has put out, in order.
    """

    made: tuple[date, ...]
    there: int
    released: tuple[date, ...]


@dataclass(frozen=True, slots=True)
class MadeDaily:
    """A hole ready to be published, every check behind it.

    Attributes:
        day: its date.
        puzzle_id: its puzzle.
        daily: bytes of the daily.
        solution: bytes of the solution.
        entry: how the index will list it, the solution not yet out.
        stages: how long it took to make.
    """

    day: date
    puzzle_id: str
    daily: bytes
    solution: bytes
    entry: Entry
    stages: Stages = field(default_factory=Stages, compare=False)


def make_daily(day: date, key: bytes | None, clock: Clock = no_clock) -> MadeDaily:
    """Choose the hole of a date, write its documents and check them as a reader would; pure.

    Raises:
        UsageError: the date lies before the first hole, or the key has another size.
        CheckError: a document does not hold, so nothing may be published.
    """
    watch = Stopwatch(clock)
    hole = choose(day, key, watch)
    daily, solution = daily_bytes(hole), solution_bytes(hole)
    document = parse(daily, daily_path(day))
    faults = daily_faults(document) or solution_faults(parse(solution, solution_path(day)), document)
    if faults:
        raise CheckError(f"the hole made for {day} is not right and was not published: {'; '.join(faults)}")
    entry = Entry(
        day, hole.hole, hole.certified.par, sha256_of(daily), sha256_of(solution), is_released=False
    )
    return MadeDaily(day, hole.certified.deal.puzzle_id, daily, solution, entry, watch.stages)


def publish(
    storage: Storage,
    days: Iterable[date],
    key: bytes | None,
    now: datetime,
    executor: Executor,
    progress: Progress,
    *,
    early: Collection[date] = (),
    counts: Counts | None = None,
) -> Published:
    """Publish the holes of these dates that are not out yet, and the solutions of dates that are over.

    Args:
        storage: the data root, whose lock the caller holds.
        days: dates from 2026-01-01 on, in any order; those already out stay as they are.
        key: the secret that the holes to come depend on, or None.
        now: the moment, aware of its time zone.
        executor: works the holes out.
        progress: told of each hole.
        early: dates whose solution is put out at once, though they are not over.
        counts: counted up with each file that is put out.

    Raises:
        UsageError: a date lies before the first hole; nothing was done.
        CheckError: a hole must not be published, because its puzzle is out under another date or another
            hole was listed for its date before. Everything else was done.
        DamagedError: something older is damaged; it was left alone. Everything else was done.
    """
    counts = counts or Counts()

    def is_told(day: date) -> bool:
        return day in early or is_over(day, now)

    asked = sorted(set(days))
    for day in asked[:1]:
        hole_of(day)  # before anything is written
    ledger = read_ledger(storage)
    missing = [day for day in asked if day not in ledger.days]
    if missing and INDEX_PATH not in storage.list(INDEX_PATH):
        _write_index(storage, ledger)  # dailies without any index are damage then, not a run that was killed
    leftovers = {*storage.list(PRIVATE_SOLUTION_FOLDER), *storage.list(SOLUTION_FOLDER)}
    refusals: list[str] = []
    if missing:
        warm_up()
    with closing(in_order(executor, partial(make_daily, key=key, clock=counts.clock), missing)) as made:
        for done, daily in enumerate(made, start=1):
            counts.stages.add(daily.stages)
            refusal = ledger.refusal(daily.entry, daily.puzzle_id)
            if refusal is None:
                watch = Stopwatch(counts.clock)
                _put_out(storage, ledger, daily, leftovers, over=is_told(daily.day))
                watch.lap("writing")
                counts.stages.add(watch.stages)
                counts.dailies += 1
            else:
                refusals.append(refusal)
            progress.update(TASK, done, len(missing))
    released = _release(storage, ledger, is_told, counts)
    _write_index(storage, ledger)
    if refusals:
        raise CheckError(_in_one_line([*refusals, *ledger.faults()]))
    if ledger.faults():
        raise DamagedError(_in_one_line(ledger.faults()))
    return Published(tuple(missing), len(asked) - len(missing), released)


def rebuild_index(storage: Storage) -> tuple[str, ...]:
    """Write the index anew where it is not already what it must be.

    Args:
        storage: the data root, whose lock the caller holds.

    Returns:
        What is wrong with the files that it lists.
    """
    ledger = read_ledger(storage)
    _write_index(storage, ledger)
    return ledger.faults()


def _put_out(storage: Storage, ledger: Ledger, made: MadeDaily, leftovers: Set[str], *, over: bool) -> None:
    """Publish one hole: first its solution, so that no daily ever promises one that is not there."""
    places = [private_solution_path(made.day), solution_path(made.day)]
    place, other = reversed(places) if over else places
    # With no daily there, a solution in either place was left by a killed run, maybe under another key.
    _put_solution(storage, place, made.solution)
    if other in leftovers:
        storage.remove(other)
    storage.create(daily_path(made.day), made.daily)
    ledger.add(replace(made.entry, is_released=over), made.puzzle_id)


def _release(
    storage: Storage, ledger: Ledger, is_told: Callable[[date], bool], counts: Counts
) -> tuple[date, ...]:
    """Put out the solutions that may be told; those that are lost or wrong are noted in the ledger."""
    waiting = set(days_in(storage, PRIVATE_SOLUTION_FOLDER))
    released = []
    for day in sorted(filter(is_told, ledger.entries)):
        entry = ledger.entries[day]
        if not entry.is_released:
            solution = storage.read(private_solution_path(day)) if day in waiting else None
            if solution is None or sha256_of(solution) != entry.solution_sha256:
                ledger.damage.append(_lost(day))
                continue
            _put_solution(storage, solution_path(day), solution)
            ledger.entries[day] = replace(entry, is_released=True)
            released.append(day)
            counts.solutions += 1
        if day in waiting:
            storage.remove(private_solution_path(day))
    return tuple(released)


def _put_solution(storage: Storage, path: str, data: bytes) -> None:
    try:
        storage.create(path, data)
    except AlreadyThereError:
        if storage.read(path) != data:
            storage.replace(path, data)


def _write_index(storage: Storage, ledger: Ledger) -> None:
    data = ledger.index_bytes()
    try:
        if storage.read(INDEX_PATH) == data:
            return
    except MissingError:
        pass  # the first run makes it
    storage.replace(INDEX_PATH, data)


def _lost(day: date) -> str:
    return (
        f"the solution that {daily_path(day)} promises is neither {private_solution_path(day)}"
        f" nor {solution_path(day)}; restore it from a copy"
    )


def _in_one_line(faults: Sequence[str]) -> str:
    text = listed(faults, sep=" -- ")
    return f"{text}: fairway verify" if len(faults) > MAX_LISTED else text
