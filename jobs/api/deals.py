"""What the solver finds out about one deal, position or hole, as documents with a fixed order of keys."""

from typing import Any

from jobs.api.layout import heading
from jobs.api.reading import GivenDeal
from pipeline.deals.levels import par_of_mean
from solver.cards import card_name
from solver.coach.analysis import analyse
from solver.coach.hint import hint_from
from solver.coach.review import ReviewedMove
from solver.coach.review import review as review_line
from solver.players.difficulty import clear_chance_of, difficulty_of
from solver.players.steady import rate
from solver.players.varied import VARIED
from solver.search.exact import solve
from solver.table.moves import after
from solver.table.rules import Rules
from solver.table.score import score_name


def solved(given: GivenDeal, rules: Rules, *, fewest: bool) -> dict[str, Any]:
    """Return what the exact search proves about a deal.

    Args:
        given: the deal.
        rules: the King rule.
        fewest: whether to find the line that leaves the fewest cards if the deal cannot be cleared.
    """
    solution = solve(given.deal, rules, fewest=fewest)
    return heading(given) | {
        "rules": solution.rules,
        "cleared": solution.cleared,
        "best_score": solution.best_score,
        "line": solution.line,
        "draws": solution.draws,
        "positions": solution.positions,
    }


def rated(given: GivenDeal, rules: Rules) -> dict[str, Any]:
    """Return what the players make of a deal: the steady player's scores, and how likely a clear is."""
    distribution, [mass] = rate(given.deal, rules), VARIED.clear_masses([given.deal], rules)
    return heading(given) | {
        "rules": rules.name,
        "par": par_of_mean(distribution.mean_exact),
        "steady_mean": distribution.mean,
        "steady_sd": distribution.sd,
        "steady_clear_rate": distribution.clear_rate,
        "steady_p10": distribution.p10,
        "steady_p50": distribution.p50,
        "steady_p90": distribution.p90,
        "steady_scores": list(distribution.probabilities),
        "clear_chance": clear_chance_of(mass),
        "difficulty": difficulty_of(mass),
    }


def hinted(given: GivenDeal, rules: Rules, line: str, *, with_moves: bool) -> dict[str, Any]:
    """Return the best move from a position, and why it is the best.

    Args:
        given: the deal.
        rules: the King rule.
        line: the moves so far.
        with_moves: whether to include every legal move, with the best score that it can still lead to.

    Raises:
        LineError: a move of the line is not legal.
    """
    analysis = analyse(after(given.deal, rules, line), rules)
    hint = hint_from(analysis)
    document = heading(given) | {
        "rules": rules.name,
        "line": line,
        "move": hint.move,
        "best_score": hint.best_score,
        "clearable": hint.clearable,
        "reason": {"code": hint.reason.code, "values": dict(hint.reason.values), "text": hint.reason.text},
    }
    if with_moves:
        document["moves"] = [
            {
                "move": value.move,
                "best_score": value.best_score,
                "clearable": value.clearable,
                "gives_away": value.gives_away,
            }
            for value in analysis.moves
        ]
    return document


def reviewed(given: GivenDeal, rules: Rules, line: str) -> dict[str, Any]:
    """Review a hole move by move, and compare its score with par and with the steady player.

    Raises:
        LineError: a move of the line is not legal.
    """
    review, distribution = review_line(given.deal, rules, line), rate(given.deal, rules)
    par = par_of_mean(distribution.mean_exact)
    return heading(given) | {
        "rules": rules.name,
        "line": line,
        "par": par,
        "score": review.score,
        "against_par": review.score - par,
        "name": score_name(review.score, par),
        "steady_chance": distribution.at_most(review.score),
        "best_score": review.best_score,
        "clearable": review.clearable,
        "cleared": review.cleared,
        "lost_at": review.lost_at,
        "finished": review.finished,
        "best_left": review.best_left,
        "given_up": review.given_up,
        "moves": [_reviewed_move(move) for move in review.moves],
    }


def _reviewed_move(move: ReviewedMove) -> dict[str, Any]:
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
