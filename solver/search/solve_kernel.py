"""The exact search in three sweeps: a beam, the proof and, if asked for, the fewest cards left.

1. A beam gives an upper bound on the draws for about a tenth of the work; it is often the exact minimum.
2. The proof sweeps everything that the bound allows within that many draws. It leaves all that line v1 needs.
3. If that proves that the columns cannot be cleared, the deepest table found so far limits how many cards may
   be left; one more sweep, with the bound loosened by that number, has the answer as its deepest table.
"""

from typing import Any, Final

import numpy as np

from solver.jit import inlined, kernel
from solver.search.line_kernel import trace
from solver.search.sweep_kernel import Buffers, RuleTables, fill_columns, fill_stock, sweep, wipe
from solver.table.deal import STOCK_SIZE, TABLEAU_SIZE

NO_LINE: Final = -1

_u, _i = np.uint64, np.int64  # the same types in every call: each other mix is compiled separately
_ALL = _u(0)
_15 = _u(15)


@kernel
def solve_each(
    ranks: Any, starts: Any, want_fewest: Any, rules: RuleTables, buffers: Buffers, found: Any, lines: Any
) -> None:
    """Solve positions exactly, one after another.

    One call solves many, because between calls a thread needs the interpreter, for which others may wait.

    Args:
        ranks: uint8[n, 52], the ranks of each deal.
        starts: uint64[n, 4]: packed table, rank of the waste top, draws and cards left (not 0) at each start.
        want_fewest: whether to find the fewest cards left if the columns cannot be cleared.
        rules: tables of the rules.
        buffers: arrays to work in; `cells` is all zero before and after.
        found: int64[n, 3], filled with the cards left at the end of each best line (0 if cleared), the index
            in its row of `lines` where that line begins (`NO_LINE` if it was not asked for), and the number
            of tables that the proof expanded.
        lines: uint8[n, 51], filled with the letters of each line, aligned to the end of its row.
    """
    for n in range(len(ranks)):
        left, at, expanded = _solve(ranks[n], starts[n], want_fewest, rules, buffers)
        found[n, 0], found[n, 1], found[n, 2] = left, at, expanded
        for place in range(len(buffers.letters)):
            lines[n, place] = buffers.letters[place]


@inlined
def _solve(ranks: Any, start: Any, want_fewest: Any, rules: RuleTables, buffers: Buffers) -> Any:
    table, top, draws, cards = start[0], start[1], start[2], start[3]
    fill_columns(ranks, rules, buffers)
    fill_stock(ranks, _i(STOCK_SIZE), _i(0), rules, buffers)
    deepest = sweep(table, top, draws, rules.beam_width[0], rules, buffers)
    last = _i(STOCK_SIZE)
    if deepest == cards:
        last = STOCK_SIZE + 1 - _i(buffers.cells[_15])
    wipe(deepest, buffers)
    fill_stock(ranks, last, _i(0), rules, buffers)
    reached = sweep(table, top, draws, _ALL, rules, buffers)
    if reached == cards:
        at = trace(_i(0), start, ranks, rules.marks, buffers)
        return _i(0), at, _i(wipe(reached, buffers))
    expanded = wipe(reached, buffers)
    if not want_fewest:
        return _i(cards - reached), NO_LINE, _i(expanded)
    return _fewest(ranks, start, max(deepest, reached), expanded, rules, buffers)


@inlined
def _fewest(ranks: Any, start: Any, deepest: Any, expanded: Any, rules: RuleTables, buffers: Buffers) -> Any:
    table, top, draws, cards = start[0], start[1], start[2], start[3]
    fill_stock(ranks, _i(STOCK_SIZE), _i(TABLEAU_SIZE), rules, buffers)
    reached = sweep(table, top, draws, rules.beam_width[0], rules, buffers)
    wipe(reached, buffers)
    spare = _i(cards - max(deepest, reached))
    fill_stock(ranks, _i(STOCK_SIZE), spare, rules, buffers)
    reached = sweep(table, top, draws, _ALL, rules, buffers)
    end = buffers.tables[buffers.levels[reached] : buffers.levels[reached + _u(1)]].min()
    at = trace(_i(end), start, ranks, rules.marks, buffers)
    return _i(cards - reached), at, _i(expanded + wipe(reached, buffers))
