"""The exact search agrees with the reference data and the slow twin, and its solutions are consistent."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest

from pipeline.deals.shuffle import deal_numbered
from solver.cards import RANK_LETTERS
from solver.search.exact import Solution, solve, solve_each, solve_position
from solver.table.deal import Deal, parse_deal
from solver.table.moves import DRAW, Position, after, start
from solver.table.replay import replay
from solver.table.rules import RULES, Rules
from solver.table.score import score_of
from tests.support.examples import examples
from tests.support.holes import any_position, random_deal, random_line
from tests.support.reference import frozen, table
from tests.twins import naive

every_rules = pytest.mark.parametrize("rules", RULES.values(), ids=RULES)


@cache
def verdict(number: int, rules: str) -> Solution:
    """Search for the verdict only; several tests use the same deals."""
    return solve(deal_numbered(number), RULES[rules], fewest=False)


def shown(solution: Solution | naive.Answer) -> tuple[object, ...]:
    return (solution.cleared, solution.best_score, solution.line, solution.draws)


@every_rules
@pytest.mark.parametrize("fewest", [True, False])
def test_many_deals_in_one_call_give_the_same_as_one_by_one(rules: Rules, fewest: bool) -> None:
    deals = [deal_numbered(number) for number in range(60)]
    assert solve_each(deals, rules, fewest=fewest) == [solve(deal, rules, fewest=fewest) for deal in deals]
    assert solve_each((), rules, fewest=fewest) == []


# -- reference data ---------------------------------------------------------------------------------------


@every_rules
def test_verdicts_scores_and_lines_match_the_reference(rules: Rules) -> None:
    for row in frozen()["deals"]:
        expected = row[rules.name]
        solution = solve(parse_deal(row["deal"]), rules)
        assert shown(solution) == (
            expected["cleared"],
            expected["best_score"],
            expected["line"],
            expected["line"].count(DRAW),
        )
        assert solution.rules == rules.name
        assert solution.positions > 0


@every_rules
def test_the_verdict_is_that_of_black_hole_solver(rules: Rules) -> None:
    rows = table("verdicts_black_hole_solver.csv")
    assert len(rows) == 400
    wrong = [
        row["deal_number"]
        for row in rows[: examples(len(rows))]
        if verdict(int(row["deal_number"]), rules.name).cleared != (row[rules.name] == "1")
    ]
    assert wrong == []


@every_rules
def test_the_best_score_is_that_of_the_yardstick(rules: Rules) -> None:
    rows = table("yardstick_v1.csv")
    assert len(rows) == 1000
    rows = rows[: examples(len(rows))]
    scores = {row["deal_number"]: verdict(int(row["deal_number"]), rules.name).best_score for row in rows}
    wanted = {row["deal_number"]: None if (best := row[rules.name]) == "-" else int(best) for row in rows}
    assert scores == wanted


# -- the slow twin ----------------------------------------------------------------------------------------


def reached_positions(rules: Rules, dice: random.Random) -> Iterator[Position]:
    """Yield every position of a random hole with at most 14 cards left."""
    deal = random_deal(dice)
    position = start(deal)
    for move in random_line(deal, rules, dice, dice.choice([0.0, 0.1, 0.3])):
        position = position.play(move)
        if position.cards_left <= 14:
            yield position


def check_against_the_twin(position: Position, rules: Rules) -> None:
    assert shown(solve_position(position, rules)) == shown(naive.solve(position, rules.name)), position


@every_rules
def test_positions_of_random_holes_agree_with_the_slow_twin(rules: Rules) -> None:
    dice = random.Random("positions of random holes")
    count = 0
    while count < examples(150):
        for position in reached_positions(rules, dice):
            check_against_the_twin(position, rules)
            count += 1


@every_rules
@pytest.mark.parametrize(
    ("count", "most_cards"), [(examples(200), 14), pytest.param(5000, 19, marks=pytest.mark.soak)]
)
def test_any_position_agrees_with_the_slow_twin(rules: Rules, count: int, most_cards: int) -> None:
    dice = random.Random("any position")
    for cards_left in (*range(18, 18 + examples(8)), *(dice.randrange(most_cards + 1) for _ in range(count))):
        check_against_the_twin(any_position(dice, cards_left), rules)


@pytest.mark.soak
@every_rules
def test_whole_deals_agree_with_the_slow_twin(rules: Rules) -> None:
    for number in range(5000, 5010):
        check_against_the_twin(start(deal_numbered(number)), rules)


# -- relations between solutions --------------------------------------------------------------------------


@every_rules
def test_every_line_replays_to_its_best_score(rules: Rules) -> None:
    for number in range(examples(60)):
        deal = deal_numbered(number)
        solution = solve(deal, rules)
        assert solution.line is not None
        done = replay(deal, rules, solution.line)
        assert (done.cleared, done.score, done.draws) == (*shown(solution)[:2], solution.draws)
        assert not solution.line.endswith(DRAW)


@every_rules
def test_without_fewest_only_deals_that_cannot_be_cleared_have_no_score(rules: Rules) -> None:
    for number in range(examples(40)):
        whole, short = solve(deal_numbered(number), rules), verdict(number, rules.name)
        if whole.cleared:
            assert shown(short) == shown(whole)
        else:
            assert shown(short) == (False, None, None, None)
            assert short.positions > 0


def test_an_easier_rule_neither_scores_worse_nor_loses_a_clear() -> None:
    for number in range(examples(40)):
        scores = [solve(deal_numbered(number), rules).best_score for rules in RULES.values()]
        assert scores == sorted(scores, key=lambda score: 99 if score is None else score)
    for number in range(examples(400)):
        relaxed, golf, dead_king = (verdict(number, name).cleared for name in RULES)
        assert relaxed >= golf >= dead_king


@every_rules
def test_no_random_play_scores_better(rules: Rules) -> None:
    dice = random.Random("random play")
    for number in range(examples(20)):
        deal = deal_numbered(number)
        best = solve(deal, rules).best_score
        assert best is not None
        for _ in range(20):
            assert replay(deal, rules, random_line(deal, rules, dice, dice.random())).score >= best


@every_rules
def test_every_move_of_the_line_keeps_the_best_score(rules: Rules) -> None:
    deal = deal_numbered(617)
    solution, position = solve(deal, rules), start(deal)
    for move in solution.line or "":
        position = position.play(move)
        assert solve_position(position, rules).best_score == solution.best_score


def test_neither_suits_nor_the_order_of_columns_change_verdict_and_score() -> None:
    dice = random.Random("same puzzle")
    for number in range(examples(30)):
        deal = deal_numbered(number)
        order, suits = dice.sample(range(7), 7), dice.sample(range(4), 4)
        cards = (*(card for n in order for card in deal.columns[n]), deal.waste, *deal.stock)
        other = Deal(tuple(13 * suits[card // 13] + card % 13 for card in cards))
        for rules in RULES.values():
            first, second = solve(deal, rules), solve(other, rules)
            assert (first.cleared, first.best_score) == (second.cleared, second.best_score)


# -- corner cases -----------------------------------------------------------------------------------------


@every_rules
def test_a_finished_hole_has_an_empty_line(rules: Rules) -> None:
    dice = random.Random("finished")
    deals = [random_deal(dice) for _ in range(20)]
    finished = [after(deal, rules, random_line(deal, rules, dice, 0.1)) for deal in deals]
    for position in (any_position(dice, 0), *finished):
        left = position.cards_left
        expected = (left == 0, score_of(left, position.draws), "", 0)
        assert shown(solve_position(position, rules)) == expected


def test_a_deal_without_any_play_scores_35() -> None:
    # The columns end with eights and twos, which no rank of the waste and the stock supports.
    ends = ["8C", "8D", "8H", "8S", "2C", "2D", "2H"]
    pile = [f"{rank}{suit}" for rank in "5TJQ" for suit in "CDHS"] + ["KC"]
    rest = [card for card in all_names() if card not in {*ends, *pile}]
    columns = [" ".join((*rest[4 * n : 4 * n + 4], end)) for n, end in enumerate(ends)]
    deal = parse_deal(" | ".join((*columns, pile[0], " ".join(pile[1:]))))
    for rules in RULES.values():
        assert shown(solve(deal, rules)) == (False, 35, "", 0)


def all_names() -> list[str]:
    return [rank + suit for suit in "CDHS" for rank in RANK_LETTERS]


@every_rules
def test_threads_do_not_disturb_each_other(rules: Rules) -> None:
    deals = [deal_numbered(number) for number in range(48)]
    alone = [solve(deal, rules) for deal in deals]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda deal: solve(deal, rules), deals))
    assert together == alone


@every_rules
def test_a_solution_does_not_depend_on_earlier_ones(rules: Rules) -> None:
    dice = random.Random("order")
    deals = [deal_numbered(number) for number in range(20)]
    first = {deal: solve(deal, rules) for deal in deals}
    for deal in dice.sample(deals, len(deals)):
        solve_position(any_position(dice, 20), dice.choice(list(RULES.values())))
        assert solve(deal, rules) == first[deal]
