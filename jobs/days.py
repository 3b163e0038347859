"""Dates as text: read in one form only, and held against the last one that may be published."""

import re
from datetime import date, timedelta
from typing import Final

from pipeline.store.text import quoted
from solver.errors import UsageError

LAST_DAY: Final = date(
    9989, 12, 31
)  # some years before the last that Python knows, so that days can be added

_FORM: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def parse_day(text: str) -> date:
    """Read a date as `YYYY-MM-DD`.

    Raises:
        UsageError: another form, a date that does not exist, or one after `LAST_DAY`.
    """
    if not _FORM.fullmatch(text):
        raise UsageError(f"{quoted(text, 20)} is no date; write it as YYYY-MM-DD")
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"the date {text} does not exist: {error}") from error
    if day > LAST_DAY:
        raise UsageError(f"the date {text} is after {LAST_DAY}, the last that is supported")
    return day


def check_not_future(day: date, today: date, ahead: int, option: str) -> None:
    """Refuse a date that is further ahead than what is published.

    Args:
        day: the date asked for.
        today: today in UTC.
        ahead: days after today that are allowed.
        option: what the date was given with, for the message.

    Raises:
        UsageError: the date is later.
    """
    last = today + timedelta(days=ahead)
    if day > last:
        raise UsageError(
            f"{option} {day} is after {last}, the last date allowed today ({today} UTC), because what is"
            " published stays; --allow-future goes on all the same"
        )


def days_between(first: date, last: date) -> tuple[date, ...]:
    """All dates from `first` to `last`, both included; none where `last` is earlier."""
    return tuple(first + timedelta(days=n) for n in range((last - first).days + 1))
