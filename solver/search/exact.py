"""The exact search: the best score that can be reached, and a line that reaches it, both proved."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from solver.cards import DECK_SIZE, RANK_COUNT, rank_of
from solver.search import solve_kernel
from solver.search.bound import bound_weights, useful_arcs
from solver.search.sweep_kernel import (
    CHUNK,
    HIGH_TABLES,
    LOW_TABLES,
    STEPS,
    TABLE_COUNT,
    VALUE_COUNT,
    Buffers,
    RuleTables,
)
from solver.search.vector import BOUND_BYTES, CELL_BYTES
from solver.table.deal import COLUMN_COUNT, COLUMN_HEIGHT, TABLEAU_SIZE, Deal
from solver.table.moves import DRAW, Position
from solver.table.rules import RULES, Rules
from solver.table.score import score_of

_ALIGNMENT: Final = 64  # bytes: a row of the bound, and a cache line of the processor
_MAX_MOVES: Final = 51  # 35 plays and 16 draws
_HALF_COLUMNS: Final = 4


@dataclass(frozen=True, slots=True)
class Solution:
    """The proved result of a search.

    Attributes:
        rules: name of the rules.
        cleared: whether the columns can be cleared.
        best_score: the lowest score that can be reached; None if the columns cannot be cleared and only the
            verdict was asked for.
        line: line v1 from the position, which reaches that score; None if there is no best score.
        draws: draws in that line; None if there is no best score.
        positions: number of column heights that the proof expanded.
    """

    rules: str
    cleared: bool
    best_score: int | None
    line: str | None
    draws: int | None
    positions: int


def solve(deal: Deal, rules: Rules, *, fewest: bool = True) -> Solution:
    """Solve a deal from its start.

    Args:
        deal: the deal.
        rules: a row of the table of rules.
        fewest: whether to find the line that leaves the fewest cards if the columns cannot be cleared;
            otherwise the search stops at that verdict.
    """
    return solve_each((deal,), rules, fewest=fewest)[0]


def solve_each(deals: Sequence[Deal], rules: Rules, *, fewest: bool = True) -> list[Solution]:
    """Solve deals as `solve` does, with one kernel call for all, so that threads seldom wait."""
    starts = [(deal, _FULL_TABLE, rank_of(deal.waste), 0, TABLEAU_SIZE) for deal in deals]
    return _solved(starts, rules, fewest)


def solve_position(position: Position, rules: Rules, *, fewest: bool = True) -> Solution:
    """Solve any position of a hole; the score is that of the whole hole."""
    if not position.cards_left:
        return Solution(rules.name, True, score_of(0, position.draws), "", 0, 0)
    table, top = _packed(position.heights), rank_of(position.top)
    return _solved([(position.deal, table, top, position.draws, position.cards_left)], rules, fewest)[0]


def warm_up() -> None:
    """Compile or load the search; worth doing before work is given to threads."""
    for rules in RULES.values():
        solve(Deal(tuple(range(DECK_SIZE))), rules)


_Start = tuple[Deal, int, int, int, int]  # packed table, rank of the waste top, draws and cards left there


def _solved(starts: Sequence[_Start], rules: Rules, fewest: bool) -> list[Solution]:
    if not starts:
        return []
    ranks = np.frombuffer(b"".join([start[0].ranks for start in starts]), dtype=np.uint8)
    packed = np.array([start[1:] for start in starts], dtype=np.uint64)
    found = np.empty((len(starts), 3), dtype=np.int64)
    lines = np.empty((len(starts), _MAX_MOVES), dtype=np.uint8)
    solve_kernel.solve_each(
        ranks.reshape(-1, DECK_SIZE), packed, fewest, _rule_tables(rules), _buffers(), found, lines
    )
    letters = lines.tobytes().decode("ascii")
    return [
        _solution(rules, start[3], row, letters[n * _MAX_MOVES : (n + 1) * _MAX_MOVES])
        for n, (start, row) in enumerate(zip(starts, found.tolist(), strict=True))
    ]


def _solution(rules: Rules, draws: int, found: Sequence[int], letters: str) -> Solution:
    """Return the result of one position as a `Solution`."""
    left, at, expanded = found
    if at == solve_kernel.NO_LINE:
        return Solution(rules.name, False, None, None, None, expanded)
    line = letters[at:]
    drawn = line.count(DRAW)
    return Solution(rules.name, left == 0, score_of(left, draws + drawn), line, drawn, expanded)


def _packed(heights: tuple[int, ...]) -> int:
    return sum(height * int(step) for height, step in zip(heights, STEPS, strict=True))


_FULL_TABLE: Final = _packed((COLUMN_HEIGHT,) * COLUMN_COUNT)


@cache
def _rule_tables(rules: Rules) -> RuleTables:
    marks = np.zeros((VALUE_COUNT, CELL_BYTES, CELL_BYTES), dtype=np.uint8)
    for value in range(VALUE_COUNT):
        for rank in range(RANK_COUNT):
            marks[value, rank, [*rules.plays_on[rank], CELL_BYTES - 1]] = value
    # With more arcs the bound is looser, and a good first line saves more. The best measured widths were 32
    # to 64 tables for 49 arcs and 96 to 160 for 157, hence one table per arc.
    width = np.array([len(useful_arcs(rules))], dtype=np.uint64)
    return RuleTables(*(_aligned_copy(rows.ravel()) for rows in (marks, *bound_weights(rules), width)))


_thread = threading.local()


def _buffers() -> Buffers:
    """Return this thread's buffers, 8 MB, made at its first search."""
    if not hasattr(_thread, "buffers"):
        _thread.buffers = _make_buffers()
    buffers: Buffers = _thread.buffers
    return buffers


def _make_buffers() -> Buffers:
    halves, candidates = LOW_TABLES + HIGH_TABLES, CHUNK * len(STEPS) + 1
    return Buffers(
        cells=_aligned(LOW_TABLES * HIGH_TABLES * CELL_BYTES, np.uint8),
        tables=_aligned(TABLE_COUNT + 1, np.uint32),
        levels=_aligned(_MAX_MOVES, np.uint64),
        playable=_aligned(halves * _HALF_COLUMNS, np.uint8),
        low=_aligned(LOW_TABLES * BOUND_BYTES, np.int8),
        high=_aligned(HIGH_TABLES * BOUND_BYTES, np.int8),
        pile=_aligned(VALUE_COUNT * CELL_BYTES, np.uint8),
        change=_aligned(VALUE_COUNT * CELL_BYTES * BOUND_BYTES, np.int8),
        reach=_aligned(CELL_BYTES, np.uint8),
        plays=_aligned(candidates, np.uint32),
        entries=_aligned(candidates, np.uint32),
        letters=_aligned(_MAX_MOVES, np.uint8),
    )


def _aligned(count: int, kind: Any) -> npt.NDArray[Any]:
    """Return zeros that start at a multiple of 64 bytes."""
    size = count * np.dtype(kind).itemsize
    room = np.zeros(size + _ALIGNMENT, dtype=np.uint8)
    offset = -room.ctypes.data % _ALIGNMENT
    return room[offset : offset + size].view(kind)


def _aligned_copy(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    copy = _aligned(values.size, values.dtype)
    copy[:] = values
    return copy
