"""The names of settings, as keys of a file and as variables, and what a misspelt one was meant to be."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from pydantic import BaseModel

from jobs.settings.model import BELOW, PREFIX, Hooks, LevelSettings, Settings
from pipeline.deals.levels import LEVELS

Key: TypeAlias = tuple[str, ...]
"""Where a setting stands: its name, after those of the sections that it lies in."""

SECTIONS: Final[Mapping[Key, type[BaseModel]]] = {
    ("hooks",): Hooks,
    **{("levels", level): LevelSettings for level in LEVELS},
}
"""What a section holds, by where it stands."""


def _all_in(model: type[BaseModel], section: Key) -> Iterator[tuple[Key, str]]:
    for name, field in model.model_fields.items():
        key = (*section, name)
        below = [place for place in SECTIONS if place[: len(key)] == key]
        for place in below:
            yield from _all_in(SECTIONS[place], place)
        if not below:
            yield key, field.description or ""


ALLOWED: Final[Mapping[Key, str]] = dict(_all_in(Settings, ()))
"""Every setting, in the order in which they are shown, with what is allowed for it."""


def text_of(key: Key) -> str:
    """A key as it is shown, such as `hooks.on_run`; TOML takes it so, too."""
    return ".".join(key)


def variable_of(key: Key) -> str:
    """The variable that sets it, such as `FAIRWAY_HOOKS__ON_RUN`."""
    return PREFIX + BELOW.join(key).upper()


VARIABLES: Final[Mapping[str, Key]] = {variable_of(key): key for key in ALLOWED}


def names_in(section: Key) -> tuple[str, ...]:
    """The names that a section may hold; none where there is no such section."""
    depth = len(section)
    return tuple(dict.fromkeys(key[depth] for key in ALLOWED if key[:depth] == section and len(key) > depth))


def nearest(given: str, known: Iterable[str]) -> str:
    """The name that one that is not known was meant to be: one that ends with it, or the most alike."""

    def nearness(name: str) -> tuple[bool, float]:
        return name.endswith(given), difflib.SequenceMatcher(None, given, name).ratio()

    return max(known, key=nearness)
