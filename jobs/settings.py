"""The settings of a run: one frozen model, read from a mapping that is passed in.

This is the only module that looks at the process's environment; everything else is handed a `Settings`. The
frozen definitions (shuffle, line, steady player, par, policies) are no settings.
"""

import difflib
import os
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, InstanceOf, ValidationError

from jobs.days import parse_day
from jobs.key_file import read_key_text
from pipeline.errors import ConfigurationError
from pipeline.executors import MOST_WORKERS
from pipeline.root import MARKER
from pipeline.secret import DailyKey
from solver.errors import UsageError

PREFIX: Final = "FAIRWAY_"
KEY_VARIABLE: Final = "FAIRWAY_DAILY_KEY"
KEY_FILE_VARIABLE: Final = "FAIRWAY_DAILY_KEY_FILE"
FIRST_DAY: Final = date(2026, 1, 1)  # the day of hole 1 (design, section 5)
MOST_DEALS_PER_NIGHT: Final = 20_000
MOST_DEALS: Final = 10_000_000
MOST_AHEAD_DAYS: Final = 366
_KEY_DIGITS: Final = 64


def _key_from_text(value: object) -> object:
    """A key given as 64 hex digits, or as its bytes; the error never repeats the value."""
    if isinstance(value, bytes):
        return DailyKey(value)
    if not isinstance(value, str):
        return value
    if len(value) != _KEY_DIGITS or not set(value) <= set("0123456789abcdefABCDEF"):
        raise ValueError(f"the key must be exactly {_KEY_DIGITS} hexadecimal digits")
    return DailyKey.fromhex(value)


def _day_from_text(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return parse_day(value)
    except UsageError as error:
        raise ValueError(str(error)) from error


class Settings(BaseModel):
    """What the environment asks for, checked; an option on the command line goes before it.

    Attributes:
        data: the data root, or None where none is named.
        daily_key: the 32 secret bytes that Daily holes are drawn with, or None; never shown.
        daily_key_file: the file that the key was read from, or None.
        workers: threads that compute.
        deals_per_night: admitted deals that a night adds to each level.
        deals_cap: deals at which a level's pool stops growing by nights.
        publish_ahead_days: days after today for which Daily holes are published.
        daily_from: the first day for which a Daily hole is published.
        cache: folder that compiled kernels are to be kept in, or None: see `cache_homes`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    data: Path | None = None
    daily_key: Annotated[InstanceOf[DailyKey] | None, BeforeValidator(_key_from_text)] = Field(
        default=None, repr=False, exclude=True
    )
    daily_key_file: Path | None = None
    workers: int = Field(default=1, ge=1, le=MOST_WORKERS)
    deals_per_night: int = Field(default=500, ge=1, le=MOST_DEALS_PER_NIGHT)
    deals_cap: int = Field(default=20_000, ge=1, le=MOST_DEALS)
    publish_ahead_days: int = Field(default=2, ge=1, le=MOST_AHEAD_DAYS)
    daily_from: Annotated[date, BeforeValidator(_day_from_text)] = Field(default=FIRST_DAY, ge=FIRST_DAY)
    cache: Path | None = None


VARIABLES: Final = {PREFIX + name.upper(): name for name in Settings.model_fields}


def environment() -> Mapping[str, str]:
    """The variables of this process."""
    return os.environ


def processors() -> int:
    """How many processors this process may use: the default for `workers`."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def settings_from(variables: Mapping[str, str], processor_count: int) -> Settings:
    """Read the `FAIRWAY_*` variables, and the key file where one is named; what is not set has its default.

    Args:
        variables: names and values, such as the environment.
        processor_count: the workers where no variable says how many.

    Raises:
        ConfigurationError: an unknown variable or a value that is not allowed; it names all of them.
    """
    given = {name: value for name, value in variables.items() if name.startswith(PREFIX)}
    faults = [_unknown_text(name) for name in sorted(given) if name not in VARIABLES]
    faults += [f"{name} is empty; unset it or give it a value" for name in sorted(given) if not given[name]]
    values: dict[str, object] = {"workers": min(processor_count, MOST_WORKERS)}
    values |= {VARIABLES[name]: value for name, value in given.items() if name in VARIABLES and value}
    faults += _add_key_from_file(values)
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        faults += [_fault_text(fault["loc"][0], fault["msg"], values) for fault in error.errors()]
        settings = None
    if settings is None or faults:
        raise ConfigurationError("; ".join(faults)) from None
    return settings


def _add_key_from_file(values: dict[str, object]) -> list[str]:
    """Take the key from its file into the values; what is wrong with that, one sentence each."""
    file = values.get("daily_key_file")
    if not isinstance(file, str):
        return []
    if "daily_key" in values:
        return [f"{KEY_VARIABLE} and {KEY_FILE_VARIABLE} are both set; unset one of them"]
    try:
        values["daily_key"] = _key_from_text(read_key_text(Path(file)))
    except (ConfigurationError, ValueError) as error:
        return [f"{KEY_FILE_VARIABLE}: {error}"]
    return []


def _unknown_text(name: str) -> str:
    near = difflib.get_close_matches(name, VARIABLES, n=1, cutoff=0.0)
    return f"unknown variable {name}; the nearest that Fairway knows is {near[0]}"


def _fault_text(field: int | str, message: str, values: Mapping[str, object]) -> str:
    variable = f"{PREFIX}{field}".upper()
    reason = message.removeprefix("Value error, ")
    if variable == KEY_VARIABLE:
        return f"{variable}: {reason}"
    return f"{variable} is {values[str(field)]!r}: {reason}"


def cache_homes(settings: Settings, variables: Mapping[str, str], user: int) -> tuple[Path, ...]:
    """Where compiled kernels may be kept, the best place first; who else may write there is not looked at.

    Args:
        settings: in force; the place that they name is the only one.
        variables: otherwise they name the user's cache folder, by the XDG convention, and that for temporary
            files, which serves users without a home. Relative paths are passed over.
        user: the number of the user.
    """
    if settings.cache is not None:
        return (settings.cache.absolute(),)
    places = (
        (variables.get("XDG_CACHE_HOME", ""), "fairway"),
        (variables.get("HOME", ""), ".cache/fairway"),
        (variables.get("TMPDIR", ""), f"fairway-{user}"),
        ("/tmp", f"fairway-{user}"),  # noqa: S108 - whoever uses it looks first at who else may write there
    )
    return tuple(Path(folder) / below for folder, below in places if Path(folder).is_absolute())


def checkout_root(package_file: Path) -> Path | None:
    """The data root of the checkout that holds `package_file`, or None where it lies in no checkout."""
    top = package_file.resolve().parent.parent
    root = top / "data"
    is_checkout = (top / "pyproject.toml").is_file() and (root / MARKER).is_file()
    return root if is_checkout else None


def data_root(option: Path | None, settings: Settings, checkout: Path | None) -> Path:
    """Where the data lies: the option, else `FAIRWAY_DATA`, else the checkout's `data/`.

    Raises:
        ConfigurationError: none of the three names a place.
    """
    root = option or settings.data or checkout
    if root is None:
        raise ConfigurationError("no data root: give --data DIR or set FAIRWAY_DATA (this is no checkout)")
    return root.absolute()
