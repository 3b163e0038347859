"""What is due, and which nights were missed: pure functions of the time and of what exists.

The scheduler keeps no state of its own. A missed night is due until it is made, and after a failed run
another run is due until one succeeds.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from jobs.days import days_between
from jobs.settings.model import Settings
from pipeline.daily.calendar import is_over
from pipeline.work.records import RunRecord

_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class RootState:
    """How far a data root has got.

    Attributes:
        last_nights: the last night of each level; None before its first.
        published: the dates whose Daily hole is published.
        waiting: the dates whose solution is not published yet.
        has_failed: whether the last nightly run failed and none has succeeded since.
    """

    last_nights: tuple[date | None, ...]
    published: tuple[date, ...]
    waiting: tuple[date, ...] = ()
    has_failed: bool = False


@dataclass(frozen=True, slots=True)
class Due:
    """What has to be made.

    Attributes:
        nights: nights to add to the pools, ascending.
        dailies: dates whose Daily hole is to be published, ascending.
        solutions: dates whose solution is to be published, ascending.
        is_retry: whether a run is due because the last one failed, even if nothing else is due.
    """

    nights: tuple[date, ...] = ()
    dailies: tuple[date, ...] = ()
    solutions: tuple[date, ...] = ()
    is_retry: bool = False

    def __bool__(self) -> bool:
        return bool(self.nights or self.dailies or self.solutions or self.is_retry)


def night_of(now: datetime, nightly_at: time) -> date:
    """Return the latest date whose night is due: today from `nightly_at` (UTC) on, yesterday before."""
    utc = now.astimezone(UTC)
    return utc.date() if utc.time() >= nightly_at else utc.date() - _DAY


def due(night: date, last: date, now: datetime, state: RootState, settings: Settings) -> Due:
    """Return what is missing up to a night.

    Args:
        night: the night to reach. If a level has no night yet, only this one is due for it.
        last: the latest night; Daily holes are due until `publish_ahead_days` after it.
        now: the current time, with its time zone; solutions are due once their date is over everywhere.
        state: what exists.
        settings: name the first date with a Daily hole, and `publish_ahead_days`.
    """
    last_daily = last + timedelta(days=settings.publish_ahead_days)
    published = frozenset(state.published)
    waiting = published & frozenset(state.waiting)  # a solution is never published before its hole
    return Due(
        _nights(night, state.last_nights),
        tuple(day for day in days_between(settings.daily_from, last_daily) if day not in published),
        tuple(sorted(day for day in waiting if is_over(day, now))),
        state.has_failed,
    )


def _nights(night: date, last_nights: Collection[date | None]) -> tuple[date, ...]:
    """Return the nights that at least one level lacks."""
    begun = [last for last in last_nights if last is not None]
    missing = days_between(min(begun) + _DAY, night) if begun else ()
    return missing or ((night,) if len(begun) < len(last_nights) else ())


def missed_nights(now: datetime, nightly_at: time, records: Iterable[RunRecord]) -> tuple[date, ...]:
    """Return the nights without a successful run: those between the last successful one and the latest night.

    The latest night is not missed: it may be in progress. Nights before the first successful run are not
    missed either, because they may never have been wanted.

    Args:
        now: the current time, with its time zone.
        nightly_at: the time of day at which a date's night is made, in UTC.
        records: the nightly job's run records, newest first, read back to the last successful run. Records
            from the future were written while the clock was wrong, and are ignored.
    """
    good = (record for record in records if record.outcome.is_good and record.started <= now)
    last = next(good, None)
    if last is None:
        return ()
    return days_between(night_of(last.started, nightly_at) + _DAY, night_of(now, nightly_at) - _DAY)
