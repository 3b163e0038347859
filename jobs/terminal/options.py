"""Arguments and options that several commands have; each is declared once."""

from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final, get_args

import typer

from jobs.days import parse_day
from jobs.watch.logs import LogFormat as Kind
from pipeline.deals.levels import LEVELS
from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.store.text import quoted
from pipeline.work.executors import MOST_WORKERS
from solver.errors import UsageError
from solver.table.rules import RULES

MOST_DEALS: Final = 10_000_000  # in one request

_MOST_DIGITS: Final = 20  # more than any number here has
_LEVEL_NAMES: Final = ", ".join(LEVELS)
_RULE_NAMES: Final = ", ".join(RULES)


def _day(text: str) -> date:
    try:
        return parse_day(text)
    except UsageError as error:
        raise typer.BadParameter(str(error)) from error


def _log_format(text: str) -> str:
    if text not in get_args(Kind):
        raise typer.BadParameter(f"{quoted(text, 30)} is none of {', '.join(get_args(Kind))}")
    return text


def day_option(name: str, text: str) -> Any:
    """An option that is a date.

    Args:
        name: of the option, such as `--date`.
        text: its help.
    """
    return typer.Option(name, parser=_day, metavar="YYYY-MM-DD", help=text, show_default=False)


def number_option(name: str, text: str, *, least: int, most: int) -> Any:
    """An option that is a whole number.

    Args:
        name: of the option, such as `--limit`.
        text: its help.
        least: the lowest number accepted.
        most: the highest number accepted.
    """

    def parse(given: str | int) -> int:
        digits = str(given)
        is_number = digits.removeprefix("-").isdecimal() and digits.isascii() and len(digits) <= _MOST_DIGITS
        if not is_number or not least <= int(digits) <= most:
            raise typer.BadParameter(f"{quoted(digits, 30)} is no whole number from {least} to {most}")
        return int(digits)

    return typer.Option(name, parser=parse, metavar="N", help=text)


def round_option() -> Any:
    """The option that names a round of a level."""
    return number_option("--number", "Which round, from 1 on.", least=1, most=MOST_DEALS)


def _folder(text: str | Path) -> Path:
    if not str(text):
        raise typer.BadParameter("it is empty; name a folder, such as '.' for this one")
    return Path(text)


Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        parser=_folder,
        metavar="DIR",
        help="The data root. Default: the setting data, else data/ of the checkout.",
        show_default=False,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="The file of settings. Default: fairway.toml in the data root, where there is one.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    number_option(
        "--workers",
        "Threads that compute. Default: the setting workers, else one a processor.",
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
        help="How the log is written: text, or json for an object a line. Default: text.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text for people.")]
AllowFuture = Annotated[
    bool, typer.Option("--allow-future", help="Accept dates after the last one that is normally published.")
]
_LEVEL: Final = typer.Argument(metavar="LEVEL", help=f"One of {_LEVEL_NAMES}.", show_default=False)
LevelName = Annotated[str, _LEVEL]
LevelNameOrNone = Annotated[str | None, _LEVEL]
RulesName = Annotated[str, typer.Option("--rules", metavar="RULES", help=f"One of {_RULE_NAMES}.")]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write to this file.", show_default=False),
]
_WHAT: Final = typer.Argument(
    metavar="WHAT",
    help=f"A deal number, 0 .. {MOST_DEAL_NUMBER}, or a deal in notation.",
    show_default=False,
)
What = Annotated[str, _WHAT]
WhatOrNone = Annotated[str | None, _WHAT]
_LINE: Final = typer.Option(
    "--line",
    metavar="LINE",
    help="The moves so far, as in D31: 1 .. 7 plays from that column, D draws. Default: none, the start.",
    show_default=False,
)
Line = Annotated[str, _LINE]
LineOrNone = Annotated[str | None, _LINE]
DealFile = Annotated[
    Path | None,
    typer.Option(
        "--file",
        metavar="FILE",
        help="Read deals from a file, one a line ('-' is standard input), and print a line of JSON for each.",
        show_default=False,
    ),
]
