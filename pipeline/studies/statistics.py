"""Confidence intervals and tests, computed from counts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from operator import mul
from typing import Final, TypeVar

Z_95: Final = 1.959963984540054  # the 0.975 quantile of the normal distribution: 95 % lie within it

_Exact = TypeVar("_Exact", int, Fraction)


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Sample:
    """Number of successes in independent trials.

    Attributes:
        successes: 0 .. trials.
        trials: at least 1.

    Raises:
        ValueError: a number is out of range.
    """

    successes: int
    trials: int

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.trials or not self.trials:
            raise ValueError(f"{self.successes} successes in {self.trials} trials")

    @property
    def share(self) -> float:
        """The share of successes."""
        return self.successes / self.trials


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference between the shares of two samples.

    Attributes:
        z: the difference in standard errors; positive if the first share is larger.
        p: two-sided p-value: probability of a difference at least as large in samples of one population.
    """

    z: float
    p: float


@dataclass(frozen=True, slots=True)
class Spread:
    """Spread of values around their mean.

    Attributes:
        sd: sample standard deviation, with n - 1 in the denominator.
        interval: 95 % confidence interval of the mean, by the normal approximation.
        margin: half the width of that interval.
    """

    sd: float
    interval: Interval
    margin: float


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a sample of this size, and the spread of its values; None for a single value."""

    size: int
    value: float
    spread: Spread | None


def wilson_interval(sample: Sample, z: float = Z_95) -> Interval:
    """Return the Wilson score interval of a share: all p within z of their standard errors from the sample.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of
    the American Statistical Association 22 (1927), 209-212. Solved for p as a quadratic equation:
    (2 s + z^2 -+ z sqrt(z^2 + 4 s (n - s) / n)) / (2 (n + z^2)).

    Args:
        sample: s successes in n trials.
        z: quantile of the normal distribution for the confidence level.
    """
    successes, failures, trials = sample.successes, sample.trials - sample.successes, sample.trials
    spread = z * math.sqrt(z * z + 4 * successes * failures / trials)
    scale = 2 * (trials + z * z)
    # If all trials ended alike, one end is exact; rounding must not move it.
    low = (2 * successes + z * z - spread) / scale if successes else 0.0
    high = (2 * successes + z * z + spread) / scale if failures else 1.0
    return Interval(low, high)


def difference(first: Sample, second: Sample) -> Difference:
    """Compare two shares by the two-sided z-test with the pooled share.

    Source: NIST/SEMATECH e-Handbook of Statistical Methods, section 7.3.3; p = erfc(|z| / sqrt 2).
    """
    trials = first.trials * second.trials
    successes = first.successes + second.successes
    failures = first.trials + second.trials - successes
    if not successes or not failures:
        return Difference(0.0, 1.0)  # all trials of both samples ended alike
    # z^2 = (a n - b m)^2 (m + n) / (m n (a + b) (m + n - a - b)), in integers up to the last step.
    apart = first.successes * second.trials - second.successes * first.trials
    square = apart * apart * (first.trials + second.trials) / (trials * successes * failures)
    z = math.copysign(math.sqrt(square), apart)
    return Difference(z, math.erfc(abs(z) / math.sqrt(2)))


def mean_of(counts: Mapping[_Exact, int]) -> Mean | None:
    """Return the mean of integers or fractions; None if there are none."""
    size = sum(counts.values())
    if not size:
        return None
    total = sum(value * count for value, count in counts.items())
    value = float(total / size)
    if size == 1:
        return Mean(size, value, None)
    squares = sum(value * value * count for value, count in counts.items())
    # Exact up to here, so there is no cancellation.
    variance = (size * squares - total * total) / (size * (size - 1))
    margin = Z_95 * math.sqrt(variance / size)
    return Mean(size, value, Spread(math.sqrt(variance), Interval(value - margin, value + margin), margin))


def spearman(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation of two measures of the same things; equal values share their rank.

    It is Pearson's correlation of the ranks, in integers up to the last step.

    Returns:
        A number from -1 to 1; None if one of the measures is the same for all things.
    """
    if len(one) != len(other):
        raise ValueError(f"{len(one)} values cannot be paired with {len(other)}")
    ranks, others = _doubled_ranks(one), _doubled_ranks(other)
    together = sum(map(mul, ranks, others))
    spread, other_spread = sum(map(mul, ranks, ranks)), sum(map(mul, others, others))
    if not spread or not other_spread:
        return None
    return float(together / math.sqrt(spread * other_spread))


def _doubled_ranks(values: Sequence[float]) -> list[int]:
    """Return twice the distance of each value's mean rank from the mean of all ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0] * len(values)
    first = 0
    for _, group in groupby(order, key=values.__getitem__):
        ties = list(group)
        last = first + len(ties) - 1
        for at in ties:
            ranks[at] = first + last - (len(values) - 1)
        first = last + 1
    return ranks
