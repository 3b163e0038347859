"""How a data root is doing: a pure function of the moment, the settings and what its files say.

Nothing is solved, nothing is changed, and nothing but small files is read, so that a container's health check
can ask every few seconds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from jobs.plan.clock_bound import ClockDoubt, clock_doubt, latest_sign
from jobs.settings.model import Settings
from pipeline.daily.files import published_days
from pipeline.errors import DamagedError, VersionError
from pipeline.pools.catalog import Catalog, Pool, load_catalog
from pipeline.store.storage import Storage
from pipeline.work.records import Outcome, RunRecord, latest_records

NIGHTLY: Final = "nightly"  # the job whose success is asked for
LATE_AFTER: Final = timedelta(hours=26)  # a night's run and then some
GROWTH: Final = timedelta(days=7)

# The kinds of problems there are, in the order in which they are told.
PROBLEMS: Final = ("today", "tomorrow", "holes", "success", "failure", "catalog", "night", "records", "clock")

_RUN_TAKES: Final = timedelta(hours=2)  # at most: before that, a night that is not there may be in the making
_CLOCKS_DIFFER: Final = timedelta(minutes=5)
_MOST_RECORDS: Final = 300  # looked at for the last success
_DAY: Final = timedelta(days=1)
_MAKE_UP: Final = "run `fairway nightly`, which makes up for what is missing, and read what it says"


@dataclass(frozen=True, slots=True)
class Found:
    """What the files of a data root say.

    Attributes:
        catalog: the one in force; None where it cannot be read.
        catalog_problem: why it cannot; None where it can.
        published: the dates whose Daily hole is out, ascending.
        records: of runs, the newest first, as far back as is looked.
        damaged_records: what is wrong with those that are damaged.
    """

    catalog: Catalog | None
    catalog_problem: "Problem | None"
    published: tuple[date, ...]
    records: tuple[RunRecord, ...]
    damaged_records: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PoolState:
    """How a pool is doing.

    Attributes:
        level: its name.
        deals: in it now.
        cap: at which nights add no more.
        grown: deals that nights have added in the last seven days, as far as run records tell.
        last_night: the last one that was made; None before the first.
    """

    level: str
    deals: int
    cap: int
    grown: int
    last_night: date | None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it should be, and what to do about it.

    Attributes:
        name: of its kind, which never changes, for programs.
        what: what is wrong.
        remedy: what to do.
    """

    name: str
    what: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Status:
    """How a data root is doing.

    Attributes:
        now: the moment that it is told for.
        is_today_out: whether today's Daily hole is out, today in UTC.
        is_tomorrow_out: whether tomorrow's is.
        last_published: the latest date whose hole is out.
        last_success: the last run of the night that went well.
        last_run: the last run of the night, however it ended.
        pools: one a level; none where the catalog cannot be read.
        next_run: when the next night is due.
        problems: what is wrong; none where all is well.
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
        """Whether there is no problem."""
        return not self.problems

    @property
    def success_age(self) -> timedelta | None:
        """How long ago the last good run of the night ended; None where there is none."""
        return None if self.last_success is None else self.now - self.last_success.ended


def look(storage: Storage, now: datetime) -> Found:
    """Read what `status_of` goes by; damage is told, not raised.

    Args:
        storage: the data root; it is only read.
        now: the moment, aware.

    Raises:
        StorageError: the data root cannot be read.
    """
    catalog, problem = None, None
    try:
        catalog = load_catalog(storage)
    except VersionError as error:
        problem = Problem("catalog", str(error), "run the version of Fairway that wrote it")
    except DamagedError as error:
        problem = Problem(
            "catalog", str(error), "run `fairway repair`: the latest that is kept takes its place"
        )
    records, damaged = _recent_records(storage, now)
    return Found(catalog, problem, published_days(storage), records, damaged)


def _recent_records(storage: Storage, now: datetime) -> tuple[tuple[RunRecord, ...], tuple[str, ...]]:
    """Records from the newest back to the last good night, and at least as far as growth is told of."""
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
        if looked == _MOST_RECORDS:
            break
    return tuple(records), tuple(damaged)


def with_run(found: Found, record: RunRecord) -> Found:
    """What is known, with a run that has just ended, whether or not its record could be written.

    Args:
        found: what the files say.
        record: of the run.
    """
    others = (each for each in found.records if each.run_id != record.run_id)
    return replace(found, records=(record, *others))


def _is_good_night(record: RunRecord) -> bool:
    return record.job == NIGHTLY and record.outcome.is_good


def _is_of_the_future(record: RunRecord, now: datetime) -> bool:
    """Whether the clock was ahead when the run ended, or is behind now; either way it proves no success."""
    return record.ended - now > _CLOCKS_DIFFER


def status_of(now: datetime, settings: Settings, found: Found) -> Status:
    """How a data root is doing; pure.

    Args:
        now: the moment, aware.
        settings: in force.
        found: what its files say.
    """
    today = now.astimezone(UTC).date()
    past = [record for record in found.records if not _is_of_the_future(record, now)]
    nights = [record for record in past if record.job == NIGHTLY]
    pools = () if found.catalog is None else found.catalog.pools
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
    """The next moment at which a night is due.

    Args:
        now: an aware moment.
        at: the time of the day, in UTC.
    """
    today = datetime.combine(now.astimezone(UTC).date(), at, UTC)
    return today if today > now else today + _DAY


def _pool_state(pool: Pool, settings: Settings, now: datetime, nights: Sequence[RunRecord]) -> PoolState:
    recent = [record.counts.levels for record in nights if now - GROWTH <= record.ended <= now]
    grown = sum(levels[pool.level].written for levels in recent if pool.level in levels)
    return PoolState(pool.level, pool.size, settings.cap_of(pool.level), grown, pool.last_night)


def _problems(
    now: datetime, settings: Settings, found: Found, nights: Sequence[RunRecord]
) -> Iterator[Problem]:
    last_due = next_nightly(now, settings.nightly_at) - _DAY
    yield from _hole_problems(now.astimezone(UTC).date(), last_due.date(), settings, found.published)
    yield from _run_problems(now, nights)
    if found.catalog_problem is not None:
        yield found.catalog_problem
    if found.catalog is not None and now - last_due > _RUN_TAKES:
        behind = [pool for pool in found.catalog.pools if (pool.last_night or date.min) < last_due.date()]
        if behind:
            names = ", ".join(pool.level for pool in behind)
            yield Problem("night", f"the night {last_due:%Y-%m-%d} was not made for {names}", _MAKE_UP)
    if found.damaged_records:
        more = len(found.damaged_records) - 1
        what = found.damaged_records[0] + (f"; and {more} more" if more else "")
        yield Problem("records", what, "restore a copy, or move it away; nothing else depends on it")
    doubt = _clock_doubt(last_due.date(), settings, found)
    if doubt is not None:
        yield Problem("clock", doubt.what, doubt.remedy)
    future = [record for record in found.records if _is_of_the_future(record, now)]
    if future:
        ahead = max(record.ended for record in future)
        what = f"the clock says {now:%Y-%m-%d %H:%M} UTC, and a run ended at {ahead:%Y-%m-%d %H:%M} UTC"
        yield Problem("clock", what, "set the clock; where it was wrong then, move that record away")


def _clock_doubt(night: date, settings: Settings, found: Found) -> ClockDoubt | None:
    """Why the service would make nothing at this moment; None where it believes the clock."""
    pools = () if found.catalog is None else found.catalog.pools
    nights = [pool.last_night for pool in pools]
    sign = latest_sign(nights, found.published, settings.publish_ahead_days)
    return clock_doubt(night, sign, settings.clock_bound_days)


def _hole_problems(
    today: date, night: date, settings: Settings, published: Sequence[date]
) -> Iterator[Problem]:
    """The holes that are due and not out: that of today, of tomorrow, and of dates before."""
    there = frozenset(published)
    due = night + timedelta(days=settings.publish_ahead_days)
    for day, name in ((today, "today"), (today + _DAY, "tomorrow")):
        if settings.daily_from <= day <= due and day not in there:
            yield Problem(name, f"the Daily hole of {name}, {day}, is not out", _MAKE_UP)
    wanted = range((today - settings.daily_from).days)
    missing = [day for n in wanted if (day := settings.daily_from + timedelta(days=n)) not in there]
    if missing:
        what = f"{len(missing):,} Daily holes of dates before are not out, the first that of {missing[0]}"
        yield Problem("holes", what, _MAKE_UP)


def _run_problems(now: datetime, nights: Sequence[RunRecord]) -> Iterator[Problem]:
    """No success for too long, and a failure that no success has followed."""
    success = next((record for record in nights if record.outcome.is_good), None)
    if success is None:
        known = f"none of the last {len(nights):,} runs of the night has gone well"
        what = known if nights else "no run of the night is known"
        yield Problem("success", what, _MAKE_UP)
    elif now - success.ended > LATE_AFTER:
        hours = (now - success.ended) // timedelta(hours=1)
        what = f"the last run of the night that went well ended {hours:,} hours ago"
        yield Problem("success", what, "see that cron, the timer or `fairway serve` runs, and what it says")
    since = [record for record in nights if success is None or record.started > success.started]
    failed = [record for record in since if record.outcome is Outcome.FAILED]
    if failed:
        times = f"{len(failed):,} runs" if len(failed) > 1 else "the last run"
        what = f"{times} of the night failed, at {failed[0].ended:%Y-%m-%d %H:%M} UTC: {failed[0].error}"
        yield Problem("failure", what, "mend what it says; the next run that goes well ends this")
