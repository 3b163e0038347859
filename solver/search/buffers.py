"""What every search works with: the packing of heights, the tables of the rules, and a thread's buffers."""

import threading
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from solver.cards import RANK_COUNT
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
from solver.table.deal import COLUMN_COUNT, COLUMN_HEIGHT
from solver.table.moves import MAX_MOVES
from solver.table.rules import Rules

_ALIGNMENT: Final = 64  # bytes: a row of the bound, and a cache line of the processor
_HALF_COLUMNS: Final = 4


def packed(heights: tuple[int, ...]) -> int:
    """Return heights as one number, as `sweep_kernel` packs them."""
    return sum(height * int(step) for height, step in zip(heights, STEPS, strict=True))


FULL_TABLE: Final = packed((COLUMN_HEIGHT,) * COLUMN_COUNT)


@cache
def rule_tables(rules: Rules) -> RuleTables:
    """Return the tables of the rules, made once for each."""
    marks = np.zeros((VALUE_COUNT, CELL_BYTES, CELL_BYTES), dtype=np.uint8)
    for value in range(VALUE_COUNT):
        for rank in range(RANK_COUNT):
            marks[value, rank, [*rules.plays_on[rank], CELL_BYTES - 1]] = value
    # With more arcs the bound is looser, and a good first line saves more. The best measured widths were 32
    # to 64 tables for 49 arcs and 96 to 160 for 157, hence one table per arc.
    width = np.array([len(useful_arcs(rules))], dtype=np.uint64)
    return RuleTables(*(aligned_copy(rows) for rows in (marks, *bound_weights(rules), width)))


_thread = threading.local()


def thread_buffers() -> Buffers:
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
        levels=_aligned(MAX_MOVES, np.uint64),
        playable=_aligned(halves * _HALF_COLUMNS, np.uint8),
        low=_aligned(LOW_TABLES * BOUND_BYTES, np.int8),
        high=_aligned(HIGH_TABLES * BOUND_BYTES, np.int8),
        pile=_aligned(VALUE_COUNT * CELL_BYTES, np.uint8),
        change=_aligned(VALUE_COUNT * CELL_BYTES * BOUND_BYTES, np.int8),
        reach=_aligned(CELL_BYTES, np.uint8),
        plays=_aligned(candidates, np.uint32),
        entries=_aligned(candidates, np.uint32),
        letters=_aligned(MAX_MOVES, np.uint8),
    )


def _aligned(count: int, kind: Any) -> npt.NDArray[Any]:
    """Return zeros that start at a multiple of 64 bytes."""
    size = count * np.dtype(kind).itemsize
    room = np.zeros(size + _ALIGNMENT, dtype=np.uint8)
    offset = -room.ctypes.data % _ALIGNMENT
    return room[offset : offset + size].view(kind)


def aligned_copy(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the values in one dimension, from a multiple of 64 bytes on."""
    copy = _aligned(values.size, values.dtype)
    copy[:] = values.ravel()
    return copy
