"""The exact search in three sweeps: a quick look, the proof and, where asked, the fewest cards left.

1. A beam gives an upper bound on the draws, for about a tenth of the work: often the fewest there are.
2. The proof sweeps everything that the bound allows within that many draws. It leaves all that line v1 needs.
3. Where that proves that the columns cannot be cleared, the deepest table met so far says how many cards may
   be left; one more sweep, with the bound loosened by that many, has the answer as its deepest table.
"""

from typing import Any, Final

import numpy as np

from solver.deal import STOCK_SIZE, TABLEAU_SIZE
from solver.jit import inlined, kernel
from solver.line_kernel import trace
from solver.search_kernel import Buffers, RuleTables, fill_columns, fill_stock, sweep, wipe

NO_LINE: Final = -1

_u, _i = np.uint64, np.int64  # every call with the same types: each other mix is compiled once more
_ALL = _u(0)
_15 = _u(15)


@kernel
def solve_kernel(ranks: Any, start: Any, want_fewest: Any, rules: RuleTables, buffers: Buffers) -> Any:
    """Solve a position exactly.

    Args:
        ranks: uint8[52], the deal's ranks.
        start: uint64[4]: packed table, rank of the waste top, draws and cards left (not 0) at the start.
        want_fewest: whether to go on to the fewest cards left where the columns cannot be cleared.
        rules: tables of the rules.
        buffers: room to work in, with `cells` all zero; left so.

    Returns:
        Cards left at the end of the best line (0 when cleared), where in `letters` that line begins
        (`NO_LINE` if it was not asked for), and the tables that the proof expanded.
    """
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
