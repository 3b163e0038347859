"""Legal moves follow the rules, and agree with the independent replay."""

import random
from dataclasses import replace as changed
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.cards import parse_card, rank_of
from solver.errors import LineError, UsageError
from solver.table.deal import STOCK_SIZE, TABLEAU_SIZE, Deal, parse_deal
from solver.table.moves import DRAW, PLAYS, Position, after, run_lengths, start
from solver.table.replay import Replay, replay
from solver.table.rules import RULES, Rules
from tests.support.holes import random_line
from tests.support.reference import frozen

# Column 1 ends with a Queen, column 2 with an Ace, and the waste starts with a King.
ON_A_KING = parse_deal(
    "2C 3C 4C 5C QC | 6C 7C 8C 9C AC | TC JC KC 2D 3D | 4D 5D 6D 7D 8D | 9D TD JD QD KD | 2H 3H 4H 5H 6H |"
    " 7H 8H 9H TH JH | KH | AD AH QH 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AS"
)
GOLF = RULES["golf"]

deals = st.permutations(range(52)).map(lambda cards: Deal(tuple(cards)))
some_rules = st.sampled_from(list(RULES.values()))


def test_the_start_is_the_whole_deal() -> None:
    position = start(ON_A_KING)
    assert (position.heights, position.top, position.draws) == ((5,) * 7, parse_card("KH"), 0)
    assert (position.cards_left, position.stock_left) == (TABLEAU_SIZE, STOCK_SIZE)
    assert position.last_cards == tuple(map(parse_card, ("QC", "AC", "3D", "8D", "KD", "6H", "JH")))


@pytest.mark.parametrize(("name", "legal"), [("relaxed", "12D"), ("golf", "1D"), ("dead_king", "D")])
def test_the_rules_differ_in_what_may_be_played_on_a_king(name: str, legal: str) -> None:
    assert start(ON_A_KING).legal_moves(RULES[name]) == legal


@pytest.mark.parametrize(("name", "legal"), [("relaxed", "5D"), ("golf", "D"), ("dead_king", "D")])
def test_a_king_may_be_played_on_an_ace_only_under_relaxed(name: str, legal: str) -> None:
    assert start(ON_A_KING).play(DRAW).legal_moves(RULES[name]) == legal


def test_a_play_uncovers_the_card_below_and_a_draw_turns_the_next_stock_card() -> None:
    played = start(ON_A_KING).play("1")
    assert (played.heights, played.top, played.draws) == ((4, 5, 5, 5, 5, 5, 5), parse_card("QC"), 0)
    assert played.last_cards[0] == parse_card("5C")
    drawn = played.play(DRAW)
    assert (drawn.heights, drawn.top, drawn.draws) == (played.heights, parse_card("AD"), 1)
    assert drawn.undrawn == ON_A_KING.stock[1:]


def test_drawing_is_legal_while_a_play_is_possible() -> None:
    assert start(ON_A_KING).legal_moves(GOLF) == "1D"


def test_nothing_is_legal_when_the_columns_are_empty_even_with_stock_left() -> None:
    cleared = Position(ON_A_KING, (0,) * 7, parse_card("2C"), 3)
    assert cleared.stock_left == 13
    assert all(cleared.legal_moves(rules) == "" for rules in RULES.values())


def test_nothing_is_legal_when_the_stock_is_used_up_and_nothing_fits() -> None:
    over = Position(ON_A_KING, (5, 0, 0, 5, 0, 5, 0), parse_card("AS"), STOCK_SIZE)
    assert all(over.legal_moves(rules) == "" for rules in RULES.values())


def test_a_play_is_still_legal_when_the_stock_is_used_up() -> None:
    assert Position(ON_A_KING, (5, 0, 0, 5, 0, 5, 0), parse_card("KS"), STOCK_SIZE).legal_moves(GOLF) == "1"


@given(deals, some_rules, st.randoms(use_true_random=False), st.floats(0, 1))
def test_moves_and_the_independent_replay_agree_on_every_legal_line(
    deal: Deal, rules: Rules, dice: random.Random, drawing: float
) -> None:
    line = random_line(deal, rules, dice, drawing)
    for cut in (0, len(line) // 2, len(line)):
        position = after(deal, rules, line[:cut])
        left, draws = position.cards_left, position.draws
        assert replay(deal, rules, line[:cut]) == Replay(left == 0, left, draws, left or draws - STOCK_SIZE)


@given(deals, some_rules, st.randoms(use_true_random=False), st.text("1234567D", min_size=1))
def test_moves_and_the_independent_replay_refuse_the_same_moves(
    deal: Deal, rules: Rules, dice: random.Random, more: str
) -> None:
    line = random_line(deal, rules, dice, 0.3)
    line = line[: dice.randrange(len(line) + 1)] + more
    outcomes: list[object] = []
    for play in (after, replay):
        try:
            play(deal, rules, line)
            outcomes.append("legal")
        except LineError as error:
            outcomes.append((error.index, error.move, error.legal, str(error)))
    assert outcomes[0] == outcomes[1]


@given(deals, some_rules, st.randoms(use_true_random=False))
def test_exactly_the_ranks_that_the_rules_allow_can_be_played(
    deal: Deal, rules: Rules, dice: random.Random
) -> None:
    position = start(deal)
    for move in random_line(deal, rules, dice, 0.2):
        legal = position.legal_moves(rules)
        for play in PLAYS:
            card = position.last_cards[int(play) - 1]
            fits = card is not None and rank_of(card) in rules.plays_on[rank_of(position.top)]
            assert (play in legal) == fits
        position = position.play(move)


@pytest.mark.parametrize("move", ["0", "8", "d", "\uff11", "\u0661", " ", "\0", "|"])
def test_a_letter_that_is_not_a_move_is_refused_with_the_legal_moves(move: str) -> None:
    for play in (after, replay):
        with pytest.raises(LineError) as caught:
            play(ON_A_KING, GOLF, "1" + move)
        assert (caught.value.index, caught.value.move, caught.value.legal) == (1, move, "57D")


def test_the_error_for_a_move_after_the_end_says_that_the_hole_is_over() -> None:
    row = next(row for row in frozen()["deals"] if row["golf"]["cleared"])
    deal, line = parse_deal(row["deal"]), row["golf"]["line"]
    for play in (after, replay):
        with pytest.raises(LineError, match="legal there: nothing: the hole is over"):
            play(deal, GOLF, line + DRAW)


def test_every_reference_line_replays_to_its_best_score() -> None:
    for row in frozen()["deals"]:
        deal = parse_deal(row["deal"])
        for name, rules in RULES.items():
            expected = row[name]
            done = replay(deal, rules, expected["line"])
            assert (done.cleared, done.score) == (expected["cleared"], expected["best_score"])
            assert done.draws == expected["line"].count(DRAW)


@pytest.mark.parametrize("move", ["", "0", "8", "12", "d", "DD", "\uff11"])
def test_playing_something_that_is_not_a_move_is_an_error(move: str) -> None:
    with pytest.raises(UsageError, match="is not possible"):
        start(ON_A_KING).play(move)


def test_playing_without_a_card_to_play_is_an_error() -> None:
    position = Position(ON_A_KING, (0,) * 7, parse_card("2C"), STOCK_SIZE)
    for move in (*PLAYS, DRAW):
        with pytest.raises(UsageError, match="is not possible"):
            position.play(move)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"heights": (5,) * 6}, "are not 7 numbers"),
        ({"heights": (5,) * 6 + (6,)}, "are not 7 numbers"),
        ({"heights": (5,) * 6 + (-1,)}, "are not 7 numbers"),
        ({"draws": -1}, "not in 0 .. 16"),
        ({"draws": 17}, "not in 0 .. 16"),
        ({"top": -1}, "cannot be the waste top"),
        ({"top": 52}, "cannot be the waste top"),
        ({"top": ON_A_KING.cards[0]}, "cannot be the waste top"),
        ({"top": ON_A_KING.stock[0]}, "cannot be the waste top"),
    ],
)
def test_numbers_that_are_not_a_position_are_refused(fault: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        changed(start(ON_A_KING), **fault)


@given(st.text("1234567D", max_size=51))
def test_runs_are_the_plays_between_draws(line: str) -> None:
    counted = [0]
    for move in line:
        if move == DRAW:
            counted.append(0)
        else:
            counted[-1] += 1
    assert run_lengths(line) == tuple(counted)
