"""`fairway deal show`: draws the table of a deal; needs no kernels, so it starts quickly."""

from typing import Any

from jobs.api.layout import layout
from jobs.api.positions import GivenPosition
from jobs.cli.positions import Question, put_answers, put_heading
from jobs.terminal.context import read_settings
from jobs.terminal.drawing import print_table
from jobs.terminal.options import Config, Data, Json, Line, PositionFile, RulesName, What, Workers
from jobs.terminal.output import say
from solver.table.moves import after
from solver.table.rules import rules_named


def show(
    text: What = None,
    rules: RulesName = "golf",
    line: Line = "",
    file: PositionFile = None,
    data: Data = None,
    workers: Workers = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Draw the table of a deal.

    With --line, the table is shown after these moves.

    Example: fairway deal show 1
    """
    row = rules_named(rules)
    settings = read_settings(config, data=data, workers=workers)
    question = Question(lambda asked: layout(asked.given, asked.rules, asked.line), _print_layout)
    put_answers(question, settings, row, text, line, file, as_json=as_json)


def _print_layout(position: GivenPosition, _: dict[str, Any]) -> None:
    deal = position.given.deal
    put_heading(position)
    print_table(after(deal, position.rules, position.line), position.rules)
    say(f"\n{deal.notation}")
