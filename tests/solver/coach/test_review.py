"""A review gives the exact cost of every move, and names the hint only at mistakes."""

import random
from itertools import accumulate, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.deals.shuffle import MOST_DEAL_NUMBER, deal_numbered
from solver.coach.hint import hint
from solver.coach.review import Review, review
from solver.errors import LineError
from solver.search.exact import solve, solve_position
from solver.table.deal import STOCK_SIZE, TABLEAU_SIZE, Deal
from solver.table.moves import DRAW, Position, after, start
from solver.table.replay import replay
from solver.table.rules import RULES, Rules
from tests.support.examples import examples
from tests.support.holes import random_deal, random_line
from tests.twins import naive

GOLF = RULES["golf"]
SMALL = 12  # cards left; the slow twin takes milliseconds

deals = st.integers(0, MOST_DEAL_NUMBER).map(deal_numbered)
some_rules = st.sampled_from(list(RULES.values()))
chances = st.randoms(use_true_random=False)
few = settings(max_examples=examples(20))  # a review is up to 52 searches
every_rules = pytest.mark.parametrize("rules", RULES.values(), ids=RULES)


def check_against_the_twin(deal: Deal, rules: Rules, line: str, most_cards: int) -> int:
    """Compare each move from at most so many cards with the slow twin; return how many were compared."""
    moves = review(deal, rules, line).moves
    positions = accumulate(line, Position.play, initial=start(deal))
    small = [position for position in positions if position.cards_left <= most_cards]
    values = [naive.solve(position, rules.name).best_score for position in small]
    checked = moves[len(line) + 1 - len(small) :]
    assert [(move.best_before, move.best_after) for move in checked] == list(pairwise(values))
    return len(checked)


@every_rules
def test_the_scores_before_and_after_a_move_are_what_the_slow_twin_finds(rules: Rules) -> None:
    dice = random.Random("reviews on small tables")
    checked = 0
    while checked < examples(150):
        deal = random_deal(dice)
        checked += check_against_the_twin(deal, rules, random_line(deal, rules, dice, 0.1), SMALL)


@pytest.mark.soak
@every_rules
def test_the_scores_of_whole_holes_are_what_the_slow_twin_finds(rules: Rules) -> None:
    dice = random.Random("reviews of whole holes")
    deal = random_deal(dice)
    line = random_line(deal, rules, dice, 0.1)
    assert check_against_the_twin(deal, rules, line, TABLEAU_SIZE) == len(line)


@few
@given(deals, some_rules, chances, st.floats(0, 1))
def test_the_costs_add_up_to_the_score(deal: Deal, rules: Rules, dice: random.Random, drawing: float) -> None:
    line = random_line(deal, rules, dice, drawing)
    for end in (dice.randrange(len(line) + 1), len(line)):
        found = review(deal, rules, line[:end])
        assert found.best_score == solve(deal, rules).best_score
        assert found.best_score + sum(move.cost for move in found.moves) == found.best_left
        assert found.best_left + found.given_up == found.score == replay(deal, rules, line[:end]).score
        assert found.finished == (end == len(line))
        assert found.given_up >= 0
        assert not (found.finished and found.given_up)


@few
@given(deals, some_rules, chances)
def test_the_scores_of_consecutive_moves_agree(deal: Deal, rules: Rules, dice: random.Random) -> None:
    line = random_line(deal, rules, dice, 0.2)
    found = review(deal, rules, line)
    assert "".join(move.move for move in found.moves) == line
    assert [move.index for move in found.moves] == list(range(len(line)))
    assert all(move.card == after(deal, rules, line[: move.index + 1]).top for move in found.moves)
    assert all(first.best_after == then.best_before for first, then in pairwise(found.moves))


@few
@given(deals, some_rules, chances)
def test_only_a_mistake_names_the_hint(deal: Deal, rules: Rules, dice: random.Random) -> None:
    line = random_line(deal, rules, dice, 0.2)
    found = review(deal, rules, line)
    mistakes = [move for move in found.moves if move.cost]
    assert mistakes == [move for move in found.moves if move.best_move]
    for mistake in mistakes:
        position = after(deal, rules, line[: mistake.index])
        assert mistake.cost > 0
        assert mistake.best_move == hint(position, rules).move != mistake.move
        better = position.play(mistake.best_move or "")
        assert mistake.best_card == better.top
        assert solve_position(better, rules).best_score == mistake.best_before


@few
@given(deals, some_rules, chances)
def test_at_most_one_move_loses_the_clear(deal: Deal, rules: Rules, dice: random.Random) -> None:
    line = random_line(deal, rules, dice, 0.1)
    found = review(deal, rules, line)
    losing = [move.index for move in found.moves if move.lost_clear]
    assert losing == ([] if found.lost_at is None else [found.lost_at])
    clearable = [solve_position(at, rules).cleared for at in (start(deal), after(deal, rules, line))]
    assert bool(losing) == (clearable == [True, False])


@few
@given(deals, some_rules, chances)
def test_undoing_moves_does_not_change_the_review_of_the_others(
    deal: Deal, rules: Rules, dice: random.Random
) -> None:
    line = random_line(deal, rules, dice, 0.2)
    end = dice.randrange(len(line) + 1)
    assert review(deal, rules, line[:end]).moves == review(deal, rules, line).moves[:end]


@every_rules
def test_a_perfect_line_costs_nothing(rules: Rules) -> None:
    for number in range(examples(30)):
        solution = solve(deal_numbered(number), rules)
        found = review(deal_numbered(number), rules, solution.line or "")
        assert not any(move.cost for move in found.moves)
        assert (found.lost_at, found.given_up) == (None, 0)
        assert found.score == found.best_score == found.best_left == solution.best_score
        assert found.cleared == solution.cleared


def test_a_hole_that_was_not_begun_gave_everything_up() -> None:
    assert review(deal_numbered(617), GOLF, "") == Review((), -5, True, TABLEAU_SIZE, -5, False, False)
    assert review(deal_numbered(617), GOLF, "").given_up == 40


def test_drawing_all_the_stock_loses_the_clear() -> None:
    found = review(deal_numbered(617), GOLF, DRAW * STOCK_SIZE)
    assert found.lost_at is not None
    lost = found.moves[found.lost_at]
    assert lost.lost_clear
    assert (found.cleared, found.score) == (False, TABLEAU_SIZE)


def test_a_move_that_is_not_legal_is_reported_with_its_index_and_the_legal_moves() -> None:
    with pytest.raises(LineError) as caught:
        review(deal_numbered(617), GOLF, "D6231D1")
    error = caught.value
    assert (error.index, error.move, error.legal) == (6, "1", "3D")
