"""The health of a data root: a pure function of the time, the settings and its files.

Only small files are read, and nothing is changed or solved, so that a health check can run every few seconds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import takewhile
from typing import Final

from jobs.plan.clock_bound import clock_doubt
from jobs.settings.model import Settings
from pipeline.daily.files import published_days
from pipeline.errors import DamagedError, VersionError
from pipeline.pools.catalog import Catalog, Pool, load_catalog
from pipeline.store.storage import LocalStorage, Storage
from pipeline.store.text import listed
from pipeline.work.records import Outcome, RunRecord, latest_records

NIGHTLY: Final = "nightly"  # the job whose success counts
LATE_AFTER: Final = timedelta(hours=26)  # one night and two hours
GROWTH: Final = timedelta(days=7)

# The kinds of problems, in the order in which they are reported.
PROBLEMS: Final = (
    "today",
    "tomorrow",
    "holes",
    "success",
    "failure",
    "catalog",
    "night",
    "records",
    "disk",
    "clock",
)

_RUN_TAKES: Final = timedelta(hours=2)  # before that, a missing night may be in progress
_CLOCKS_DIFFER: Final = timedelta(minutes=5)
_MAX_RECORDS: Final = 300  # to search for the last success
_DAY: Final = timedelta(days=1)
_FIX_FIRST: Final = "fix the cause of the failed run first, see `failure` here; then run `fairway nightly`"
_RUN_NIGHTLY: Final = "run `fairway nightly`, which makes everything that is missing, and read its messages"


@dataclass(frozen=True, slots=True)
class Found:
    """The state of the files in a data root.

    Attributes:
        catalog: the current catalog; None if it cannot be read.
        catalog_problem: why it cannot be read; None if it can.
        published: the dates whose Daily hole is published, ascending.
        records: recent run records, newest first.
        damaged_records: one message per damaged run record.
        disk_problem: why nothing, or soon nothing, can be written; None if nothing is known to prevent it.
    """

    catalog: Catalog | None
    catalog_problem: "Problem | None"
    published: tuple[date, ...]
    records: tuple[RunRecord, ...]
    damaged_records: tuple[str, ...]
    disk_problem: str | None = None


@dataclass(frozen=True, slots=True)
class PoolState:
    """The state of one level's pool.

    `grown` is the number of deals that nights added in the last week, and `differs` says whether the pool was
    made by another policy than that in the settings.
    """

    level: str
    deals: int
    cap: int
    grown: int
    last_night: date | None
    differs: bool


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem, and what to do about it; `name` is its kind, which never changes, for programs."""

    name: str
    what: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Status:
    """The health of a data root at one time; today and tomorrow are dates in UTC.

    `last_run` is the last nightly run, whatever its outcome. Without a readable catalog there are no pools.
    """

    now: datetime
    is_today_out: bool
    is_tomorrow_out: bool
    last_published: date | None
    last_success: RunRecord | None
    last_run: RunRecord | None
    pools: tuple[PoolState, ...]
    next_run: datetime
    problems: tuple[Problem, ...]

    @property
    def is_well(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    @property
    def success_age(self) -> timedelta | None:
        """The time since the last successful nightly run ended; None if there is none."""
        return None if self.last_success is None else self.now - self.last_success.ended


def look(storage: Storage, now: datetime) -> Found:
    """Read the files that `status_of` needs. Damage is part of the result, not an error.

    Raises:
        StorageError: if the data root cannot be read.
    """
    catalog, problem = None, None
    try:
        catalog = load_catalog(storage)
    except VersionError as error:
        problem = Problem("catalog", str(error), "run the version of Fairway that wrote it")
    except DamagedError as error:
        problem = Problem(
            "catalog", str(error), "run `fairway repair`, which restores the latest kept catalog"
        )
    records, damaged = _recent_records(storage, now)
    disk_problem = storage.obstacle() if isinstance(storage, LocalStorage) else None
    return Found(catalog, problem, published_days(storage), records, damaged, disk_problem)


def _recent_records(storage: Storage, now: datetime) -> tuple[tuple[RunRecord, ...], tuple[str, ...]]:
    """Return the records back to the last successful night, and at least those needed for growth."""
    records: list[RunRecord] = []
    damaged: list[str] = []
    has_success = False
    since = now - GROWTH
    for looked, record in enumerate(latest_records(storage), start=1):
        if isinstance(record, DamagedError):
            damaged.append(str(record))
        else:
            records.append(record)
            has_success = has_success or (_is_good_night(record) and not _is_of_the_future(record, now))
            if has_success and record.started < since:
                break
        if looked == _MAX_RECORDS:
            break
    return tuple(records), tuple(damaged)


def with_run(found: Found, record: RunRecord) -> Found:
    """Return the state of the files with a run that has just ended, even if its record was not written."""
    others = (each for each in found.records if each.run_id != record.run_id)
    return replace(found, records=(record, *others))


def _is_good_night(record: RunRecord) -> bool:
    return record.job == NIGHTLY and record.outcome.is_good


def _is_of_the_future(record: RunRecord, now: datetime) -> bool:
    """Return whether the clock was ahead when the run ended or is behind now; such a run proves nothing."""
    return record.ended - now > _CLOCKS_DIFFER


def status_of(now: datetime, settings: Settings, found: Found) -> Status:
    """Return the health of a data root; a pure function."""
    today = now.astimezone(UTC).date()
    past = [record for record in found.records if not _is_of_the_future(record, now)]
    nights = [record for record in past if record.job == NIGHTLY]
    pools = _pools(settings, found)
    return Status(
        now=now,
        is_today_out=today in found.published,
        is_tomorrow_out=today + _DAY in found.published,
        last_published=max(found.published, default=None),
        last_success=next((record for record in nights if record.outcome.is_good), None),
        last_run=nights[0] if nights else None,
        pools=tuple(_pool_state(pool, settings, now, nights) for pool in pools),
        next_run=next_nightly(now, settings.nightly_at),
        problems=tuple(_problems(now, settings, found, nights)),
    )


def next_nightly(now: datetime, at: time) -> datetime:
    """Return when the next night is due, at a time of day in UTC; always later than `now`."""
    today = datetime.combine(now.astimezone(UTC).date(), at, UTC)
    return today if today > now else today + _DAY


def _pool_state(pool: Pool, settings: Settings, now: datetime, nights: Sequence[RunRecord]) -> PoolState:
    recent = [record.counts.levels for record in nights if now - GROWTH <= record.ended <= now]
    grown = sum(levels[pool.level].written for levels in recent if pool.level in levels)
    in_force = settings.level(pool.level).policy if pool.level in settings.level_names else pool.policy
    differs = bool(pool.parts and in_force.differs_from(pool.policy))
    return PoolState(pool.level, pool.size, settings.cap_of(pool.level), grown, pool.last_night, differs)


def _pools(settings: Settings, found: Found) -> tuple[Pool, ...]:
    """Return the pools of the active levels, then those of retired levels that have deals."""
    if found.catalog is None:
        return ()
    active = _active_pools(settings, found.catalog)
    others = (pool for pool in found.catalog.pools if pool.level not in settings.active_levels and pool.parts)
    return (*active, *others)


def _active_pools(settings: Settings, catalog: Catalog) -> tuple[Pool, ...]:
    return tuple(catalog.pool_of(level) for level in settings.active)


def _problems(
    now: datetime, settings: Settings, found: Found, nights: Sequence[RunRecord]
) -> Iterator[Problem]:
    last_due = next_nightly(now, settings.nightly_at) - _DAY
    advice = _FIX_FIRST if _failures(nights) else _RUN_NIGHTLY
    yield from _hole_problems(now.astimezone(UTC).date(), last_due.date(), settings, found.published, advice)
    yield from _run_problems(now, nights)
    if found.catalog_problem is not None:
        yield found.catalog_problem
    if found.catalog is not None and now - last_due > _RUN_TAKES:
        pools = _active_pools(settings, found.catalog)
        behind = [pool for pool in pools if (pool.last_night or date.min) < last_due.date()]
        if behind:
            names = ", ".join(pool.level for pool in behind)
            yield Problem("night", f"the night {last_due:%Y-%m-%d} was not made for {names}", advice)
    if found.damaged_records:
        what = listed(found.damaged_records, most=1, sep="; ")
        yield Problem("records", what, "restore a copy or move the file away; nothing else depends on it")
    if found.disk_problem is not None:
        yield Problem("disk", found.disk_problem, "make room or give permission, then run `fairway nightly`")
    last_nights = [pool.last_night for pool in _pools(settings, found)]
    doubt = clock_doubt(last_due.date(), last_nights, found.published, settings)
    if doubt is not None:
        yield Problem("clock", doubt.what, doubt.remedy)
    future = [record for record in found.records if _is_of_the_future(record, now)]
    if future:
        ahead = max(record.ended for record in future)
        what = f"the clock says {now:%Y-%m-%d %H:%M} UTC, but a run ended at {ahead:%Y-%m-%d %H:%M} UTC"
        yield Problem("clock", what, "set the clock; if it was wrong during that run, move its record away")


def _hole_problems(
    today: date, night: date, settings: Settings, published: Sequence[date], advice: str
) -> Iterator[Problem]:
    """Yield a problem for unpublished holes that are due: today, tomorrow, and earlier dates."""
    there = frozenset(published)
    due = night + timedelta(days=settings.publish_ahead_days)
    for day, name in ((today, "today"), (today + _DAY, "tomorrow")):
        if settings.daily_from <= day <= due and day not in there:
            yield Problem(name, f"the Daily hole for {name}, {day}, is not published", advice)
    wanted = range((today - settings.daily_from).days)
    missing = [day for n in wanted if (day := settings.daily_from + timedelta(days=n)) not in there]
    if missing:
        what = f"{len(missing):,} earlier Daily holes are not published, the first of them for {missing[0]}"
        yield Problem("holes", what, advice)


def _run_problems(now: datetime, nights: Sequence[RunRecord]) -> Iterator[Problem]:
    """Yield problems with nightly runs: no success for too long, and failures since the last success."""
    success = next((record for record in nights if record.outcome.is_good), None)
    if success is None:
        known = f"none of the last {len(nights):,} nightly runs succeeded"
        what = known if nights else "no nightly run has been recorded"
        yield Problem("success", what, _FIX_FIRST if _failures(nights) else _RUN_NIGHTLY)
    elif now - success.ended > LATE_AFTER:
        hours = (now - success.ended) // timedelta(hours=1)
        what = f"the last successful nightly run ended {hours:,} hours ago"
        yield Problem(
            "success", what, "check that cron, the timer or `fairway serve` is running and read its log"
        )
    failed = _failures(nights)
    if failed:
        runs = f"the last {len(failed):,} nightly runs" if len(failed) > 1 else "the last nightly run"
        what = f"{runs} failed, most recently at {failed[0].ended:%Y-%m-%d %H:%M} UTC: {failed[0].error}"
        yield Problem("failure", what, "fix the cause; this problem disappears after the next successful run")


def _failures(nights: Sequence[RunRecord]) -> list[RunRecord]:
    """Return the nightly runs that failed since the last good one, newest first."""
    since = takewhile(lambda record: not record.outcome.is_good, nights)
    return [record for record in since if record.outcome is Outcome.FAILED]
