"""The bound that prunes the search: Hall's condition on who can support whom.

Every column card that is still to be played needs a supporter of its own, the card it is played on: a card
of a fitting rank among the remaining column cards, the stock still to come, or the waste top. One card
supports at most one other. By Hall's theorem all of them can be given supporters only if for every set S of
ranks the supporters of S are at least as many as the remaining cards in S:

    slack(S) = (remaining column cards, stock to come and waste top with a rank in N(S))
               - (remaining column cards with a rank in S)  >=  0

where N(S) are the ranks that may lie under a rank of S. If d of them are to be left unplayed the same holds
with slack(S) >= -d, so one bound serves the proof of clearing and the proof of the fewest cards left.

A slack is a sum over cards. For one position it is the sum of three rows of bytes, one byte an arc: one row
for the heights of columns 1-3, one for columns 4-7, one for draws and waste top.
"""

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from solver.cards import RANK_COUNT
from solver.search.vector import BOUND_BYTES
from solver.table.rules import Rules

_STEP: Final = 2  # ranks of one support chain: a card and the next card that shares a supporter with it


@cache
def bound_weights(rules: Rules) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """What one card adds to the slack of each arc.

    Returns:
        Two arrays of shape (13, 64), int8, by rank and arc: for a remaining column card (demand and supply)
        and for a stock card or the waste top (supply only). Arcs beyond those in use weigh nothing.
    """
    arcs = useful_arcs(rules)[:BOUND_BYTES]
    column = np.zeros((RANK_COUNT, BOUND_BYTES), dtype=np.int8)
    supply = np.zeros_like(column)
    for place, arc in enumerate(arcs):
        for rank in _supporters_of(arc, rules):
            supply[rank, place] = 1
        column[:, place] = supply[:, place]
        for rank in arc:
            column[rank, place] -= 1
    return column, supply


def useful_arcs(rules: Rules) -> list[tuple[int, ...]]:
    """Arcs of the cycle 0, 2, .., 12, 1, 3, .., 11, shortest first, that are no sum of two smaller ones.

    Two ranks share a supporter only if they are two apart, so sets of ranks fall apart into such arcs.
    Leaving arcs out keeps the bound true, only weaker.
    """
    cycle = [_STEP * n % RANK_COUNT for n in range(RANK_COUNT)]
    arcs = []
    for length in range(1, RANK_COUNT + 1):
        starts = range(RANK_COUNT if length < RANK_COUNT else 1)
        arcs += [tuple(cycle[(start + n) % RANK_COUNT] for n in range(length)) for start in starts]
    return [arc for arc in arcs if not _falls_apart(arc, rules)]


def _falls_apart(arc: tuple[int, ...], rules: Rules) -> bool:
    return any(
        not (_supporters_of(arc[:cut], rules) & _supporters_of(arc[cut:], rules))
        for cut in range(1, len(arc))
    )


def _supporters_of(ranks: tuple[int, ...], rules: Rules) -> set[int]:
    return {top for rank in ranks for top in rules.supporters[rank]}
