"""The varied player v1 (frozen), which tries things: the exact chance that it clears a deal.

It sees the columns and the waste top, but not the order of the stock. It prefers the plays with which the
longest runs begin, takes a play whose run is shorter by one a quarter as often, and draws once in twenty
times although a card fits. `solver.players.varied_kernel` computes the mass of the holes that it clears.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from solver.cards import DECK_SIZE, RANK_COUNT
from solver.errors import UsageError
from solver.players.cards_kernel import allowed_ranks
from solver.players.run_kernel import STACK_FIELDS, STACK_ROWS
from solver.players.varied_kernel import (
    ALL_RANKS,
    DRAW_COUNTS,
    ENTRY_FIELDS,
    MASS_FIELDS,
    MASSES_PER_ENTRY,
    PLAY_FIELDS,
    POSITION_FIELDS,
    Workspace,
    clear_each,
)
from solver.search.buffers import aligned_copy, rule_tables, thread_buffers
from solver.search.sweep_kernel import HIGH_TABLES, LOW_TABLES, VALUE_COUNT
from solver.search.vector import CELL_BYTES
from solver.table.deal import COLUMN_COUNT, Deal
from solver.table.rules import Rules

_USUAL_LEVEL: Final = 2**11  # entries


@dataclass(frozen=True)
class VariedPlayer:
    """A row of the table of players.

    Attributes:
        name: as columns and documents spell it.
        draw_odds: it draws once in this many times although a card fits, while stock is left.
        weights: how often it takes a play, by how much shorter its longest run is than the longest of all;
            the last weight is for that difference and all larger ones.

    Raises:
        UsageError: if the odds are not positive, or there are no weights or one is not positive.
    """

    name: str
    draw_odds: int
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.draw_odds < 1 or min(self.weights, default=0) < 1:
            raise UsageError(f"player {self.name}: the odds of a draw and all weights must be at least 1")

    def clear_masses(self, deals: Sequence[Deal], rules: Rules) -> list[int]:
        """Return, for each deal, the mass of the holes that it clears; safe to call from any thread."""
        if not deals:
            return []
        ranks = np.frombuffer(b"".join([deal.ranks for deal in deals]), np.uint8).reshape(-1, DECK_SIZE)
        masses = np.empty(len(deals), np.int64)
        habits = np.array([self.draw_odds, *self.weights])
        tables = allowed_ranks(rules), rule_tables(rules), _supports(rules)
        done = 0
        while done < len(deals):
            done = clear_each(ranks, habits, *tables, thread_buffers(), _THREAD.workspace, masses, done)
            if done < len(deals):
                _THREAD.grow()
        found: list[int] = masses.tolist()
        return found


VARIED: Final = VariedPlayer("varied", draw_odds=20, weights=tuple(4**n for n in range(6, -1, -1)))


@cache
def _supports(rules: Rules) -> npt.NDArray[np.uint8]:
    supports = np.zeros((VALUE_COUNT, CELL_BYTES, CELL_BYTES), np.uint8)
    for value in range(VALUE_COUNT):
        for rank in range(RANK_COUNT):
            supports[value, rank, list(rules.supporters[rank])] = value
        supports[value, ALL_RANKS, [*range(RANK_COUNT), ALL_RANKS]] = value
    return aligned_copy(supports)


def make_workspace(level_entries: int) -> Workspace:
    """Return the arrays of one thread, for levels with this many entries."""
    packed_tables = LOW_TABLES * HIGH_TABLES
    return Workspace(
        runs=np.zeros(packed_tables, np.int64),
        stamp=np.zeros(1, np.int64),
        stack=np.zeros((STACK_ROWS, STACK_FIELDS), np.int64),
        heads=np.zeros(packed_tables, np.int32),
        tables=_tables(level_entries),
        entries=_entries(level_entries),
        masses=_masses(level_entries),
        plays=np.zeros((RANK_COUNT, PLAY_FIELDS), np.int64),
        positions=np.zeros((COLUMN_COUNT * DRAW_COUNTS, POSITION_FIELDS), np.int64),
    )


def _tables(level_entries: int) -> npt.NDArray[np.int32]:
    return np.zeros((2, level_entries), np.int32)


def _entries(level_entries: int) -> npt.NDArray[np.int64]:
    return np.zeros((2 * level_entries, ENTRY_FIELDS), np.int64)


def _masses(level_entries: int) -> npt.NDArray[np.int64]:
    return np.zeros((2 * level_entries * MASSES_PER_ENTRY, MASS_FIELDS), np.int64)


class _ThreadWorkspace(threading.local):
    """This thread's workspace; a larger one, once it is needed, stays."""

    def __init__(self) -> None:
        self.workspace = make_workspace(_USUAL_LEVEL)

    def grow(self) -> None:
        """Make room for twice as many entries; the large arrays are used again."""
        count = len(self.workspace.entries)
        self.workspace.heads[:] = 0
        self.workspace = self.workspace._replace(
            tables=_tables(count), entries=_entries(count), masses=_masses(count)
        )


_THREAD: Final = _ThreadWorkspace()
