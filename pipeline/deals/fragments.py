"""The King rule as JSON: an object that several kinds of document contain."""

from typing import Any

from solver.cards import RANK_LETTERS
from solver.table.rules import Rules


def rules_document(rules: Rules) -> dict[str, Any]:
    """Return everything that a client must know about the rules, so that it needs none of its own."""
    rows = zip(RANK_LETTERS, rules.plays_on, strict=True)
    return {
        "name": rules.name,
        "plays_on": {top: [RANK_LETTERS[rank] for rank in row] for top, row in rows},
        "draw_any_time": True,
        "redeals": 0,
    }
