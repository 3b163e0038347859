"""Scores: their range, how they are counted, and their names against par."""

from typing import Final

from solver.table.deal import STOCK_SIZE, TABLEAU_SIZE

LOWEST_SCORE: Final = -STOCK_SIZE
HIGHEST_SCORE: Final = TABLEAU_SIZE
SCORE_COUNT: Final = HIGHEST_SCORE - LOWEST_SCORE + 1
CLEARED_SCORES: Final = 1 - LOWEST_SCORE  # how many of them, the lowest ones, are those of a cleared hole

_NAMES: Final = {-2: "Eagle", -1: "Birdie", 0: "Par", 1: "Bogey", 2: "Double bogey"}


def score_of(cards_left: int, draws: int) -> int:
    """Return the score of a finished hole: cards left in the columns or, if cleared, minus the stock left."""
    return cards_left or draws - STOCK_SIZE


def means_cleared(score: int) -> bool:
    """Whether a hole with this score was cleared; only for scores of which nothing else is known."""
    return score <= 0


def signed(difference: int) -> str:
    """Format a difference to par as on scorecards: `-2`, `E` for even, `+1`."""
    return f"{difference:+d}" if difference else "E"


def score_name(score: int, par: int) -> str:
    """Return the name of a score against par: Eagle to Double bogey, otherwise a signed number like `+3`."""
    return _NAMES.get(score - par, signed(score - par))
