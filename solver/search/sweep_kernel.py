"""The sweep over column heights, level by level, in passes without branches.

Cells. Suits do not matter, and fewer draws with the same heights and waste top are never worse, so all that
has to be known of a table with heights h is F(h, r): the fewest draws with which a play leaves heights h and
puts rank r on the waste. A value is 17 - F, or 0 if no play does that. A table's cell has 16 bytes: for each
rank the largest value of a waste top on which that rank may be played, and in byte 15 the largest of all. The
next plays need exactly this: for each rank, the larger of the cell's byte and that of a row for the stock is
the value with which the rank may be played now. Bytes 13 and 14 are always 0 and stand for "no rank".

Packing. Heights are one number h = 256 * (h4 + 6 h5 + 36 h6 + 216 h7) + (h1 + 6 h2 + 36 h3), so that both
halves, which index the tables of the bound, are found without a division. It orders heights as the definition
of line v1 does. A candidate is a pair (h, entry) with entry = 16 * value + rank, which indexes the rows of
`marks` and `change`.

Passes. A play takes one card from the columns, so tables are grouped into levels by cards left. For a chunk
of a level's tables, `_expand` writes all plays that the bound allows (the output index advances only for
those) and prefetches their cells; `_merge` merges each into its cell and lists the tables that are new.
Neither branches on data, which makes them fast. Only cells on the lists are written, and those are wiped
afterwards.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from solver.cards import RANK_COUNT
from solver.jit import inlined, kernel
from solver.search.vector import BOUND_BYTES, CELL_BYTES, add, largest, none_negative, prefetch
from solver.table.deal import COLUMN_COUNT, COLUMN_HEIGHT, STOCK_SIZE, TABLEAU_SIZE

HEIGHTS: Final = COLUMN_HEIGHT + 1
LOW_COLUMNS: Final = 3
LOW_TABLES: Final = 256  # room for columns 1-3; 216 are in use
HIGH_TABLES: Final = HEIGHTS ** (COLUMN_COUNT - LOW_COLUMNS)
TABLE_COUNT: Final = HEIGHTS**COLUMN_COUNT
NO_RANK: Final = 14
VALUE_COUNT: Final = STOCK_SIZE + 2  # values of a byte of a cell: 0 for none, then 1 .. 17
CHUNK: Final = 128  # tables; with all their candidates they fit into the first-level cache
_REFUSED: Final = -64  # a slack that no table can make up for: value 0 is not a play

_u = np.uint64
_0, _1, _2, _4, _5, _6, _7, _8, _15, _16 = (_u(n) for n in (0, 1, 2, 4, 5, 6, 7, 8, 15, 16))
_LOW_COLUMNS, _LOW_MASK, _CHUNK = _u(LOW_COLUMNS), _u(LOW_TABLES - 1), _u(CHUNK)
_CELL, _ROW = _u(4), _u(6)  # shifts: a cell has 16 bytes, a row of the bound 64

# What one card of a column adds to a packed table.
STEPS: Final = np.array([1, 6, 36, 256, 6 * 256, 36 * 256, 216 * 256], dtype=np.uint64)

_Bytes = npt.NDArray[np.uint8]
_Signed = npt.NDArray[np.int8]


class RuleTables(NamedTuple):
    """The rules as the kernels need them.

    Attributes:
        marks: uint8[18 * 16 * 16], by 16 * value + rank: what a play of that rank adds to a cell, which is
            the value at every rank that may be played on it and in byte 15.
        column_weights: int8[13 * 64], what a remaining column card adds to the slack of each arc.
        supply_weights: int8[13 * 64], what a stock card or the waste top adds.
        beam_width: uint64[1], tables per level of the beam.
    """

    marks: _Bytes
    column_weights: _Signed
    supply_weights: _Signed
    beam_width: npt.NDArray[np.uint64]


class Buffers(NamedTuple):
    """Arrays for one search at a time; each starts at a multiple of 64 bytes.

    Attributes:
        cells: uint8[1296 * 256 * 16], all zero between searches.
        tables: uint32[6^7 + 1], the tables found, level after level.
        levels: uint64[37], where each level starts in `tables`.
        playable: uint8[(256 + 1296) * 4], by half table: last rank of each of its columns or `NO_RANK`.
        low: int8[256 * 64], by low half: its part of the bound.
        high: int8[1296 * 64], by high half: its part of the bound.
        pile: uint8[18 * 16]: row v, for a table first reached with 17 - v draws, has for each rank the value
            with which it may be played on an undrawn card, or 0.
        change: int8[18 * 16 * 64], by 16 * value + rank: the part of the bound after playing that rank.
        reach: uint8[16], the current cell with the stock cards added.
        plays: uint32[128 * 7 + 1], the tables of the candidates.
        entries: uint32[128 * 7 + 1], 16 * value + rank of the candidates.
        letters: uint8[51], the line as ASCII, filled from the end.
    """

    cells: _Bytes
    tables: npt.NDArray[np.uint32]
    levels: npt.NDArray[np.uint64]
    playable: _Bytes
    low: _Signed
    high: _Signed
    pile: _Bytes
    change: _Signed
    reach: _Bytes
    plays: npt.NDArray[np.uint32]
    entries: npt.NDArray[np.uint32]
    letters: _Bytes


@inlined
def fill_columns(ranks: Any, rules: RuleTables, buffers: Buffers) -> None:
    """Fill `playable`, `low` and `high` for a deal given as uint8[52] ranks."""
    _fill_half(ranks, rules.column_weights, buffers.playable, buffers.low, _0, _LOW_COLUMNS, _0)
    _fill_half(ranks, rules.column_weights, buffers.playable, buffers.high, _LOW_COLUMNS, _4, _u(LOW_TABLES))


@kernel
def _fill_half(
    ranks: Any, weights: Any, playable: Any, rows: Any, first: Any, columns: Any, offset: Any
) -> None:
    for n in range(BOUND_BYTES):
        rows[n] = 0
    for n in range(_4):
        playable[(offset << _2) + n] = NO_RANK
    count = _1  # halves filled so far: those in which the remaining columns are empty
    for column in range(columns):
        for half in range(count, count * _6):
            rank = ranks[(first + column) * _5 + half // count - _1]
            add(rows, half << _ROW, rows, (half - count) << _ROW, weights, _u(rank) << _ROW)
            here, without = (offset + half) << _2, (offset + half % count) << _2
            for n in range(_4):
                playable[here + n] = playable[without + n]
            playable[here + column] = rank
        count *= _6


@kernel
def fill_stock(ranks: Any, last: Any, spare: Any, rules: RuleTables, buffers: Buffers) -> None:
    """Fill `pile` and `change` for at most `last` draws and at most `spare` column cards left unplayed."""
    pile, change = buffers.pile, buffers.change
    pile[:] = 0
    change[:] = _REFUSED
    to_come = np.full(BOUND_BYTES, spare, dtype=np.int8)
    for draws in range(last, -1, -1):
        value = STOCK_SIZE + 1 - draws
        if draws < last:
            card = np.int64(ranks[TABLEAU_SIZE + draws + 1])
            entry = _u((value - 1) * CELL_BYTES + card)
            largest(pile, _u(value) << _CELL, pile, _u(value - 1) << _CELL, rules.marks, entry << _CELL)
            for n in range(BOUND_BYTES):
                to_come[n] += rules.supply_weights[card * BOUND_BYTES + n]
        for rank in range(RANK_COUNT):
            row = (value * CELL_BYTES + rank) * BOUND_BYTES
            for n in range(BOUND_BYTES):
                weight = rank * BOUND_BYTES + n
                change[row + n] = to_come[n] + rules.supply_weights[weight] - rules.column_weights[weight]


@kernel
def sweep(table: Any, top: Any, draws: Any, width: Any, rules: RuleTables, buffers: Buffers) -> Any:
    """Find F for every table that can be reached from a start and that the bound does not refute.

    Args:
        table: the packed heights at the start.
        top: rank of the waste top at the start.
        draws: stock cards drawn at the start.
        width: largest number of tables to continue with from each level, those with the fewest draws; 0 for
            all. With a width the sweep is a beam: it may miss tables that can be reached.
        rules: tables of the rules.
        buffers: `cells` must be all zero; afterwards they hold F, and `levels` delimits the tables per level.

    Returns:
        The last level that has a table, which is the largest number of cards that could be played.
    """
    tables, levels = buffers.tables, buffers.levels
    cell = table << _CELL
    entry = ((_u(STOCK_SIZE + 1) - draws) << _CELL) | top
    largest(buffers.cells, cell, buffers.cells, cell, rules.marks, entry << _CELL)
    tables[0] = table
    level, levels[0], levels[1] = _0, _0, _1
    while True:
        start, end = levels[level], levels[level + _1]
        new = end
        while start < end:
            stop = min(start + _CHUNK, end)
            count = _expand(start, stop, buffers)
            new = _merge(count, new, rules.marks, buffers)
            start = stop
        if new == end:
            return level
        if width > _0 and new - end > width:
            new = _keep_best(end, new, width, buffers)
        level += _1
        levels[level + _1] = new


@inlined
def _expand(start: Any, stop: Any, buffers: Buffers) -> Any:
    """Write the plays from tables[start:stop] that the bound allows as candidates; return their number."""
    cells, tables, playable, reach = buffers.cells, buffers.tables, buffers.playable, buffers.reach
    low, high, change = buffers.low, buffers.high, buffers.change
    plays, entries = buffers.plays, buffers.entries
    found = _0
    for n in range(start, stop):
        table = _u(tables[n])
        cell = table << _CELL
        largest(reach, _0, cells, cell, buffers.pile, _u(cells[cell + _15]) << _CELL)
        left, right = table & _LOW_MASK, table >> _8
        left_ranks, right_ranks = left << _2, (right + _u(LOW_TABLES)) << _2
        left_row, right_row = left << _ROW, right << _ROW
        allowed = _0
        for column in range(_7):
            place = left_ranks + column if column < _LOW_COLUMNS else right_ranks + column - _LOW_COLUMNS
            rank = _u(playable[place])
            row = ((_u(reach[rank]) << _CELL) | rank) << _ROW
            allowed |= _u(none_negative(low, left_row, high, right_row, change, row)) << column
        for column in range(_7):
            place = left_ranks + column if column < _LOW_COLUMNS else right_ranks + column - _LOW_COLUMNS
            rank = _u(playable[place])
            after = table - STEPS[column]
            prefetch(cells, after << _CELL)
            plays[found] = after
            entries[found] = (_u(reach[rank]) << _CELL) | rank
            found += (allowed >> column) & _1
    return found


@inlined
def _merge(count: Any, end: Any, marks: Any, buffers: Buffers) -> Any:
    """Merge the candidates into their cells and append new tables to tables[:end]; return the new end."""
    cells, tables = buffers.cells, buffers.tables
    for n in range(count):
        table = _u(buffers.plays[n])
        cell = table << _CELL
        tables[end] = table
        end += _u(cells[cell + _15] == 0)
        largest(cells, cell, cells, cell, marks, _u(buffers.entries[n]) << _CELL)
    return end


@inlined
def _keep_best(start: Any, end: Any, width: Any, buffers: Buffers) -> Any:
    """Keep the `width` tables of tables[start:end] with the fewest draws, wipe the others; return the end."""
    cells, tables = buffers.cells, buffers.tables
    counts = np.zeros(VALUE_COUNT, dtype=np.uint64)
    for n in range(start, end):
        counts[_u(cells[(_u(tables[n]) << _CELL) + _15])] += _1
    least, room = _u(VALUE_COUNT - 1), width
    while counts[least] < room:
        room -= counts[least]
        least -= _1
    kept = start
    for n in range(start, end):
        cell = _u(tables[n]) << _CELL
        value = _u(cells[cell + _15])
        if value > least or (value == least and room > _0):
            room -= _u(value == least)
            tables[kept] = tables[n]
            kept += _1
        else:
            _wipe_cell(cells, cell)
    return kept


@kernel
def _wipe_cell(cells: Any, cell: Any) -> None:
    for n in range(_16):
        cells[cell + n] = 0


@kernel
def wipe(level: Any, buffers: Buffers) -> Any:
    """Set the cells to zero after a sweep that ended at `level`; return the number of tables it found."""
    met = buffers.levels[level + _1]
    for n in range(met):
        _wipe_cell(buffers.cells, _u(buffers.tables[n]) << _CELL)
    return met
