"""The settings of a run: one frozen model, and the places that follow from it.

This is the only module that looks at the process's environment; everything else is handed a `Settings`. How
that comes about is told in `jobs/settings/load.py`. The frozen definitions (shuffle, line, steady player,
par, policies) are no settings.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, time
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    PlainSerializer,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from jobs.settings.values import (
    command,
    day_from_text,
    key_from_text,
    level_name,
    metrics_name,
    minute_of_day,
    path,
    whole,
)
from pipeline.daily.calendar import FIRST_DAY
from pipeline.daily.key import DailyKey
from pipeline.deals.levels import LEVELS
from pipeline.errors import ConfigurationError
from pipeline.store.root import MARKER
from pipeline.work.executors import MOST_WORKERS

METRICS_FILE: Final = "metrics.prom"  # in the data root, unless the setting names another place
PREFIX: Final = "FAIRWAY_"
BELOW: Final = "__"  # in the name of a variable: what follows is a setting of the section before it
MOST_DEALS_PER_NIGHT: Final = 20_000
MOST_DEALS: Final = 10_000_000
MOST_AHEAD_DAYS: Final = 366
MOST_MINUTES: Final = 24 * 60
MOST_HOOK_SECONDS: Final = 600
MOST_KEPT: Final = 1_000_000
MOST_DAYS: Final = 36_500  # a century

_Whole = Annotated[int, BeforeValidator(whole)]
_Path = Annotated[Path, AfterValidator(path)]
_Metrics = Annotated[Path, AfterValidator(path), AfterValidator(metrics_name)]
_Command = Annotated[tuple[str, ...], AfterValidator(command)]


def _number(default: int | None, *, least: int, most: int) -> Any:
    """A field that is a whole number in a range; its description is what is allowed."""
    text = f"a whole number from {least:,} to {most:,}"
    return Field(default=default, ge=least, le=most, description=text)


def _command() -> Any:
    text = 'a command as a list of its arguments, such as ["/usr/local/bin/notify", "--quiet"]'
    return Field(default=(), description=text)


def _path(text: str = "a path") -> Any:
    return Field(default=None, description=text)


class LevelSettings(BaseModel):
    """What one level has that differs from the others; None where it does not.

    Attributes:
        deals_per_night: admitted deals that a night adds.
        deals_cap: deals at which the pool stops growing by nights.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    deals_per_night: _Whole | None = _number(None, least=1, most=MOST_DEALS_PER_NIGHT)
    deals_cap: _Whole | None = _number(None, least=1, most=MOST_DEALS)


_Levels = Annotated[
    Mapping[Annotated[str, BeforeValidator(level_name)], LevelSettings],
    AfterValidator(MappingProxyType),
    PlainSerializer(dict, return_type=dict[str, LevelSettings]),
]


class Hooks(BaseModel):
    """Commands of the operator's, each as a list of arguments; no shell reads them, and () is none.

    Attributes:
        on_failure: runs when a run has failed.
        on_publish: runs when Daily holes have come out.
        on_run: runs after every run.
        timeout_seconds: when a command that has not ended is ended by force.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    on_failure: _Command = _command()
    on_publish: _Command = _command()
    on_run: _Command = _command()
    timeout_seconds: _Whole = _number(30, least=1, most=MOST_HOOK_SECONDS)


class Settings(BaseSettings):
    """What is asked for, checked. A `Settings(...)` is what it is given and the defaults: it reads nothing.

    Attributes:
        data: the data root, or None where none is named.
        daily_key: the 32 secret bytes that Daily holes are drawn with, or None; never shown.
        daily_key_file: the file that the key was read from, or None.
        workers: threads that compute.
        deals_per_night: admitted deals that a night adds to each level; see `deals_of`.
        deals_cap: deals at which a level's pool stops growing by nights; see `cap_of`.
        levels: what single levels have instead.
        publish_ahead_days: days after today for which Daily holes are published.
        daily_from: the first day for which a Daily hole is published.
        nightly_at: when a date's night is made, in UTC.
        publish_every_minutes: how often the service looks whether something is to be published.
        retry_first_minutes: the pause after a run that failed; it doubles with each that fails after it.
        retry_most_minutes: the longest such pause.
        clock_bound_days: how long after the latest night or hole in the data root a date may be that is
            made without a person who names it.
        keep_catalogs: earlier catalogs that `fairway gc` leaves, the latest.
        keep_days: days; it leaves a catalog that was replaced later than that too.
        log_format: how the log is written, for people or as a line of JSON for each event.
        metrics_file: where metrics are written, or None for `metrics.prom` in the data root.
        hooks: the operator's own commands.
        cache: folder for compiled kernels, or None for the usual place (see `solver.kernel_cache`).
    """

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        env_prefix=PREFIX,
        env_nested_delimiter=BELOW,
    )

    data: _Path | None = _path()
    daily_key: Annotated[InstanceOf[DailyKey] | None, BeforeValidator(key_from_text)] = Field(
        default=None, repr=False, exclude=True, description="64 hexadecimal digits"
    )
    daily_key_file: _Path | None = _path()
    workers: _Whole = _number(1, least=1, most=MOST_WORKERS)
    deals_per_night: _Whole = _number(500, least=1, most=MOST_DEALS_PER_NIGHT)
    deals_cap: _Whole = _number(20_000, least=1, most=MOST_DEALS)
    levels: _Levels = Field(
        default_factory=lambda: MappingProxyType({}),
        description=f"a section for each of {', '.join(LEVELS)} that differs",
    )
    publish_ahead_days: _Whole = _number(2, least=1, most=MOST_AHEAD_DAYS)
    daily_from: Annotated[date, BeforeValidator(day_from_text)] = Field(
        default=FIRST_DAY, ge=FIRST_DAY, description=f"a date from {FIRST_DAY} on, as YYYY-MM-DD"
    )
    nightly_at: Annotated[time, BeforeValidator(minute_of_day)] = Field(
        default=time(0, 5), description="a time of the day in UTC, as HH:MM"
    )
    publish_every_minutes: _Whole = _number(60, least=1, most=MOST_MINUTES)
    retry_first_minutes: _Whole = _number(5, least=1, most=MOST_MINUTES)
    retry_most_minutes: _Whole = _number(120, least=1, most=MOST_MINUTES)
    clock_bound_days: _Whole = _number(400, least=1, most=MOST_DAYS)
    keep_catalogs: _Whole = _number(30, least=0, most=MOST_KEPT)
    keep_days: _Whole = _number(30, least=0, most=MOST_DAYS)
    log_format: Literal["text", "json"] = Field(default="text", description="text or json")
    metrics_file: _Metrics | None = _path("a path that ends in .prom")
    hooks: Hooks = Field(default=Hooks(), description=f"a section with {', '.join(Hooks.model_fields)}")
    cache: _Path | None = _path()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what is passed in; `jobs.settings.load` puts the layers together."""
        return (init_settings,)

    @model_validator(mode="after")
    def _pauses_grow(self) -> Self:
        if self.retry_most_minutes < self.retry_first_minutes:
            raise ValueError(
                f"retry_most_minutes is {self.retry_most_minutes}, less than retry_first_minutes, which is"
                f" {self.retry_first_minutes}; make it at least that"
            )
        return self

    def deals_of(self, level: str) -> int:
        """Admitted deals that a night adds to this level."""
        own = self.levels.get(level, LevelSettings()).deals_per_night
        return self.deals_per_night if own is None else own

    def cap_of(self, level: str) -> int:
        """Deals at which this level's pool stops growing by nights."""
        own = self.levels.get(level, LevelSettings()).deals_cap
        return self.deals_cap if own is None else own


def environment() -> Mapping[str, str]:
    """The variables of this process."""
    return os.environ


@contextmanager
def environment_with(changes: Mapping[str, str]) -> Iterator[None]:
    """Have other variables for the time of a block: for a library that can be told in no other way."""
    before = {name: os.environ.pop(name, None) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def processors() -> int:
    """How many processors this process may use: the default for `workers`."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checkout_root(package_file: Path) -> Path | None:
    """The data root of the checkout that holds `package_file`, or None where it lies in no checkout."""
    top = package_file.resolve().parent.parent
    root = top / "data"
    is_checkout = (top / "pyproject.toml").is_file() and (root / MARKER).is_file()
    return root if is_checkout else None


def data_root(settings: Settings, checkout: Path | None) -> Path:
    """Where the data lies: where the settings say, else the checkout's `data/`.

    Raises:
        ConfigurationError: neither names a place.
    """
    root = settings.data or checkout
    if root is None:
        raise ConfigurationError("no data root: give --data DIR or set FAIRWAY_DATA (this is no checkout)")
    return root.absolute()
