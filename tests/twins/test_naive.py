"""The slow solver, the twin of the exact search, matches the reference data and the definitions."""

import random
from dataclasses import replace
from functools import cache

import pytest

from solver.table.deal import STOCK_SIZE, parse_deal
from solver.table.moves import Position, start
from solver.table.rules import RULES, Rules
from solver.table.score import score_of
from tests.support.holes import any_position
from tests.support.reference import frozen
from tests.twins import naive


def check_against_the_reference(row: dict[str, object], rules: str) -> None:
    answer = naive.solve(start(parse_deal(str(row["deal"]))), rules)
    expected = row[rules]
    assert isinstance(expected, dict)
    assert (answer.cleared, answer.best_score, answer.line, answer.draws) == (
        expected["cleared"],
        expected["best_score"],
        expected["line"],
        expected["line"].count("D"),
    )


def test_a_whole_deal_matches_the_reference() -> None:
    check_against_the_reference(frozen()["deals"][0], "dead_king")


@pytest.mark.soak
@pytest.mark.parametrize("row", frozen()["deals"], ids=lambda row: row["deal_number"])
@pytest.mark.parametrize("rules", RULES)
def test_every_reference_deal_matches_the_reference(row: dict[str, object], rules: str) -> None:
    check_against_the_reference(row, rules)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_the_best_score_is_the_minimum_over_all_ways_to_play(rules: Rules) -> None:
    @cache
    def least(position: Position) -> int:
        moves = position.legal_moves(rules)
        stopping = score_of(position.cards_left, position.draws)
        return min([stopping, *(least(position.play(move)) for move in moves)])

    dice = random.Random("slow and slower")
    for _ in range(60):
        position = any_position(dice, dice.randrange(8))
        assert naive.solve(position, rules.name).best_score == least(position)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_the_line_from_a_position_can_be_played_and_reaches_the_score(rules: Rules) -> None:
    dice = random.Random("lines of small positions")
    for _ in range(60):
        position = any_position(dice, dice.randrange(12))
        answer = naive.solve(position, rules.name)
        for move in answer.line:
            assert move in position.legal_moves(rules)
            position = position.play(move)
        assert answer.best_score == score_of(position.cards_left, position.draws)
        assert not answer.line.endswith("D")


def test_rules_are_written_out_again_and_say_the_same() -> None:
    for name, rules in RULES.items():
        for rank in range(13):
            assert [naive.fits(name, rank, top) for top in range(13)] == [
                rules.allows(rank, top) for top in range(13)
            ]


def test_the_line_is_empty_if_nothing_can_be_played() -> None:
    dice = random.Random("blocked")
    seen = 0
    for _ in range(300):
        position = replace(any_position(dice, dice.randrange(1, 12)), draws=STOCK_SIZE)
        for name, rules in RULES.items():
            if not position.legal_moves(rules):
                seen += 1
                assert naive.solve(position, name) == naive.Answer(False, position.cards_left, "", 0)
    assert seen > 100


def test_a_position_without_cards_is_already_cleared() -> None:
    position = any_position(random.Random("cleared"), 0)
    assert naive.solve(position, "golf") == naive.Answer(True, position.draws - STOCK_SIZE, "", 0)
