"""What a simulated player sees, for the slow twins: the columns and the waste top, never the stock.

It shares nothing with the kernels.
"""

from solver.cards import RANK_COUNT, rank_of
from solver.table.deal import Deal
from solver.table.rules import Rules

Heights = tuple[int, ...]


class View:
    """The columns as heights, which plays are legal, and the runs that begin with them."""

    def __init__(self, deal: Deal, rules: Rules) -> None:
        self._columns = [[rank_of(card) for card in column] for column in deal.columns]
        self._rules = rules
        self._values: dict[tuple[Heights, int], tuple[int, int]] = {}

    def legal(self, heights: Heights, top: int) -> list[int]:
        """Return the columns whose last card may be played, lowest-numbered first."""
        return [c for c in range(7) if heights[c] and self._rules.allows(self._last(heights, c), top)]

    def play(self, heights: Heights, column: int) -> tuple[Heights, int]:
        """Return heights and waste top after a play."""
        left = tuple(h - (c == column) for c, h in enumerate(heights))
        return left, self._last(heights, column)

    def _last(self, heights: Heights, column: int) -> int:
        return self._columns[column][heights[column] - 1]

    def _openness(self, heights: Heights) -> int:
        return sum(bool(self.legal(heights, rank)) for rank in range(RANK_COUNT))

    def run(self, heights: Heights, top: int) -> tuple[int, int]:
        """Return the length of the longest run from here, and the best openness that such a run leaves."""
        if (heights, top) not in self._values:
            ends = [self.run(*self.play(heights, column)) for column in self.legal(heights, top)]
            runs = [(length + 1, openness) for length, openness in ends]
            self._values[heights, top] = max(runs) if runs else (0, self._openness(heights))
        return self._values[heights, top]
