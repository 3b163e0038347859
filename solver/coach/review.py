"""The review of a hole, move by move: the best score possible before and after each move, and its cost.

Both scores of a move are exact, so every point that was given away is attributed to a move: the best score of
the deal, the costs of all moves and the points given up by stopping early add up to the score.
"""

from dataclasses import dataclass
from itertools import accumulate, pairwise

from solver.coach.analysis import Best, best_from
from solver.coach.hint import hint
from solver.table.deal import Deal
from solver.table.moves import Position, start
from solver.table.replay import replay
from solver.table.rules import Rules


@dataclass(frozen=True, slots=True)
class ReviewedMove:
    """One move of a line and what it changed.

    Attributes:
        index: index of the move in the line, from 0.
        move: its letter.
        card: code of the card that it put on the waste.
        best_before: the best score that was possible before the move.
        best_after: the best score that was possible after it; never less.
        lost_clear: whether the columns could be cleared before the move but not after it.
        best_move: the hint at that position; None if the move cost nothing.
        best_card: code of the card that the hint would have put on the waste; None if there is no hint.
    """

    index: int
    move: str
    card: int
    best_before: int
    best_after: int
    lost_clear: bool
    best_move: str | None
    best_card: int | None

    @property
    def cost(self) -> int:
        """How much worse the move made the best possible score; 0 if it gave nothing away."""
        return self.best_after - self.best_before


@dataclass(frozen=True, slots=True)
class Review:
    """A line compared with the exact search; `best_score`, all costs and `given_up` add up to `score`.

    Attributes:
        moves: one per letter of the line.
        best_score: the best score of the deal.
        clearable: whether the deal can be cleared.
        score: the score at the end of the line.
        best_left: the best score that is still possible there.
        cleared: whether the columns are empty there.
        finished: whether no move is legal there; if one is, the hole was abandoned.
    """

    moves: tuple[ReviewedMove, ...]
    best_score: int
    clearable: bool
    score: int
    best_left: int
    cleared: bool
    finished: bool

    @property
    def lost_at(self) -> int | None:
        """Index of the move that lost the clear; None if no move did."""
        return next((each.index for each in self.moves if each.lost_clear), None)

    @property
    def given_up(self) -> int:
        """The cost of stopping there; 0 for a finished hole."""
        return self.score - self.best_left


def review(deal: Deal, rules: Rules, line: str) -> Review:
    """Review a hole, finished, abandoned or not begun, with one search per position of the line.

    Raises:
        LineError: at the first move that is not legal.
    """
    played = replay(deal, rules, line)
    positions = list(accumulate(line, Position.play, initial=start(deal)))
    best = [best_from(position, rules) for position in positions]
    steps = enumerate(zip(line, positions[:-1], pairwise(best), strict=True))
    return Review(
        moves=tuple(_reviewed(index, *step, rules) for index, step in steps),
        best_score=best[0].score,
        clearable=best[0].clearable,
        score=played.score,
        best_left=best[-1].score,
        cleared=played.cleared,
        finished=not positions[-1].legal_moves(rules),
    )


def _reviewed(
    index: int, move: str, position: Position, best: tuple[Best, Best], rules: Rules
) -> ReviewedMove:
    before, after = best
    better = hint(position, rules).move if after.score > before.score else None
    return ReviewedMove(
        index=index,
        move=move,
        card=position.play(move).top,
        best_before=before.score,
        best_after=after.score,
        lost_clear=before.clearable and not after.clearable,
        best_move=better,
        best_card=None if better is None else position.play(better).top,
    )
