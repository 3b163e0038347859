"""The difficulty follows from the clear chance, compared in integers."""

import pytest

from solver.players.difficulty import DIFFICULTY_NAMES, chance_text, clear_chance_of, difficulty_of
from solver.players.distribution import TOTAL_MASS


@pytest.mark.parametrize(("tries", "difficulty"), [(50, 1), (500, 2), (10_000, 3), (1_000_000, 4)])
def test_a_chance_of_exactly_one_in_so_many_is_the_easier_difficulty(tries: int, difficulty: int) -> None:
    least = -(-TOTAL_MASS // tries)  # the least mass that is at least that chance
    assert difficulty_of(least) == difficulty
    assert difficulty_of(least - 1) == difficulty + 1


def test_the_ends_are_gentle_and_extreme() -> None:
    assert DIFFICULTY_NAMES[difficulty_of(TOTAL_MASS)] == "gentle"
    assert DIFFICULTY_NAMES[difficulty_of(0)] == "extreme"
    assert list(DIFFICULTY_NAMES) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("chance", "text"),
    [
        (0.0, "never"),
        (1.0, "100% of all tries"),
        (0.7, "70% of all tries"),
        (0.5, "one try in 2"),
        (1 / 12, "one try in 12"),
        (1 / 143, "one try in 140"),
        (1 / 1_234_567, "one try in 1,200,000"),
    ],
)
def test_a_chance_is_said_as_one_try_in_so_many(chance: float, text: str) -> None:
    assert chance_text(chance) == text


def test_the_stored_chance_is_the_mass_rounded_once() -> None:
    assert clear_chance_of(TOTAL_MASS // 3) == (TOTAL_MASS // 3) / TOTAL_MASS
