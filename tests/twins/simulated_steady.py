"""A Monte Carlo simulation of the steady player, as a check of the exact distribution.

Holes are played card by card, with actual columns and an actual stock. No code is shared with the kernel or
its twin.
"""

import random
from collections import Counter
from functools import cache

from solver.cards import RANK_COUNT, rank_of
from solver.table.deal import Deal
from solver.table.rules import Rules

Columns = tuple[tuple[int, ...], ...]


def simulate(deal: Deal, rules: Rules, holes: int, slip: float, dice: random.Random) -> Counter[int]:
    """Play holes and count the scores.

    Args:
        deal: the deal, the same for every hole.
        rules: the King rule.
        holes: number of holes to play.
        slip: probability of taking any legal play instead of a best one.
        dice: only `random()` is used, which gives the same numbers in every version of Python.
    """

    @cache
    def ways(columns: Columns, top: int) -> tuple[tuple[Columns, int], ...]:
        return tuple(
            ((*columns[:n], column[:-1], *columns[n + 1 :]), column[-1])
            for n, column in enumerate(columns)
            if column and column[-1] in rules.plays_on[top]
        )

    @cache
    def outlook(columns: Columns, top: int) -> tuple[int, int]:
        further = [outlook(*way) for way in ways(columns, top)]
        if further:
            length, openness = max(further)
            return length + 1, openness
        return 0, len([rank for rank in range(RANK_COUNT) if ways(columns, rank)])

    @cache
    def favourites(columns: Columns, top: int) -> tuple[tuple[Columns, int], ...]:
        outlooks = [outlook(*way) for way in ways(columns, top)]
        return tuple(w for w, o in zip(ways(columns, top), outlooks, strict=True) if o == max(outlooks))

    def hole() -> int:
        columns = tuple(tuple(map(rank_of, column)) for column in deal.columns)
        top, stock = rank_of(deal.waste), [rank_of(card) for card in deal.stock]
        while any(columns):
            if ways(columns, top):
                slips = dice.random() < slip
                choice = ways(columns, top) if slips else favourites(columns, top)
                columns, top = choice[int(dice.random() * len(choice))]
            elif stock:
                top = stock.pop(0)
            else:
                return sum(map(len, columns))
        return -len(stock)

    return Counter(hole() for _ in range(holes))
