"""Made-up results for tests in which only scores and pars matter."""

from datetime import date
from fractions import Fraction

from pipeline.deals.levels import DAILY_RULES, level_named
from pipeline.play.results import Played, RatedHole
from solver.cards import DECK_SIZE
from solver.table.deal import Deal
from solver.table.score import means_cleared

ANY_DEAL = Deal(tuple(range(DECK_SIZE)))


def made_up(
    score: int,
    par: int = 4,
    level: str = "medium",
    *,
    number: int | None = None,
    day: date | None = None,
    mean: Fraction = Fraction(4),
    at_par: float = 0.5,
    seconds: float | None = None,
    moves: int | None = None,
    run: int | None = None,
) -> Played:
    """A result on a hole of a level, or on the Daily hole of a date if one is given."""
    rules = DAILY_RULES if day is not None else level_named(level).rules
    hole = RatedHole(ANY_DEAL, rules, par, -16, mean, at_par)
    return Played(hole, number, day, means_cleared(score), score, seconds, moves, run)
