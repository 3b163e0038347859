"""`fairway hint`: the move to make from any position, and one line why."""

from typing import Annotated, Any, Final

import typer

from jobs.api import deals as answers
from jobs.api.deal_text import parse_given
from jobs.terminal.context import read_settings
from jobs.terminal.drawing import can_draw_symbols, draw_table, move_text
from jobs.terminal.options import Config, Json, Line, RulesName, What, Workers
from jobs.terminal.output import console, put_json, put_table, say
from solver.table.moves import DRAW, Position, after
from solver.table.rules import rules_named

Document = dict[str, Any]

_HEADINGS: Final = (("move", False), ("best score", True), ("gives away", True), ("", False))

All = Annotated[
    bool,
    typer.Option(
        "--all", help="Every legal move, with the best score it can still lead to and what it gives away."
    ),
]


def hint(
    what: What,
    rules: RulesName = "golf",
    line: Line = "",
    with_moves: All = False,
    workers: Workers = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Show the best move from a position, and why.

    The position is that of a deal after a line of moves. The move reaches the best score that is still
    possible, which is exact, as is the reason.

    Example: fairway hint 821 --line 2D1 --all
    """
    row, given = rules_named(rules), parse_given(what)
    position = after(given.deal, row, line)
    read_settings(config, workers=workers)
    document = answers.hinted(given.deal, given.number, row, line, with_moves=with_moves)
    if as_json:
        put_json(document)
        return
    say(f"{given.name}, {_after(line)}\n")
    console().print(draw_table(position, row, symbols=can_draw_symbols()))
    _tell(document, position)


def _after(line: str) -> str:
    if not line:
        return "at its start"
    return f"after {line}, {len(line)} {'move' if len(line) == 1 else 'moves'}"


def _tell(document: Document, position: Position) -> None:
    say(f"\n{_hint_text(document['move'])}: {document['reason']['text']}")
    if document["move"] is not None:
        say(f"best score still possible: {document['best_score']}")
    if document.get("moves"):
        say()
        put_table(_HEADINGS, [_cells(move, document, position) for move in document["moves"]])


def _hint_text(move: str | None) -> str:
    if move is None:
        return "the hole is over"
    return "draw" if move == DRAW else f"play column {move}"


def _cells(move: Document, hint: Document, position: Position) -> tuple[str, ...]:
    """Return the table row of a legal move."""
    loses_clear = hint["clearable"] and not move["clearable"]
    remark = "the hint" if move["move"] == hint["move"] else "loses the clear" if loses_clear else ""
    gives_away = str(move["gives_away"] or "")
    return move_text(position, move["move"]), str(move["best_score"]), gives_away, remark
