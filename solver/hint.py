"""The move to make from any position, with one line why.

Only moves that reach the best score still possible come into question. Among them the choice goes by this
order of preference:

1. a play goes before a draw;
2. then the play that begins the longest run;
3. then that whose longest run leaves the table most open (as the steady player values plays);
4. then the lowest-numbered column.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from solver.analysis import Analysis, MoveValue, analyse
from solver.moves import DRAW, Position
from solver.reasons import Choice, Reason, reason_for, reason_when_over
from solver.rules import Rules
from solver.runs import Run, longest_runs


@dataclass(frozen=True, slots=True)
class Hint:
    """The move to make.

    Attributes:
        move: its letter in the line notation; None where the hole is over.
        best_score: the best score of the whole hole that can still be reached; the move keeps it.
        clearable: whether the columns are cleared or still can be.
        reason: why this move.
    """

    move: str | None
    best_score: int
    clearable: bool
    reason: Reason


def hint(position: Position, rules: Rules) -> Hint:
    """The move to make from a position, which is solved for it."""
    return hint_from(analyse(position, rules))


def hint_from(analysis: Analysis) -> Hint:
    """The move to make from a position that is analysed already."""
    if not analysis.moves:
        over = reason_when_over(analysis.position)
        return Hint(None, analysis.best_score, analysis.clearable, over)
    runs = longest_runs(analysis.position, analysis.rules)
    chosen = _preferred(analysis, runs)
    reason = reason_for(Choice(analysis, chosen, runs))
    return Hint(chosen.move, analysis.best_score, analysis.clearable, reason)


def _preferred(analysis: Analysis, runs: Mapping[str, Run]) -> MoveValue:
    """The best move that the order of preference puts first."""
    best = [value for value in analysis.moves if not value.gives_away]
    plays = [value for value in best if value.move != DRAW]
    # Of equals max keeps the first, the lowest-numbered column; without a play only the draw is left.
    return max(plays, key=lambda play: runs[play.move], default=best[0])
