"""The levels: rules, the deals that a level's policy admits, the par of a hole, the course of a round.

A level is a row of `LEVELS`. Policy v1, par v1 and course v1 are frozen. The first two read the steady
player's distribution through its exact mean, so that no rounding can move a deal over a threshold.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from types import MappingProxyType
from typing import Final

from pipeline.store.text import quoted
from solver.errors import UsageError
from solver.players.distribution import ScoreDistribution
from solver.table.rules import RULES, Rules

_MAX_SHOWN: Final = 30
MAX_DEALS: Final = 10_000_000  # of a pool, or named by one command

LOWEST_PAR: Final = 3
HIGHEST_PAR: Final = 5


@dataclass(frozen=True)
class Level:
    """A row of the policy: deals that can be cleared under `rules`, with the steady mean in a range.

    Attributes:
        name: in commands, paths and the column `level`.
        rules: the King rule.
        mean_from: least admitted steady mean (score points); None for no bound.
        mean_below: exclusive upper bound of the steady mean (score points); None for no bound.
        course: the pars of a round's holes in the order they are played; they follow how many deals of each
            par the policy admits. Empty where there are no rounds.
    """

    name: str
    rules: Rules
    mean_from: Fraction | None = None
    mean_below: Fraction | None = None
    course: tuple[int, ...] = ()

    def admits(self, distribution: ScoreDistribution) -> bool:
        """Whether a deal that can be cleared is admitted with this score distribution."""
        mean = distribution.mean_exact
        return (self.mean_from is None or mean >= self.mean_from) and (
            self.mean_below is None or mean < self.mean_below
        )


LEVELS: Final[Mapping[str, Level]] = MappingProxyType(
    {
        level.name: level
        for level in (
            Level("easy", RULES["relaxed"], mean_below=Fraction(9, 2), course=(3, 3, 3, 3, 4, 3, 3, 3, 3)),
            Level("medium", RULES["golf"], course=(3, 5, 3, 5, 4, 5, 3, 5, 3)),
            Level(
                "hard",
                RULES["dead_king"],
                mean_from=Fraction(7, 2),
                mean_below=Fraction(13, 2),
                course=(5, 4, 5, 4, 5, 4, 5, 4, 5),
            ),
        )
    }
)
"""The levels that have a pool, from friendly to tough."""

DAILY: Final = Level("daily", RULES["golf"], mean_from=Fraction(5, 2), mean_below=Fraction(11, 2))
"""What the Daily hole of a date must be; it has no pool."""


def level_named(name: str) -> Level:
    """Return the row of `LEVELS` with this name.

    Raises:
        UsageError: if there is none.
    """
    if name not in LEVELS:
        raise UsageError(f"unknown level {quoted(name, _MAX_SHOWN)}; the levels are {', '.join(LEVELS)}")
    return LEVELS[name]


def par_of(distribution: ScoreDistribution) -> int:
    """Return par v1 (frozen): the steady mean rounded half up and limited to 3 .. 5."""
    return par_of_mean(distribution.mean_exact)


def par_of_mean(mean: Fraction) -> int:
    """Return the par for any mean score, by the rule of par v1."""
    return min(HIGHEST_PAR, max(LOWEST_PAR, floor(mean + Fraction(1, 2))))
