"""`fairway hint` and `fairway review`: the best move from a position, and a hole move by move."""

from itertools import accumulate
from typing import Annotated, Final

import typer

from jobs.api.deals import hinted, reviewed
from jobs.api.positions import GivenPosition
from jobs.cli.positions import Document, Question, put_answers, put_heading
from jobs.terminal.context import read_settings
from jobs.terminal.drawing import move_text, print_table
from jobs.terminal.options import Config, Data, Json, Line, PositionFile, RulesName, What, Workers
from jobs.terminal.output import say
from jobs.terminal.tables import put_table
from solver.table.moves import DRAW, Position, after, start
from solver.table.rules import rules_named

_PERCENT: Final = 100
_HINT_HEADINGS: Final = (("move", False), ("best score", True), ("gives away", True), ("", False))
_REVIEW_HEADINGS: Final = (
    *(("move", True), ("played", False), ("best before", True), ("best after", True)),
    *(("cost", True), ("", False)),
)

All = Annotated[
    bool,
    typer.Option(
        "--all",
        help="List every legal move, with the best score it can still lead to and what it gives away.",
    ),
]


def hint(
    text: What = None,
    rules: RulesName = "golf",
    line: Line = "",
    file: PositionFile = None,
    with_moves: All = False,
    data: Data = None,
    workers: Workers = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Show the best move from a position, and why.

    The position is that of a deal after a line of moves. The move leads to the best score that is still
    possible; both the score and the reason are exact.

    Example: fairway hint 821 --line 2D1 --all
    """
    row = rules_named(rules)
    settings = read_settings(config, data=data, workers=workers)
    question = Question(
        lambda asked: hinted(asked.given, asked.rules, asked.line, with_moves=with_moves), _print_hint
    )
    put_answers(question, settings, row, text, line, file, as_json=as_json)


def review(
    text: What = None,
    rules: RulesName = "golf",
    line: Line = "",
    file: PositionFile = None,
    data: Data = None,
    workers: Workers = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Review a hole move by move.

    Prints the best score that was possible before and after each move, where the clear was lost, what each
    mistake cost, the score against par, and how often the steady player does as well or better. The hole may
    be finished or abandoned.

    Example: fairway review 617 --line D6233535377
    """
    row = rules_named(rules)
    settings = read_settings(config, data=data, workers=workers)
    question = Question(lambda asked: reviewed(asked.given, asked.rules, asked.line), _print_review)
    put_answers(question, settings, row, text, line, file, as_json=as_json)


def _print_hint(asked: GivenPosition, document: Document) -> None:
    position = after(asked.given.deal, asked.rules, asked.line)
    say(f"{asked.given.name}, {_after_text(asked.line)}\n")
    print_table(position, asked.rules)
    say(f"\n{_hint_text(document['move'])}: {document['reason']['text']}")
    if document["move"] is not None:
        say(f"best score still possible: {document['best_score']}")
    if document.get("moves"):
        say()
        put_table(_HINT_HEADINGS, [_hint_cells(move, document, position) for move in document["moves"]])


def _print_review(asked: GivenPosition, document: Document) -> None:
    put_heading(asked)
    say(f"rules          {document['rules']}")
    say(f"par            {document['par']}")
    say(f"score          {document['score']} ({document['name']})")
    say(f"best score     {document['best_score']}")
    say(f"clear          {_clear_text(document)}")
    say(f"end            {_end_text(document)}")
    say(f"mistakes       {_mistakes_text(document)}")
    say(f"steady player  as good or better in {document['steady_chance'] * _PERCENT:.2f} % of holes")
    if document["moves"]:
        positions = accumulate(asked.line, Position.play, initial=start(asked.given.deal))
        say()
        put_table(_REVIEW_HEADINGS, [_review_cells(move, next(positions)) for move in document["moves"]])


def _after_text(line: str) -> str:
    if not line:
        return "at the start"
    return f"after {line}, {len(line)} {'move' if len(line) == 1 else 'moves'}"


def _hint_text(move: str | None) -> str:
    if move is None:
        return "the hole is over"
    return "draw" if move == DRAW else f"play column {move}"


def _hint_cells(move: Document, hint: Document, position: Position) -> tuple[str, ...]:
    """Return a row for a legal move."""
    loses_clear = hint["clearable"] and not move["clearable"]
    remark = "the hint" if move["move"] == hint["move"] else "loses the clear" if loses_clear else ""
    gives_away = str(move["gives_away"] or "")
    return move_text(position, move["move"]), str(move["best_score"]), gives_away, remark


def _clear_text(document: Document) -> str:
    if document["cleared"]:
        return "made"
    if document["lost_at"] is not None:
        return f"lost with move {document['lost_at'] + 1}"
    return "still possible at the end" if document["clearable"] else "never possible"


def _end_text(document: Document) -> str:
    if document["finished"]:
        return "the hole is over"
    if document["given_up"]:
        return f"abandoned with {document['best_left']} still possible, which gave up {document['given_up']}"
    return "abandoned with nothing better possible"


def _mistakes_text(document: Document) -> str:
    costs = [move["cost"] for move in document["moves"] if move["cost"]]
    return f"{len(costs)}, which cost {sum(costs)}" if costs else "none"


def _review_cells(move: Document, position: Position) -> tuple[str, ...]:
    """Return a row for a move that was played from a position."""
    return (
        str(move["index"] + 1),
        move_text(position, move["move"]),
        str(move["best_before"]),
        str(move["best_after"]),
        str(move["cost"] or ""),
        _remark(move, position),
    )


def _remark(move: Document, position: Position) -> str:
    if not move["cost"]:
        return ""
    better = f"better: {move_text(position, move['best_move'])}"
    return f"lost the clear; {better}" if move["lost_clear"] else better
