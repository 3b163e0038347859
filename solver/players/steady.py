"""The steady player v1 (frozen) and the exact distribution of its scores on a deal.

It sees the columns and the waste top, never the order of the stock. It plays the longest run it sees, of
those the one that leaves the table most open, but slips once in twenty plays. `solver.players.steady_kernel`
works the distribution out.
"""

import math
import threading
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate, repeat
from operator import mul, truediv
from typing import Final

import numpy as np

from solver.cards import DECK_SIZE, RANK_COUNT
from solver.errors import UsageError
from solver.players.steady_kernel import (
    LEAST_POSITIONS,
    PLAY_FIELDS,
    POSITION_FIELDS,
    TOTAL_MASS,
    Flags,
    spread_each,
)
from solver.table.deal import Deal
from solver.table.rules import RULES, Rules
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE, SCORE_COUNT

__all__ = [
    "TOTAL_MASS",
    "ScoreDistribution",
    "Workspace",
    "rate",
    "rate_each",
    "score_masses",
    "warm_up",
]

_SCORES: Final = range(LOWEST_SCORE, HIGHEST_SCORE + 1)
_SQUARES: Final = tuple(score * score for score in _SCORES)
_USUAL_CAPACITY: Final = 2**15  # positions, 1.6 MB in all; one deal in a hundred needs more, under relaxed


@dataclass(frozen=True)
class ScoreDistribution:
    """How likely each score is, exactly.

    Every property is worked out from the integers; floats are rounded once, at the end.

    Attributes:
        masses: 52 integers, one for each score from -16 to 35, `TOTAL_MASS` in all.

    Raises:
        UsageError: the masses are no distribution.
    """

    masses: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.masses) != SCORE_COUNT:
            raise UsageError(
                f"{len(self.masses)} masses, a distribution has {SCORE_COUNT}: one for each score"
            )
        if min(self.masses) < 0 or sum(self.masses) != TOTAL_MASS:
            raise UsageError(
                f"masses from {min(self.masses)}, {sum(self.masses)} in all: not from 0, 2^60 in all"
            )

    @cached_property
    def mean_exact(self) -> Fraction:
        """Mean score."""
        return Fraction(sum(map(mul, self.masses, _SCORES)), TOTAL_MASS)

    @cached_property
    def variance_exact(self) -> Fraction:
        """Variance of the score, of the population."""
        return Fraction(sum(map(mul, self.masses, _SQUARES)), TOTAL_MASS) - self.mean_exact**2

    @cached_property
    def _cumulated(self) -> tuple[int, ...]:
        return tuple(accumulate(self.masses))

    def quantile(self, numerator: int, denominator: int) -> int:
        """The least score whose cumulated mass is at least `numerator / denominator` of the whole.

        Raises:
            UsageError: the fraction is not in 0 .. 1.
        """
        if not 0 <= numerator <= denominator or denominator == 0:
            raise UsageError(f"{numerator}/{denominator} is no quantile; it must lie in 0 .. 1")
        wanted = -(-numerator * TOTAL_MASS // denominator)  # rounded up: masses are whole numbers
        return _SCORES[bisect_left(self._cumulated, wanted)]

    @property
    def mean(self) -> float:
        """Mean score, rounded."""
        return float(self.mean_exact)

    @property
    def sd(self) -> float:
        """Standard deviation of the score, of the population, rounded."""
        return math.sqrt(self.variance_exact)

    def at_most(self, score: int) -> float:
        """Probability of this score or less, rounded: how often the steady player does as well or better."""
        upto = sum(mass for each, mass in zip(_SCORES, self.masses, strict=True) if each <= score)
        return upto / TOTAL_MASS

    @property
    def clear_rate(self) -> float:
        """Probability of a score of 0 or less, rounded: how often the steady player clears the columns."""
        return self.at_most(0)

    @property
    def p10(self) -> int:
        """A tenth of the holes end with this score or less."""
        return self.quantile(1, 10)

    @property
    def p50(self) -> int:
        """Half of the holes end with this score or less."""
        return self.quantile(1, 2)

    @property
    def p90(self) -> int:
        """Nine tenths of the holes end with this score or less."""
        return self.quantile(9, 10)

    @property
    def probabilities(self) -> tuple[float, ...]:
        """The masses over `TOTAL_MASS`, each rounded to a float."""
        return tuple(map(truediv, self.masses, repeat(TOTAL_MASS)))


class Workspace:
    """The buffers that the kernel works in.

    Attributes:
        positions: rows of `POSITION_FIELDS` 64-bit integers.
        plays: twice as many rows of `PLAY_FIELDS` 32-bit integers.
        slots: the hash table of one level, a power of two of at least half as many as positions.

    Args:
        capacity: rows of `positions`; raised to `LEAST_POSITIONS`.
    """

    def __init__(self, capacity: int) -> None:
        capacity = max(capacity, LEAST_POSITIONS)
        self.positions = np.zeros((capacity, POSITION_FIELDS), np.int64)
        self.plays = np.zeros((2 * capacity, PLAY_FIELDS), np.int32)
        self.slots = np.zeros(1 << (capacity // 2).bit_length(), np.int32)

    def larger(self) -> "Workspace":
        """New buffers of twice the size."""
        return Workspace(2 * len(self.positions))


class _ThreadWorkspace(threading.local):
    def __init__(self) -> None:
        self.workspace = Workspace(_USUAL_CAPACITY)


_THREAD: Final = _ThreadWorkspace()


@cache
def _allowed(rules: Rules) -> Flags:
    ranks = range(RANK_COUNT)
    return np.array([[rules.allows(rank, top) for rank in ranks] for top in ranks], np.bool_)


def score_masses(deals: Sequence[Deal], rules: Rules, workspace: Workspace) -> list[tuple[int, ...]]:
    """For each deal, the mass of each score from -16 to 35 when the steady player plays it.

    Args:
        deals: the deals.
        rules: the King rule.
        workspace: buffers to work in; where a deal needs more, larger ones serve it and the rest.
    """
    if not deals:
        return []
    ranks = np.frombuffer(b"".join([deal.ranks for deal in deals]), np.uint8).astype(np.int64)
    ranks = ranks.reshape(-1, DECK_SIZE)
    masses = np.empty((len(deals), SCORE_COUNT), np.int64)
    done = 0
    while done < len(deals):
        buffers = workspace.positions, workspace.plays, workspace.slots
        done = spread_each(ranks, _allowed(rules), *buffers, masses, done)
        if done < len(deals):
            workspace = workspace.larger()
    return [tuple(row) for row in masses.tolist()]


def rate(deal: Deal, rules: Rules) -> ScoreDistribution:
    """The exact score distribution of the steady player on a deal; every thread has buffers of its own."""
    return rate_each((deal,), rules)[0]


def rate_each(deals: Sequence[Deal], rules: Rules) -> list[ScoreDistribution]:
    """The same for deals, all in one call of the kernel: with threads that saves them waiting."""
    return [ScoreDistribution(masses) for masses in score_masses(deals, rules, _THREAD.workspace)]


def warm_up() -> None:
    """Compile or load the kernel; the first deal of a process would wait for it otherwise."""
    rate(Deal(tuple(range(DECK_SIZE))), RULES["golf"])
