"""Sets of column cards as words, for the kernels of the players.

The place of a column card is `5 * column + index`, and a set of column cards is a word of 35 bits. `exposed`
is the set of last cards, which determines the heights; `fits[rank]` is the set of cards that may be played on
a waste top of that rank. The legal plays are `exposed & fits[top]`, the lowest-numbered column first.
"""

from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from solver.cards import RANK_COUNT
from solver.jit import inlined
from solver.search.sweep_kernel import STEPS
from solver.table.deal import COLUMN_COUNT, COLUMN_HEIGHT, TABLEAU_SIZE
from solver.table.rules import Rules

Flags = npt.NDArray[np.bool_]
Words = npt.NDArray[np.int64]

ALL_EXPOSED: Final = sum(1 << COLUMN_HEIGHT * column - 1 for column in range(1, COLUMN_COUNT + 1))
PLACE_MODULUS: Final = 37  # 2 is a primitive root of 37, so the 35 one-card sets have different remainders
# Fields of a row of `cards`: the card's rank, its column, what it adds to a packed table, and its place.
CARD_RANK, COLUMN, STEP, PLACE = range(4)

_BURIED: Final = sum(1 << COLUMN_HEIGHT * column for column in range(COLUMN_COUNT))
_NOT_BURIED: Final = (1 << TABLEAU_SIZE) - 1 - _BURIED


@cache
def allowed_ranks(rules: Rules) -> Flags:
    """Return bool[13, 13]; `[top, rank]` is whether the rank may be played on that waste top."""
    ranks = range(RANK_COUNT)
    return np.array([[rules.allows(rank, top) for rank in ranks] for top in ranks], np.bool_)


@inlined
def card_tables(ranks: Any, allowed: Flags) -> tuple[Words, Words]:
    """Return what the players look up about cards.

    Args:
        ranks: the 52 ranks of the deal, in the order of `Deal.cards`.
        allowed: as `allowed_ranks` returns it.

    Returns:
        `fits`, and `cards`: int64[37, 4], by one-card set modulo 37.
    """
    fits = np.zeros(RANK_COUNT, np.int64)
    cards = np.zeros((PLACE_MODULUS, 4), np.int64)
    for place in range(TABLEAU_SIZE):
        card, column = 1 << place, place // COLUMN_HEIGHT
        key = card % PLACE_MODULUS
        cards[key, CARD_RANK], cards[key, COLUMN] = ranks[place], column
        cards[key, STEP], cards[key, PLACE] = STEPS[column], place
        for top in range(RANK_COUNT):
            if allowed[top, ranks[place]]:
                fits[top] |= card
    return fits, cards


@inlined
def without(card: Any, exposed: Any) -> Any:
    """Return the exposed cards after a play: its bit moves down by one place, or off the table."""
    return exposed ^ card ^ (card & _NOT_BURIED) >> 1
