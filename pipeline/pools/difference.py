"""Two generations of a level's pool side by side: sizes, pars, the steady player's scores, which deals stay.

Parts are read one after another. Of each deal only its number and its puzzle are kept, eight bytes each.
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
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE, SCORE_COUNT

_Floats = npt.NDArray[np.float64]
_Identities = npt.NDArray[np.uint64]

_COLUMNS: Final = ("deal_number", "puzzle_id", "par", "steady_scores")
_SCORES: Final = np.arange(LOWEST_SCORE, HIGHEST_SCORE + 1)
_HEX: Final = 16


@dataclass(frozen=True, slots=True)
class Summary:
    """A pool in a few numbers; the steady player's are those of a deal drawn from it at random.

    Attributes:
        generation: of the pool.
        deals: how many it holds.
        pars: how many deals have each par, ascending in par.
        scores: for each par how likely it is that the deal has this par and the steady player makes each of
            the 52 scores, lowest first; all of them add up to 1.
    """

    generation: int
    deals: int
    pars: dict[int, int]
    scores: dict[int, tuple[float, ...]]

    @property
    def score_distribution(self) -> tuple[float, ...]:
        """How likely each of the 52 scores is, lowest first."""
        return tuple(float(chance) for chance in self._all_scores)

    @property
    def mean(self) -> float:
        """Mean score of the steady player."""
        return float(self._all_scores @ _SCORES)

    @property
    def sd(self) -> float:
        """Standard deviation of the steady player's score, over deals and holes."""
        return math.sqrt(float(self._all_scores @ (_SCORES - self.mean) ** 2))

    @property
    def clear_rate(self) -> float:
        """How often the steady player clears the columns."""
        return float(self._all_scores[_SCORES <= 0].sum())

    @property
    def against_par(self) -> dict[int, float]:
        """How likely each score is against the par of its deal, ascending; 0 is par."""
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
    """Two pools of a level.

    Attributes:
        first: the one that was named first.
        second: the other one.
        same_numbers: deals that are in both under one number.
        same_puzzles: puzzles that are in both; at least as many, as a puzzle may have several numbers.
    """

    first: Summary
    second: Summary
    same_numbers: int
    same_puzzles: int


def difference(storage: Storage, first: Pool, second: Pool) -> Difference:
    """Hold two pools against each other.

    Args:
        storage: the data root; it is only read.
        first: a pool with at least one deal.
        second: another one of that level.

    Raises:
        DamagedError: a part is not what its catalog says.
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
    """What is kept of a pool: its summary, deal numbers and puzzle ids."""

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
    """A column of lists of 52 numbers as a matrix with a row for each."""
    matrix: _Floats = lists.combine_chunks().flatten().to_numpy().reshape(-1, SCORE_COUNT)
    return matrix
