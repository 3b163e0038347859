"""The longest runs that a player can see on the table, valued as the steady player values them.

A run is the plays between two draws. This is plain Python, for one position at a time;
`solver.players.steady_kernel` does the same for all positions of a deal at once.
"""

from dataclasses import dataclass

from solver.cards import rank_of
from solver.table.moves import DRAW, PLAYS, Position
from solver.table.rules import Rules

_Heights = tuple[int, ...]


@dataclass(frozen=True, slots=True, order=True)
class Run:
    """The best of the longest runs that begin with a play; greater is better.

    Attributes:
        length: the number of plays.
        openness: openness of the table that the run leaves: the number of ranks, of the 13, that on the waste
            would let some column's last card be played.
    """

    length: int
    openness: int


def longest_runs(position: Position, rules: Rules) -> dict[str, Run]:
    """Return, for each legal play, the longest run that begins with it; of several, the one most open."""
    table = _Table(position, rules)
    plays = position.legal_moves(rules).removesuffix(DRAW)
    return {move: Run(*table.run_with(position.heights, PLAYS.index(move))) for move in plays}


_Run = tuple[int, int]  # length and openness, compared in this order


class _Table:
    """The columns of a position as ranks, with the runs found so far."""

    def __init__(self, position: Position, rules: Rules) -> None:
        self._columns = tuple(tuple(map(rank_of, column)) for column in position.deal.columns)
        self._plays_on = rules.plays_on
        self._supporters = rules.supporters
        self._known: dict[tuple[_Heights, int], _Run] = {}

    def run_with(self, heights: _Heights, column: int) -> _Run:
        """Return the best run that begins with the last card of a column."""
        rank = self._columns[column][heights[column] - 1]
        left = (*heights[:column], heights[column] - 1, *heights[column + 1 :])
        length, openness = self._run_on(left, rank)
        return length + 1, openness

    def _run_on(self, heights: _Heights, top: int) -> _Run:
        """Return the best run that begins on a waste top; its length is 0 if nothing fits."""
        key = heights, top
        if key not in self._known:
            fitting = self._plays_on[top]
            runs = [
                self.run_with(heights, column)
                for column, height in enumerate(heights)
                if height and self._columns[column][height - 1] in fitting
            ]
            self._known[key] = max(runs) if runs else (0, self._openness(heights))
        return self._known[key]

    def _openness(self, heights: _Heights) -> int:
        """Return the number of waste top ranks on which some column's last card could be played."""
        lasts = {self._columns[column][height - 1] for column, height in enumerate(heights) if height}
        return len({top for rank in lasts for top in self._supporters[rank]})
