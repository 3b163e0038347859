"""The longest run that begins with a play, for the kernels of the players.

It depends on the table that the play leaves and the card's column, not on the draws. The lengths found are
kept in `runs`, a word for each packed table: a byte for each column, and in the highest byte a stamp that
tells whether the word belongs to this deal, so that nothing is wiped between deals.
"""

from typing import Any, Final

import numpy as np

from solver.jit import inlined
from solver.players.cards_kernel import CARD_RANK, COLUMN, PLACE_MODULUS, STEP, without
from solver.table.deal import TABLEAU_SIZE

STACK_ROWS: Final = TABLEAU_SIZE
LARGEST_STAMP: Final = 127
_STAMP_SHIFT: Final = 56
_BYTE: Final = 8
_BYTE_MASK: Final = 255

# Fields of a row of `stack`: the table and the exposed cards after a play, the legal plays there still to be
# tried, the length of the longest run found so far, and the shift of its byte.
TABLE, EXPOSED, TO_TRY, LENGTH, SHIFT = range(5)
STACK_FIELDS: Final = 5


@inlined
def next_stamp(runs: Any, stamp: Any) -> Any:
    """Return the stamp of a new deal.

    Args:
        runs: int64[1296 * 256], by packed table.
        stamp: int64[1], that of the deal before.
    """
    if stamp[0] == LARGEST_STAMP:
        runs[:] = 0
        stamp[0] = 0
    stamp[0] += 1
    return stamp[0]


@inlined
def run_length(
    card: Any, table: Any, exposed: Any, fits: Any, cards: Any, runs: Any, stack: Any, stamp: Any
) -> Any:
    """Return the length of the longest run that begins by playing a card from a table, 1 or more.

    Args:
        card: the set of that one card.
        table: the packed table.
        exposed: its exposed cards.
        fits: as in `card_tables`.
        cards: as in `card_tables`.
        runs: as in `next_stamp`.
        stack: int64[35, 5], to work in.
        stamp: that of the deal.
    """
    depth = -1
    length = np.int64(0)
    while True:
        key = card % PLACE_MODULUS
        after, left = table - cards[key, STEP], without(card, exposed)
        legal, shift = left & fits[cards[key, CARD_RANK]], _BYTE * cards[key, COLUMN]
        length = np.int64(1) if legal == 0 else _known(after, shift, runs, stamp)
        if length == 0:
            depth += 1
            stack[depth, TABLE], stack[depth, EXPOSED], stack[depth, TO_TRY] = after, left, legal
            stack[depth, LENGTH], stack[depth, SHIFT] = 1, shift
        while depth >= 0:
            stack[depth, LENGTH] = max(stack[depth, LENGTH], length + 1)
            if stack[depth, TO_TRY]:
                break
            length = stack[depth, LENGTH]
            runs[stack[depth, TABLE]] |= length << stack[depth, SHIFT]
            depth -= 1
        if depth < 0:
            return length
        table, exposed = stack[depth, TABLE], stack[depth, EXPOSED]
        card = stack[depth, TO_TRY] & -stack[depth, TO_TRY]
        stack[depth, TO_TRY] ^= card


@inlined
def _known(table: Any, shift: Any, runs: Any, stamp: Any) -> Any:
    """Return the length that was found before, or 0; the table's word is then ready for it."""
    word = runs[table]
    if word >> _STAMP_SHIFT != stamp:
        runs[table] = stamp << _STAMP_SHIFT
        return np.int64(0)
    return word >> shift & _BYTE_MASK
