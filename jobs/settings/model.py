"""The model of the settings: every setting with its type, its default and the values that it accepts."""

import re
from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    model_validator,
)

from jobs.days import parse_day
from pipeline.daily.calendar import FIRST_DAY
from pipeline.daily.key import DailyKey
from pipeline.deals.levels import (
    LEVELS,
    MAX_DEALS,
    NAME_FAULT,
    NO_BOUND,
    POLICY_FIELDS,
    ROUND_HOLES,
    Level,
    Policy,
    changed,
    decimal_text,
    is_level_name,
)
from pipeline.store.text import quoted
from pipeline.work.executors import MOST_WORKERS
from solver.errors import UsageError
from solver.players.difficulty import EASIEST, HARDEST
from solver.table.rules import RULES

METRICS_FILE: Final = "metrics.prom"  # in the data root, unless the setting names another file

_MAX_NAME: Final = 40
_MAX_DEALS_PER_NIGHT: Final = 20_000
_MAX_AHEAD_DAYS: Final = 366
_MAX_MINUTES: Final = 24 * 60
_MAX_HOOK_SECONDS: Final = 600
_MAX_KEPT: Final = 1_000_000
_MAX_DAYS: Final = 36_500  # a century

_KEY_DIGITS: Final = 64
_TIME: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)", re.ASCII)


def looks_like_a_key(text: str) -> bool:
    """Return whether `text` is 64 hexadecimal digits."""
    return len(text) == _KEY_DIGITS and set(text) <= set("0123456789abcdefABCDEF")


def key_from_text(value: object) -> object:
    """Convert 64 hexadecimal digits to a key; other types are left for the field's type to reject.

    Raises:
        ValueError: if `value` is another text. The message never repeats it.
    """
    if not isinstance(value, str):
        return value
    if not looks_like_a_key(value):
        raise ValueError(f"the key must be exactly {_KEY_DIGITS} hexadecimal digits")
    return DailyKey.fromhex(value)


def _date(value: object) -> object:
    """Accept `YYYY-MM-DD`, or a TOML date."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise ValueError("it is not a date")
    try:
        return parse_day(value)
    except UsageError as error:
        raise ValueError(str(error)) from error


def _time(value: object) -> object:
    """Accept `HH:MM`, or a TOML time without seconds."""
    if isinstance(value, time) and not value.second and not value.microsecond:
        return value
    match = _TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError("it is not a time of day in hours and minutes")
    return time(int(match[1]), int(match[2]))


def _whole(value: object) -> object:
    """Reject what pydantic would convert to a whole number: true, false and 2.0."""
    if isinstance(value, bool | float):
        raise ValueError("it is not a whole number")
    return value


def _bound(value: object) -> object:
    """Accept a number or `none`; a float is read as the decimal number it was written as."""
    if value is None:
        return None
    try:
        return decimal_text(value) or NO_BOUND
    except UsageError as error:
        raise ValueError(str(error)) from error


def _command(arguments: tuple[str, ...]) -> tuple[str, ...]:
    if arguments and not arguments[0]:
        raise ValueError("the name of the program is empty")
    return arguments


def _path(value: object) -> object:
    text = str(value)
    if not text:
        raise ValueError("the path is empty")
    if text.startswith("~"):
        raise ValueError("~ is only expanded by a shell; write the path in full")
    return value


def _prom(path: Path | None) -> Path | None:
    """Require `.prom`: writing metrics replaces the file, which must not be any other file of the user's."""
    if path is not None and path.suffix != ".prom":
        raise ValueError("the node exporter reads only files that end in .prom")
    return path


_Whole: TypeAlias = Annotated[int, BeforeValidator(_whole)]
_Path: TypeAlias = Annotated[Path | None, BeforeValidator(_path), Field(description="a path")]
_Command: TypeAlias = Annotated[
    tuple[str, ...],
    AfterValidator(_command),
    Field(description='a command as a list of its arguments, such as ["/usr/local/bin/notify", "--quiet"]'),
]


_BOUND_TEXT: Final = "a number of score points with at most 6 decimals, or none"
_Bound: TypeAlias = Annotated[str | None, BeforeValidator(_bound)]


def _number(default: int | None, least: int, most: int) -> Any:
    return Field(default=default, ge=least, le=most, description=f"a whole number from {least:,} to {most:,}")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class LevelSettings(_Model):
    """The settings of one level: its policy and its sizes.

    None means what is built in, or the setting for all levels; `none` takes a bound or the course away.
    """

    rules: str | None = Field(default=None, description=f"one of {', '.join(RULES)}")
    mean_from: _Bound = Field(default=None, description=_BOUND_TEXT)
    mean_below: _Bound = Field(default=None, description=_BOUND_TEXT)
    difficulty_from: _Whole | None = _number(None, EASIEST, HARDEST)
    difficulty_to: _Whole | None = _number(None, EASIEST, HARDEST)
    course: tuple[_Whole, ...] | Literal["none"] | None = Field(
        default=None, description=f"a list of the pars of {ROUND_HOLES} holes, such as [3, 5, 3, ..], or none"
    )
    deals_per_night: _Whole | None = _number(None, 1, _MAX_DEALS_PER_NIGHT)
    deals_cap: _Whole | None = _number(None, 1, MAX_DEALS)

    @property
    def policy_changes(self) -> dict[str, object]:
        """The values that differ from the policy that is built in."""
        values = {name: getattr(self, name) for name in POLICY_FIELDS}
        return {name: value for name, value in values.items() if value is not None}


class Hooks(_Model):
    """The operator's commands, each a list of arguments that no shell reads; an empty list runs nothing.

    Attributes:
        on_failure: run after a run has failed.
        on_publish: run after Daily holes have been published.
        on_run: run after every run.
        timeout_seconds: time after which a command is killed.
    """

    on_failure: _Command = ()
    on_publish: _Command = ()
    on_run: _Command = ()
    timeout_seconds: _Whole = _number(30, 1, _MAX_HOOK_SECONDS)


class Settings(_Model):
    """All settings, checked. Creating one reads neither files nor the environment.

    A field's description completes the sentence "it must be ..." of an error message.

    Attributes:
        data: the data root; None if none is named.
        daily_key: the 32 secret bytes that Daily holes are derived from, or None; never shown.
        daily_key_file: the file that the key was read from, or None.
        workers: number of worker threads.
        deals_per_night: admitted deals that a night adds to each level; see `deals_of`.
        deals_cap: number of deals at which nights stop adding to a level's pool; see `cap_of`.
        publish_ahead_days: number of days after today for which Daily holes are published.
        daily_from: the first date for which a Daily hole is published.
        nightly_at: the time of day at which a date's night is made, in UTC.
        publish_every_minutes: how often the service checks whether anything is due.
        retry_first_minutes: the pause after a failed run; it doubles with each further failure.
        retry_most_minutes: the longest such pause.
        clock_bound_days: number of days after the latest night or hole in the data root for which the clock
            is trusted.
        keep_catalogs: number of earlier catalogs that `fairway gc` keeps, latest first.
        keep_days: `fairway gc` also keeps catalogs that were replaced less than this many days ago.
        keep_records: number of days for which `fairway gc` keeps run records.
        log_format: `text` for people, or `json` for one JSON document per line.
        metrics_file: the file that metrics are written to; None for `metrics.prom` in the data root.
        cache: the folder for compiled kernels; None for the user's cache folder.
        hooks: the operator's commands.
        active_levels: the levels to whose pools nights add deals.
        levels: policies and sizes of single levels, which override or extend those that are built in.
    """

    data: _Path = None
    daily_key: Annotated[InstanceOf[DailyKey] | None, BeforeValidator(key_from_text)] = Field(
        default=None, repr=False, exclude=True, description=f"{_KEY_DIGITS} hexadecimal digits"
    )
    daily_key_file: _Path = None
    workers: _Whole = _number(1, 1, MOST_WORKERS)
    deals_per_night: _Whole = _number(500, 1, _MAX_DEALS_PER_NIGHT)
    deals_cap: _Whole = _number(20_000, 1, MAX_DEALS)
    publish_ahead_days: _Whole = _number(2, 1, _MAX_AHEAD_DAYS)
    daily_from: Annotated[date, BeforeValidator(_date)] = Field(
        default=FIRST_DAY, ge=FIRST_DAY, description=f"a date from {FIRST_DAY} on, as YYYY-MM-DD"
    )
    nightly_at: Annotated[time, BeforeValidator(_time)] = Field(
        default=time(0, 5), description="a time of day in UTC, as HH:MM"
    )
    publish_every_minutes: _Whole = _number(60, 1, _MAX_MINUTES)
    retry_first_minutes: _Whole = _number(5, 1, _MAX_MINUTES)
    retry_most_minutes: _Whole = _number(120, 1, _MAX_MINUTES)
    clock_bound_days: _Whole = _number(30, 1, _MAX_DAYS)
    keep_catalogs: _Whole = _number(30, 0, _MAX_KEPT)
    keep_days: _Whole = _number(30, 0, _MAX_DAYS)
    keep_records: _Whole = _number(400, 1, _MAX_DAYS)
    log_format: Literal["text", "json"] = Field(default="text", description="text or json")
    metrics_file: Annotated[_Path, AfterValidator(_prom)] = Field(
        default=None, description="a path that ends in .prom"
    )
    cache: _Path = None
    active_levels: tuple[str, ...] = Field(
        default=tuple(LEVELS), description='a list of names of levels, such as ["easy", "medium"]'
    )
    hooks: Hooks = Hooks()
    levels: Mapping[str, LevelSettings] = {}

    @model_validator(mode="after")
    def _pauses_grow(self) -> Self:
        if self.retry_most_minutes < self.retry_first_minutes:
            raise ValueError(
                f"retry_most_minutes is {self.retry_most_minutes}; it must be at least retry_first_minutes,"
                f" which is {self.retry_first_minutes}"
            )
        return self

    @model_validator(mode="after")
    def _levels_are_possible(self) -> Self:
        faults: list[str] = []
        for name in self.levels:
            try:
                self.level(name)
            except UsageError as error:
                faults.append(str(error))
        known = {*LEVELS, *self.levels}
        unknown = [name for name in self.active_levels if name not in known]
        if unknown:
            faults.append(
                f"active_levels names {quoted(', '.join(unknown))}; the levels are {', '.join(sorted(known))}"
            )
        if len(set(self.active_levels)) < len(self.active_levels):
            faults.append("active_levels names a level twice")
        if faults:
            raise ValueError("; ".join(faults))
        return self

    @property
    def level_names(self) -> tuple[str, ...]:
        """The names of all levels: those that are built in, then others as in the settings."""
        return tuple(dict.fromkeys((*LEVELS, *self.levels)))

    @property
    def active(self) -> tuple[Level, ...]:
        """The levels to whose pools nights add deals."""
        return tuple(self.level(name) for name in self.active_levels)

    def level(self, name: str) -> Level:
        """Return a level with the policy in force.

        Raises:
            UsageError: there is no such level, or its policy is not possible.
        """
        own = self.levels.get(name)
        if own is not None and not is_level_name(name):
            raise UsageError(f"level {quoted(name, _MAX_NAME)}: {NAME_FAULT}")
        if own is None:
            if name not in LEVELS:
                names = ", ".join(self.level_names)
                raise UsageError(f"unknown level {quoted(name, _MAX_NAME)}; the levels are {names}")
            return LEVELS[name]
        built_in: Policy | None = LEVELS[name].policy if name in LEVELS else None
        try:
            policy = changed(built_in, own.policy_changes)
        except UsageError as error:
            raise UsageError(f"level {quoted(name, _MAX_NAME)}: {error}") from error
        return Level(name, policy)

    def deals_of(self, level: str) -> int:
        """Return the number of admitted deals that a night adds to `level`."""
        own = self.levels.get(level, LevelSettings()).deals_per_night
        return self.deals_per_night if own is None else own

    def cap_of(self, level: str) -> int:
        """Return the number of deals at which nights stop adding to the pool of `level`."""
        own = self.levels.get(level, LevelSettings()).deals_cap
        return self.deals_cap if own is None else own


Key: TypeAlias = tuple[str, ...]
"""The place of a setting in a file: its section, if any, and its name, such as `("hooks", "on_run")`."""

_SECTIONS: Final[Mapping[Key, type[BaseModel]]] = {
    (): Settings,
    ("hooks",): Hooks,
    **{("levels", level): LevelSettings for level in LEVELS},
}
LEVELS_SECTION: Final = "levels"
_ANY_LEVEL: Final = next(iter(LEVELS))

ALLOWED: Final[Mapping[Key, str]] = {
    (*section, name): field.description
    for section, model in _SECTIONS.items()
    for name, field in model.model_fields.items()
    if field.description is not None
}
"""Every setting, in the order in which they are shown, with a description of the values it accepts.

Levels that are not built in have the same keys; see `like_built_in`.
"""


def keys_of(settings: Settings) -> tuple[Key, ...]:
    """Return the keys of all settings, with those of levels that are not built in."""
    others = (name for name in settings.level_names if name not in LEVELS)
    return (
        *ALLOWED,
        *((LEVELS_SECTION, name, field) for name in others for field in LevelSettings.model_fields),
    )


def like_built_in(key: Key) -> Key:
    """Return a key of any level as that of a level that is built in, and any other key as it is."""
    if len(key) > 1 and key[0] == LEVELS_SECTION:
        return (key[0], _ANY_LEVEL, *key[2:])
    return key
