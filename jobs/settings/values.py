"""The values of settings as text gives them: read in one form only, and refused with what is wrong.

Each is a validator of a field: it takes whatever was given, and lets through what it does not know, for the
field's type to judge. What is allowed stands with the field.
"""

import re
from datetime import date, datetime, time
from pathlib import Path
from typing import Final

from jobs.days import parse_day
from pipeline.daily.key import DailyKey
from pipeline.deals.levels import level_named
from solver.errors import UsageError

_KEY_DIGITS: Final = 64
_MINUTE: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)", re.ASCII)


def key_from_text(value: object) -> object:
    """A key given as 64 hex digits, or as its bytes; the error never repeats the value."""
    if isinstance(value, bytes):
        return DailyKey(value)
    if not isinstance(value, str):
        return value
    if not looks_like_a_key(value):
        raise ValueError(f"the key must be exactly {_KEY_DIGITS} hexadecimal digits")
    return DailyKey.fromhex(value)


def looks_like_a_key(text: str) -> bool:
    """Whether a text is 64 hex digits."""
    return len(text) == _KEY_DIGITS and set(text) <= set("0123456789abcdefABCDEF")


def day_from_text(value: object) -> object:
    """A date as `YYYY-MM-DD`, or as TOML writes it."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise ValueError("it is no date")
    try:
        return parse_day(value)
    except UsageError as error:
        raise ValueError(str(error)) from error


def minute_of_day(value: object) -> object:
    """A time of the day as `HH:MM`, or as TOML writes it, to the minute."""
    if isinstance(value, time):
        if value.second or value.microsecond:
            raise ValueError("it is not to the minute")
        return value
    if not isinstance(value, str):
        raise ValueError("it is no time")
    found = _MINUTE.fullmatch(value)
    if found is None:
        raise ValueError("it is no time")
    return time(int(found[1]), int(found[2]))


def whole(value: object) -> object:
    """A whole number; true and false, which Python takes for 1 and 0, are none, nor is 2.0."""
    if isinstance(value, bool | float):
        raise ValueError("it is no whole number")
    return value


def level_name(value: object) -> object:
    """The name of a level."""
    if isinstance(value, str):
        try:
            level_named(value)
        except UsageError as error:
            raise ValueError(str(error)) from error
    return value


def command(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """The arguments of a command, the program first; or none, for no command."""
    if arguments and not arguments[0]:
        raise ValueError("the name of the program is empty")
    if any("\0" in argument for argument in arguments):
        raise ValueError("no argument can hold a NUL")
    return arguments


def path(value: Path) -> Path:
    """A path that a file can have."""
    if "\0" in str(value):
        raise ValueError("no path can hold a NUL")
    if str(value).startswith("~"):
        raise ValueError("only a shell knows what ~ stands for; write the path out")
    return value


def metrics_name(value: Path) -> Path:
    """The name of a file of metrics: it replaces what has that name, so nothing else may have one like it."""
    if value.suffix != ".prom":
        raise ValueError("a collector of text files reads only what ends in .prom")
    return value
