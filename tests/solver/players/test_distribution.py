"""A score distribution: its moments, quantiles and probabilities are exact, and rounded once."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.errors import UsageError
from solver.players.distribution import TOTAL_MASS, ScoreDistribution
from solver.table.deal import STOCK_SIZE
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE, SCORE_COUNT

SCORES = range(LOWEST_SCORE, HIGHEST_SCORE + 1)


def spread_between(cuts: list[int]) -> ScoreDistribution:
    edges = [0, *sorted(cuts), TOTAL_MASS]
    masses = tuple(after - before for before, after in pairwise(edges))
    return ScoreDistribution(masses, cleared_mass=sum(masses[: STOCK_SIZE + 1]))


edges = st.integers(0, TOTAL_MASS) | st.sampled_from([n * TOTAL_MASS // 16 for n in range(17)])
distributions = st.lists(edges, min_size=SCORE_COUNT - 1, max_size=SCORE_COUNT - 1).map(spread_between)
fractions = st.fractions(0, 1, max_denominator=1000) | st.sampled_from([Fraction(n, 16) for n in range(17)])


@given(distributions, fractions)
def test_a_quantile_is_the_least_score_with_enough_mass_up_to_it(
    distribution: ScoreDistribution, fraction: Fraction
) -> None:
    score = distribution.quantile(fraction.numerator, fraction.denominator)
    upto = sum(distribution.masses[: score + 1 - LOWEST_SCORE])
    assert upto >= fraction * TOTAL_MASS
    if score > LOWEST_SCORE:
        assert upto - distribution.masses[score - LOWEST_SCORE] < fraction * TOTAL_MASS


@given(distributions)
def test_p10_p50_and_p90_are_quantiles(distribution: ScoreDistribution) -> None:
    named = (distribution.p10, distribution.p50, distribution.p90)
    assert named == tuple(distribution.quantile(tenths, 10) for tenths in (1, 5, 9))


@pytest.mark.parametrize("fraction", [(-1, 10), (11, 10), (1, 0), (0, 0), (1, -1)])
def test_a_quantile_outside_0_to_1_is_refused(fraction: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match="is not a quantile"):
        spread_between([0] * (SCORE_COUNT - 1)).quantile(*fraction)


@given(distributions)
def test_moments_agree_with_fifty_digit_arithmetic(distribution: ScoreDistribution) -> None:
    with localcontext(prec=50):
        shares = [Decimal(mass) / TOTAL_MASS for mass in distribution.masses]
        mean = sum(share * score for share, score in zip(shares, SCORES, strict=True))
        square = sum(share * (score - mean) ** 2 for share, score in zip(shares, SCORES, strict=True))
        cleared = sum(shares[: STOCK_SIZE + 1])
        exact = (float(mean), float(square.sqrt()) if square else 0.0, float(cleared))
    assert (distribution.mean, distribution.sd, distribution.clear_rate) == pytest.approx(
        exact, rel=1e-15, abs=1e-15
    )
    assert abs(distribution.mean_exact - Fraction(mean)) < Fraction(1, 10**40)


@given(distributions)
def test_probabilities_are_the_masses_rounded_to_a_float(distribution: ScoreDistribution) -> None:
    for probability, mass in zip(distribution.probabilities, distribution.masses, strict=True):
        assert abs(Fraction(probability) * TOTAL_MASS - mass) <= Fraction(mass, 2**53)


@given(distributions, st.integers(LOWEST_SCORE - 2, HIGHEST_SCORE + 2))
def test_the_probability_of_at_most_a_score_is_rounded_once(
    distribution: ScoreDistribution, score: int
) -> None:
    upto = sum(distribution.masses[: max(0, score + 1 - LOWEST_SCORE)])
    assert distribution.at_most(score) == float(Fraction(upto, TOTAL_MASS))


@pytest.mark.parametrize(
    "masses",
    [(), (TOTAL_MASS,), (0,) * SCORE_COUNT, (TOTAL_MASS,) * SCORE_COUNT, (TOTAL_MASS + 1, -1, *(0,) * 50)],
    ids=["none", "one", "zeros", "too much", "negative"],
)
def test_masses_that_are_not_a_distribution_are_refused(masses: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="masses"):
        ScoreDistribution(masses, cleared_mass=0)


@pytest.mark.parametrize("cleared", [-1, TOTAL_MASS + 1])
def test_an_impossible_cleared_mass_is_refused(cleared: int) -> None:
    with pytest.raises(UsageError, match="the cleared mass is"):
        ScoreDistribution((TOTAL_MASS, *[0] * (SCORE_COUNT - 1)), cleared)


@pytest.mark.parametrize(("cleared", "rate"), [(0, 0.0), (TOTAL_MASS // 4, 0.25), (TOTAL_MASS, 1.0)])
def test_the_clear_rate_does_not_depend_on_the_scores(cleared: int, rate: float) -> None:
    assert ScoreDistribution((TOTAL_MASS, *[0] * (SCORE_COUNT - 1)), cleared).clear_rate == rate
