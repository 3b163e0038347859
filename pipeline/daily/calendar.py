"""The calendar of Daily holes: the first date, hole numbers, and when a date is over everywhere."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from solver.errors import UsageError

FIRST_DAY: Final = date(2026, 1, 1)  # the date of hole 1

_OVER_AFTER: Final = timedelta(days=1, hours=12)  # from 00:00 UTC: the westernmost clocks are at UTC-12


def hole_number(day: date) -> int:
    """Return the number of a date's hole: days since 2026-01-01, plus 1.

    Raises:
        UsageError: if the date is before the first hole.
    """
    if day < FIRST_DAY:
        raise UsageError(f"there is no hole for {day}; the first one is for {FIRST_DAY}")
    return (day - FIRST_DAY).days + 1


def is_over(day: date, now: datetime) -> bool:
    """Return whether a date has ended everywhere on Earth: at 12:00 UTC of the next day."""
    return now - datetime.combine(day, time(), UTC) >= _OVER_AFTER
