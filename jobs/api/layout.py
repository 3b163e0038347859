"""The cards of a deal as a document; needs no kernels, so it loads quickly."""

from typing import Any

from jobs.api.reading import GivenDeal
from solver.cards import card_name
from solver.table.moves import start
from solver.table.rules import Rules


def layout(given: GivenDeal, rules: Rules) -> dict[str, Any]:
    """Return the cards of a deal in their places, and the moves that are legal at the start."""
    deal = given.deal
    return heading(given) | {
        "puzzle_id": deal.puzzle_id,
        "columns": [[card_name(card) for card in column] for column in deal.columns],
        "waste": card_name(deal.waste),
        "stock": [card_name(card) for card in deal.stock],
        "rules": rules.name,
        "legal_moves": start(deal).legal_moves(rules),
    }


def heading(given: GivenDeal) -> dict[str, Any]:
    """Return the keys that every document about a deal begins with."""
    number = {} if given.number is None else {"deal_number": given.number}
    return {**number, "deal": given.deal.notation}
