"""Checks of the rows of a part against what they derive from. Each yields the faults that it finds.

Nothing is solved here. The rows come from a file, so they may hold any value of the right type.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from pipeline.deals.columns import SCORING
from pipeline.deals.levels import HIGHEST_PAR, LOWEST_PAR, Level
from pipeline.deals.shuffle import MOST_DEAL_NUMBER, deal_numbered
from pipeline.pools.catalog import Part
from pipeline.store.text import quoted
from solver.errors import LineError
from solver.players.difficulty import difficulty_of
from solver.players.distribution import TOTAL_MASS
from solver.table.deal import Deal
from solver.table.replay import replay
from solver.table.score import CLEARED_SCORES, HIGHEST_SCORE, LOWEST_SCORE, SCORE_COUNT

Floats: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]

# Stored values were rounded once from exact integers; recomputed from each other, they are this close.
_TOLERANCE: Final = 1e-9
_SCORES: Final = np.arange(LOWEST_SCORE, HIGHEST_SCORE + 1, dtype=np.float64)
_QUANTILES: Final = {"steady_p10": 0.1, "steady_p50": 0.5, "steady_p90": 0.9}


@dataclass(frozen=True)
class Rows:
    """The rows of one part of a level, each column as a list."""

    part: Part
    level: Level
    columns: Mapping[str, Sequence[Any]]

    @property
    def numbers(self) -> Sequence[int]:
        """The deal numbers of the rows."""
        return self.columns["deal_number"]

    @cached_property
    def deals(self) -> tuple[Deal | None, ...]:
        """The deals of the numbers; None for a value that is not a deal number."""
        return tuple(deal_numbered(n) if n <= MOST_DEAL_NUMBER else None for n in self.numbers)

    @cached_property
    def scores(self) -> Floats:
        """The score distributions, one row per deal."""
        return np.array(self.columns["steady_scores"], dtype=np.float64).reshape(-1, SCORE_COUNT)

    def row(self, index: int) -> dict[str, Any]:
        """Return one row by column."""
        return {name: values[index] for name, values in self.columns.items()}

    def dealt(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """Yield number, deal and some columns of each row with a valid deal number."""
        columns = (self.columns[name] for name in names)
        return (row for row in zip(self.numbers, self.deals, *columns, strict=True) if row[1] is not None)


def shape_faults(columns: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Check for nulls and distributions of another length; with those, nothing else can be checked."""
    for name, values in columns.items():
        if None in values:
            yield f"row {values.index(None)}: {name} is null"
    for index, scores in enumerate(columns["steady_scores"]):
        if scores is not None and (len(scores) != SCORE_COUNT or None in scores):
            yield f"row {index}: steady_scores does not hold {SCORE_COUNT} numbers"


def number_faults(rows: Rows) -> Iterator[str]:
    """Check that numbers ascend within the part, and that rows and pars are as many as in the catalog."""
    part, numbers = rows.part, rows.numbers
    if len(numbers) != part.rows:
        yield f"{len(numbers)} rows instead of the {part.rows} in the catalog"
    for before, after in pairwise(numbers):
        if after <= before:
            yield f"deal {after} comes after deal {before}"
    for number in numbers:
        if not part.first <= number <= part.last:
            yield f"deal {number} is not in {part.first} .. {part.last}"
    if numbers and numbers[-1] != part.last:
        yield f"the last deal is {numbers[-1]} instead of {part.last} as in the catalog"
    pars = dict(sorted(Counter(rows.columns["par"]).items()))
    if part.pars != pars:
        yield f"its pars are {pars} instead of {part.pars} as in the catalog"


def level_faults(rows: Rows) -> Iterator[str]:
    """Check the level and rules of each row."""
    expected = rows.level.name, rows.level.policy.rules
    for number, *found in zip(rows.numbers, rows.columns["level"], rows.columns["rules"], strict=True):
        if tuple(found) != expected:
            yield f"deal {number}: level and rules are {' and '.join(found)}, not {' and '.join(expected)}"


def deal_faults(rows: Rows) -> Iterator[str]:
    """Check that the cards are the shuffle of the deal number."""
    for number, deal, text in rows.dealt("deal"):
        if text != deal.notation:
            yield f"deal {number}: the cards are not the shuffle of its number"


def puzzle_faults(rows: Rows) -> Iterator[str]:
    """Check the puzzle ids against the cards."""
    for number, deal, puzzle_id in rows.dealt("puzzle_id"):
        if puzzle_id != deal.puzzle_id:
            yield f"deal {number}: its puzzle id is {deal.puzzle_id}, not {puzzle_id!r}"


def line_faults(rows: Rows) -> Iterator[str]:
    """Check that lines are legal, clear the table, and have the stored score and draws."""
    for number, deal, line, best_score, draws in rows.dealt("line", "best_score", "draws"):
        try:
            played = replay(deal, rows.level.rules, line)
        except LineError as error:
            yield f"deal {number}: {error}"
            continue
        stored, found = (best_score, draws), (played.score, played.draws)
        if not played.cleared or stored != found:
            yield f"deal {number}: score and draws are {stored}, but the line gives {found}"


def distribution_faults(rows: Rows) -> Iterator[str]:
    """Check mean, standard deviation, clear rate, quantiles and par against the stored distribution."""
    for name, flags in _departures(rows).items():
        for index in np.flatnonzero(flags).tolist():
            yield f"deal {rows.numbers[index]}: {name} does not match its scores"


def admission_faults(rows: Rows) -> Iterator[str]:
    """Check that the policy of its generation admits the mean score and the difficulty of each deal."""
    level, policy, mean = rows.level, rows.level.policy, _mean(rows)
    least = -np.inf if policy.least_mean is None else float(policy.least_mean) - _TOLERANCE
    most = np.inf if policy.mean_limit is None else float(policy.mean_limit) + _TOLERANCE
    for index in np.flatnonzero(_outside(mean, least, most)).tolist():
        yield f"deal {rows.numbers[index]}: {level.name} does not admit a mean of {mean[index]:.6f}"
    for number, difficulty in zip(rows.numbers, rows.columns.get("difficulty", ()), strict=False):
        if not policy.admits_difficulty(difficulty):
            yield f"deal {number}: {level.name} does not admit a difficulty of {difficulty}"


def difficulty_faults(rows: Rows) -> Iterator[str]:
    """Check the scoring, and the difficulty against the clear chance, of parts that have them."""
    if "difficulty" not in rows.columns:
        return
    columns = (rows.columns[name] for name in ("scoring", "clear_chance", "difficulty"))
    for number, scoring, chance, difficulty in zip(rows.numbers, *columns, strict=True):
        if scoring != SCORING:
            yield f"deal {number}: its scoring is {quoted(scoring)}, not {SCORING}"
        if not 0 <= chance <= 1:
            yield f"deal {number}: its clear chance is {chance}, which is not in 0 .. 1"
        elif difficulty not in _difficulties(chance):
            yield f"deal {number}: its difficulty is {difficulty}, which does not match its clear chance"


def _difficulties(chance: float) -> set[int]:
    """Return the difficulties of the masses that are rounded to a chance; two at a boundary, else one."""
    near = (math.nextafter(chance, end) for end in (0.0, 1.0))
    return {difficulty_of(int(each * TOTAL_MASS)) for each in (*near, chance)}


# A file may hold infinities and NaN; what is computed from them is outside every bound.
@np.errstate(all="ignore")
def _departures(rows: Rows) -> dict[str, Flags]:
    """Return the rows in which a value does not match the distribution, by the name of the value."""
    scores, mean, sd = rows.scores, _mean(rows), _stored(rows, "steady_sd")
    cleared = scores[:, :CLEARED_SCORES].sum(axis=1)
    return {
        "steady_scores": _differ(scores.sum(axis=1), 1.0) | ~(scores >= 0).all(axis=1),
        "steady_mean": _differ(_stored(rows, "steady_mean"), mean),
        "steady_sd": _differ(sd**2, scores @ _SCORES**2 - mean**2) | (sd < 0),
        "steady_clear_rate": _differ(_stored(rows, "steady_clear_rate"), cleared),
        **{name: _quantile_differs(rows, name, part) for name, part in _QUANTILES.items()},
        "par": _outside(_stored(rows, "par"), _par(mean - _TOLERANCE), _par(mean + _TOLERANCE)),
    }


@np.errstate(all="ignore")
def _mean(rows: Rows) -> Floats:
    mean: Floats = rows.scores @ _SCORES
    return mean


def _stored(rows: Rows, name: str) -> Floats:
    return np.array(rows.columns[name], dtype=np.float64)


def _differ(left: Floats, right: Floats | float) -> Flags:
    return _outside(left, right - _TOLERANCE, right + _TOLERANCE)


def _outside(values: Floats, least: Floats | float, most: Floats | float) -> Flags:
    # Negated, so that NaN is outside.
    return ~((least <= values) & (values <= most))


def _quantile_differs(rows: Rows, name: str, part: float) -> Flags:
    cumulated = rows.scores.cumsum(axis=1)
    least = _SCORES[(cumulated >= part - _TOLERANCE).argmax(axis=1)]
    most = _SCORES[(cumulated >= part + _TOLERANCE).argmax(axis=1)]
    return _outside(_stored(rows, name), least, most)


def _par(mean: Floats) -> Floats:
    return np.clip(np.floor(mean + 0.5), LOWEST_PAR, HIGHEST_PAR)


ROW_CHECKS: Final = (
    ("deal numbers and counts match the catalog", number_faults),
    ("levels and rules match the pool", level_faults),
    ("cards match the deal numbers", deal_faults),
    ("puzzle ids recomputed", puzzle_faults),
    ("lines replay to the stored score and draws", line_faults),
    ("par and statistics recomputed from the scores", distribution_faults),
    ("difficulty matches the clear chance", difficulty_faults),
    ("means and difficulties admitted by the level", admission_faults),
)
"""Every check of rows, in the order in which they run: its name, and the function that yields the faults."""
