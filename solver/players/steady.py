"""The steady player v1 (frozen): its exact score distribution on a deal.

The player sees the columns and the waste top, but not the order of the stock. It plays the longest run it
sees, and among those the one that leaves the table most open, but slips once in twenty plays.
`solver.players.steady_kernel` computes the distribution. This module is a `solver.players.player.Player`.
"""

import threading
from collections.abc import Sequence
from typing import Final

import numpy as np

from solver.cards import DECK_SIZE
from solver.players.cards_kernel import allowed_ranks
from solver.players.distribution import ScoreDistribution
from solver.players.steady_kernel import (
    CLEARED_ROWS,
    LEAST_POSITIONS,
    PLAY_FIELDS,
    POSITION_FIELDS,
    spread_each,
)
from solver.table.deal import Deal
from solver.table.rules import RULES, Rules
from solver.table.score import SCORE_COUNT

name: Final = "steady"

_USUAL_CAPACITY: Final = 2**15  # positions, 1.6 MB in all; one deal in a hundred needs more, under relaxed


class Workspace:
    """The arrays that the kernel works in.

    Attributes:
        positions: rows of `POSITION_FIELDS` 64-bit integers.
        plays: twice as many rows of `PLAY_FIELDS` 32-bit integers.
        slots: the hash table of one level; its size is a power of two, at least half the number of positions.

    Args:
        capacity: number of rows of `positions`; at least `LEAST_POSITIONS` are made.
    """

    def __init__(self, capacity: int) -> None:
        capacity = max(capacity, LEAST_POSITIONS)
        self.positions = np.zeros((capacity, POSITION_FIELDS), np.int64)
        self.plays = np.zeros((2 * capacity, PLAY_FIELDS), np.int32)
        self.slots = np.zeros(1 << (capacity // 2).bit_length(), np.int32)

    def larger(self) -> "Workspace":
        """Return a new workspace of twice the size."""
        return Workspace(2 * len(self.positions))


class _ThreadWorkspace(threading.local):
    def __init__(self) -> None:
        self.workspace = Workspace(_USUAL_CAPACITY)


_THREAD: Final = _ThreadWorkspace()


def score_masses(deals: Sequence[Deal], rules: Rules, workspace: Workspace) -> list[tuple[int, ...]]:
    """Return, for each deal, the mass of each score from -16 to 35.

    Args:
        deals: the deals.
        rules: the King rule.
        workspace: the arrays to work in; if a deal needs larger ones, they are used from that deal on.
    """
    if not deals:
        return []
    ranks = np.frombuffer(b"".join([deal.ranks for deal in deals]), np.uint8).astype(np.int64)
    ranks = ranks.reshape(-1, DECK_SIZE)
    masses = np.empty((len(deals), SCORE_COUNT), np.int64)
    done = 0
    while done < len(deals):
        buffers = workspace.positions, workspace.plays, workspace.slots
        done = spread_each(ranks, allowed_ranks(rules), *buffers, masses, done)
        if done < len(deals):
            workspace = workspace.larger()
    return [tuple(row) for row in masses.tolist()]


def rate(deal: Deal, rules: Rules) -> ScoreDistribution:
    """Return the exact score distribution of the steady player on a deal; safe to call from any thread."""
    return rate_each((deal,), rules)[0]


def rate_each(deals: Sequence[Deal], rules: Rules) -> list[ScoreDistribution]:
    """Return the score distribution on each deal, with one kernel call, so that threads seldom wait."""
    rows = score_masses(deals, rules, _THREAD.workspace)
    return [ScoreDistribution(masses, sum(masses[:CLEARED_ROWS])) for masses in rows]


def clear_masses(deals: Sequence[Deal], rules: Rules) -> list[int]:
    """Return, for each deal, the mass of the holes in which the player clears the columns."""
    return [distribution.cleared_mass for distribution in rate_each(deals, rules)]


def warm_up() -> None:
    """Compile or load the kernel, which the first deal would otherwise have to wait for."""
    rate(Deal(tuple(range(DECK_SIZE))), RULES["golf"])
