"""What is told about one deal, a position, or a hole that was played, as documents for programs.

Keys come in a fixed order, with plain values.
"""

from typing import TYPE_CHECKING, Any

from solver.cards import card_name
from solver.table.deal import Deal
from solver.table.moves import after, start
from solver.table.rules import Rules
from solver.table.score import score_name

if TYPE_CHECKING:  # it has kernels, whose cache must be found before they are defined
    from solver.coach.review import ReviewedMove


def shown(deal: Deal, number: int | None, rules: Rules) -> dict[str, Any]:
    """The cards where they lie, and the moves that are legal at the start."""
    return _head(deal, number) | {
        "puzzle_id": deal.puzzle_id,
        "columns": [[card_name(card) for card in column] for column in deal.columns],
        "waste": card_name(deal.waste),
        "stock": [card_name(card) for card in deal.stock],
        "rules": rules.name,
        "legal_moves": start(deal).legal_moves(rules),
    }


def solved(deal: Deal, number: int | None, rules: Rules, *, fewest: bool) -> dict[str, Any]:
    """What the exact search proves.

    Args:
        deal: the deal.
        number: its number, where it has one.
        rules: the King rule.
        fewest: whether to find the line that leaves the fewest cards where the deal cannot be cleared.
    """
    from solver.search.exact import solve  # it has kernels, whose cache must be found first

    solution = solve(deal, rules, fewest=fewest)
    return _head(deal, number) | {
        "rules": solution.rules,
        "cleared": solution.cleared,
        "best_score": solution.best_score,
        "line": solution.line,
        "draws": solution.draws,
        "positions": solution.positions,
    }


def rated(deal: Deal, number: int | None, rules: Rules) -> dict[str, Any]:
    """The exact score distribution of the steady player, and the par that follows from it."""
    from pipeline.deals.levels import par_of
    from solver.players.steady import rate  # it has kernels, whose cache must be found first

    distribution = rate(deal, rules)
    return _head(deal, number) | {
        "rules": rules.name,
        "par": par_of(distribution),
        "steady_mean": distribution.mean,
        "steady_sd": distribution.sd,
        "steady_clear_rate": distribution.clear_rate,
        "steady_p10": distribution.p10,
        "steady_p50": distribution.p50,
        "steady_p90": distribution.p90,
        "steady_scores": list(distribution.probabilities),
    }


def hinted(deal: Deal, number: int | None, rules: Rules, line: str, *, with_moves: bool) -> dict[str, Any]:
    """The move to make at a position, and why.

    Args:
        deal: the deal.
        number: its number, where it has one.
        rules: the King rule.
        line: the moves so far.
        with_moves: whether to tell of every legal move what it can still lead to.

    Raises:
        LineError: at the first move of the line that is not legal.
    """
    from solver.coach.analysis import analyse  # it has kernels, whose cache must be found first
    from solver.coach.hint import hint_from

    analysis = analyse(after(deal, rules, line), rules)
    hint = hint_from(analysis)
    moves = [
        {
            "move": value.move,
            "best_score": value.best_score,
            "clearable": value.clearable,
            "gives_away": value.gives_away,
        }
        for value in analysis.moves
    ]
    return _head(deal, number) | {
        "rules": rules.name,
        "line": line,
        "move": hint.move,
        "best_score": hint.best_score,
        "clearable": hint.clearable,
        "reason": {"code": hint.reason.code, "values": dict(hint.reason.values), "text": hint.reason.text},
        **({"moves": moves} if with_moves else {}),
    }


def reviewed(deal: Deal, number: int | None, rules: Rules, line: str) -> dict[str, Any]:
    """A hole looked at again, move by move, and its score against par and against the steady player.

    Raises:
        LineError: at the first move of the line that is not legal.
    """
    from pipeline.deals.levels import par_of
    from solver.coach.review import review  # it has kernels, whose cache must be found first
    from solver.players.steady import rate

    found, distribution = review(deal, rules, line), rate(deal, rules)
    par = par_of(distribution)
    return _head(deal, number) | {
        "rules": rules.name,
        "line": line,
        "par": par,
        "score": found.score,
        "against_par": found.score - par,
        "name": score_name(found.score, par),
        "steady_chance": distribution.at_most(found.score),
        "best_score": found.best_score,
        "cleared": found.cleared,
        "lost_at": found.lost_at,
        "finished": found.finished,
        "best_left": found.best_left,
        "given_up": found.given_up,
        "moves": [_reviewed_move(move) for move in found.moves],
    }


def _reviewed_move(move: "ReviewedMove") -> dict[str, Any]:
    return {
        "index": move.index,
        "move": move.move,
        "card": card_name(move.card),
        "best_before": move.best_before,
        "best_after": move.best_after,
        "cost": move.cost,
        "lost_clear": move.lost_clear,
        "best_move": move.best_move,
        "best_card": None if move.best_card is None else card_name(move.best_card),
    }


def _head(deal: Deal, number: int | None) -> dict[str, Any]:
    head: dict[str, Any] = {} if number is None else {"deal_number": number}
    return head | {"deal": deal.notation}
