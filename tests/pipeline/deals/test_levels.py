"""Policies and par meet the frozen reference, and no rounding moves a deal over a threshold."""

import dataclasses
import json
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import pytest

from pipeline.deals.levels import (
    DAILY_RULES,
    LEVELS,
    POLICIES_V1,
    Level,
    Policy,
    changed,
    daily_level,
    level_named,
    par_of_mean,
    possible_pars,
)
from pipeline.versions import daily_versions
from solver.errors import UsageError
from solver.players.distribution import TOTAL_MASS, ScoreDistribution
from solver.table.rules import RULES
from solver.table.score import LOWEST_SCORE, SCORE_COUNT
from tests.support.reference import REFERENCE

DAILY = daily_level(date(2026, 12, 31))
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
    name, policy = next(pair for pair in POLICIES_V1.items() if pair[1].rules == rules)
    for deal in FROZEN["deals"]:
        value: dict[str, Any] = deal[rules]
        masses = tuple(int(mass) for mass in value["steady_mass"])
        distribution = ScoreDistribution(masses, cleared_mass=sum(masses[: 1 - LOWEST_SCORE]))
        admitted = value["cleared"] and policy.admits_mean(distribution.mean_exact)
        assert (name if admitted else None) == value["admitted_by"], deal["deal_number"]
        assert par_of_mean(distribution.mean_exact) == value["par"], deal["deal_number"]


def test_each_level_has_rules_of_its_own_and_the_daily_hole_is_golf() -> None:
    assert {name: level.rules.name for name, level in LEVELS.items()} == {
        "easy": "relaxed",
        "medium": "golf",
        "hard": "dead_king",
    }
    assert DAILY_RULES.name == "golf"


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
    admitted = tuple(level.policy.admits_mean(each.mean_exact) for each in (exact, under, over))
    assert admitted == (at, below, at)


@pytest.mark.parametrize(("low", "par_at", "par_below"), [(2, 3, 3), (3, 4, 3), (4, 5, 4), (5, 5, 5)])
def test_par_rounds_half_up_and_stays_in_3_to_5(low: int, par_at: int, par_below: int) -> None:
    pars = tuple(par_of_mean(each.mean_exact) for each in around(low))
    assert pars == (par_at, par_below, par_at)


def test_par_of_the_extremes() -> None:
    assert par_of_mean(distribution_of(s0=TOTAL_MASS).mean_exact) == 3
    assert par_of_mean(distribution_of(s35=TOTAL_MASS).mean_exact) == 5


def test_a_level_without_bounds_admits_every_mean() -> None:
    free, bounded = Policy(2, "golf"), Policy(2, "golf", mean_from="0", mean_below="1")
    assert free.admits_mean(Fraction(35))
    assert bounded.admits_mean(Fraction(0))
    assert not bounded.admits_mean(Fraction(1))


def test_an_unknown_level_is_refused_with_the_levels_that_there_are() -> None:
    assert level_named("hard") is LEVELS["hard"]
    with pytest.raises(UsageError, match="unknown level 'daily'; the levels are easy, medium, hard"):
        level_named("daily")


def test_the_versions_of_a_daily_are_those_of_the_reference() -> None:
    published = json.loads((REFERENCE / "daily-2026-11-30.json").read_text())["versions"]
    assert list(daily_versions(1).items()) == list(published.items())
    assert list(daily_versions(2).items()) == list((published | {"daily": 2}).items())


def test_policies_v2_add_the_difficulty_to_policies_v1() -> None:
    for name, earlier in POLICIES_V1.items():
        policy = LEVELS[name].policy
        same = dataclasses.replace(policy, version=1, difficulty_to=5)
        assert same == earlier
        assert policy.difficulty_to == {"easy": 1, "medium": 5, "hard": 4}[name]
        assert policy.sha256 != earlier.sha256


def test_the_weekday_says_what_a_daily_hole_must_be_from_2027_on() -> None:
    assert daily_level(date(2026, 12, 31)).policy.version == 1
    monday = date(2027, 1, 4)
    policies = [daily_level(monday + timedelta(n)).policy for n in range(7)]
    assert [policy.difficulty_from for policy in policies] == [1, 1, 2, 2, 3, 3, 4]
    assert all(policy.difficulty_from == policy.difficulty_to for policy in policies)
    assert daily_level(date(2027, 1, 1)).policy == daily_level(monday + timedelta(4)).policy


@pytest.mark.parametrize(
    ("mean_from", "mean_below", "pars"),
    [
        (None, None, (3, 4, 5)),
        (None, "3.5", (3,)),
        (None, "3.500001", (3, 4)),
        ("3.5", "4.5", (4,)),
        ("3.499999", "4.5", (3, 4)),
        ("4.5", None, (5,)),
        (None, "-3", (3,)),
        ("9", None, (5,)),
        ("3.5", "6.5", (4, 5)),
    ],
)
def test_the_pars_that_bounds_admit_are_known_exactly(
    mean_from: str | None, mean_below: str | None, pars: tuple[int, ...]
) -> None:
    policy = Policy(2, "golf", mean_from, mean_below)
    assert possible_pars(policy) == pars
    tenths = [Fraction(n, 10_000_000) for n in range(-160_000_000, 350_000_001, 1_250_000)]
    near = [Fraction(5, 2) + Fraction(n) + Fraction(sign, 10**7) for n in range(5) for sign in (-1, 0, 1)]
    assert {par_of_mean(mean) for mean in (*tenths, *near) if policy.admits_mean(mean)} == set(pars)


def test_a_change_keeps_what_it_does_not_name_and_says_that_it_is_of_today() -> None:
    policy = changed(POLICIES_V1["hard"], {"mean_below": "5.50", "difficulty_to": "3"})
    assert policy == dataclasses.replace(POLICIES_V1["hard"], version=2, mean_below="5.5", difficulty_to=3)
    assert changed(POLICIES_V1["hard"], {}) is POLICIES_V1["hard"]
    assert changed(policy, {"mean_from": "none", "course": "none"}).admits_text == (
        "dead_king, steady mean below 5.5, difficulty 1 to 3"
    )
    assert changed(None, dict(text.split("=") for text in policy.assignments)) == policy
