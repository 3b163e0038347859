"""Scores, their names and their signs."""

import pytest

from solver.table.deal import STOCK_SIZE, TABLEAU_SIZE
from solver.table.score import (
    HIGHEST_SCORE,
    LOWEST_SCORE,
    SCORE_COUNT,
    means_cleared,
    score_name,
    score_of,
    signed,
)


def test_scores_go_from_minus_16_to_35() -> None:
    assert (LOWEST_SCORE, HIGHEST_SCORE, SCORE_COUNT) == (-16, 35, 52)
    scores = {score_of(left, draws) for left in range(TABLEAU_SIZE + 1) for draws in range(STOCK_SIZE + 1)}
    assert scores == set(range(LOWEST_SCORE, HIGHEST_SCORE + 1))


def test_a_hole_that_is_not_cleared_scores_the_cards_left() -> None:
    assert all(score_of(left, draws) == left for left in range(1, 36) for draws in range(17))


def test_a_cleared_hole_scores_minus_the_stock_left() -> None:
    assert [score_of(0, draws) for draws in (0, 1, 15, 16)] == [-16, -15, -1, 0]


def test_a_score_shows_whether_the_hole_was_cleared() -> None:
    assert all(means_cleared(score_of(0, draws)) for draws in range(17))
    assert not any(means_cleared(score_of(left, 16)) for left in range(1, 36))


@pytest.mark.parametrize("par", [3, 4, 5])
def test_names_are_eagle_to_double_bogey_and_otherwise_signed_numbers(par: int) -> None:
    names = [score_name(par + over, par) for over in range(-4, 5)]
    assert names == ["-4", "-3", "Eagle", "Birdie", "Par", "Bogey", "Double bogey", "+3", "+4"]


@pytest.mark.parametrize("par", [3, 4, 5])
def test_a_cleared_hole_is_always_a_number(par: int) -> None:
    assert [score_name(score, par) for score in range(LOWEST_SCORE, 1)] == [
        str(score - par) for score in range(LOWEST_SCORE, 1)
    ]


def test_a_difference_to_par_is_signed_and_zero_is_e() -> None:
    assert [signed(difference) for difference in (-20, -1, 0, 1, 32)] == ["-20", "-1", "E", "+1", "+32"]
