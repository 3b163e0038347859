"""What a file, variables and options give: values with their origins, and what is wrong with them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic_settings import EnvSettingsSource, SettingsError

from jobs.settings.config_file import ConfigFile, SyntaxFault, lines_of, parsed
from jobs.settings.keys import ALLOWED, VARIABLES, Key, names_in, nearest, text_of, variable_of
from jobs.settings.model import PREFIX, Settings
from jobs.settings.values import looks_like_a_key

DATA: Final = ("data",)
SECRET: Final = ("daily_key",)
SECRET_FILE: Final = ("daily_key_file",)

_PATHS: Final = (DATA, SECRET_FILE, ("metrics_file",), ("cache",))
_OPTIONS: Final = {"keep_catalogs": "--keep", "keep_days": "--older-than"}
_MOST_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value came from.

    Attributes:
        kind: of place.
        name: of the variable, the option, the file, or the setting that stands in for it; "" for a default.
        line: in the file, counted from 1; None where that is not known or is no file.
        column: in the file; only where something is no TOML.
    """

    kind: Literal["default", "file", "variable", "option", "setting"]
    name: str = ""
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = "".join(
            f", {what} {number}"
            for what, number in (("line", self.line), ("column", self.column))
            if number is not None
        )
        return f"{self.name or self.kind}{place}"


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong with what was given.

    Attributes:
        origin: where.
        key: of the setting, as it was given; "" where it is about none.
        value: as it was given; None where it is not to be shown.
        allowed: what may stand there; "" where that is no question.
        text: all of it, in one sentence.
    """

    origin: Origin
    key: str
    value: object
    allowed: str
    text: str


@dataclass(frozen=True, slots=True)
class Given:
    """A value that something other than a default gave.

    Attributes:
        key: of the setting.
        value: for the model to judge.
        origin: where it came from.
        text: of a variable, as it was before what is JSON in it was read; "" otherwise.
    """

    key: Key
    value: object
    origin: Origin
    text: str = ""

    def fault(self, reason: str = "") -> Fault:
        """This value is not what it must be."""
        begin, allowed = lead(self.origin, self.key), ALLOWED[self.key]
        if self.key == SECRET:
            return Fault(self.origin, text_of(self.key), None, allowed, f"{begin}: {reason}")
        value = self.text or self.value
        text = f"{begin} is {_shown(value)}{reason and ': '}{reason}; allowed is {allowed}"
        return Fault(self.origin, text_of(self.key), value, allowed, text)


def from_file(file: ConfigFile) -> Sequence[Given | Fault]:
    """What a file gives; a path in it begins in its folder."""
    document = parsed(file.text)
    if isinstance(document, SyntaxFault):
        origin = Origin("file", str(file.path), document.line, document.column)
        return (Fault(origin, "", None, "", f"{origin}: {document.what}"),)
    lines = lines_of(file.text)
    return [_in_file(file, lines, key, value) for key, value in _leaves(document, ())]


def _leaves(table: Mapping[str, Any], section: Key) -> Iterator[tuple[Key, object]]:
    """What a table holds, down to values, and to whatever stands where a section should and is none."""
    for name, value in table.items():
        key = (*section, name)
        if isinstance(value, dict) and names_in(key):
            yield from _leaves(value, key)
        else:
            yield key, value


def _in_file(file: ConfigFile, lines: Mapping[Key, int], key: Key, value: object) -> Given | Fault:
    origin = Origin("file", str(file.path), lines.get(key))
    begin, name = lead(origin, key), text_of(key)
    if names_in(key):
        allowed = f"a section with {', '.join(names_in(key))}"
        return Fault(origin, name, value, allowed, f"{begin} is {_shown(value)}; allowed is {allowed}")
    if key == SECRET:
        how = f"name a file that holds it with {text_of(SECRET_FILE)}, or set {variable_of(SECRET)}"
        return Fault(origin, name, None, "", f"{begin} has no place in a file of settings; {how}")
    if key == DATA and file.in_root:
        how = "it can be set in a file that --config names"
        return Fault(origin, name, value, "", f"{begin} has no place in the data root itself; {how}")
    if key not in ALLOWED:
        near = text_of((*key[:-1], nearest(key[-1], names_in(key[:-1]))))
        text = f"{origin}: unknown key {name}; the nearest that Fairway knows is {near}"
        return Fault(origin, name, None, "", text)
    if key in _PATHS and value == "":
        return Fault(origin, name, value, ALLOWED[key], f"{begin} is empty; allowed is {ALLOWED[key]}")
    if key in _PATHS and isinstance(value, str) and not value.startswith("~"):
        value = str(file.path.absolute().parent / value)
    return Given(key, value, origin)


def from_variables(variables: Mapping[str, str]) -> Iterator[Given | Fault]:
    """What variables give; those of others are passed over."""
    source = EnvSettingsSource(Settings)
    for name in sorted(name for name in variables if name.startswith(PREFIX)):
        origin, value = Origin("variable", name), variables[name]
        if name not in VARIABLES:
            near = nearest(name.removeprefix(PREFIX), [known.removeprefix(PREFIX) for known in VARIABLES])
            text = f"unknown variable {name}; the nearest that Fairway knows is {PREFIX}{near}"
            yield Fault(origin, name, None, "", text)
        elif not value:
            yield Fault(origin, name, None, "", f"{name} is empty; unset it or give it a value")
        else:
            yield _decoded(source, Given(VARIABLES[name], value, origin, value))


def _decoded(source: EnvSettingsSource, given: Given) -> Given | Fault:
    """A variable's value: text, or what the JSON in it says where the setting is a list."""
    source.env_vars = {variable_of(given.key).lower(): given.text}
    try:
        value: Any = source()
    except (SettingsError, RecursionError):
        return given.fault("it is no JSON")
    for name in given.key:
        value = value[name]
    return Given(given.key, value, given.origin, given.text)


def from_options(options: Mapping[str, object]) -> Iterator[Given]:
    """What options of the command line give, by the names of the settings; None is not given."""
    for name, value in options.items():
        if value is not None:
            option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
            yield Given((name,), value, Origin("option", option))


def lead(origin: Origin, key: Key) -> str:
    """How a sentence about a value begins: with the variable, the option, or the line and the key."""
    return f"{origin}: {text_of(key)}" if origin.kind == "file" else str(origin)


def _shown(value: object) -> str:
    if isinstance(value, str) and looks_like_a_key(value):
        return "what looks like a key, and is not shown"
    text = repr(value) if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
