"""Compare two generations of a level's pool: sizes, pars, the steady player's scores, and shared deals.

Parts are read one at a time. Only the number and the puzzle id of each deal are kept, eight bytes each.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pipeline.pools.catalog import Pool
from pipeline.pools.parts import read_named_part
from pipeline.store.storage import Storage
from solver.table.score import CLEARED_SCORES, HIGHEST_SCORE, LOWEST_SCORE, SCORE_COUNT

_Floats = npt.NDArray[np.float64]
_Identities = npt.NDArray[np.uint64]

_COLUMNS: Final = ("deal_number", "puzzle_id", "par", "steady_scores")
_SCORES: Final = np.arange(LOWEST_SCORE, HIGHEST_SCORE + 1)
_HEX: Final = 16


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary of a pool; the steady player's figures are for a deal drawn from it at random.

    Attributes:
        generation: the generation of the pool.
        deals: the number of deals.
        pars: the number of deals of each par, ascending in par.
        scores: for each par, the joint probabilities of this par and each of the 52 scores of the steady
            player, lowest first; over all pars they add up to 1.
    """

    generation: int
    deals: int
    pars: dict[int, int]
    scores: dict[int, tuple[float, ...]]

    @property
    def score_distribution(self) -> tuple[float, ...]:
        """The probability of each of the 52 scores, lowest first."""
        return tuple(float(chance) for chance in self._all_scores)

    @property
    def mean(self) -> float:
        """The mean score of the steady player."""
        return float(self._all_scores @ _SCORES)

    @property
    def sd(self) -> float:
        """The standard deviation of the steady player's score, over deals and holes."""
        return math.sqrt(float(self._all_scores @ (_SCORES - self.mean) ** 2))

    @property
    def clear_rate(self) -> float:
        """How often the steady player clears the columns."""
        return float(self._all_scores[:CLEARED_SCORES].sum())

    @property
    def against_par(self) -> dict[int, float]:
        """The probability of each score relative to the par of its deal, ascending; 0 is par."""
        chances: defaultdict[int, float] = defaultdict(float)
        for par, scores in self.scores.items():
            for score, chance in enumerate(scores, LOWEST_SCORE):
                chances[score - par] += chance
        return dict(sorted(chances.items()))

    @property
    def _all_scores(self) -> _Floats:
        total: _Floats = np.sum(list(self.scores.values()), axis=0, dtype=np.float64)
        return total


@dataclass(frozen=True, slots=True)
class Difference:
    """The comparison of two pools of a level: how many deal numbers and puzzles are in both.

    A puzzle may have several numbers, so there are at least as many common puzzles as common numbers.
    """

    first: Summary
    second: Summary
    same_numbers: int
    same_puzzles: int


def difference(storage: Storage, first: Pool, second: Pool) -> Difference:
    """Compare two pools of a level, each with at least one deal.

    Raises:
        DamagedError: a part is not as in its catalog.
    """
    one, other = _read(storage, first), _read(storage, second)
    return Difference(
        one.summary,
        other.summary,
        len(np.intersect1d(one.numbers, other.numbers, assume_unique=True)),
        len(np.intersect1d(one.puzzles, other.puzzles, assume_unique=True)),
    )


@dataclass(frozen=True, slots=True)
class _Content:
    """The summary, deal numbers and puzzle ids of a pool."""

    summary: Summary
    numbers: _Identities
    puzzles: _Identities


def _read(storage: Storage, pool: Pool) -> _Content:
    pars: Counter[int] = Counter()
    sums: dict[int, _Floats] = {}
    numbers, puzzles = [], []
    for part in pool.parts:
        table = read_named_part(storage, part, _COLUMNS)
        numbers.append(table["deal_number"].to_numpy())
        puzzles.append(_as_numbers(table["puzzle_id"].to_pylist()))
        part_pars, scores = table["par"].to_numpy(), _as_matrix(table["steady_scores"])
        for par in np.unique(part_pars).tolist():
            chosen = part_pars == par
            pars[par] += int(chosen.sum())
            sums[par] = sums.get(par, np.zeros(SCORE_COUNT)) + scores[chosen].sum(axis=0)
    chances = {par: tuple((sums[par] / pool.size).tolist()) for par in sorted(sums)}
    summary = Summary(pool.generation, pool.size, dict(sorted(pars.items())), chances)
    return _Content(summary, np.concatenate(numbers), np.concatenate(puzzles))


def _as_numbers(puzzles: Sequence[str]) -> _Identities:
    return np.fromiter((int(puzzle, _HEX) for puzzle in puzzles), np.uint64, len(puzzles))


def _as_matrix(lists: Any) -> _Floats:
    """Return a column of lists of 52 numbers as a matrix with one row per list."""
    matrix: _Floats = lists.combine_chunks().flatten().to_numpy().reshape(-1, SCORE_COUNT)
    return matrix
