"""How settings come about: defaults, then a file, then variables, then options; the later one counts.

Everything is looked at before anything is refused, so that one run names all that is wrong. Each value knows
where it came from.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from jobs.settings.config_file import ConfigFile
from jobs.settings.key_file import read_key_text
from jobs.settings.keys import Key, text_of, variable_of
from jobs.settings.model import Settings
from jobs.settings.sources import (
    SECRET,
    SECRET_FILE,
    Fault,
    Given,
    Origin,
    from_file,
    from_options,
    from_variables,
    lead,
)
from jobs.settings.values import key_from_text, looks_like_a_key
from pipeline.errors import ConfigurationError
from pipeline.work.executors import MOST_WORKERS

_IS_A_KEY: Final = "this is a key; write it into a file and name that"


@dataclass(frozen=True, slots=True)
class Sources:
    """Everything that settings come from.

    Attributes:
        variables: names and values, such as the environment; those of others are passed over.
        processors: the workers where nothing says how many.
        file: of settings, or None.
        options: of the command line, by the names of the settings; None is not given.
    """

    variables: Mapping[str, str]
    processors: int
    file: ConfigFile | None = None
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings in force, and what gave them.

    Attributes:
        settings: in force.
        given: what was given and not overruled; all others have their defaults.
    """

    settings: Settings
    given: Mapping[Key, Given]

    def origin_of(self, key: Key) -> Origin:
        """Where the value in force of a setting came from."""
        return self.given[key].origin if key in self.given else Origin("default")


def settings_from(
    variables: Mapping[str, str],
    processor_count: int,
    file: ConfigFile | None = None,
    options: Mapping[str, object] | None = None,
) -> Settings:
    """The settings in force; the arguments are those of `Sources`.

    Raises:
        ConfigurationError: something is unknown or not allowed; it names all of it.
    """
    return configuration(Sources(variables, processor_count, file, options or {})).settings


def configuration(sources: Sources) -> Configuration:
    """The settings in force, with where they came from.

    Raises:
        ConfigurationError: something is unknown or not allowed; it names all of it.
    """
    found = examined(sources)
    if not isinstance(found, Configuration):
        raise ConfigurationError("; ".join(fault.text for fault in found))
    return found


def examined(sources: Sources) -> Configuration | tuple[Fault, ...]:
    """The settings in force, or all that is wrong with what was given."""
    given: dict[Key, Given] = {}
    faults: list[Fault] = []
    for layer in (
        from_file(sources.file) if sources.file else (),
        from_variables(sources.variables),
        from_options(sources.options),
    ):
        faults += _overrule(given, layer)
    faults += _read_key_file(given)
    checked = _checked(given, min(sources.processors, MOST_WORKERS))
    if isinstance(checked, Settings) and not faults:
        return Configuration(checked, given)
    return (*faults, *(checked if isinstance(checked, tuple) else ()))


def faults_in(file: ConfigFile) -> tuple[Fault, ...]:
    """All that is wrong with a file of settings by itself; files that it names are not looked at."""
    given: dict[Key, Given] = {}
    faults = _overrule(given, from_file(file))
    key_file = given.get(SECRET_FILE)
    if key_file is not None and looks_like_a_key(Path(str(key_file.value)).name):
        begin = lead(key_file.origin, SECRET_FILE)
        faults.append(Fault(key_file.origin, text_of(SECRET_FILE), None, "", f"{begin}: {_IS_A_KEY}"))
    checked = _checked(given, workers=1)
    found = (*faults, *(checked if isinstance(checked, tuple) else ()))
    return tuple(sorted(found, key=lambda fault: fault.origin.line or 0))


def _overrule(given: dict[Key, Given], layer: Iterable[Given | Fault]) -> list[Fault]:
    """Put a layer over what was given before it; what is wrong with the layer."""
    found = list(layer)
    fresh = {each.key: each for each in found if isinstance(each, Given)}
    if fresh.keys() & {SECRET, SECRET_FILE}:  # two forms of one setting
        given.pop(SECRET, None)
        given.pop(SECRET_FILE, None)
    given |= fresh
    return [each for each in found if isinstance(each, Fault)]


def _read_key_file(given: dict[Key, Given]) -> list[Fault]:
    """Put the key from its file among what is given; what is wrong with that."""
    file = given.get(SECRET_FILE)
    if file is None or not isinstance(file.value, str):
        return []
    if SECRET in given:
        both = f"{variable_of(SECRET)} and {variable_of(SECRET_FILE)}"
        return [Fault(file.origin, "", None, "", f"{both} are both set; unset one of them")]
    try:
        if looks_like_a_key(Path(file.value).name):
            raise ConfigurationError(_IS_A_KEY)
        key = key_from_text(read_key_text(Path(file.value)))
    except (ConfigurationError, ValueError) as error:
        return [Fault(file.origin, text_of(file.key), None, "", f"{lead(file.origin, file.key)}: {error}")]
    given[SECRET] = Given(SECRET, key, Origin("setting", text_of(SECRET_FILE)))
    return []


def _checked(given: Mapping[Key, Given], workers: int) -> Settings | tuple[Fault, ...]:
    values: dict[str, Any] = {"workers": workers}
    for each in given.values():
        table = values
        for name in each.key[:-1]:
            table = table.setdefault(name, {})
        table[each.key[-1]] = each.value
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        return tuple(_invalid(details, given) for details in error.errors())


def _invalid(details: ErrorDetails, given: Mapping[Key, Given]) -> Fault:
    place = tuple(str(part) for part in details["loc"])
    reason = details["msg"].removeprefix("Value error, ") if details["type"] == "value_error" else ""
    for key, each in given.items():
        if place[: len(key)] == key:
            return each.fault(reason)
    return Fault(Origin("default"), "", None, "", reason)  # about several settings, which it names
