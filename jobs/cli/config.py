"""`fairway config`: the settings in force and where they came from, and what is wrong with a file of them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from jobs.terminal.context import checkout, read_configuration, sources_of_settings
from jobs.terminal.options import Config, Data, Json, Workers
from jobs.terminal.outcome import CONFIGURATION, DONE
from jobs.terminal.output import put_json, put_table, say
from jobs.watch.logs import one_line

if TYPE_CHECKING:  # pydantic takes longer to load than help takes to print
    from jobs.settings.report import Shown
    from jobs.settings.sources import Fault

_HIDDEN: Final = "<hidden>"

CheckedFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="[FILE]",
        help="A file of settings, to be checked by itself. Default: all that the other commands go by here.",
        show_default=False,
    ),
]


def show(data: Data = None, config: Config = None, workers: Workers = None, as_json: Json = False) -> None:
    """Show the settings in force and their sources.

    Each with where it came from: a default, a line of the file, a variable or an option. The secret key is
    never shown.

    Example: fairway config show --data /srv/fairway
    """
    from jobs.settings.report import all_shown

    rows = all_shown(read_configuration(config, data=data, workers=workers), checkout())
    if as_json:
        put_json({"settings": [_document(row) for row in rows]})
        return
    put_table(
        [("setting", False), ("value", False), ("from", False)],
        [(row.name, one_line(_value(row)), one_line(str(row.origin))) for row in rows],
    )


def check(
    file: CheckedFile = None,
    data: Data = None,
    config: Config = None,
    as_json: Json = False,
) -> int:
    """Check a settings file.

    Tells all that is wrong, where, and what is allowed; the exit code is 78 then.

    Example: fairway config check /srv/fairway/fairway.toml
    """
    faults = _faults(file, data, config)
    if as_json:
        put_json({"passed": not faults, "problems": [_problem(fault) for fault in faults]})
    elif faults:
        for fault in faults:
            say(one_line(fault.text))
        say(f"\n{len(faults):,} problems" if len(faults) > 1 else "\n1 problem")
    else:
        say("no problem found")
    return CONFIGURATION if faults else DONE


def _faults(file: Path | None, data: Path | None, config: Path | None) -> "tuple[Fault, ...]":
    from jobs.settings.config_file import find_config
    from jobs.settings.load import examined, faults_in

    named = find_config(file, None)
    if named is not None:
        return faults_in(named)
    found = examined(sources_of_settings(config, data=data))
    return found if isinstance(found, tuple) else ()


def _document(row: "Shown") -> dict[str, Any]:
    return {
        "name": row.name,
        "value": None if row.is_secret else row.value,
        "secret": row.is_secret,
        "from": row.origin.kind,
        "place": row.origin.name or None,
        "line": row.origin.line,
    }


def _value(row: "Shown") -> str:
    if row.is_secret:
        return _HIDDEN
    if row.value is None:
        return "not set"
    if isinstance(row.value, list):
        return " ".join(map(repr, row.value)) or "none"
    return str(row.value)


def _problem(fault: "Fault") -> dict[str, Any]:
    return {
        "text": fault.text,
        "key": fault.key or None,
        "value": None if fault.value is None else str(fault.value),
        "allowed": fault.allowed or None,
        "from": fault.origin.kind,
        "place": fault.origin.name or None,
        "line": fault.origin.line,
        "column": fault.origin.column,
    }
