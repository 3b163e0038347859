"""A night: the pools grow, the Daily holes that are due come out, and what is derived is brought up to date.

Whatever stops a night leaves a complete earlier state and files that nothing points to; the next run clears
those away and makes the same bytes.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from jobs.plan.clock_bound import ClockDoubt, clock_doubt, latest_sign
from jobs.plan.due import Due, Standing, due
from jobs.plan.missed import missed_nights
from jobs.runs.context import Tools
from jobs.runs.exclusive import exclusive_run
from jobs.settings.model import Settings
from jobs.watch.logs import details, log
from jobs.watch.status import NIGHTLY
from pipeline.daily.files import PRIVATE_SOLUTION_FOLDER, days_in, published_days
from pipeline.deals.levels import LEVELS
from pipeline.errors import CheckError, DamagedError
from pipeline.pools.catalog import Catalog, load_catalog, save_catalog
from pipeline.store.storage import LocalStorage
from pipeline.work.executors import Work, local_work
from pipeline.work.records import RunRecord, Tally, attempt_of, latest_records


@dataclass(frozen=True, slots=True)
class LevelReport:
    """What a night did for one level.

    Attributes:
        level: its name.
        sampled: deal numbers looked at.
        added: deals added.
        size: deals in the pool now.
    """

    level: str
    sampled: int
    added: int
    size: int


@dataclass(frozen=True, slots=True)
class NightReport:
    """What a run of the nightly job did.

    Attributes:
        night: the night it was asked for.
        nights: the nights it added, ascending.
        levels: one report a level.
        dailies: dates whose Daily hole it published, ascending.
        solutions: solutions it put out because their date is over.
        published: how many Daily holes are out now.
        seconds: how long it took.
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
        """Whether everything was there already."""
        return not (self.nights or self.dailies or self.solutions)


def standing_of(storage: LocalStorage) -> Standing:
    """How far a data root is.

    Raises:
        DamagedError: the catalog is damaged.
        StorageError: the data root cannot be read.
    """
    return Standing(
        last_nights=tuple(pool.last_night for pool in load_catalog(storage).pools),
        published=published_days(storage),
        waiting=days_in(storage, PRIVATE_SOLUTION_FOLDER),
        has_failed=attempt_of(latest_records(storage), NIGHTLY) > 1,
    )


def doubt_about(night: date, standing: Standing, settings: Settings) -> ClockDoubt | None:
    """Why the clock is not believed, as far as a data root can tell; None where it is.

    Args:
        night: the latest that has come, by the clock.
        standing: what is there.
        settings: in force.
    """
    sign = latest_sign(standing.last_nights, standing.published, settings.publish_ahead_days)
    return clock_doubt(night, sign, settings.clock_bound_days)


def what_is_due(night: date, last: date, now: datetime, standing: Standing, settings: Settings) -> Due:
    """What a data root lacks.

    Args:
        night: the night to reach.
        last: the last night that has come, after which holes are published so many days ahead.
        now: an aware moment.
        standing: what is there.
        settings: in force.
    """
    last_daily = last + timedelta(days=settings.publish_ahead_days)
    return due(night, now, standing, settings.daily_from, last_daily)


def run_night(
    storage: LocalStorage, night: date, settings: Settings, tools: Tools, *, last: date | None = None
) -> NightReport:
    """Add the nights up to `night`, publish what is due, and leave a record in `runs/`.

    Args:
        storage: the data root.
        night: the night to reach; nights that are there are passed over.
        settings: how much to make.
        tools: the outside world.
        last: the last night that has come, up to which holes are published even where earlier nights are
            still to be made; None for `night`.

    Raises:
        BusyError: another run holds the data root.
        FairwayError: whatever stopped it; what was complete by then stays.
    """
    started = tools.clock()
    with exclusive_run(storage, NIGHTLY, settings, tools) as tally:
        todo, levels = _make(storage, night, last or night, settings, tools, tally)
    return NightReport(
        night=night,
        nights=todo.nights,
        levels=levels,
        dailies=todo.dailies,
        solutions=tally.solutions,
        published=len(published_days(storage)),
        seconds=(tools.clock() - started).total_seconds(),
    )


def _make(
    storage: LocalStorage, night: date, last: date, settings: Settings, tools: Tools, tally: Tally
) -> tuple[Due, tuple[LevelReport, ...]]:
    tally.missed = _tell_missed(storage, settings, tools.clock())
    # Only now: these modules import numba.
    from pipeline.daily.publish import publish
    from pipeline.deals.certify import warm_up
    from pipeline.pools.parts import clear_unreferenced

    before = after = load_catalog(storage)
    clear_unreferenced(storage, before)
    todo = what_is_due(night, last, tools.clock(), standing_of(storage), settings)
    if todo.nights or todo.dailies:
        warm_up()
    trouble: CheckError | DamagedError | None = None
    with local_work(settings.workers, tools.progress, tally) as work:
        try:
            after = _grow(storage, before, todo, settings, work, tally)
        except (CheckError, DamagedError) as error:  # of one level: no date must lack its hole for that
            trouble = error
            log.error("the pools did not grow: %s", error, extra=details(event="trouble"))
        publish(storage, todo.dailies, settings.daily_key, tools.clock(), work)
    if trouble is not None:
        raise trouble
    return todo, _level_reports(before, after)


def _tell_missed(storage: LocalStorage, settings: Settings, now: datetime) -> int:
    """Log the nights that were missed, and count them."""
    known = (record for record in latest_records(storage) if isinstance(record, RunRecord))
    missed = missed_nights(now, settings.nightly_at, (record for record in known if record.job == NIGHTLY))
    if missed:
        nights = [str(night) for night in missed]
        one, more = f"a night was missed, {nights[0]}", f"{len(nights)} nights were missed, {nights[0]} to"
        words = one if len(nights) == 1 else f"{more} {nights[-1]}"
        log.warning(words, extra=details(event="missed", nights=nights))
    return len(missed)


def _grow(
    storage: LocalStorage,
    before: Catalog,
    todo: Due,
    settings: Settings,
    work: Work,
    tally: Tally,
) -> Catalog:
    """Add the nights that are due, in one swap of the catalog, and count what was made."""
    if not todo.nights:
        return before
    from pipeline.pools.nights import add_nights

    after = add_nights(
        storage,
        before,
        todo.nights,
        {level: settings.deals_of(level) for level in LEVELS},
        {level: settings.cap_of(level) for level in LEVELS},
        work,
    )
    after = save_catalog(storage, after)
    reports = _level_reports(before, after)
    tally.change = after.change
    tally.nights = len(todo.nights)
    tally.sampled = sum(level.sampled for level in reports)
    tally.deals = sum(level.added for level in reports)
    return after


def _level_reports(before: Catalog, after: Catalog) -> tuple[LevelReport, ...]:
    return tuple(
        LevelReport(new.level, new.next_number - old.next_number, new.size - old.size, new.size)
        for old, new in zip(before.pools, after.pools, strict=True)
    )
