"""The bound that prunes the search: Hall's condition on which cards can support which.

Each column card that is still to be played needs its own supporter, the card it is played on: a card of a
fitting rank among the remaining column cards, the undrawn stock, or the waste top. One card supports at most
one other. By Hall's theorem all of them can have supporters only if, for every set S of ranks, there are at
least as many supporters of S as remaining cards in S:

    slack(S) = (remaining column cards, undrawn stock and waste top with a rank in N(S))
               - (remaining column cards with a rank in S)  >=  0

where N(S) is the set of ranks on which a rank of S may be played. If d cards may be left unplayed, the same
holds with slack(S) >= -d, so one bound is used to prove that a deal can be cleared and to prove the fewest
cards left.

A slack is a sum over cards. For one position it is the sum of three rows with one byte per arc: one row for
the heights of columns 1-3, one for columns 4-7, one for draws and waste top.
"""

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from solver.cards import RANK_COUNT
from solver.search.vector import BOUND_BYTES
from solver.table.rules import Rules

_STEP: Final = 2  # distance between two ranks that share a supporter


@cache
def bound_weights(rules: Rules) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Return what one card adds to the slack of each arc.

    Returns:
        Two arrays of shape (13, 64), int8, by rank and arc: for a remaining column card (demand and supply)
        and for a stock card or the waste top (supply only). Unused arcs have weight 0.
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
    """Return the arcs of the cycle 0, 2, .., 12, 1, 3, .., 11 that do not fall apart, shortest first.

    Two ranks share a supporter only if they are two apart, so every set of ranks falls apart into such arcs.
    Without some of the arcs the bound is still valid, but weaker.
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
