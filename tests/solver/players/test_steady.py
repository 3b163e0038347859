"""The steady player's score distribution is exact: it agrees with its slow twin and with simulated holes."""

import math
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from solver.cards import ACE, DECK_SIZE, KING, QUEEN, RANK_COUNT, rank_of
from solver.players.distribution import TOTAL_MASS, ScoreDistribution
from solver.players.steady import Workspace, rate, rate_each, score_masses
from solver.table.deal import COLUMN_COUNT, TABLEAU_SIZE, Deal, parse_deal
from solver.table.rules import RULES, Rules
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE, SCORE_COUNT
from tests.support.examples import examples
from tests.support.holes import random_deal
from tests.support.reference import frozen
from tests.twins.naive_steady import exact_masses
from tests.twins.simulated import simulate, steady_habit

SCORES = range(LOWEST_SCORE, HIGHEST_SCORE + 1)
SLIP = 1 / 20
every_rules = pytest.mark.parametrize("rules", RULES.values(), ids=RULES)


@every_rules
@pytest.mark.parametrize("row", frozen()["deals"], ids=lambda row: row["deal_number"])
def test_masses_match_the_reference_to_the_last_unit(row: dict[str, Any], rules: Rules) -> None:
    expected = row[rules.name]
    distribution = rate(parse_deal(row["deal"]), rules)
    assert [str(mass) for mass in distribution.masses] == expected["steady_mass"]
    assert distribution.mean == pytest.approx(expected["steady_mean"], rel=0, abs=1e-12)
    assert distribution.sd == pytest.approx(expected["steady_sd"], rel=0, abs=1e-12)
    assert distribution.clear_rate == pytest.approx(expected["steady_clear_rate"], rel=0, abs=1e-12)
    assert (distribution.p10, distribution.p50, distribution.p90) == tuple(
        expected[f"steady_p{percent}"] for percent in (10, 50, 90)
    )


def check_against_the_twin(deal: Deal, rules: Rules) -> None:
    assert rate(deal, rules).masses == exact_masses(deal, rules)


@every_rules
@pytest.mark.parametrize("count", [2, pytest.param(100, marks=pytest.mark.soak)])
def test_random_deals_agree_with_the_slow_twin(rules: Rules, count: int) -> None:
    dice = random.Random(5)
    for _ in range(count):
        check_against_the_twin(random_deal(dice), rules)


BY_RANK = sorted(range(DECK_SIZE), key=rank_of)
ORDERED_DECKS = {"by rank": BY_RANK, "by rank, descending": BY_RANK[::-1]}


@every_rules
@pytest.mark.parametrize(
    "cards", list(ORDERED_DECKS.values())[: examples(2)], ids=list(ORDERED_DECKS)[: examples(2)]
)
def test_ordered_decks_agree_with_the_slow_twin(cards: list[int], rules: Rules) -> None:
    check_against_the_twin(Deal(tuple(cards)), rules)


def test_a_new_king_rule_needs_no_change_to_the_kernel() -> None:
    check_against_the_twin(random_deal(random.Random(7)), Rules("open_handed", on_king="A2Q", on_ace="35K"))


@every_rules
def test_a_deal_without_any_play_scores_all_35_cards(rules: Rules) -> None:
    kings, queens, jacks, aces = ([rank + 13 * suit for suit in range(4)] for rank in (KING, QUEEN, 10, ACE))
    last = [*kings, *queens[:3]]
    others = [card for card in range(DECK_SIZE) if ACE < rank_of(card) < 10]
    buried = [queens[3], *jacks, *aces, *others]
    columns = [card for n in range(COLUMN_COUNT) for card in (*buried[4 * n : 4 * n + 4], last[n])]
    deal = Deal((*columns, *buried[TABLEAU_SIZE - COLUMN_COUNT :]))
    assert rate(deal, rules).masses == (0,) * (SCORE_COUNT - 1) + (TOTAL_MASS,)


@every_rules
def test_a_workspace_of_any_size_even_if_used_before_gives_the_same(rules: Rules) -> None:
    dice = random.Random(8)
    used = Workspace(2**13)
    for deal in [random_deal(dice) for _ in range(20)]:
        for workspace in (used, *map(Workspace, (0, 1, 77, 1000))):
            assert score_masses((deal,), rules, workspace) == [rate(deal, rules).masses]


@every_rules
def test_many_deals_in_one_call_give_the_same_as_one_by_one(rules: Rules) -> None:
    deals = [random_deal(random.Random(n)) for n in range(40)]
    one_by_one = [rate(deal, rules) for deal in deals]
    assert rate_each(deals, rules) == one_by_one
    assert rate_each((), rules) == []
    masses = [distribution.masses for distribution in one_by_one]
    assert score_masses(deals, rules, Workspace(1)) == masses  # it grows several times


def test_threads_do_not_disturb_each_other() -> None:
    dice = random.Random(10)
    deals = [random_deal(dice) for _ in range(60)]
    rate_golf = partial(rate, rules=RULES["golf"])
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(rate_golf, deals * 3)) == [rate_golf(deal) for deal in deals * 3]


@every_rules
def test_suits_make_no_difference(rules: Rules) -> None:
    dice = random.Random(11)
    deal = random_deal(dice)
    suits = {rank: dice.sample(range(4), 4) for rank in range(RANK_COUNT)}
    renamed = Deal(tuple(rank_of(card) + 13 * suits[rank_of(card)][card // 13] for card in deal.cards))
    assert renamed != deal
    assert rate(renamed, rules) == rate(deal, rules)


@every_rules
def test_the_order_of_the_columns_changes_only_remainders(rules: Rules) -> None:
    dice = random.Random(12)
    for _ in range(20):
        deal = random_deal(dice)
        columns = dice.sample(deal.columns, COLUMN_COUNT)
        other = Deal((*(card for column in columns for card in column), *deal.cards[TABLEAU_SIZE:]))
        pairs = zip(rate(deal, rules).masses, rate(other, rules).masses, strict=True)
        # A position changes by at most some tens of units, and a deal has some thousands of positions.
        assert sum(abs(mass - mass_other) for mass, mass_other in pairs) < 2**20


LEAST_EXPECTED = 20  # holes in a group of scores, for the chi-squared test to be valid
HOLES = 5000
ALLOWED_SURPRISE = 3.5


def groups_of(distribution: ScoreDistribution, holes: int) -> list[range]:
    """Group neighbouring scores so that enough holes are expected in each group."""
    groups, first = [], LOWEST_SCORE
    for score in SCORES:
        below = sum(distribution.probabilities[first - LOWEST_SCORE : score + 1 - LOWEST_SCORE])
        above = sum(distribution.probabilities[score + 1 - LOWEST_SCORE :])
        if min(below, above) * holes >= LEAST_EXPECTED:
            groups.append(range(first, score + 1))
            first = score + 1
    return [*groups, range(first, HIGHEST_SCORE + 1)]


def surprise(counts: Counter[int], distribution: ScoreDistribution) -> float:
    """Return how far counts are from the expected ones, in standard deviations.

    Pearson's chi-square over groups of scores, made normal by the cube root of Wilson and Hilferty (1931).
    """
    groups = groups_of(distribution, counts.total())
    square: float = 0.0
    for group in groups:
        masses = distribution.masses[group.start - LOWEST_SCORE : group.stop - LOWEST_SCORE]
        expected = counts.total() * sum(masses) / TOTAL_MASS
        square += (sum(counts[score] for score in group) - expected) ** 2 / expected
    freedom = len(groups) - 1
    spread = 2 / (9 * freedom)
    return (math.cbrt(square / freedom) - (1 - spread)) / math.sqrt(spread)


def played(deal: Deal, rules: Rules, slip: float) -> Counter[int]:
    return simulate(deal, rules, HOLES, steady_habit(slip), random.Random(13))


def agree(counts: Counter[int], distribution: ScoreDistribution) -> bool:
    mean = Fraction(sum(score * count for score, count in counts.items()), counts.total())
    mean_off = abs(float(mean - distribution.mean_exact)) / (distribution.sd / math.sqrt(counts.total()))
    return max(surprise(counts, distribution), mean_off) < ALLOWED_SURPRISE


@every_rules
@pytest.mark.parametrize("deal_dice", range(examples(4)))
def test_simulated_holes_agree_and_those_with_twice_as_many_slips_do_not(
    deal_dice: int, rules: Rules
) -> None:
    deal = random_deal(random.Random(deal_dice))
    distribution = rate(deal, rules)
    assert agree(played(deal, rules, SLIP), distribution)
    assert not agree(played(deal, rules, 2 * SLIP), distribution)
