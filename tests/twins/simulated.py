"""A Monte Carlo simulation of the players, as a check of what is computed exactly.

Holes are played card by card, with actual columns and an actual stock. No code is shared with the kernels or
their twins.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

from solver.cards import RANK_COUNT, rank_of
from solver.table.deal import Deal
from solver.table.rules import Rules

Columns = tuple[tuple[int, ...], ...]
Outlook = tuple[int, int]  # plays in the longest run that follows, and the openness that such a run leaves
Habit = Callable[[Sequence[Outlook], bool, random.Random], int | None]
"""Which of the legal plays is taken, by their outlooks and whether stock is left; None to draw."""


def steady_habit(slip: float) -> Habit:
    """Return the steady player's habit, with this probability of taking any legal play."""

    def choose(outlooks: Sequence[Outlook], _: bool, dice: random.Random) -> int:
        slips = dice.random() < slip
        choice = [n for n, outlook in enumerate(outlooks) if slips or outlook == max(outlooks)]
        return choice[int(dice.random() * len(choice))]

    return choose


def varied_habit(draw_odds: int) -> Habit:
    """Return the varied player's habit, which draws once in so many times although a card fits."""

    def choose(outlooks: Sequence[Outlook], can_draw: bool, dice: random.Random) -> int | None:
        if can_draw and dice.random() * draw_odds < 1:
            return None
        longest = max(length for length, _ in outlooks)
        weights = [0.25 ** min(6, longest - length) for length, _ in outlooks]
        left = dice.random() * sum(weights)
        for n, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return n
        return len(weights) - 1

    return choose


def simulate(deal: Deal, rules: Rules, holes: int, habit: Habit, dice: random.Random) -> Counter[int]:
    """Play holes of one deal and count the scores.

    Only `dice.random()` is used, which gives the same numbers in every version of Python.
    """

    @cache
    def ways(columns: Columns, top: int) -> tuple[tuple[Columns, int], ...]:
        return tuple(
            ((*columns[:n], column[:-1], *columns[n + 1 :]), column[-1])
            for n, column in enumerate(columns)
            if column and column[-1] in rules.plays_on[top]
        )

    @cache
    def outlook(columns: Columns, top: int) -> Outlook:
        further = [outlook(*way) for way in ways(columns, top)]
        if further:
            length, openness = max(further)
            return length + 1, openness
        return 0, len([rank for rank in range(RANK_COUNT) if ways(columns, rank)])

    @cache
    def outlooks(columns: Columns, top: int) -> tuple[Outlook, ...]:
        return tuple(outlook(*way) for way in ways(columns, top))

    def hole() -> int:
        columns = tuple(tuple(map(rank_of, column)) for column in deal.columns)
        top, stock = rank_of(deal.waste), [rank_of(card) for card in deal.stock]
        while any(columns):
            plays = ways(columns, top)
            taken = habit(outlooks(columns, top), bool(stock), dice) if plays else None
            if taken is not None:
                columns, top = plays[taken]
            elif stock:
                top = stock.pop(0)
            else:
                return sum(map(len, columns))
        return -len(stock)

    return Counter(hole() for _ in range(holes))
