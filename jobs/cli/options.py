"""Arguments and options that several commands have; each is declared once."""

from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from jobs.days import parse_day
from pipeline.executors import MOST_WORKERS
from pipeline.levels import LEVELS
from pipeline.shuffle import MOST_DEAL_NUMBER
from solver.errors import UsageError
from solver.rules import RULES

_LEVEL_NAMES: Final = ", ".join(LEVELS)
_RULE_NAMES: Final = ", ".join(RULES)


def _day(text: str) -> date:
    try:
        return parse_day(text)
    except UsageError as error:
        raise typer.BadParameter(str(error)) from error


def day_option(name: str, text: str) -> Any:
    """An option that is a date.

    Args:
        name: of the option, such as `--date`.
        text: its help.
    """
    return typer.Option(name, parser=_day, metavar="YYYY-MM-DD", help=text, show_default=False)


Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        help="The data root. Default: FAIRWAY_DATA, else data/ of the checkout.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        max=MOST_WORKERS,
        metavar="N",
        help="Threads that compute. Default: FAIRWAY_WORKERS, else one a processor.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text for people.")]
AllowFuture = Annotated[
    bool, typer.Option("--allow-future", help="Accept dates after the last one that is normally published.")
]
LevelName = Annotated[
    str, typer.Argument(metavar="LEVEL", help=f"One of {_LEVEL_NAMES}.", show_default=False)
]
RulesName = Annotated[str, typer.Option("--rules", metavar="RULES", help=f"One of {_RULE_NAMES}.")]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write to this file.", show_default=False),
]
What = Annotated[
    str | None,
    typer.Argument(
        metavar="WHAT",
        help=f"A deal number, 0 .. {MOST_DEAL_NUMBER}, or a deal in notation.",
        show_default=False,
    ),
]
DealFile = Annotated[
    Path | None,
    typer.Option(
        "--file",
        metavar="FILE",
        help="Read deals from a file, one a line ('-' is standard input), and print a line of JSON for each.",
        show_default=False,
    ),
]
