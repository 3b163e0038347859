"""Intervals and tests agree with published figures and with slow twins."""

import math
import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.studies.statistics import Z_95, Sample, difference, mean_of, spearman, wilson_interval

TRIALS = st.integers(1, 10**7)


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    trials = draw(TRIALS)
    return Sample(draw(st.integers(0, trials)), trials)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [  # R. G. Newcombe, Statistics in Medicine 17 (1998), 857-872, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_intervals_agree_with_newcombe(successes: int, trials: int, low: float, high: float) -> None:
    interval = wilson_interval(Sample(successes, trials))
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


def test_z_is_the_quantile_for_95_percent() -> None:
    assert statistics.NormalDist().inv_cdf(0.975) == pytest.approx(Z_95, abs=1e-15)
    assert math.erfc(Z_95 / math.sqrt(2)) == pytest.approx(0.05, abs=1e-15)


def slow_wilson(sample: Sample) -> tuple[float, float]:
    """Find the ends of the interval by bisection."""
    share = Fraction(sample.successes, sample.trials)
    z = Fraction(Z_95)

    def fits(p: Fraction) -> bool:
        return (share - p) ** 2 <= z * z * p * (1 - p) / sample.trials

    def end(inside: Fraction, outside: Fraction) -> float:
        if fits(outside):
            return float(outside)
        for _ in range(60):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if fits(middle) else (inside, middle)
        return float(inside)

    return end(share, Fraction(0)), end(share, Fraction(1))


@given(samples())
def test_wilson_intervals_agree_with_bisection(sample: Sample) -> None:
    interval = wilson_interval(sample)
    assert (interval.low, interval.high) == pytest.approx(slow_wilson(sample), rel=1e-9, abs=1e-12)


@given(samples(), samples())
def test_the_square_of_z_is_pearsons_chi_square(first: Sample, second: Sample) -> None:
    """The slow twin adds up (observed - expected)^2 / expected over the four cells."""
    table = [(each.successes, each.trials - each.successes) for each in (first, second)]
    columns = [sum(column) for column in zip(*table, strict=True)]
    found = difference(first, second)
    if 0 in columns:
        assert (found.z, found.p) == (0.0, 1.0)
        return
    chi_square = Fraction(0)
    for row in table:
        for observed, column in zip(row, columns, strict=True):
            expected = Fraction(sum(row) * column, sum(columns))
            chi_square += (observed - expected) ** 2 / expected
    assert found.z**2 == pytest.approx(float(chi_square), rel=1e-9)
    assert (found.z > 0) == (Fraction(*row_of(first)) > Fraction(*row_of(second)))


def row_of(sample: Sample) -> tuple[int, int]:
    return sample.successes, sample.trials


def test_p_is_the_probability_of_both_tails() -> None:
    found = difference(Sample(451, 1000), Sample(4_109, 10_000))
    tail = statistics.NormalDist().cdf(-abs(found.z))
    assert found.p == pytest.approx(2 * tail, rel=1e-9)
    assert difference(Sample(1, 2), Sample(50, 100)) == difference(Sample(3, 6), Sample(1, 2))


@given(st.dictionaries(st.integers(-16, 35), st.integers(0, 30), max_size=8))
def test_a_mean_agrees_with_the_statistics_module(counts: dict[int, int]) -> None:
    values = [value for value, count in counts.items() for _ in range(count)]
    mean = mean_of(counts)
    if not values:
        assert mean is None
        return
    assert mean is not None
    assert mean.size == len(values)
    assert mean.value == pytest.approx(statistics.mean(values))
    if len(values) == 1:
        assert mean.spread is None
        return
    assert mean.spread is not None
    assert mean.spread.sd == pytest.approx(statistics.stdev(values))
    assert mean.spread.margin == pytest.approx(Z_95 * mean.spread.sd / math.sqrt(len(values)))
    interval = mean.spread.interval
    assert (interval.low, interval.high) == (mean.value - mean.spread.margin, mean.value + mean.spread.margin)


@pytest.mark.parametrize(("successes", "trials"), [(-1, 5), (6, 5), (0, 0), (0, -1)])
def test_an_impossible_sample_is_refused(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match="successes in"):
        Sample(successes, trials)


@given(
    st.dictionaries(st.fractions(-16, 35, max_denominator=2**60), st.integers(1, 9), min_size=1, max_size=8)
)
def test_a_mean_of_fractions_is_exact_until_it_is_rounded(counts: dict[Fraction, int]) -> None:
    values = [value for value, count in counts.items() for _ in range(count)]
    mean = mean_of(counts)
    assert mean is not None
    assert mean.value == float(statistics.mean(values))
    shifted = mean_of({value + 2**70: count for value, count in counts.items()})
    assert shifted is not None
    if mean.spread is None or shifted.spread is None:
        assert len(values) == 1
        return
    assert mean.spread.sd == math.sqrt(statistics.variance(values))
    assert shifted.spread.sd == mean.spread.sd


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-9, 9)), max_size=30))
def test_a_rank_correlation_is_that_of_the_mean_ranks(pairs: list[tuple[int, int]]) -> None:
    one, other = [first for first, _ in pairs], [second for _, second in pairs]
    if len(set(one)) < 2 or len(set(other)) < 2:
        assert spearman(one, other) is None
        return
    expected = statistics.correlation(slow_ranks(one), slow_ranks(other))
    assert spearman(one, other) == pytest.approx(expected, abs=1e-9)
    assert spearman(other, one) == spearman(one, other)
    assert spearman(one, [value**3 for value in one]) == pytest.approx(1)
    assert spearman(one, [-value for value in one]) == pytest.approx(-1)


def slow_ranks(values: list[int]) -> list[float]:
    """Each value's mean place among the sorted values."""
    return [
        statistics.mean(place for place, other in enumerate(sorted(values)) if other == value)
        for value in values
    ]


def test_measures_of_different_things_have_no_rank_correlation() -> None:
    with pytest.raises(ValueError, match="2 values cannot be paired with 1"):
        spearman([1, 2], [1])
