"""What every legal move of a position can still lead to, exactly: each successor is solved from scratch."""

from dataclasses import dataclass

from solver.search.exact import solve_position
from solver.table.moves import Position
from solver.table.rules import Rules
from solver.table.score import score_of


@dataclass(frozen=True, slots=True)
class MoveValue:
    """What one legal move is worth.

    Attributes:
        move: its letter in the line notation.
        best_score: the best score of the whole hole that can still be reached after it.
        gives_away: how much worse that is than the best score of the position; 0 for a best move.
    """

    move: str
    best_score: int
    gives_away: int

    @property
    def clearable(self) -> bool:
        """Whether the columns can still be cleared after it."""
        return self.best_score <= 0


@dataclass(frozen=True, slots=True)
class Analysis:
    """A position with the exact value of each of its legal moves.

    Attributes:
        position: the position.
        rules: the King rule.
        best_score: the best score of the whole hole that can still be reached; the score as it stands where
            the hole is over.
        moves: the legal moves in the order `1` .. `7`, `D`; none where the hole is over.
    """

    position: Position
    rules: Rules
    best_score: int
    moves: tuple[MoveValue, ...]

    @property
    def clearable(self) -> bool:
        """Whether the columns are cleared or still can be."""
        return self.best_score <= 0


def analyse(position: Position, rules: Rules) -> Analysis:
    """Value every legal move of a position, by exhaustive search of what it leads to.

    Args:
        position: any position, the start of a deal as well.
        rules: the King rule.
    """
    scores = {move: best_score_from(position.play(move), rules) for move in position.legal_moves(rules)}
    as_it_stands = score_of(position.cards_left, position.draws)
    best = min(scores.values(), default=as_it_stands)
    moves = (MoveValue(move, score, score - best) for move, score in scores.items())
    return Analysis(position, rules, best, tuple(moves))


def best_score_from(position: Position, rules: Rules) -> int:
    """The best score of the whole hole that can still be reached from a position."""
    best_score = solve_position(position, rules).best_score
    if best_score is None:
        raise AssertionError("a search that asks for more than the verdict ends with a score")
    return best_score
