"""`fairway review`: a hole looked at again, move by move."""

from itertools import accumulate
from typing import Any, Final

from jobs.api import deals as answers
from jobs.api.deal_text import parse_given
from jobs.terminal.context import read_settings
from jobs.terminal.drawing import move_text
from jobs.terminal.options import Config, Json, Line, RulesName, What, Workers
from jobs.terminal.output import put_json, put_table, say
from solver.table.deal import Deal
from solver.table.moves import Position, start
from solver.table.rules import rules_named

Document = dict[str, Any]

_PERCENT: Final = 100
_HEADINGS: Final = (
    *(("move", True), ("played", False), ("best before", True), ("best after", True)),
    *(("cost", True), ("", False)),
)


def review(
    what: What,
    rules: RulesName = "golf",
    line: Line = "",
    workers: Workers = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Review a hole move by move.

    The exact score that was still possible before and after each move, where the clear was lost, what each
    mistake cost, the score against par, and how likely the steady player does as well or better. The hole may
    be finished or abandoned.

    Example: fairway review 617 --line D6233535377
    """
    row, given = rules_named(rules), parse_given(what)
    read_settings(config, workers=workers)
    document = answers.reviewed(given.deal, given.number, row, line)
    if as_json:
        put_json(document)
        return
    say(f"{given.name}, puzzle {given.deal.puzzle_id}\n")
    _tell(document, given.deal)


def _tell(document: Document, deal: Deal) -> None:
    say(f"rules          {document['rules']}")
    say(f"par            {document['par']}")
    say(f"score          {document['score']} ({document['name']})")
    say(f"best score     {document['best_score']}")
    say(f"clear          {_clear_text(document)}")
    say(f"end            {_end_text(document)}")
    say(f"mistakes       {_mistakes_text(document)}")
    say(f"steady player  as well or better in {document['steady_chance'] * _PERCENT:.2f} % of holes")
    if document["moves"]:
        positions = accumulate(document["line"], Position.play, initial=start(deal))
        say()
        put_table(_HEADINGS, [_cells(move, next(positions)) for move in document["moves"]])


def _clear_text(document: Document) -> str:
    if document["cleared"]:
        return "made"
    if document["lost_at"] is not None:
        return f"lost with move {document['lost_at'] + 1}"
    return "still possible at the end" if document["best_score"] <= 0 else "never possible"


def _end_text(document: Document) -> str:
    if document["finished"]:
        return "the hole is over"
    if document["given_up"]:
        return f"abandoned with {document['best_left']} still possible, which gave up {document['given_up']}"
    return "abandoned with nothing better possible"


def _mistakes_text(document: Document) -> str:
    costs = [move["cost"] for move in document["moves"] if move["cost"]]
    return f"{len(costs)}, which cost {sum(costs)}" if costs else "none"


def _cells(move: Document, position: Position) -> tuple[str, ...]:
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
