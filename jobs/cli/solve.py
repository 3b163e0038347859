"""`fairway deal solve` and `fairway deal rate`."""

from typing import Annotated, Any, Final

import typer

from jobs.api.deals import rated, solved
from jobs.api.positions import GivenPosition
from jobs.cli.positions import Question, put_answers, put_heading
from jobs.terminal.context import read_settings
from jobs.terminal.options import Config, Data, Json, PositionFile, RulesName, What, Workers
from jobs.terminal.output import say
from solver.players.difficulty import chance_text, difficulty_text
from solver.table.rules import rules_named

_PERCENT: Final = 100

VerdictOnly = Annotated[
    bool,
    typer.Option(
        "--verdict-only", help="Do not search for the best score and its line if the deal cannot be cleared."
    ),
]


def solve(
    text: What = None,
    rules: RulesName = "golf",
    file: PositionFile = None,
    verdict_only: VerdictOnly = False,
    data: Data = None,
    workers: Workers = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Find the best score and a line that reaches it.

    The search is exhaustive, so the result is proven.

    Example: fairway deal solve 1 --rules relaxed
    """
    row = rules_named(rules)
    settings = read_settings(config, data=data, workers=workers)
    question = Question(
        lambda asked: solved(asked.given, asked.rules, fewest=not verdict_only),
        _print_solution,
        takes_line=False,
    )
    put_answers(question, settings, row, text, "", file, as_json=as_json)


def rate(
    text: What = None,
    rules: RulesName = "golf",
    file: PositionFile = None,
    data: Data = None,
    workers: Workers = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Rate a deal with the simulated players.

    Prints the exact distribution of the steady player's scores with the par that follows from it, and how
    likely the varied player clears the deal with the difficulty that follows from that.

    Example: fairway deal rate 1 --json
    """
    row = rules_named(rules)
    settings = read_settings(config, data=data, workers=workers)
    question = Question(lambda asked: rated(asked.given, asked.rules), _print_rating, takes_line=False)
    put_answers(question, settings, row, text, "", file, as_json=as_json)


def _print_solution(position: GivenPosition, document: dict[str, Any]) -> None:
    put_heading(position)
    verdict = "can be cleared" if document["cleared"] else "cannot be cleared"
    say(f"rules       {document['rules']}")
    say(f"verdict     {verdict}, proved by searching {document['positions']:,} positions")
    if document["best_score"] is not None:
        say(f"best score  {document['best_score']}")
        say(f"line        {document['line'] or '(no move)'}")
        say(f"draws       {document['draws']}")


def _print_rating(position: GivenPosition, document: dict[str, Any]) -> None:
    put_heading(position)
    say(f"rules       {document['rules']}")
    say(f"par         {document['par']}")
    say(f"mean        {document['steady_mean']:.3f} (standard deviation {document['steady_sd']:.3f})")
    say(f"clears      {document['steady_clear_rate'] * _PERCENT:.2f} %")
    quantiles = (document[f"steady_p{n}"] for n in (10, 50, 90))
    say(f"quantiles   {', '.join(map(str, quantiles))} (10 %, 50 %, 90 %)")
    say(f"clear       {chance_text(document['clear_chance'])}")
    say(f"difficulty  {difficulty_text(document['difficulty'])}")
