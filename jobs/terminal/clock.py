"""The current time, for commands to pass on as a value. Tests replace `now`."""

from datetime import UTC, date, datetime


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def today() -> date:
    """Return the current date in UTC."""
    return now().date()
