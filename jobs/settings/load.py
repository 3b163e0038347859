"""Loading the settings: defaults, then a file, then environment variables, then options; the last one wins.

Only this module reads the environment, and the solver for the place of its kernels; the rest gets `Settings`.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from jobs.settings.key_file import read_key_text
from jobs.settings.model import Key, Settings, key_from_text, looks_like_a_key
from jobs.settings.sources import (
    DATA,
    SECRET,
    SECRET_FILE,
    ConfigProblem,
    Origin,
    Value,
    from_file,
    from_options,
    from_variables,
    text_of,
    variable_of,
)
from pipeline.errors import ConfigurationError
from pipeline.store.root import CONFIG_FILE, MARKER
from pipeline.work.executors import MOST_WORKERS

_IS_A_KEY: Final = "this is a key; write the key to a file and give the name of that file"
_TOP: Final = Path(__file__).resolve().parents[2]


class InvalidSettingsError(ConfigurationError):
    """Settings with mistakes in them; `problems` lists every one."""

    def __init__(self, problems: tuple[ConfigProblem, ...]) -> None:
        count = f"{len(problems):,} problems, one per line in `fairway config check`: " * (len(problems) > 1)
        super().__init__(count + "; ".join(problem.text for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings, and the values that were given and not overridden; all others have their defaults."""

    settings: Settings
    values: Mapping[Key, Value]

    def origin_of(self, key: Key) -> Origin:
        """Return where the value of a setting came from."""
        return self.values[key].origin if key in self.values else Origin("default")


def load(config: Path | None = None, **options: object) -> Configuration:
    """Load the settings of this process.

    Args:
        config: the settings file named by the user; None for the one in the data root, if there is one.
        options: of the command line, by the names of their settings; None means not given.

    Raises:
        InvalidSettingsError: if any key, variable or value is not accepted.
    """
    file = settings_file(config, options.get("data"))
    return configure(os.environ, processors(), file, options, in_root=config is None)


def settings_file(config: Path | None, data: object) -> Path | None:
    """Return the settings file: the one named, or else the one in the data root, if there is one."""
    if config is not None:
        return config
    root = data or os.environ.get(variable_of(DATA)) or checkout_root()
    beside = Path(str(root)) / CONFIG_FILE if root else None
    return beside if beside is not None and os.path.lexists(beside) else None


def configure(
    variables: Mapping[str, str],
    processors: int,
    file: Path | None = None,
    options: Mapping[str, object] | None = None,
    *,
    in_root: bool = False,
    reads_key_file: bool = True,
) -> Configuration:
    """Merge all sources of settings and check the result.

    Args:
        variables: the environment; variables without the prefix are ignored.
        processors: the default number of workers.
        file: the settings file, or None.
        options: as for `load`.
        in_root: whether the file belongs to the data root and was not named by the user.
        reads_key_file: whether to read the key file; otherwise the settings lack the key.

    Raises:
        InvalidSettingsError: if any key, variable or value is not accepted. Every source is checked in full.
    """
    values, problems = _merged(
        from_file(file, in_root=in_root) if file else (),
        from_variables(variables),
        from_options(options or {}),
    )
    problems += _add_key(values, reads_file=reads_key_file)
    settings = _validated(values, min(processors, MOST_WORKERS), problems)
    if settings is None or problems:
        raise InvalidSettingsError(tuple(problems))
    return Configuration(settings, values)


def _merged(*sources: Iterable[Value | ConfigProblem]) -> tuple[dict[Key, Value], list[ConfigProblem]]:
    """Return the values of all sources, later ones overriding earlier ones, and the problems found."""
    values: dict[Key, Value] = {}
    problems: list[ConfigProblem] = []
    for source in sources:
        found = list(source)
        problems += [each for each in found if isinstance(each, ConfigProblem)]
        own = {each.key: each for each in found if isinstance(each, Value)}
        if own.keys() & {SECRET, SECRET_FILE}:  # either of them overrides both
            values.pop(SECRET, None)
            values.pop(SECRET_FILE, None)
        values |= own
    return values, problems


def _add_key(values: dict[Key, Value], *, reads_file: bool) -> list[ConfigProblem]:
    """Add the key from the key file, if one is named, to the values; return the problems with it."""
    file = values.get(SECRET_FILE)
    if file is None or not isinstance(file.value, str):
        return []
    if SECRET in values:
        both = f"{variable_of(SECRET)} and {variable_of(SECRET_FILE)}"
        return [ConfigProblem(file.origin, f"{both} are both set; unset one of them")]
    try:
        if looks_like_a_key(Path(file.value).name):
            raise ConfigurationError(_IS_A_KEY)
        key = key_from_text(read_key_text(Path(file.value))) if reads_file else None
    except (ConfigurationError, ValueError) as error:
        return [file.secret_problem(str(error))]
    values[SECRET] = Value(SECRET, key, Origin("setting", text_of(SECRET_FILE)))
    return []


def _validated(values: Mapping[Key, Value], workers: int, problems: list[ConfigProblem]) -> Settings | None:
    """Return the settings; if a value is not accepted, add the problem to `problems` and return None."""
    nested: dict[str, Any] = {"workers": workers}
    for each in values.values():
        table = nested
        for name in each.key[:-1]:
            table = table.setdefault(name, {})
        table[each.key[-1]] = each.value
    try:
        return Settings.model_validate(nested)
    except ValidationError as error:
        problems += (_problem(details, values) for details in error.errors())
        return None


def _problem(details: ErrorDetails, values: Mapping[Key, Value]) -> ConfigProblem:
    reason = details["msg"].removeprefix("Value error, ") if details["type"] == "value_error" else ""
    place = tuple(map(str, details["loc"]))
    value = next((value for key, value in values.items() if place[: len(key)] == key), None)
    # A mistake without a place is about several settings, and its reason names them.
    return ConfigProblem(Origin("default"), reason) if value is None else value.problem(reason)


def environment() -> Mapping[str, str]:
    """Return the environment variables of this process."""
    return os.environ


@contextmanager
def environment_with(changes: Mapping[str, str]) -> Iterator[None]:
    """Context manager that changes environment variables, for a library that has no other way to be set."""
    before = dict(os.environ)
    os.environ.update(changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checkout_root(top: Path = _TOP) -> Path | None:
    """Return the data root of the checkout at `top`, by default that of this file; None if it is not one."""
    root = top / "data"
    is_checkout = (top / "pyproject.toml").is_file() and (root / MARKER).is_file()
    return root if is_checkout else None


def data_root(settings: Settings) -> Path:
    """Return the data root named by the settings, or else that of the checkout.

    Raises:
        ConfigurationError: if there is neither.
    """
    root = settings.data or checkout_root()
    if root is None:
        raise ConfigurationError("no data root is set; give --data DIR or set FAIRWAY_DATA")
    return root.absolute()
