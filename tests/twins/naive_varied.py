"""The slow, obvious twin of the varied player's kernel: the definition, position by position.

It follows the mass of every position, whether the columns can still be cleared or not, draws one card at a
time, and shares nothing with the kernel.
"""

from collections import Counter, defaultdict

from solver.cards import rank_of
from solver.table.deal import Deal
from solver.table.rules import Rules
from tests.twins.naive_view import Heights, View


def cleared_mass(deal: Deal, rules: Rules, draw_odds: int = 20, base: int = 4) -> int:
    """Return the mass of the cleared holes, of 2^60."""
    view = View(deal, rules)
    stock = [rank_of(card) for card in deal.stock]
    cleared = 0
    arrived: dict[tuple[int, int], Counter[tuple[Heights, int]]] = defaultdict(Counter)
    arrived[35, 0][(5,) * 7, rank_of(deal.waste)] = 2**60
    for left in range(35, 0, -1):
        for draws in range(17):
            for (heights, top), mass in arrived.pop((left, draws), Counter()).items():
                plays = view.legal(heights, top)
                drawn = 0 if draws == 16 else mass // draw_odds if plays else mass
                if drawn:
                    arrived[left, draws + 1][heights, stock[draws]] += drawn
                if plays:
                    for column, share in _shares(view, heights, plays, mass - drawn, base).items():
                        arrived[left - 1, draws][view.play(heights, column)] += share
    for positions in arrived.values():
        cleared += positions.total()
    return cleared


def _shares(view: View, heights: Heights, plays: list[int], rest: int, base: int) -> dict[int, int]:
    lengths = {column: 1 + view.run(*view.play(heights, column))[0] for column in plays}
    longest = max(lengths.values())
    weights = {column: base ** (6 - min(6, longest - length)) for column, length in lengths.items()}
    unit = rest // sum(weights.values())
    shares = {column: unit * weight for column, weight in weights.items()}
    favourite = min(column for column, length in lengths.items() if length == longest)
    shares[favourite] += rest - sum(shares.values())
    return shares
