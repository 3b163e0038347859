"""The exact search: the best score that can be reached, and a line that reaches it, both proved."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solver.cards import DECK_SIZE, rank_of
from solver.search import solve_kernel
from solver.search.buffers import FULL_TABLE, packed, rule_tables, thread_buffers
from solver.table.deal import TABLEAU_SIZE, Deal
from solver.table.moves import DRAW, MAX_MOVES, Position
from solver.table.rules import RULES, Rules
from solver.table.score import score_of


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
    starts = [(deal, FULL_TABLE, rank_of(deal.waste), 0, TABLEAU_SIZE) for deal in deals]
    return _solved(starts, rules, fewest)


def solve_position(position: Position, rules: Rules, *, fewest: bool = True) -> Solution:
    """Solve any position of a hole; the score is that of the whole hole."""
    if not position.cards_left:
        return Solution(rules.name, True, score_of(0, position.draws), "", 0, 0)
    table, top = packed(position.heights), rank_of(position.top)
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
    rows = np.array([start[1:] for start in starts], dtype=np.uint64)
    found = np.empty((len(starts), 3), dtype=np.int64)
    lines = np.empty((len(starts), MAX_MOVES), dtype=np.uint8)
    solve_kernel.solve_each(
        ranks.reshape(-1, DECK_SIZE), rows, fewest, rule_tables(rules), thread_buffers(), found, lines
    )
    letters = lines.tobytes().decode("ascii")
    return [
        _solution(rules, start[3], row, letters[n * MAX_MOVES : (n + 1) * MAX_MOVES])
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
