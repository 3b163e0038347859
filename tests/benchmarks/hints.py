"""Hints at random positions of random holes, and at the start of deals, which takes the longest search."""

import random
import statistics
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from solver.coach.hint import hint
from solver.search.exact import solve_position
from solver.table.moves import Position, start
from solver.table.rules import RULES, Rules
from tests.benchmarks.figures import Bench, Figure
from tests.benchmarks.sweep import WrongAnswerError, random_deals
from tests.benchmarks.timing import Spent, in_turn, timed
from tests.support.holes import random_position

_POSITIONS: Final = 10  # over all rules, per deal of the search benchmark: 20,000 in a full run
_MILLISECOND: Final = 1e-3
_PERCENTILES: Final = {"median": 50, "99th percentile": 99}


def measure(bench: Bench) -> Iterator[Figure]:
    """Measure all rules."""
    count = -(-_POSITIONS * bench.deals // len(RULES))  # rounded up
    starts = [start(deal) for deal in random_deals(bench.deals)]
    for rules in RULES.values():
        dice = random.Random(f"hints under {rules.name}")
        anywhere = [random_position(rules, dice)[0] for _ in range(count)]
        for where, positions in (("", anywhere), (" at the start", starts)):
            bench.report(f"hints, {rules.name}{where}: {bench.rounds} rounds of {len(positions):,} positions")
            yield from _of_positions(f"{rules.name}: hint{where}", positions, rules, bench.rounds)


def _of_positions(name: str, positions: Sequence[Position], rules: Rules, rounds: int) -> Iterator[Figure]:
    for position in positions:  # also a warm-up
        _check(position, rules)

    def hinted() -> list[Spent]:
        return [timed(partial(hint, position, rules))[1] for position in positions]

    spent = in_turn(rounds, {"hints": hinted})["hints"]
    for percentile, place in _PERCENTILES.items():
        wall = (_at(place, (each.wall for each in found)) for found in spent)
        cpu = (_at(place, (each.cpu for each in found)) for found in spent)
        yield Figure(f"{name}, {percentile}", "ms", tuple(wall))
        yield Figure(f"{name}, {percentile}, processor time", "ms", tuple(cpu))


def _at(percentile: int, seconds: Iterable[float]) -> float:
    """Return a percentile of times, in milliseconds."""
    return statistics.quantiles(seconds, n=100, method="inclusive")[percentile - 1] / _MILLISECOND


def _check(position: Position, rules: Rules) -> None:
    """Compare a hint with a search: its best score, and that its move keeps it.

    Raises:
        WrongAnswerError: if it is wrong.
    """
    found, best = hint(position, rules), solve_position(position, rules).best_score
    kept = best if found.move is None else solve_position(position.play(found.move), rules).best_score
    if not found.best_score == best == kept:
        raise WrongAnswerError(f"{found} at {position}, from which the best score is {best}")
