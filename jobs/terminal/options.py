"""Arguments and options that several commands share, each declared once."""

from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final, get_args

import typer

from jobs.days import parse_day
from jobs.plan.clock_bound import MAX_HOLES
from jobs.watch.logs import LogFormat as Kind
from pipeline.deals.levels import LEVELS, MAX_DEALS, POLICY_FIELDS
from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.store.text import quoted
from pipeline.work.executors import MOST_WORKERS
from solver.errors import UsageError
from solver.table.rules import RULES

MAX_GENERATIONS: Final = 999_999_999  # the path of a part has nine digits for it

_MAX_DIGITS: Final = 20
_MAX_SHOWN: Final = 30
_LEVEL_NAMES: Final = ", ".join(LEVELS)
_RULE_NAMES: Final = ", ".join(RULES)


def day_option(name: str, text: str) -> Any:
    """Declare an option that takes a date.

    Args:
        name: of the option, such as `--date`.
        text: its help.
    """
    return typer.Option(name, parser=_day, metavar="YYYY-MM-DD", help=text, show_default=False)


def number_option(name: str, text: str, *, least: int, most: int) -> Any:
    """Declare an option that takes a whole number.

    Args:
        name: of the option, such as `--limit`.
        text: its help.
        least: the lowest number accepted.
        most: the highest number accepted.
    """

    def parse(given: str | int) -> int:
        digits = str(given)
        is_number = digits.removeprefix("-").isdecimal() and digits.isascii() and len(digits) <= _MAX_DIGITS
        if not is_number or not least <= int(digits) <= most:
            raise typer.BadParameter(
                f"{quoted(digits, _MAX_SHOWN)} is not a whole number from {least} to {most}"
            )
        return int(digits)

    return typer.Option(name, parser=parse, metavar="N", help=text)


def round_option() -> Any:
    """Declare the option that takes the number of a level's round."""
    return number_option("--number", "Number of the round, from 1.", least=1, most=MAX_DEALS)


def changes_of(texts: list[str] | None) -> dict[str, object]:
    """Return the changes of a policy that `--set` names, by field.

    Raises:
        UsageError: one is not of the form name=value, or a name is given twice.
    """
    changes: dict[str, object] = {}
    for text in texts or ():
        name, sign, value = text.partition("=")
        if not sign:
            raise UsageError(
                f"--set {quoted(text, _MAX_SHOWN)}: write it as NAME=VALUE, such as mean_below=2"
            )
        if name in changes:
            raise UsageError(f"--set names {quoted(name, _MAX_SHOWN)} twice")
        changes[name] = value
    return changes


def _day(text: str) -> date:
    try:
        return parse_day(text)
    except UsageError as error:
        raise typer.BadParameter(str(error)) from error


def _log_format(text: str) -> str:
    if text not in get_args(Kind):
        raise typer.BadParameter(f"{quoted(text, _MAX_SHOWN)} is not one of {', '.join(get_args(Kind))}")
    return text


def _folder(text: str | Path) -> Path:
    if not str(text):
        raise typer.BadParameter("the path is empty; give a directory, such as '.' for the current one")
    return Path(text)


Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        parser=_folder,
        metavar="DIR",
        help="Data root. Default: the `data` setting, or data/ in a checkout.",
        show_default=False,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Settings file. Default: fairway.toml in the data root, if it exists.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    number_option(
        "--workers",
        "Worker threads. Default: the `workers` setting, or one per CPU.",
        least=1,
        most=MOST_WORKERS,
    ),
]
LogFormat = Annotated[
    str | None,
    typer.Option(
        "--log-format",
        parser=_log_format,
        metavar="FORMAT",
        help="Format of the log: text, or json for one object per line. Default: text.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
AllowFuture = Annotated[
    bool, typer.Option("--allow-future", help="Accept dates later than those normally published.")
]
AllowMany = Annotated[
    bool,
    typer.Option("--allow-many", help=f"Publish more than {MAX_HOLES} Daily holes at once if some exist."),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help=f"Change the policy; may be repeated. Names: {', '.join(POLICY_FIELDS)}.",
        show_default=False,
    ),
]
_LEVEL: Final = typer.Argument(
    metavar="LEVEL", help=f"{_LEVEL_NAMES}, or one of your own.", show_default=False
)
LevelName = Annotated[str, _LEVEL]
LevelNameOrNone = Annotated[str | None, _LEVEL]
RulesName = Annotated[str, typer.Option("--rules", metavar="RULES", help=f"One of {_RULE_NAMES}.")]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write to this file.", show_default=False),
]
What = Annotated[
    str | None,
    typer.Argument(
        metavar="WHAT",
        help=(
            f"A deal number from 0 to {MOST_DEAL_NUMBER}, a deal in notation,"
            " or the date of a published Daily hole."
        ),
        show_default=False,
    ),
]
_LINE: Final = typer.Option(
    "--line",
    metavar="LINE",
    help="Moves so far, such as D31: 1 to 7 plays from that column, D draws. Default: none.",
    show_default=False,
)
Line = Annotated[str, _LINE]
LineOrNone = Annotated[str | None, _LINE]
PositionFile = Annotated[
    Path | None,
    typer.Option(
        "--file",
        metavar="FILE",
        help=(
            "Read one position per line from this file ('-' for standard input), a deal, a date or a JSON"
            " object; print one line of JSON each."
        ),
        show_default=False,
    ),
]
