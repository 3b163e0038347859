"""The cards of a deal as a document; needs no kernels, so it loads quickly."""

from typing import Any

from jobs.api.reading import GivenDeal
from solver.cards import card_name
from solver.table.moves import after
from solver.table.rules import Rules


def layout(given: GivenDeal, rules: Rules, line: str) -> dict[str, Any]:
    """Return the cards of a deal in their places after a line, and the moves that are legal there.

    Raises:
        LineError: a move of the line is not legal.
    """
    deal, position = given.deal, after(given.deal, rules, line)
    columns = (column[:height] for column, height in zip(deal.columns, position.heights, strict=True))
    return heading(given) | {
        "puzzle_id": deal.puzzle_id,
        "columns": [[card_name(card) for card in column] for column in columns],
        "waste": card_name(position.top),
        "stock": [card_name(card) for card in position.undrawn],
        "rules": rules.name,
        "line": line,
        "legal_moves": position.legal_moves(rules),
    }


def heading(given: GivenDeal) -> dict[str, Any]:
    """Return the keys that every document about a deal begins with."""
    heading: dict[str, Any] = {}
    if given.number is not None:
        heading["deal_number"] = given.number
    if given.day is not None:
        heading["date"] = given.day.isoformat()
    return heading | {"deal": given.deal.notation}
