"""A certified deal: what was proved about a deal that a level's policy admits."""

from dataclasses import dataclass

from solver.players.distribution import ScoreDistribution
from solver.table.deal import Deal


@dataclass(frozen=True, slots=True)
class CertifiedDeal:
    """A deal that can be cleared and that its level's policy admits; `certify` makes it.

    Attributes:
        level: name of the level.
        deal_number: the deal number; for a Daily hole, the attempt.
        deal: the cards.
        rules: name of the level's rules.
        par: par v1.
        best_score: the lowest score that can be reached.
        line: line v1, which reaches it.
        draws: number of draws in that line.
        distribution: the steady player's scores.
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
