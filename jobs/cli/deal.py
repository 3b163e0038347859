"""`fairway deal`: show, solve and rate one deal, or every deal of a file."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from jobs.api import deals as answers
from jobs.api.deal_text import GivenDeal, parse_given
from jobs.cli.deal_file import answer_file
from jobs.terminal.context import read_settings
from jobs.terminal.drawing import can_draw_symbols, draw_table
from jobs.terminal.options import Config, DealFile, Json, RulesName, WhatOrNone, Workers
from jobs.terminal.output import console, put_json, say
from solver.errors import UsageError
from solver.table.moves import start
from solver.table.rules import rules_named

Document = dict[str, Any]
_GOLF: Final = "golf"
_PERCENT: Final = 100

VerdictOnly = Annotated[
    bool,
    typer.Option(
        "--verdict-only", help="Where the deal cannot be cleared, stop at that: no best score and no line."
    ),
]


def show(
    what: WhatOrNone = None,
    rules: RulesName = _GOLF,
    file: DealFile = None,
    workers: Workers = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Draw the table of a deal.

    Example: fairway deal show 1
    """
    row = rules_named(rules)

    def answer(given: GivenDeal) -> Document:
        return answers.shown(given.deal, given.number, row)

    def tell(given: GivenDeal, _: Document) -> None:
        console().print(draw_table(start(given.deal), row, symbols=can_draw_symbols()))
        say(f"\n{given.deal.notation}")

    _run(_Asked(what, file, as_json), answer, tell, read_settings(config, workers=workers).workers)


def solve(
    what: WhatOrNone = None,
    rules: RulesName = _GOLF,
    file: DealFile = None,
    verdict_only: VerdictOnly = False,
    workers: Workers = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Find the best score and a line that reaches it.

    With proof by exhaustion.

    Example: fairway deal solve 1 --rules relaxed
    """
    row = rules_named(rules)
    settings = read_settings(config, workers=workers)
    asked = _Asked(what, file, as_json)

    def answer(given: GivenDeal) -> Document:
        return answers.solved(given.deal, given.number, row, fewest=not verdict_only)

    _run(asked, answer, _tell_solution, settings.workers)


def rate(
    what: WhatOrNone = None,
    rules: RulesName = _GOLF,
    file: DealFile = None,
    workers: Workers = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Rate a deal with the steady player.

    The exact distribution of its scores, and the par that follows from it.

    Example: fairway deal rate 1 --json
    """
    row = rules_named(rules)
    settings = read_settings(config, workers=workers)
    asked = _Asked(what, file, as_json)

    def answer(given: GivenDeal) -> Document:
        return answers.rated(given.deal, given.number, row)

    _run(asked, answer, _tell_rating, settings.workers)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked about: exactly one of a deal and a file."""

    what: str | None
    file: Path | None
    as_json: bool

    def __post_init__(self) -> None:
        if (self.what is None) == (self.file is None):
            raise UsageError("give one of the two: a deal (a number or a notation), or --file FILE")


def _run(
    asked: _Asked,
    answer: Callable[[GivenDeal], Document],
    tell: Callable[[GivenDeal, Document], None],
    workers: int,
) -> None:
    if asked.file is not None:
        answer_file(asked.file, answer, workers)
        return
    given = parse_given(asked.what or "")
    document = answer(given)
    if asked.as_json:
        put_json(document)
        return
    say(f"{given.name}, puzzle {given.deal.puzzle_id}\n")
    tell(given, document)


def _tell_solution(_: GivenDeal, document: Document) -> None:
    verdict = "can be cleared" if document["cleared"] else "cannot be cleared"
    say(f"rules       {document['rules']}")
    say(f"verdict     {verdict}, proved over {document['positions']:,} positions")
    if document["best_score"] is not None:
        say(f"best score  {document['best_score']}")
        say(f"line        {document['line'] or '(no move)'}")
        say(f"draws       {document['draws']}")


def _tell_rating(_: GivenDeal, document: Document) -> None:
    say(f"rules       {document['rules']}")
    say(f"par         {document['par']}")
    say(f"mean        {document['steady_mean']:.3f} (standard deviation {document['steady_sd']:.3f})")
    say(f"clears      {document['steady_clear_rate'] * _PERCENT:.2f} %")
    quantiles = (document[f"steady_p{n}"] for n in (10, 50, 90))
    say(f"quantiles   {', '.join(map(str, quantiles))} (10 %, 50 %, 90 %)")
