"""What every legal move of a position can still lead to, exactly: each successor is solved from scratch."""

from dataclasses import dataclass

from solver.moves import Position
from solver.rules import Rules
from solver.score import score_of
from solver.search import solve_position


@dataclass(frozen=True, slots=True)
class MoveValue:
    """What one legal move is worth.

    Attributes:
        move: its letter in the line notation.
        best_score: the best score of the whole hole that can still be reached after it.
        gives_away: how much worse that is than the best score of the position; 0 for a best move.
        line: line v1 from the position after the move on, which reaches `best_score`.
    """

    move: str
    best_score: int
    gives_away: int
    line: str

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
    found = [(move, *best_from(position.play(move), rules)) for move in position.legal_moves(rules)]
    as_it_stands = score_of(position.cards_left, position.draws)
    best = min((score for _, score, _ in found), default=as_it_stands)
    moves = (MoveValue(move, score, score - best, line) for move, score, line in found)
    return Analysis(position, rules, best, tuple(moves))


def best_from(position: Position, rules: Rules) -> tuple[int, str]:
    """The best score of the whole hole that can still be reached, and line v1 to it from the position on."""
    solution = solve_position(position, rules)
    if solution.best_score is None or solution.line is None:
        raise AssertionError("a search that asks for more than the verdict ends with a line")
    return solution.best_score, solution.line
