"""The varied player's clear chance is exact: it agrees with its slow twin and with simulated holes."""

import math
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from pipeline.deals.shuffle import deal_numbered
from solver.errors import UsageError
from solver.players import varied
from solver.players.distribution import TOTAL_MASS
from solver.players.player import PLAYERS
from solver.players.steady import rate
from solver.players.varied import VARIED, VariedPlayer
from solver.search.exact import solve
from solver.table.deal import COLUMN_COUNT, TABLEAU_SIZE, Deal
from solver.table.rules import RULES, Rules
from tests.support.examples import examples
from tests.support.holes import random_deal
from tests.support.reference import table
from tests.twins.naive_varied import cleared_mass
from tests.twins.simulated import simulate, varied_habit

every_rules = pytest.mark.parametrize("rules", RULES.values(), ids=RULES)


@every_rules
def test_masses_match_the_reference_to_the_last_unit(rules: Rules) -> None:
    rows = [row for row in table("varied_v1.csv") if row["rules"] == rules.name]
    deals = [deal_numbered(int(row["deal_number"])) for row in rows]
    assert len(rows) == 100
    assert VARIED.clear_masses(deals, rules) == [int(row["cleared_mass"]) for row in rows]


# Deals that can be cleared and with few positions, the only ones for which the twin is fast.
@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("dead_king", 1119),
        ("golf", 1406),
        *(pytest.param(*case, marks=pytest.mark.soak) for case in (("relaxed", 1442), ("golf", 192))),
    ],
)
def test_deals_with_few_positions_agree_with_the_slow_twin(name: str, number: int) -> None:
    mass = cleared_mass(deal_numbered(number), RULES[name])
    assert mass > 0
    assert VARIED.clear_masses([deal_numbered(number)], RULES[name]) == [mass]


@pytest.mark.soak
@every_rules
def test_random_deals_agree_with_the_slow_twin(rules: Rules) -> None:
    for seed in range(5):
        deal = random_deal(random.Random(seed))
        assert VARIED.clear_masses([deal], rules) == [cleared_mass(deal, rules)]


def test_a_player_with_other_weights_and_another_king_rule_are_new_rows() -> None:
    bold = VariedPlayer("bold", draw_odds=7, weights=tuple(3**n for n in range(6, -1, -1)))
    rules = Rules("no_aces", on_king="Q", on_ace="")
    deal = deal_numbered(1119)
    assert bold.clear_masses([deal], rules) == [cleared_mass(deal, rules, draw_odds=7, base=3)]


@pytest.mark.parametrize(("odds", "weights"), [(0, (1,)), (20, ()), (20, (4, 0)), (-1, (1,))])
def test_odds_and_weights_below_1_are_refused(odds: int, weights: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match=r"player odd: .* at least 1"):
        VariedPlayer("odd", odds, weights)


@every_rules
def test_a_deal_has_a_chance_if_and_only_if_it_can_be_cleared(rules: Rules) -> None:
    deals = [random_deal(random.Random(seed)) for seed in range(examples(200))]
    chances = [mass > 0 for mass in VARIED.clear_masses(deals, rules)]
    assert chances == [solve(deal, rules, fewest=False).cleared for deal in deals]


@every_rules
@pytest.mark.parametrize("reverse", [False, True], ids=["ascending", "descending"])
def test_ordered_decks_and_those_after_them_are_rated(rules: Rules, reverse: bool) -> None:
    ordered = Deal(tuple(sorted(range(52), key=lambda card: (card % 13, card), reverse=reverse)))
    other = random_deal(random.Random(3))
    masses = VARIED.clear_masses([other, ordered, other], rules)
    assert masses[0] == masses[2]
    assert 0 <= masses[1] <= TOTAL_MASS
    assert (masses[1] > 0) == solve(ordered, rules, fewest=False).cleared


@every_rules
def test_more_deals_than_stamps_give_the_same_as_one_by_one(rules: Rules) -> None:
    deals = [random_deal(random.Random(seed)) for seed in range(20)] * 13
    masses = VARIED.clear_masses(deals, rules)
    assert masses == [mass for deal in deals for mass in VARIED.clear_masses([deal], rules)]
    assert VARIED.clear_masses([], rules) == []


@every_rules
def test_a_workspace_that_is_too_small_is_replaced_by_a_larger_one(
    rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    deals = [random_deal(random.Random(seed)) for seed in range(10)]
    masses = VARIED.clear_masses(deals, rules)
    monkeypatch.setattr(varied._THREAD, "workspace", varied.make_workspace(8))
    assert VARIED.clear_masses(deals, rules) == masses
    assert len(varied._THREAD.workspace.entries) > 16


def test_threads_do_not_disturb_each_other() -> None:
    deals = [random_deal(random.Random(seed)) for seed in range(40)]

    def masses(deal: Deal) -> list[int]:
        return VARIED.clear_masses([deal], RULES["golf"])

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(masses, deals * 2)) == [masses(deal) for deal in deals * 2]


@every_rules
def test_the_order_of_the_columns_changes_only_remainders(rules: Rules) -> None:
    dice = random.Random(12)
    for _ in range(examples(20)):
        deal = random_deal(dice)
        columns = dice.sample(deal.columns, COLUMN_COUNT)
        other = Deal((*(card for column in columns for card in column), *deal.cards[TABLEAU_SIZE:]))
        mass, mass_other = VARIED.clear_masses([deal, other], rules)
        assert abs(mass - mass_other) < 2**32  # some 2^20 positions, each with a remainder below 2^12


HOLES = 4000


def surprise(cleared: int, mass: int) -> float:
    """Return how far a number of cleared holes is from the expected one, in standard deviations."""
    chance = mass / TOTAL_MASS
    return abs(cleared - HOLES * chance) / math.sqrt(HOLES * chance * (1 - chance))


@pytest.mark.parametrize("number", [1442, pytest.param(239, marks=pytest.mark.soak)])
def test_simulated_holes_agree_and_those_with_more_draws_do_not(number: int) -> None:
    deal, rules = deal_numbered(number), RULES["relaxed"]
    [mass] = VARIED.clear_masses([deal], rules)

    def cleared(draw_odds: int) -> int:
        scores = simulate(deal, rules, HOLES, varied_habit(draw_odds), random.Random(5))
        return sum(count for score, count in scores.items() if score <= 0)

    assert surprise(cleared(20), mass) < 3.5
    assert surprise(cleared(4), mass) > 3.5


@every_rules
def test_the_table_of_players_has_the_steady_and_the_varied_player(rules: Rules) -> None:
    deals = [random_deal(random.Random(seed)) for seed in range(3)]
    assert list(PLAYERS) == ["steady", "varied"]
    assert PLAYERS["steady"].clear_masses(deals, rules) == [rate(deal, rules).cleared_mass for deal in deals]
    assert PLAYERS["varied"].clear_masses(deals, rules) == VARIED.clear_masses(deals, rules)
