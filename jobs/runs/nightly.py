"""The nightly job: add deals to the pools, publish the Daily holes that are due, update what is derived.

An interrupted night leaves the state before it and files that nothing refers to; the next run removes those
and makes the same bytes.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, TypeAlias

from jobs.plan.clock_bound import check_hole_count, clock_doubt
from jobs.plan.due import Due, RootState, due, missed_nights
from jobs.runs.context import JobContext
from jobs.runs.exclusive import job_run
from jobs.settings.model import Settings
from jobs.watch.logs import details, log
from jobs.watch.status import NIGHTLY
from pipeline.daily.calendar import FIRST_DAY
from pipeline.daily.files import PRIVATE_SOLUTION_FOLDER, days_in, published_days
from pipeline.daily.publish import publish
from pipeline.deals.certify import warm_up
from pipeline.errors import CheckError, DamagedError, StorageError
from pipeline.pools.catalog import Catalog, load_catalog, save_catalog
from pipeline.pools.garbage import clear_unreferenced
from pipeline.pools.nights import add_nights
from pipeline.store.storage import LocalStorage
from pipeline.work.counts import Counts
from pipeline.work.executors import Work, local_work
from pipeline.work.records import RunRecord, attempt_of, latest_records

_Fault: TypeAlias = CheckError | DamagedError | StorageError
_FAULTS: Final = (CheckError, DamagedError, StorageError)


@dataclass(frozen=True, slots=True)
class LevelReport:
    """What a night did for one level: deal numbers sampled, deals added, and deals in the pool now."""

    level: str
    sampled: int
    added: int
    size: int


@dataclass(frozen=True, slots=True)
class NightReport:
    """What a run of the nightly job did: nights added, Daily holes published and solutions released.

    `night` is the one to reach, and `published` the number of all Daily holes so far.
    """

    night: date
    nights: tuple[date, ...]
    levels: tuple[LevelReport, ...]
    dailies: tuple[date, ...]
    solutions: int
    published: int
    seconds: float

    @property
    def is_nothing(self) -> bool:
        """Whether there was nothing to do."""
        return not (self.nights or self.dailies or self.solutions)


def root_state(storage: LocalStorage, settings: Settings) -> RootState:
    """Return what a data root holds, as far as it decides what is due by the settings.

    Raises:
        DamagedError: if the catalog is damaged.
        StorageError: if the data root cannot be read.
    """
    catalog = load_catalog(storage)
    return RootState(
        last_nights=tuple(catalog.pool_of(level).last_night for level in settings.active),
        published=published_days(storage),
        waiting=days_in(storage, PRIVATE_SOLUTION_FOLDER),
        has_failed=attempt_of(latest_records(storage), NIGHTLY) > 1,
    )


def check_clock(storage: LocalStorage, night: date, settings: Settings) -> None:
    """Check that the clock, by which `night` is the latest, is plausible given what is in the data root.

    Raises:
        CheckError: if the clock is not trusted.
    """
    try:
        state = root_state(storage, settings)
    except DamagedError:
        return  # the run raises it again and records it
    doubt = clock_doubt(night, state.last_nights, state.published, settings)
    if doubt is not None:
        raise CheckError(f"nothing was done: {doubt.what}; {doubt.remedy}")


def run_night(
    storage: LocalStorage,
    night: date,
    settings: Settings,
    context: JobContext,
    *,
    last: date | None = None,
    allow_many: bool = False,
) -> NightReport:
    """Add the nights up to `night`, publish what is due, and leave a run record.

    Nights already added are skipped. `last` is the latest night, which decides the Daily holes to publish
    even if nights before it are still missing; None for `night`.

    Raises:
        CheckError: if too many holes would be published at once and `allow_many` is not set.
        BusyError: if another run holds the lock.
        FairwayError: if the run fails; what was complete by then stays.
    """
    started = context.clock()
    with job_run(storage, NIGHTLY, settings, context) as counts:
        if not allow_many:
            _check_hole_count(storage, last or night, settings, context)
        todo, levels = _make(storage, night, last or night, settings, context, counts)
    return NightReport(
        night=night,
        nights=todo.nights,
        levels=levels,
        dailies=todo.dailies,
        solutions=counts.solutions,
        published=len(published_days(storage)),
        seconds=(context.clock() - started).total_seconds(),
    )


def _check_hole_count(storage: LocalStorage, last: date, settings: Settings, context: JobContext) -> None:
    """Count the holes due after those of the latest night, which proves that their dates were reached."""
    state = root_state(storage, settings)
    nights = [night for night in state.last_nights if night is not None]
    reached = max(nights, default=FIRST_DAY) + timedelta(days=settings.publish_ahead_days if nights else 0)
    missing = due(last, last, context.clock(), state, settings).dailies
    check_hole_count([day for day in missing if day > reached], state.published)


def _make(
    storage: LocalStorage, night: date, last: date, settings: Settings, context: JobContext, counts: Counts
) -> tuple[Due, tuple[LevelReport, ...]]:
    counts.missed = _log_missed(storage, settings, context.clock())
    before = after = load_catalog(storage)
    clear_unreferenced(storage, before)
    todo = due(night, last, context.clock(), root_state(storage, settings), settings)
    if todo.nights or todo.dailies:
        warm_up()
    with local_work(settings.workers, context.progress, counts) as work:
        # A broken level holds up neither the others nor the Daily.
        after, fault = _add_nights(storage, before, todo, settings, work)
        publish(storage, todo.dailies, settings.daily_key, context.clock(), work)
    if fault is not None:
        raise fault
    return todo, _level_reports(settings, before, after)


def _log_missed(storage: LocalStorage, settings: Settings, now: datetime) -> int:
    """Log the nights that were missed, and return how many they are."""
    known = (record for record in latest_records(storage) if isinstance(record, RunRecord))
    missed = missed_nights(now, settings.nightly_at, (record for record in known if record.job == NIGHTLY))
    if missed:
        nights = [str(night) for night in missed]
        text = nights[0] if len(nights) == 1 else f"{len(nights)}, {nights[0]} to {nights[-1]}"
        log.warning("nights missed: %s", text, extra=details(event="missed", nights=nights))
    return len(missed)


def _add_nights(
    storage: LocalStorage,
    before: Catalog,
    todo: Due,
    settings: Settings,
    work: Work,
) -> tuple[Catalog, _Fault | None]:
    """Add the nights that are due in one replacement of the catalog, and return the last level's fault."""
    if not todo.nights:
        return before, None
    after, fault = before, None
    sizes = {level: settings.deals_of(level) for level in settings.active_levels}
    caps = {level: settings.cap_of(level) for level in settings.active_levels}
    for level in settings.active:
        try:
            after = add_nights(storage, after, [level], todo.nights, sizes, caps, work)
        except _FAULTS as error:
            fault = error
            log.error("the pool of %s did not grow: %s", level.name, error, extra=details(event="trouble"))
    try:
        after = save_catalog(storage, after)
    except _FAULTS as error:
        log.error("the pools did not grow: %s", error, extra=details(event="trouble"))
        return before, error
    reports = _level_reports(settings, before, after)
    counts = work.counts
    counts.change = after.change
    counts.nights = len(todo.nights)
    counts.sampled = sum(level.sampled for level in reports)
    counts.deals = sum(level.added for level in reports)
    return after, fault


def _level_reports(settings: Settings, before: Catalog, after: Catalog) -> tuple[LevelReport, ...]:
    pairs = ((before.pool_of(level), after.pool_of(level)) for level in settings.active)
    return tuple(
        LevelReport(new.level, new.next_number - old.next_number, new.size - old.size, new.size)
        for old, new in pairs
    )
