"""Line v1 (frozen), read from the cells that a sweep has filled.

The line is built backwards and needs F only for tables on lines that reach the end in the fewest draws. The
bound never excludes those, so a pruned sweep gives the same line as a plain one. A cell holds what may be
played next, not which rank was played; so F(h, r) is computed again from the tables one card before h.
"""

from typing import Any, Final

import numpy as np

from solver.cards import RANK_COUNT
from solver.jit import inlined, kernel
from solver.search.sweep_kernel import HEIGHTS, LOW_COLUMNS, LOW_TABLES, STEPS, Buffers
from solver.search.vector import CELL_BYTES
from solver.table.deal import COLUMN_HEIGHT, STOCK_SIZE, TABLEAU_SIZE

_DRAW: Final = ord("D")
_FIRST_COLUMN: Final = ord("1")
_NO_DRAWS: Final = STOCK_SIZE + 1  # the value that stands for F = 0
_COLUMNS: Final = len(STEPS)
_steps: Final = STEPS.astype(np.int64)


@kernel
def trace(end: Any, start: Any, ranks: Any, marks: Any, buffers: Buffers) -> Any:
    """Write line v1 from the start to table `end`, packed, to the end of `letters`.

    Args:
        end: the table the line leaves.
        start: uint64[4], a row of `starts` in `solve_each`.
        ranks: uint8[52], the ranks of the deal.
        marks: as in `RuleTables`.
        buffers: as the sweep has left them.

    Returns:
        Index in `letters` where the line begins.
    """
    letters = buffers.letters
    at = len(letters)
    table, start_table = np.int64(end), np.int64(start[0])
    value = _most(table, buffers)
    rank = _lowest_rank(table, value, start, ranks, buffers)
    while table != start_table:
        column, rank, before = _step_back(table, rank, value, start, ranks, marks, buffers)
        at -= 1
        letters[at] = _FIRST_COLUMN + column
        for _ in range(before - value):
            at -= 1
            letters[at] = _DRAW
        table += _steps[column]
        value = before
    return at


@inlined
def _step_back(
    table: Any, rank: Any, value: Any, start: Any, ranks: Any, marks: Any, buffers: Buffers
) -> Any:
    """The play that left `table` with `rank` on the waste after 17 - `value` draws.

    Returns:
        Its column (0..6), and the rank and the value of the table before it, before any draws.
    """
    shown = np.int64(ranks[TABLEAU_SIZE + _NO_DRAWS - value])
    for column in range(_COLUMNS):
        if _playable_before(table, column, ranks) != rank:
            continue
        before = table + _steps[column]
        for top in range(np.int64(RANK_COUNT)):
            if _supports(top, rank, marks) and _value_of(before, top, start, ranks, buffers) == value:
                return column, top, value
        most = _most(before, buffers)
        if most > value and _supports(shown, rank, marks):
            return column, _lowest_rank(before, most, start, ranks, buffers), most
    raise AssertionError("a table was reached from nowhere")


@kernel
def _playable_before(table: Any, column: Any, ranks: Any) -> Any:
    """Return the rank of the last card played from a column; -1 if the column is full."""
    half = table % LOW_TABLES if column < LOW_COLUMNS else table // LOW_TABLES
    for _ in range(column if column < LOW_COLUMNS else column - LOW_COLUMNS):
        half //= HEIGHTS
    height = half % HEIGHTS
    return -1 if height == COLUMN_HEIGHT else np.int64(ranks[column * COLUMN_HEIGHT + height])


@kernel
def _supports(top: Any, rank: Any, marks: Any) -> Any:
    return marks[(CELL_BYTES + top) * CELL_BYTES + rank] > 0


@kernel
def _most(table: Any, buffers: Buffers) -> Any:
    return np.int64(buffers.cells[table * CELL_BYTES + CELL_BYTES - 1])


@kernel
def _value_of(table: Any, rank: Any, start: Any, ranks: Any, buffers: Buffers) -> Any:
    """Return 17 - F(table, rank), or 0 if that is not reached."""
    if table == np.int64(start[0]):
        return _most(table, buffers) if rank == np.int64(start[1]) else 0
    value: Any = 0
    for column in range(_COLUMNS):
        if _playable_before(table, column, ranks) == rank:
            before = table + _steps[column]
            drawn = buffers.pile[_most(before, buffers) * CELL_BYTES + rank]
            value = max(value, np.int64(drawn), np.int64(buffers.cells[before * CELL_BYTES + rank]))
    return value


@kernel
def _lowest_rank(table: Any, value: Any, start: Any, ranks: Any, buffers: Buffers) -> Any:
    """Return the lowest rank with this value on a table."""
    rank = np.int64(0)
    while _value_of(table, rank, start, ranks, buffers) != value:
        rank += 1
    return rank
