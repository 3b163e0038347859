"""Calibration distinguishes players who score like the steady player from those who do not."""

import random
from collections.abc import Callable, Iterator
from datetime import date
from fractions import Fraction
from functools import cache
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.deals.levels import LEVELS
from pipeline.deals.shuffle import deal_numbered
from pipeline.play.results import Played, RatedHole, rated_deal
from pipeline.studies.calibration import MIN_RESULTS, Calibration, Verdict, calibrations, level_of
from pipeline.studies.statistics import Z_95, wilson_interval
from solver.table.score import means_cleared
from tests.support.played import made_up
from tests.twins.simulated import simulate, steady_habit

SLIP = 1 / 20
DAY = date(2026, 11, 30)
LEVEL_NAMES = st.sampled_from([*LEVELS, "daily"])


@cache
def played_by_the_steady_player() -> tuple[Played, ...]:
    """Results on 40 deals a level, each played ten times by the simulation."""
    dice = random.Random(20261130)

    def holes() -> Iterator[Played]:
        for level in LEVELS.values():
            for number in range(40):
                hole = rated_deal(deal_numbered(number), level.rules)
                for score in simulate(hole.deal, hole.rules, 10, steady_habit(SLIP), dice).elements():
                    yield of(hole, score)

    return tuple(holes())


def of(hole: RatedHole, score: int) -> Played:
    return Played(hole, None, None, means_cleared(score), score, None, None, None)


def changed(by: Callable[[int], int]) -> list[Played]:
    return [of(played.hole, by(played.score)) for played in played_by_the_steady_player()]


def test_simulated_steady_players_are_as_rated() -> None:
    found = calibrations(played_by_the_steady_player())
    assert {(row.level, row.par) for row in found} >= {("easy", 3), ("medium", 5), ("hard", 5)}
    assert sum(row.score.size for row in found) == len(played_by_the_steady_player())
    large = [row for row in found if row.score.size >= MIN_RESULTS]
    assert len(large) >= 6
    for row in large:
        assert row.verdict is Verdict.AS_RATED, row
        assert row.at_par_interval.low <= row.steady_at_par <= row.at_par_interval.high
        assert row.apart.value == pytest.approx(row.score.value - row.steady_mean)


def test_worse_and_better_players_are_recognised() -> None:
    worse = calibrations(changed(lambda score: score + 1))
    better = calibrations(changed(lambda score: score - 1))
    for row in worse:
        assert row.verdict in (Verdict.HARDER, Verdict.TOO_FEW), row
    for row in better:
        assert row.verdict in (Verdict.EASIER, Verdict.TOO_FEW), row


def test_there_is_no_verdict_with_few_results() -> None:
    def verdict(size: int) -> Verdict:
        (row,) = calibrations([made_up(9)] * size)
        return row.verdict

    assert verdict(1) is verdict(MIN_RESULTS - 1) is Verdict.TOO_FEW
    assert verdict(MIN_RESULTS) is Verdict.HARDER


def test_the_verdict_does_not_depend_on_which_deals_were_played_most() -> None:
    """Players score exactly like the steady player, and play the easy deal most often."""
    easy = [made_up(score, 3, mean=Fraction(3, 2)) for score in (1, 2)] * 300
    tough = [made_up(score, 3, mean=Fraction(7, 2)) for score in (3, 4)] * 5
    (row,) = calibrations([*easy, *tough])
    assert (row.apart.value, row.verdict) == (0.0, Verdict.AS_RATED)
    assert row.steady_mean == row.score.value


@pytest.mark.parametrize(
    ("scores", "par"), [([3, 4], 4), ([3, 3, 4], 3), ([9], 5), ([-5], 3), ([4, 5], 5), ([4], 4)]
)
def test_the_par_of_the_players_is_their_mean_rounded_as_par_is(scores: list[int], par: int) -> None:
    (row,) = calibrations([made_up(score) for score in scores])
    assert row.players_par == par


def test_a_daily_counts_as_the_daily_and_a_deal_under_the_level_of_its_rules() -> None:
    assert [level_of(made_up(3, level=level)) for level in LEVELS] == list(LEVELS)
    assert level_of(made_up(3, day=DAY)) == "daily"


@given(
    st.lists(
        st.tuples(
            LEVEL_NAMES,
            st.integers(3, 5),
            st.integers(-16, 35),
            st.fractions(-2, 9, max_denominator=2**60),
            st.floats(0, 1),
        ),
        max_size=60,
    )
)
def test_every_figure_agrees_with_a_plain_computation(
    given: list[tuple[str, int, int, Fraction, float]],
) -> None:
    results = [
        made_up(score, par, level, day=DAY if level == "daily" else None, mean=mean, at_par=at_par)
        for level, par, score, mean, at_par in given
    ]
    found = calibrations(results)
    order = [*LEVELS, "daily"]
    groups = sorted({(order.index(level), par) for level, par, *_ in given})
    assert [(order.index(row.level), row.par) for row in found] == groups
    for row in found:
        own = [each for each in given if each[:2] == (row.level, row.par)]
        check_row(row, [each[2] for each in own], [each[3] for each in own], [each[4] for each in own])


def check_row(row: Calibration, scores: list[int], means: list[Fraction], at_par: list[float]) -> None:
    apart = [float(score - mean) for score, mean in zip(scores, means, strict=True)]
    assert row.score.size == row.apart.size == row.at_par.trials == len(scores)
    assert row.score.value == pytest.approx(fmean(scores))
    assert row.steady_mean == pytest.approx(fmean(means))
    assert row.apart.value == pytest.approx(fmean(apart), abs=1e-12)
    assert (row.apart.spread is None) == (len(scores) == 1)
    if row.apart.spread is not None:
        margin = Z_95 * stdev(apart) / len(apart) ** 0.5
        assert row.apart.spread.interval.low == pytest.approx(fmean(apart) - margin, abs=1e-9)
        assert row.apart.spread.interval.high == pytest.approx(fmean(apart) + margin, abs=1e-9)
    assert row.at_par.successes == sum(score <= row.par for score in scores)
    assert row.at_par_interval == wilson_interval(row.at_par)
    assert row.steady_at_par == pytest.approx(fmean(at_par))
