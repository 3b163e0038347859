"""The sources of settings: what a file, the environment and the options give, each value with its origin."""

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from jobs.settings.model import ALLOWED, LEVELS_SECTION, Key, like_built_in, looks_like_a_key
from pipeline.store.text import shortened

PREFIX: Final = "FAIRWAY_"
DATA: Final = ("data",)
SECRET: Final = ("daily_key",)
SECRET_FILE: Final = ("daily_key_file",)

_PATHS: Final = (DATA, SECRET_FILE, ("metrics_file",), ("cache",))
_LISTS: Final = (
    ("hooks", "on_failure"),
    ("hooks", "on_publish"),
    ("hooks", "on_run"),
    ("active_levels",),
    *(key for key in ALLOWED if key[-1] == "course"),
)
_LEVEL_DEPTH: Final = 2  # such as levels.easy
_OPTIONS: Final = {"keep_catalogs": "--keep", "keep_days": "--older-than", "keep_records": "--keep-records"}
_MAX_SHOWN: Final = 60  # characters of a value in an error message
_TOML_PLACE: Final = re.compile(r"at line (\d+), column (\d+)")


def text_of(key: Key) -> str:
    """Return the name of a setting, such as `hooks.on_run`."""
    return ".".join(key)


def variable_of(key: Key) -> str:
    """Return the environment variable for a setting, such as `FAIRWAY_HOOKS__ON_RUN`."""
    return PREFIX + "__".join(key).upper()


VARIABLES: Final[Mapping[str, Key]] = {variable_of(key): key for key in ALLOWED}


@dataclass(frozen=True, slots=True)
class Origin:
    """The place a value came from: its kind and its name; `setting` if another setting supplies the value."""

    kind: Literal["default", "file", "variable", "option", "setting"]
    name: str = ""

    def __str__(self) -> str:
        return self.name or self.kind


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """One mistake in the settings.

    Attributes:
        origin: where it was made.
        text: a full description, with the origin.
        key: the setting as it was written, or the unknown variable; "" if there is none.
        value: as it was given; None if it must not be shown.
        allowed: the values that are accepted; "" if there is no such description.
        line: in the file, from 1; only if the file is not TOML.
        column: likewise.
    """

    origin: Origin
    text: str
    key: str = ""
    value: object = None
    allowed: str = ""
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """A value from a source, not yet checked."""

    key: Key
    value: object
    origin: Origin

    @property
    def place(self) -> str:
        """The beginning of a message about this value: the variable or option, or the file and the key."""
        return f"{self.origin}: {text_of(self.key)}" if self.origin.kind == "file" else str(self.origin)

    def problem(self, reason: str = "") -> ConfigProblem:
        """Return the problem that this value is not accepted, without the value if it is the secret key."""
        if self.key == SECRET:
            return self.secret_problem(reason)
        allowed = ALLOWED[like_built_in(self.key)]
        text = f"{self.place} is {_shown(self.value)}{reason and ': '}{reason}; it must be {allowed}"
        return ConfigProblem(self.origin, text, text_of(self.key), self.value, allowed)

    def secret_problem(self, reason: str) -> ConfigProblem:
        """Return a problem with this value that does not show it."""
        text = f"{self.place}: {reason}"
        return ConfigProblem(self.origin, text, text_of(self.key), allowed=ALLOWED[like_built_in(self.key)])


def from_file(file: Path, *, in_root: bool) -> Iterator[Value | ConfigProblem]:
    """Yield the values in a settings file. Relative paths are taken from the folder of the file.

    Args:
        file: to read. It is a problem, not an error, if it cannot be read.
        in_root: whether it belongs to the data root and was not named by the user.
    """
    origin = Origin("file", str(file))
    try:
        if file.exists() and not file.is_file():  # reading a pipe could wait for ever
            yield ConfigProblem(origin, f"{file} is not a regular file; name a settings file")
            return
        document = tomllib.loads(file.read_text("utf-8-sig"))
    except OSError as error:
        yield ConfigProblem(origin, f"cannot read {file}: {error.strerror}")
        return
    except UnicodeDecodeError:
        yield ConfigProblem(origin, f"{file} is not UTF-8 text; name a settings file")
        return
    except (ValueError, RecursionError) as error:  # not TOML, or a number with thousands of digits
        place = _TOML_PLACE.search(str(error))
        line, column = (int(place[1]), int(place[2])) if place else (None, None)
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        yield ConfigProblem(origin, f"{file}: {reason}", line=line, column=column)
        return
    for key, value in _leaves(document, ()):
        is_relative = isinstance(value, str) and key in _PATHS and value and not value.startswith("~")
        found = Value(key, str(file.absolute().parent / str(value)) if is_relative else value, origin)
        yield _misplaced(found, in_root=in_root) or found


def file_content(file: Path) -> bytes | None:
    """Return the content of a settings file; None if it cannot be read."""
    try:
        return file.read_bytes()
    except OSError:
        return None


def _leaves(table: Mapping[str, Any], section: Key) -> Iterator[tuple[Key, object]]:
    """Yield everything in a table that is not a section of the settings."""
    for name, value in table.items():
        key = (*section, name)
        if value == {} and len(key) == _LEVEL_DEPTH and key[0] == LEVELS_SECTION:
            yield key, value  # a level must say something of itself
        elif isinstance(value, dict) and _names_in(key):
            yield from _leaves(value, key)
        else:
            yield key, value


def _names_in(section: Key) -> tuple[str, ...]:
    """Return the names allowed in a section; empty if it is not a section."""
    section, depth = like_built_in(section), len(section)
    return tuple(dict.fromkeys(key[depth] for key in ALLOWED if key[:depth] == section and len(key) > depth))


def _misplaced(found: Value, *, in_root: bool) -> ConfigProblem | None:
    """Return the problem that a key does not belong in a file, or None."""
    key, name, origin = found.key, text_of(found.key), found.origin
    if found.value == {} and len(key) == _LEVEL_DEPTH and key[0] == LEVELS_SECTION:
        return None
    if names := _names_in(key):
        allowed = f"a section with {', '.join(names)}"
        text = f"{found.place} is {_shown(found.value)}; it must be {allowed}"
        return ConfigProblem(origin, text, name, found.value, allowed)
    if key == SECRET:
        how = f"name a file that holds it with {text_of(SECRET_FILE)}, or set {variable_of(SECRET)}"
        return ConfigProblem(origin, f"{found.place} cannot be set in a settings file; {how}", name)
    if key == DATA and in_root:
        text = f"{found.place} cannot be set in the data root itself; set it in a file named with --config"
        return ConfigProblem(origin, text, name, found.value)
    if like_built_in(key) not in ALLOWED:
        near = text_of((*key[:-1], _nearest(key[-1], _names_in(key[:-1]))))
        return ConfigProblem(
            origin, f"{origin}: unknown key {shortened(name, _MAX_SHOWN)}; did you mean {near}?", name
        )
    return None


def from_variables(variables: Mapping[str, str]) -> Iterator[Value | ConfigProblem]:
    """Yield the values in environment variables. Variables without the prefix are ignored."""
    for name in sorted(name for name in variables if name.startswith(PREFIX)):
        origin, text = Origin("variable", name), variables[name]
        if name not in VARIABLES:
            near = _nearest(name.removeprefix(PREFIX), [known.removeprefix(PREFIX) for known in VARIABLES])
            yield ConfigProblem(
                origin, f"unknown variable {shortened(name, _MAX_SHOWN)}; did you mean {PREFIX}{near}?", name
            )
        elif not text:
            yield ConfigProblem(origin, f"{name} is empty; unset it or give it a value", name)
        else:
            key = VARIABLES[name]
            yield Value(key, _from_json(text) if key in _LISTS else text, origin)


def _from_json(text: str) -> object:
    """Return the list that a JSON text stands for; any other text unchanged, to be rejected later."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, list) else text


def from_options(options: Mapping[str, object]) -> Iterator[Value]:
    """Yield the values of command-line options, by the names of their settings; None means not given."""
    for name, value in options.items():
        if value is not None:
            option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
            yield Value((name,), value, Origin("option", option))


def _nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that an unknown name most likely stands for."""

    def likeness(candidate: str) -> tuple[bool, float]:
        return candidate.endswith(name), difflib.SequenceMatcher(None, name, candidate).ratio()

    return max(known, key=likeness)


def _shown(value: object) -> str:
    if isinstance(value, str) and looks_like_a_key(value):
        return "something that looks like a key and is not shown"
    text = repr(value) if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    return shortened(text, _MAX_SHOWN)
