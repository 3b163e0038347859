"""The slow, obvious twin of the steady player's kernel: the definition, position by position.

It keeps positions in dictionaries, draws one card at a time, and shares nothing with the kernel.
"""

from collections import Counter, defaultdict

from solver.cards import rank_of
from solver.table.deal import Deal
from solver.table.rules import Rules
from tests.twins.naive_view import Heights, View


def exact_masses(deal: Deal, rules: Rules) -> tuple[int, ...]:
    """Return the mass of each score from -16 to 35, with sum 2^60."""
    view = View(deal, rules)
    stock = [rank_of(card) for card in deal.stock]
    scores: Counter[int] = Counter()
    arrived: dict[tuple[int, int], Counter[tuple[Heights, int]]] = defaultdict(Counter)
    arrived[35, 0][(5,) * 7, rank_of(deal.waste)] = 2**60
    for left in range(35, 0, -1):
        for draws in range(17):
            for (heights, top), mass in arrived.pop((left, draws), Counter()).items():
                plays = view.legal(heights, top)
                if plays:
                    for column, share in _shares(mass, plays, _best(view, heights, top)).items():
                        arrived[left - 1, draws][view.play(heights, column)] += share
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


def _best(view: View, heights: Heights, top: int) -> list[int]:
    """Return the legal plays of the highest value, lowest-numbered first."""
    values = {column: view.run(*view.play(heights, column)) for column in view.legal(heights, top)}
    return [column for column, value in values.items() if value == max(values.values())]
