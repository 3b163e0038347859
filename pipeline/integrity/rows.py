"""The rows of a part held against what they follow from: each check yields the faults it finds.

Nothing is solved here. The rows come from a file, so any value of the right type may stand in them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from pipeline.deals.columns import COLUMNS
from pipeline.deals.levels import HIGHEST_PAR, LOWEST_PAR, Level
from pipeline.deals.shuffle import MOST_DEAL_NUMBER, deal_numbered
from pipeline.pools.catalog import Part
from solver.errors import LineError
from solver.table.deal import Deal
from solver.table.replay import replay
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE, SCORE_COUNT

Floats: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]

# Stored values were rounded once from exact integers; worked out from one another, they come this close.
_TOLERANCE: Final = 1e-9
_SCORES: Final = np.arange(LOWEST_SCORE, HIGHEST_SCORE + 1, dtype=np.float64)
_QUANTILES: Final = {"steady_p10": 0.1, "steady_p50": 0.5, "steady_p90": 0.9}
_CLEARED: Final = 1 - LOWEST_SCORE  # scores up to 0


@dataclass(frozen=True)
class Rows:
    """The rows of one part.

    Attributes:
        part: what the catalog says of it.
        level: the level it belongs to.
        columns: each column as a list.
    """

    part: Part
    level: Level
    columns: Mapping[str, Sequence[Any]]

    @property
    def numbers(self) -> Sequence[int]:
        """The deal numbers."""
        return self.columns["deal_number"]

    @cached_property
    def deals(self) -> tuple[Deal | None, ...]:
        """The deals that the numbers name; None for what is no deal number."""
        return tuple(deal_numbered(n) if n <= MOST_DEAL_NUMBER else None for n in self.numbers)

    @cached_property
    def scores(self) -> Floats:
        """The score distributions, one row a deal."""
        return np.array(self.columns["steady_scores"], dtype=np.float64).reshape(-1, SCORE_COUNT)

    def row(self, index: int) -> tuple[Any, ...]:
        """One row, in the order of `COLUMNS`."""
        return tuple(self.columns[column.name][index] for column in COLUMNS)

    def dealt(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """Number, deal and the values of some columns, for each row whose number is one."""
        columns = (self.columns[name] for name in names)
        return (row for row in zip(self.numbers, self.deals, *columns, strict=True) if row[1] is not None)


def shape_faults(columns: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Columns with nulls, and distributions of another length; nothing else can be checked then."""
    for name, values in columns.items():
        if None in values:
            yield f"row {values.index(None)}: {name} is null"
    for index, scores in enumerate(columns["steady_scores"]):
        if scores is not None and (len(scores) != SCORE_COUNT or None in scores):
            yield f"row {index}: steady_scores does not hold {SCORE_COUNT} numbers"


def number_faults(rows: Rows) -> Iterator[str]:
    """Rows or pars not as many as the catalog says, rows not ascending or outside the part's numbers."""
    part, numbers = rows.part, rows.numbers
    if len(numbers) != part.rows:
        yield f"{len(numbers)} rows, not {part.rows} as the catalog says"
    for before, after in pairwise(numbers):
        if after <= before:
            yield f"deal {after} comes after deal {before}"
    for number in numbers:
        if not part.first <= number <= part.last:
            yield f"deal {number} is not in {part.first} .. {part.last}"
    if numbers and numbers[-1] != part.last:
        yield f"it ends with deal {numbers[-1]}, not {part.last} as the catalog says"
    pars = {str(par): count for par, count in sorted(Counter(rows.columns["par"]).items())}
    if part.pars not in (None, pars):
        yield f"its pars are {pars}, not {part.pars} as the catalog says"


def level_faults(rows: Rows) -> Iterator[str]:
    """Rows of another level, or of other rules than their level's."""
    expected = rows.level.name, rows.level.rules.name
    for number, *found in zip(rows.numbers, rows.columns["level"], rows.columns["rules"], strict=True):
        if tuple(found) != expected:
            yield f"deal {number}: level and rules are {' and '.join(found)}, not {' and '.join(expected)}"


def deal_faults(rows: Rows) -> Iterator[str]:
    """Deals whose text is not their number's shuffle."""
    for number, deal, text in rows.dealt("deal"):
        if text != deal.notation:
            yield f"deal {number}: the cards are not those of its number"


def puzzle_faults(rows: Rows) -> Iterator[str]:
    """Puzzle ids that are not those of the cards."""
    for number, deal, puzzle_id in rows.dealt("puzzle_id"):
        if puzzle_id != deal.puzzle_id:
            yield f"deal {number}: its puzzle id is {deal.puzzle_id}, not {puzzle_id!r}"


def line_faults(rows: Rows) -> Iterator[str]:
    """Lines that are not legal, do not clear, or come to another score or number of draws than stored."""
    for number, deal, line, best_score, draws in rows.dealt("line", "best_score", "draws"):
        try:
            played = replay(deal, rows.level.rules, line)
        except LineError as error:
            yield f"deal {number}: {error}"
            continue
        stored, found = (best_score, draws), (played.score, played.draws)
        if not played.cleared or stored != found:
            yield f"deal {number}: score and draws are {stored}, the line comes to {found}"


def distribution_faults(rows: Rows) -> Iterator[str]:
    """Values that do not follow from the stored distribution: moments, quantiles and par."""
    for name, flags in _departures(rows).items():
        for index in np.flatnonzero(flags).tolist():
            yield f"deal {rows.numbers[index]}: {name} does not follow from its scores"


def admission_faults(rows: Rows) -> Iterator[str]:
    """Deals whose mean score the level does not admit."""
    level, mean = rows.level, _mean(rows)
    least = -np.inf if level.mean_from is None else float(level.mean_from) - _TOLERANCE
    most = np.inf if level.mean_below is None else float(level.mean_below) + _TOLERANCE
    for index in np.flatnonzero(_outside(mean, least, most)).tolist():
        yield f"deal {rows.numbers[index]}: {level.name} does not admit a mean of {mean[index]:.6f}"


# Numbers beyond all bounds may stand in a file; what comes of them is inside no bound.
@np.errstate(all="ignore")
def _departures(rows: Rows) -> dict[str, Flags]:
    """For each value that follows from the distribution, the rows in which it is another."""
    scores, mean, sd = rows.scores, _mean(rows), _stored(rows, "steady_sd")
    cleared = scores[:, :_CLEARED].sum(axis=1)
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
    # Said by what is inside, so that what is no number is outside.
    return ~((least <= values) & (values <= most))


def _quantile_differs(rows: Rows, name: str, part: float) -> Flags:
    cumulated = rows.scores.cumsum(axis=1)
    least = _SCORES[(cumulated >= part - _TOLERANCE).argmax(axis=1)]
    most = _SCORES[(cumulated >= part + _TOLERANCE).argmax(axis=1)]
    return _outside(_stored(rows, name), least, most)


def _par(mean: Floats) -> Floats:
    return np.clip(np.floor(mean + 0.5), LOWEST_PAR, HIGHEST_PAR)
