"""A hint: the move to make from any position, with the reason for it in one line."""

from dataclasses import dataclass

from solver.coach.analysis import Analysis, analyse
from solver.coach.choice import choose
from solver.coach.reasons import Reason, reason_for, reason_when_over
from solver.table.moves import Position
from solver.table.rules import Rules


@dataclass(frozen=True, slots=True)
class Hint:
    """The move to make.

    Attributes:
        move: its letter in the line notation; None if the hole is over.
        best_score: the best score of the whole hole that can still be reached; the move keeps it.
        clearable: whether the columns are cleared or can still be cleared.
        reason: why this move.
    """

    move: str | None
    best_score: int
    clearable: bool
    reason: Reason


def hint(position: Position, rules: Rules) -> Hint:
    """Solve a position and return the move to make."""
    return hint_from(analyse(position, rules))


def hint_from(analysis: Analysis) -> Hint:
    """Return the move to make from a position that is already analysed."""
    if not analysis.moves:
        over = reason_when_over(analysis.position)
        return Hint(None, analysis.best_score, analysis.clearable, over)
    choice = choose(analysis)
    return Hint(choice.move.move, analysis.best_score, analysis.clearable, reason_for(choice))
