"""A certified deal: what was proved about a deal that a level's policy admits."""

from dataclasses import dataclass

from solver.players.difficulty import clear_chance_of, difficulty_of
from solver.players.distribution import ScoreDistribution
from solver.table.deal import Deal


@dataclass(frozen=True, slots=True)
class CertifiedDeal:
    """A deal that can be cleared and that its level's policy admits; `certify` makes it.

    The deal number of a Daily hole is the attempt. The par is par v1; the line, a line v1, reaches the best
    score with this number of draws; the distribution is that of the steady player's scores, and the clear
    mass that of the holes that the varied player clears.
    """

    level: str
    deal_number: int
    deal: Deal
    rules: str
    par: int
    best_score: int
    line: str
    draws: int
    distribution: ScoreDistribution
    clear_mass: int

    @property
    def clear_chance(self) -> float:
        """How often the varied player clears the columns, rounded to a float."""
        return clear_chance_of(self.clear_mass)

    @property
    def difficulty(self) -> int:
        """The difficulty, 1 to 5."""
        return difficulty_of(self.clear_mass)
