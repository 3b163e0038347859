"""Scores: their range, how they are counted and what they are called against par."""

from typing import Final

from solver.table.deal import STOCK_SIZE, TABLEAU_SIZE

LOWEST_SCORE: Final = -STOCK_SIZE
HIGHEST_SCORE: Final = TABLEAU_SIZE
SCORE_COUNT: Final = HIGHEST_SCORE - LOWEST_SCORE + 1

_NAMES: Final = {-2: "Eagle", -1: "Birdie", 0: "Par", 1: "Bogey", 2: "Double bogey"}


def score_of(cards_left: int, draws: int) -> int:
    """Score of a finished hole: cards left in the columns; once cleared, minus the stock cards not drawn."""
    return cards_left or draws - STOCK_SIZE


def signed(difference: int) -> str:
    """A difference to par as scorecards have it: `-2`, `E` for even, `+1`."""
    return f"{difference:+d}" if difference else "E"


def score_name(score: int, par: int) -> str:
    """Name of a score against par: Eagle to Double bogey, beyond them the signed number, as in `+3`."""
    return _NAMES.get(score - par, signed(score - par))
