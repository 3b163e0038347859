"""The exact value of every legal move of a position: each successor is solved from scratch."""

from dataclasses import dataclass
from typing import NamedTuple

from solver.search.exact import solve_position
from solver.table.moves import Position
from solver.table.rules import Rules
from solver.table.score import score_of


class Best(NamedTuple):
    """The best score of the whole hole that can still be reached, and whether the columns can be cleared."""

    score: int
    clearable: bool


@dataclass(frozen=True, slots=True)
class MoveValue:
    """The value of one legal move.

    Attributes:
        move: its letter in the line notation.
        best_score: the best score of the whole hole that can still be reached after the move.
        gives_away: how much worse that is than the best score of the position; 0 for a best move.
        clearable: whether the columns are cleared or can still be cleared after the move.
    """

    move: str
    best_score: int
    gives_away: int
    clearable: bool


@dataclass(frozen=True, slots=True)
class Analysis:
    """A position with the exact value of each of its legal moves.

    Attributes:
        position: the position.
        rules: the King rule.
        best_score: the best score of the whole hole that can still be reached; the current score if the
            hole is over.
        clearable: whether the columns are cleared or can still be cleared.
        moves: the legal moves in the order `1` .. `7`, `D`; empty if the hole is over.
    """

    position: Position
    rules: Rules
    best_score: int
    clearable: bool
    moves: tuple[MoveValue, ...]


def analyse(position: Position, rules: Rules) -> Analysis:
    """Value every legal move of a position by an exhaustive search of what it leads to."""
    after = {move: best_from(position.play(move), rules) for move in position.legal_moves(rules)}
    current = Best(score_of(position.cards_left, position.draws), not position.cards_left)
    best = min(after.values(), default=current, key=lambda each: each.score)
    moves = tuple(MoveValue(move, b.score, b.score - best.score, b.clearable) for move, b in after.items())
    return Analysis(position, rules, best.score, best.clearable, moves)


def best_from(position: Position, rules: Rules) -> Best:
    """Return the best outcome of the whole hole that can still be reached from a position."""
    solution = solve_position(position, rules)
    if solution.best_score is None:
        raise AssertionError("a search for the fewest cards left always ends with a score")
    return Best(solution.best_score, solution.cleared)
