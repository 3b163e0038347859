"""A hole looked at again, move by move: what was still possible before and after each move, and what it cost.

Both sides of a move are exact, so everything that a hole gave away has its place: the best score of the deal,
the costs of all moves and what was given up by stopping add up to the score.
"""

from dataclasses import dataclass
from itertools import accumulate, pairwise

from solver.coach.analysis import best_score_from
from solver.coach.hint import hint
from solver.table.deal import Deal
from solver.table.moves import Position, start
from solver.table.replay import replay
from solver.table.rules import Rules


@dataclass(frozen=True, slots=True)
class ReviewedMove:
    """A move of a line and what it changed.

    Attributes:
        index: position of the move in the line, from 0.
        move: its letter.
        card: code of the card that it put on the waste.
        best_before: the best score that was still possible before it.
        best_after: the same after it, never less.
        best_move: what a hint says there; None where the move cost nothing.
        best_card: code of the card that this would have put on the waste; None likewise.
    """

    index: int
    move: str
    card: int
    best_before: int
    best_after: int
    best_move: str | None
    best_card: int | None

    @property
    def cost(self) -> int:
        """By how much the best score still possible became worse; 0 where nothing was given away."""
        return self.best_after - self.best_before

    @property
    def lost_clear(self) -> bool:
        """Whether the columns could be cleared before it and not after it."""
        return self.best_before <= 0 < self.best_after


@dataclass(frozen=True, slots=True)
class Review:
    """A line held against the exact search; `best_score`, all costs and `given_up` add up to `score`.

    Attributes:
        moves: one for each letter of the line.
        best_score: the best score of the deal.
        score: as it stands where the line ends.
        best_left: the best score that is still possible there.
        cleared: whether the columns are empty there.
        finished: whether no move is legal there any more; if one is, the hole was abandoned.
    """

    moves: tuple[ReviewedMove, ...]
    best_score: int
    score: int
    best_left: int
    cleared: bool
    finished: bool

    @property
    def mistakes(self) -> tuple[ReviewedMove, ...]:
        """The moves that cost something."""
        return tuple(each for each in self.moves if each.cost)

    @property
    def lost_at(self) -> int | None:
        """Index of the move that lost the clear; None where none did."""
        return next((each.index for each in self.moves if each.lost_clear), None)

    @property
    def given_up(self) -> int:
        """What it cost to end there; 0 for a finished hole."""
        return self.score - self.best_left


def review(deal: Deal, rules: Rules, line: str) -> Review:
    """Look at a hole again, finished or abandoned, with one solve for each position that it came through.

    Args:
        deal: the deal.
        rules: which ranks may be played on which.
        line: what was played; empty for a hole that was not begun.

    Raises:
        LineError: at the first move that is not legal.
    """
    played = replay(deal, rules, line)
    positions = list(accumulate(line, Position.play, initial=start(deal)))
    best = [best_score_from(position, rules) for position in positions]
    steps = enumerate(zip(line, positions[:-1], pairwise(best), strict=True))
    return Review(
        moves=tuple(_reviewed(index, *step, rules) for index, step in steps),
        best_score=best[0],
        score=played.score,
        best_left=best[-1],
        cleared=played.cleared,
        finished=not positions[-1].legal_moves(rules),
    )


def _reviewed(index: int, move: str, position: Position, best: tuple[int, int], rules: Rules) -> ReviewedMove:
    """One move from a position, with the best score still possible before and after it."""
    before, after = best
    better = hint(position, rules).move if after > before else None
    return ReviewedMove(
        index=index,
        move=move,
        card=position.play(move).top,
        best_before=before,
        best_after=after,
        best_move=better,
        best_card=None if better is None else position.play(better).top,
    )
