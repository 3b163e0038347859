"""The slow, obvious twin of the steady player's kernel: the definition, position by position.

It keeps positions in dictionaries, draws one card at a time, and shares nothing with the kernel.
"""

from collections import Counter, defaultdict

from solver.cards import RANK_COUNT, rank_of
from solver.table.deal import Deal
from solver.table.rules import Rules

Heights = tuple[int, ...]


class Player:
    """The steady player's view and preferences: the columns and the waste top, never the stock."""

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

    def best(self, heights: Heights, top: int) -> list[int]:
        """Return the legal plays of the highest value, lowest-numbered first."""
        values = {column: self._run(*self.play(heights, column)) for column in self.legal(heights, top)}
        return [column for column, value in values.items() if value == max(values.values())]

    def _last(self, heights: Heights, column: int) -> int:
        return self._columns[column][heights[column] - 1]

    def _openness(self, heights: Heights) -> int:
        return sum(bool(self.legal(heights, rank)) for rank in range(RANK_COUNT))

    def _run(self, heights: Heights, top: int) -> tuple[int, int]:
        """Return the length of the longest run from here, and the best openness that such a run leaves."""
        if (heights, top) not in self._values:
            ends = [self._run(*self.play(heights, column)) for column in self.legal(heights, top)]
            runs = [(length + 1, openness) for length, openness in ends]
            self._values[heights, top] = max(runs) if runs else (0, self._openness(heights))
        return self._values[heights, top]


def exact_masses(deal: Deal, rules: Rules) -> tuple[int, ...]:
    """Return the mass of each score from -16 to 35, with sum 2^60."""
    player = Player(deal, rules)
    stock = [rank_of(card) for card in deal.stock]
    scores: Counter[int] = Counter()
    arrived: dict[tuple[int, int], Counter[tuple[Heights, int]]] = defaultdict(Counter)
    arrived[35, 0][(5,) * 7, rank_of(deal.waste)] = 2**60
    for left in range(35, 0, -1):
        for draws in range(17):
            for (heights, top), mass in arrived.pop((left, draws), Counter()).items():
                plays = player.legal(heights, top)
                if plays:
                    for column, share in _shares(mass, plays, player.best(heights, top)).items():
                        arrived[left - 1, draws][player.play(heights, column)] += share
                elif draws < 16:
                    arrived[left, draws + 1][heights, stock[draws]] += mass
                else:
                    scores[left] += mass
    for (_, draws), cleared in arrived.items():
        scores[draws - 16] += cleared.total()
    return tuple(scores[score] for score in range(-16, 36))


def _shares(mass: int, plays: list[int], best: list[int]) -> dict[int, int]:
    slip = mass // (20 * len(plays))
    rest = mass - len(plays) * slip
    shares = dict.fromkeys(plays, slip)
    for column in best:
        shares[column] += rest // len(best)
    shares[best[0]] += rest % len(best)
    return shares
