"""The settings in force as they are shown: each with its value and where that came from, and no secret."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time
from pathlib import Path
from typing import Final

from jobs.settings.keys import ALLOWED, Key, text_of
from jobs.settings.load import Configuration
from jobs.settings.model import METRICS_FILE
from jobs.settings.sources import DATA, SECRET, Origin

_METRICS: Final = ("metrics_file",)

Value = str | int | list[str] | None


@dataclass(frozen=True, slots=True)
class Shown:
    """A setting as it is shown.

    Attributes:
        name: of the setting, such as `hooks.on_run`.
        value: in force, as JSON has it; None where there is none, or where it is a secret.
        origin: where it came from.
        is_secret: whether there is a value that is not shown.
    """

    name: str
    value: Value
    origin: Origin
    is_secret: bool = False


def all_shown(configuration: Configuration, checkout: Path | None) -> tuple[Shown, ...]:
    """Every setting in force.

    Args:
        configuration: the settings, and what gave them.
        checkout: the data root of the checkout, which stands in where none is named.
    """
    return tuple(_shown(configuration, key, checkout) for key in ALLOWED)


def _shown(configuration: Configuration, key: Key, checkout: Path | None) -> Shown:
    settings, origin = configuration.settings, configuration.origin_of(key)
    if key == SECRET:
        return Shown(text_of(key), None, origin, is_secret=settings.daily_key is not None)
    if key == DATA and settings.data is None and checkout is not None:
        return Shown(text_of(key), str(checkout), Origin("default", "the checkout"))
    root = settings.data or checkout
    if key == _METRICS and settings.metrics_file is None and root is not None:
        return Shown(text_of(key), str(root / METRICS_FILE), origin)
    value: object = settings
    for name in key:
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    if value is None and key[0] == "levels":  # what holds for all levels holds for this one
        return Shown(text_of(key), getattr(settings, key[-1]), Origin("setting", text_of(key[-1:])))
    return Shown(text_of(key), _plain(value), origin)


def _plain(value: object) -> Value:
    if isinstance(value, time):
        return value.isoformat("minutes")
    if isinstance(value, tuple):
        return [str(each) for each in value]
    return value if value is None or isinstance(value, int) else str(value)
