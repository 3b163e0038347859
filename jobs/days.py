"""Dates: parsing, the range of dates that may be published, and lists of consecutive dates."""

import re
from datetime import date, timedelta
from typing import Final

from pipeline.store.text import quoted
from solver.errors import UsageError

LAST_DAY: Final = date(9989, 12, 31)  # leaves room to add days before `date.max`

_FORM: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def parse_day(text: str) -> date:
    """Parse a date of the form `YYYY-MM-DD`.

    Raises:
        UsageError: if the text has another form, or the date does not exist or is after `LAST_DAY`.
    """
    if not _FORM.fullmatch(text):
        raise UsageError(f"{quoted(text, 20)} is not a date; write it as YYYY-MM-DD")
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"the date {text} does not exist: {error}") from error
    if day > LAST_DAY:
        raise UsageError(f"the date {text} is after {LAST_DAY}, the last date that is supported")
    return day


def check_not_future(day: date, today: date, ahead: int, option: str) -> None:
    """Check that a date is not further ahead than holes are published.

    Args:
        day: the requested date.
        today: today's date in UTC.
        ahead: number of days after today that are allowed.
        option: the option that set the date, for the message.

    Raises:
        UsageError: if the date is later.
    """
    last = today + timedelta(days=ahead)
    if day > last:
        raise UsageError(
            f"{option} {day} is after {last}, the last date allowed today ({today} UTC), because published"
            " holes cannot be withdrawn; add --allow-future to continue"
        )


def days_between(first: date, last: date) -> tuple[date, ...]:
    """Return all dates from `first` to `last`, both included; none if `last` is earlier."""
    return tuple(first + timedelta(days=n) for n in range((last - first).days + 1))
