"""What time it is, for every command; handed on as a value."""

from datetime import UTC, date, datetime


def now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(UTC)


def today() -> date:
    """Today's date in UTC."""
    return now().date()
