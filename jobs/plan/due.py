"""What is due: pure functions of the moment and of what is there already.

The scheduler keeps no state of its own: a night that was missed, for whatever reason, is due until it is
there, and after a run that failed another one is due until one goes well.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from jobs.days import days_between
from pipeline.daily.calendar import is_over

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a data root is.

    Attributes:
        last_nights: the last one of each level; None where there is none yet.
        published: the dates whose Daily hole is out.
        waiting: the dates whose solution is not out yet.
        has_failed: whether the last run of the night failed, and none has gone well since.
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
        solutions: dates whose solution is to be put out, ascending.
        is_retry: whether a run is due because the one before failed, whatever else is.
    """

    nights: tuple[date, ...] = ()
    dailies: tuple[date, ...] = ()
    solutions: tuple[date, ...] = ()
    is_retry: bool = False

    def __bool__(self) -> bool:
        return bool(self.nights or self.dailies or self.solutions or self.is_retry)


def night_of(now: datetime, nightly_at: time) -> date:
    """The latest date whose night has come: today from that time of the day on, yesterday before.

    Args:
        now: an aware moment.
        nightly_at: when a date's night is made, in UTC.
    """
    utc = now.astimezone(UTC)
    return utc.date() if utc.time() >= nightly_at else utc.date() - _DAY


def due(night: date, now: datetime, standing: Standing, daily_from: date, last_daily: date) -> Due:
    """What is missing up to a night.

    Args:
        night: the night to reach; where a level has none yet, this one alone is due for it.
        now: an aware moment; the solutions of dates that are over by then are due.
        standing: what is there.
        daily_from: the first date that gets a Daily hole.
        last_daily: the last date whose Daily hole must be out.
    """
    waiting = set(standing.waiting) & set(standing.published)  # any other waits for its hole first
    return Due(
        _nights(night, standing.last_nights),
        _missing(days_between(daily_from, last_daily), standing.published),
        tuple(sorted(day for day in waiting if is_over(day, now))),
        standing.has_failed,
    )


def _missing(wanted: Iterable[date], there: Collection[date]) -> tuple[date, ...]:
    known = frozenset(there)
    return tuple(day for day in wanted if day not in known)


def _nights(night: date, last_nights: Collection[date | None]) -> tuple[date, ...]:
    """The nights that at least one level lacks."""
    begun = [last for last in last_nights if last is not None]
    missed = days_between(min(begun) + _DAY, night) if begun else ()
    return missed or ((night,) if len(begun) < len(last_nights) else ())
