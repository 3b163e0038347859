"""What is told about one deal, as documents for programs: keys in a fixed order, plain values."""

from typing import Any

from solver.cards import card_name
from solver.deal import Deal
from solver.moves import after, start
from solver.rules import Rules


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
    from solver.search import solve  # it has kernels, whose cache must be found first

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
    from pipeline.levels import par_of
    from solver.steady import rate  # it has kernels, whose cache must be found first

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
    from solver.analysis import analyse  # it has kernels, whose cache must be found first
    from solver.hint import hint_from

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


def _head(deal: Deal, number: int | None) -> dict[str, Any]:
    head: dict[str, Any] = {} if number is None else {"deal_number": number}
    return head | {"deal": deal.notation}
