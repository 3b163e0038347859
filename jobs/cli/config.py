"""`fairway config`: print the settings with their origins, and check a settings file."""

from collections.abc import Mapping
from datetime import time
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from jobs.settings.load import Configuration, InvalidSettingsError, checkout_root, configure, load
from jobs.settings.model import LEVELS_SECTION, METRICS_FILE, Key, keys_of
from jobs.settings.sources import DATA, SECRET, ConfigProblem, Origin, text_of
from jobs.terminal.options import Config, Data, Json, Workers
from jobs.terminal.outcome import CONFIGURATION, DONE
from jobs.terminal.output import put_json, say
from jobs.terminal.tables import put_table
from jobs.watch.logs import message_line, one_line
from pipeline.deals.levels import POLICY_FIELDS

_HIDDEN: Final = "<hidden>"
_METRICS: Final = ("metrics_file",)

CheckedFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="[FILE]",
        help="Settings file to check on its own. Default: all settings, as other commands use them.",
        show_default=False,
    ),
]


def show(data: Data = None, config: Config = None, workers: Workers = None, as_json: Json = False) -> None:
    """Show the settings in force and their sources.

    The origin is a default, the settings file, an environment variable or an option. The secret key is never
    shown.

    Example: fairway config show --data /srv/fairway
    """
    configuration = load(config, data=data, workers=workers)
    if as_json:
        put_json({"settings": [_document(configuration, key) for key in keys_of(configuration.settings)]})
        return
    rows = []
    for key in keys_of(configuration.settings):
        value, origin = _in_force(configuration, key)
        shown = _HIDDEN if _is_hidden(configuration, key) else _text(value)
        rows.append((text_of(key), one_line(shown), one_line(str(origin))))
    put_table([("setting", False), ("value", False), ("from", False)], rows)


def check(file: CheckedFile = None, data: Data = None, config: Config = None, as_json: Json = False) -> int:
    """Check a settings file.

    Every mistake is reported, with the values that are accepted. Exits with status 78 if there are any.

    Example: fairway config check /srv/fairway/fairway.toml
    """
    problems = _problems(file, data, config)
    if as_json:
        put_json({"passed": not problems, "problems": [_problem_document(problem) for problem in problems]})
    elif problems:
        for problem in problems:
            say(message_line(problem.text))
        say(f"\n{len(problems):,} problems" if len(problems) > 1 else "\n1 problem")
    else:
        say("no problems found")
    return CONFIGURATION if problems else DONE


def _problems(file: Path | None, data: Path | None, config: Path | None) -> tuple[ConfigProblem, ...]:
    try:
        if file is None:
            load(config, data=data)
        else:
            configure({}, 1, file, reads_key_file=False)
    except InvalidSettingsError as error:
        return error.problems
    return ()


def _in_force(configuration: Configuration, key: Key) -> tuple[object, Origin]:
    """Return the value of a setting, including what applies where it is not set, and its origin."""
    settings, origin = configuration.settings, configuration.origin_of(key)
    value: object = settings
    for name in key:
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    if value is not None:
        return value, origin
    root = settings.data or checkout_root()
    if key == DATA and root is not None:
        return root, Origin("default", "the checkout")
    if key == _METRICS and root is not None:
        return root / METRICS_FILE, origin
    if key[0] == LEVELS_SECTION and key[-1] in POLICY_FIELDS:
        return getattr(settings.level(key[1]).policy, key[-1]), origin
    if key[0] == LEVELS_SECTION:
        return getattr(settings, key[-1]), Origin("setting", key[-1])
    return None, origin


def _is_hidden(configuration: Configuration, key: Key) -> bool:
    return key == SECRET and configuration.settings.daily_key is not None


def _document(configuration: Configuration, key: Key) -> dict[str, Any]:
    value, origin = _in_force(configuration, key)
    is_hidden = _is_hidden(configuration, key)
    return {
        "name": text_of(key),
        "value": None if is_hidden else _plain(value),
        "secret": is_hidden,
        "from": origin.kind,
        "place": origin.name or None,
        "line": None,  # always: lines are only known of files that are not TOML
    }


def _plain(value: object) -> object:
    """Return a value as JSON has it."""
    if isinstance(value, time):
        return value.isoformat("minutes")
    if isinstance(value, tuple):
        return list(value)
    return value if value is None or isinstance(value, int) else str(value)


def _text(value: object) -> str:
    if value is None:
        return "not set"
    if isinstance(value, tuple):
        return " ".join(map(repr, value)) or "none"
    return str(_plain(value))


def _problem_document(problem: ConfigProblem) -> dict[str, Any]:
    return {
        "text": problem.text,
        "key": problem.key or None,
        "value": None if problem.value is None else str(problem.value),
        "allowed": problem.allowed or None,
        "from": problem.origin.kind,
        "place": problem.origin.name or None,
        "line": problem.line,
        "column": problem.column,
    }
