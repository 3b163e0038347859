"""The clear chance v1 and the difficulty v1 (frozen): how many tries a clear takes the varied player."""

from typing import Final

from solver.players.distribution import TOTAL_MASS

EASIEST: Final = 1
HARDEST: Final = 5
DIFFICULTY_NAMES: Final = {1: "gentle", 2: "moderate", 3: "demanding", 4: "severe", 5: "extreme"}

TRIES: Final = (50, 500, 10_000, 1_000_000)  # difficulty n: the chance is at least 1 in the n-th of these


def difficulty_of(mass: int) -> int:
    """Return the difficulty, 1 to 5, of a deal of whose holes the varied player clears this mass of 2^60."""
    return EASIEST + sum(mass * tries < TOTAL_MASS for tries in TRIES)


def clear_chance_of(mass: int) -> float:
    """Return the clear chance, rounded to a float."""
    return mass / TOTAL_MASS


def difficulty_text(difficulty: int) -> str:
    """Return a difficulty as people read it, such as `3, demanding`."""
    return f"{difficulty}, {DIFFICULTY_NAMES[difficulty]}"


def chance_text(chance: float) -> str:
    """Return a clear chance as people say it, such as `one try in 140`."""
    if not chance:
        return "never"
    if chance > 2 / 3:  # the nearest whole number is 1
        return f"{chance:.0%} of all tries"
    tries = 1 / chance
    digits = max(0, len(str(int(tries))) - 2)
    return f"one try in {round(tries, -digits):,.0f}"
