"""What is due: a pure function of the moment and of what is there already.

The scheduler keeps no state of its own: a night that was missed, for whatever reason, is due until it is
there.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from jobs.days import days_between

NIGHTLY_AT: Final = time(0, 5)  # UTC; the hour in which a date's night is made


@dataclass(frozen=True, slots=True)
class Due:
    """What a run has to make.

    Attributes:
        nights: nights to add to the pools, ascending.
        dailies: dates whose Daily hole is to be published, ascending.
    """

    nights: tuple[date, ...]
    dailies: tuple[date, ...]

    def __bool__(self) -> bool:
        return bool(self.nights or self.dailies)


def night_of(now: datetime) -> date:
    """The latest date whose night has come: today from 00:05 UTC on, yesterday before.

    Args:
        now: an aware moment.
    """
    utc = now.astimezone(UTC)
    return utc.date() if utc.time() >= NIGHTLY_AT else utc.date() - timedelta(days=1)


def due(
    night: date,
    last_nights: Collection[date | None],
    published: Collection[date],
    daily_from: date,
    publish_ahead_days: int,
) -> Due:
    """What is missing up to a night.

    Args:
        night: the night to reach.
        last_nights: the last one of each level; None where there is none yet, and only `night` is due.
        published: the dates whose Daily hole is out.
        daily_from: the first date that gets a Daily hole.
        publish_ahead_days: days after `night` whose Daily holes must be out too.
    """
    there = frozenset(published)
    wanted = days_between(daily_from, night + timedelta(days=publish_ahead_days))
    return Due(_nights(night, last_nights), tuple(day for day in wanted if day not in there))


def _nights(night: date, last_nights: Collection[date | None]) -> tuple[date, ...]:
    """The nights that at least one level lacks."""
    begun = [last for last in last_nights if last is not None]
    missed = days_between(min(begun) + timedelta(days=1), night) if begun else ()
    return missed or ((night,) if len(begun) < len(last_nights) else ())
