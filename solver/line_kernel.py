"""Line v1 read off the cells that a sweep has filled (design, section 3: frozen).

The line is built backwards and asks only for F of tables on lines that reach the end in the fewest draws. The
bound never excludes those, so a pruned sweep gives the same line as a plain one.
"""

from typing import Any, Final

import numpy as np

from solver.deal import COLUMN_HEIGHT, STOCK_SIZE, TABLEAU_SIZE
from solver.jit import kernel
from solver.search_kernel import HEIGHTS, LOW_COLUMNS, LOW_TABLES, STEPS, Buffers
from solver.vector import CELL_BYTES

_DRAW: Final = ord("D")
_FIRST_COLUMN: Final = ord("1")
_MOST_VALUE: Final = STOCK_SIZE + 1  # of a cell's bytes: no card drawn
_COLUMNS: Final = len(STEPS)
_steps: Final = STEPS.astype(np.int64)


@kernel
def trace(end: Any, start: Any, ranks: Any, supporters: Any, buffers: Buffers) -> Any:
    """Write line v1 from table `start` to table `end`, both packed, to the end of `letters`.

    Args:
        end: the table the line leaves.
        start: the table it begins with; its cell tells the draws at the start.
        ranks: uint8[52], the deal's ranks.
        supporters: as in `RuleTables`.
        buffers: as the sweep left them.

    Returns:
        Where in `letters` the line begins.
    """
    cells, letters = buffers.cells, buffers.letters
    at = len(letters)
    table = np.int64(end)
    rank = _first_of(cells, table, _most(cells, table))
    value = _most(cells, table)
    while table != start:
        column, rank, before = _step_back(table, rank, value, ranks, supporters, cells)
        at -= 1
        letters[at] = _FIRST_COLUMN + column
        for _ in range(before - value):
            at -= 1
            letters[at] = _DRAW
        table += _steps[column]
        value = before
    return at


@kernel
def _step_back(table: Any, rank: Any, value: Any, ranks: Any, supporters: Any, cells: Any) -> Any:
    """The play that left `table` with `rank` on the waste after 17 - `value` draws.

    Returns:
        Its column (0..6), and the rank and the value of the table before it, where the draws between began.
    """
    pile_rank = ranks[TABLEAU_SIZE + _MOST_VALUE - value]
    for column in range(_COLUMNS):
        height = _height(table, column)
        if height == COLUMN_HEIGHT or ranks[column * COLUMN_HEIGHT + height] != rank:
            continue
        before = table + _steps[column]
        for top in range(CELL_BYTES - 1):
            if _supports(top, rank, supporters) and cells[before * CELL_BYTES + top] == value:
                return column, top, value
        if _supports(pile_rank, rank, supporters) and _most(cells, before) > value:
            most = _most(cells, before)
            return column, _first_of(cells, before, most), most
    raise AssertionError("a table was reached from nowhere")


@kernel
def _height(table: Any, column: Any) -> Any:
    half = table % LOW_TABLES if column < LOW_COLUMNS else table // LOW_TABLES
    for _ in range(column if column < LOW_COLUMNS else column - LOW_COLUMNS):
        half //= HEIGHTS
    return half % HEIGHTS


@kernel
def _supports(top: Any, rank: Any, supporters: Any) -> Any:
    found = False
    for n in range(rank, len(supporters), CELL_BYTES):
        found |= supporters[n] == top
    return found


@kernel
def _most(cells: Any, table: Any) -> Any:
    return np.int64(cells[table * CELL_BYTES + CELL_BYTES - 1])


@kernel
def _first_of(cells: Any, table: Any, value: Any) -> Any:
    """The lowest rank that the table's cell holds with this value."""
    rank = 0
    while cells[table * CELL_BYTES + rank] != value:
        rank += 1
    return rank
