"""The exact distribution of a player's scores on one deal."""

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, repeat
from operator import mul, truediv
from typing import Final

from solver.errors import UsageError
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE, SCORE_COUNT

TOTAL_MASS: Final = 2**60

_SCORES: Final = range(LOWEST_SCORE, HIGHEST_SCORE + 1)
_SQUARES: Final = tuple(score * score for score in _SCORES)


@dataclass(frozen=True)
class ScoreDistribution:
    """The exact probability of each score.

    All properties are computed from the integers; each float is rounded once, at the end.

    Attributes:
        masses: 52 integers, one for each score from -16 to 35, with sum `TOTAL_MASS`.
        cleared_mass: mass of the holes in which the columns are cleared.

    Raises:
        UsageError: if the masses are not a distribution.
    """

    masses: tuple[int, ...]
    cleared_mass: int

    def __post_init__(self) -> None:
        if len(self.masses) != SCORE_COUNT:
            raise UsageError(f"{len(self.masses)} masses; a distribution has {SCORE_COUNT}, one per score")
        if min(self.masses) < 0 or sum(self.masses) != TOTAL_MASS:
            raise UsageError(
                f"the least mass is {min(self.masses)} and the sum is {sum(self.masses)};"
                " masses are at least 0 and their sum is 2^60"
            )
        if not 0 <= self.cleared_mass <= TOTAL_MASS:
            raise UsageError(f"the cleared mass is {self.cleared_mass}; it must lie in 0 .. 2^60")

    @cached_property
    def mean_exact(self) -> Fraction:
        """Mean score."""
        return Fraction(sum(map(mul, self.masses, _SCORES)), TOTAL_MASS)

    @cached_property
    def variance_exact(self) -> Fraction:
        """Population variance of the score."""
        return Fraction(sum(map(mul, self.masses, _SQUARES)), TOTAL_MASS) - self.mean_exact**2

    @cached_property
    def _cumulative(self) -> tuple[int, ...]:
        return tuple(accumulate(self.masses))

    def quantile(self, numerator: int, denominator: int) -> int:
        """Return the least score whose cumulative mass is at least `numerator / denominator` of the total.

        Raises:
            UsageError: if the fraction is not in 0 .. 1.
        """
        if not 0 <= numerator <= denominator or denominator == 0:
            raise UsageError(f"{numerator}/{denominator} is not a quantile; it must lie in 0 .. 1")
        wanted = -(-numerator * TOTAL_MASS // denominator)  # rounded up: masses are whole numbers
        return _SCORES[bisect_left(self._cumulative, wanted)]

    @property
    def mean(self) -> float:
        """Mean score, rounded to a float."""
        return float(self.mean_exact)

    @property
    def sd(self) -> float:
        """Population standard deviation of the score, rounded to a float."""
        return math.sqrt(self.variance_exact)

    def at_most(self, score: int) -> float:
        """Return the probability of this score or a lower one, rounded to a float."""
        return sum(self.masses[: max(0, score - LOWEST_SCORE + 1)]) / TOTAL_MASS

    @property
    def clear_rate(self) -> float:
        """Probability that the player clears the columns, rounded to a float."""
        return self.cleared_mass / TOTAL_MASS

    @property
    def p10(self) -> int:
        """10th percentile of the score."""
        return self.quantile(1, 10)

    @property
    def p50(self) -> int:
        """Median score."""
        return self.quantile(1, 2)

    @property
    def p90(self) -> int:
        """90th percentile of the score."""
        return self.quantile(9, 10)

    @property
    def probabilities(self) -> tuple[float, ...]:
        """The masses divided by `TOTAL_MASS`, each rounded to a float."""
        return tuple(map(truediv, self.masses, repeat(TOTAL_MASS)))
