"""Policies and par meet the frozen reference, and no rounding moves a deal over a threshold."""

import json
from fractions import Fraction
from typing import Any

import pytest

from pipeline.deals.levels import DAILY, LEVELS, Level, level_named, par_of
from pipeline.versions import DAILY_VERSIONS, PART_VERSIONS
from solver.errors import UsageError
from solver.players.distribution import TOTAL_MASS, ScoreDistribution
from solver.table.rules import RULES
from solver.table.score import LOWEST_SCORE, SCORE_COUNT
from tests.support.reference import REFERENCE

FROZEN = json.loads((REFERENCE / "frozen_v1.json").read_text())


def distribution_of(**masses: int) -> ScoreDistribution:
    """A distribution from a few masses, as in `s3=1`; the scores are not negative here."""
    row = [0] * SCORE_COUNT
    for name, mass in masses.items():
        row[int(name[1:]) - LOWEST_SCORE] = mass
    return ScoreDistribution(tuple(row), cleared_mass=sum(row[: 1 - LOWEST_SCORE]))


def around(low: int) -> tuple[ScoreDistribution, ScoreDistribution, ScoreDistribution]:
    """Distributions whose means are low + 1/2, the least that is possible below it, and the least above."""
    half = TOTAL_MASS // 2
    at = distribution_of(**{f"s{low}": half, f"s{low + 1}": half})
    below = distribution_of(**{f"s{low}": half + 1, f"s{low + 1}": half - 1})
    above = distribution_of(**{f"s{low}": half - 1, f"s{low + 1}": half + 1})
    return at, below, above


@pytest.mark.parametrize("rules", RULES)
def test_policies_and_par_meet_the_frozen_reference(rules: str) -> None:
    level = next(level for level in LEVELS.values() if level.rules.name == rules)
    for deal in FROZEN["deals"]:
        value: dict[str, Any] = deal[rules]
        masses = tuple(int(mass) for mass in value["steady_mass"])
        distribution = ScoreDistribution(masses, cleared_mass=sum(masses[: 1 - LOWEST_SCORE]))
        admitted = value["cleared"] and level.admits(distribution)
        assert (level.name if admitted else None) == value["admitted_by"], deal["deal_number"]
        assert par_of(distribution) == value["par"], deal["deal_number"]


def test_each_level_has_rules_of_its_own_and_the_daily_hole_is_golf() -> None:
    assert {name: level.rules.name for name, level in LEVELS.items()} == {
        "easy": "relaxed",
        "medium": "golf",
        "hard": "dead_king",
    }
    assert DAILY.rules.name == "golf"


@pytest.mark.parametrize(
    ("level", "low", "at", "below"),
    [
        (LEVELS["easy"], 4, False, True),
        (LEVELS["medium"], 4, True, True),
        (LEVELS["hard"], 3, True, False),
        (LEVELS["hard"], 6, False, True),
        (DAILY, 2, True, False),
        (DAILY, 5, False, True),
    ],
)
def test_a_threshold_holds_to_the_last_bit_of_the_mass(level: Level, low: int, at: bool, below: bool) -> None:
    exact, under, over = around(low)
    assert exact.mean == under.mean == over.mean, "floats cannot tell these apart"
    assert (level.admits(exact), level.admits(under), level.admits(over)) == (at, below, at)


@pytest.mark.parametrize(("low", "par_at", "par_below"), [(2, 3, 3), (3, 4, 3), (4, 5, 4), (5, 5, 5)])
def test_par_rounds_half_up_and_stays_in_3_to_5(low: int, par_at: int, par_below: int) -> None:
    exact, under, over = around(low)
    assert (par_of(exact), par_of(under), par_of(over)) == (par_at, par_below, par_at)


def test_par_of_the_extremes() -> None:
    assert par_of(distribution_of(s0=TOTAL_MASS)) == 3
    assert par_of(distribution_of(s35=TOTAL_MASS)) == 5


def test_a_level_without_bounds_admits_every_mean() -> None:
    free = Level("free", RULES["golf"])
    bounded = Level("bounded", RULES["golf"], Fraction(0), Fraction(1))
    assert free.admits(distribution_of(s35=TOTAL_MASS))
    assert bounded.admits(distribution_of(s0=TOTAL_MASS))
    assert not bounded.admits(distribution_of(s1=TOTAL_MASS))


def test_an_unknown_level_is_refused_with_the_levels_that_there_are() -> None:
    assert level_named("hard") is LEVELS["hard"]
    with pytest.raises(UsageError, match="unknown level 'daily'; the levels are easy, medium, hard"):
        level_named("daily")


def test_the_versions_of_a_daily_are_those_of_the_reference() -> None:
    published = json.loads((REFERENCE / "daily-2026-11-30.json").read_text())["versions"]
    assert list(DAILY_VERSIONS.items()) == list(published.items())
    assert set(PART_VERSIONS.values()) == {1}
