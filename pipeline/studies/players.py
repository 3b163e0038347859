"""The players' study: what the simulated players say of the same deals, and how many have each difficulty.

A study takes consecutive deal numbers and keeps those that can be cleared. Every row of the table of players
has a measure of its own, its clear rate; the varied player's is the clear chance, from which the difficulty
follows. Nothing is stored between runs.
"""

import math
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from pipeline.deals.shuffle import deal_numbered
from pipeline.studies.statistics import spearman
from pipeline.studies.winnability import Study
from pipeline.work.executors import Work
from solver.players import steady
from solver.players.difficulty import EASIEST, HARDEST, difficulty_of
from solver.players.distribution import TOTAL_MASS
from solver.players.player import PLAYERS
from solver.players.varied import VARIED
from solver.search import exact
from solver.table.rules import rules_named

MAX_PLAYED_NUMBERS: Final = 1_000_000  # all ratings are in memory, to be ranked
BATCH_NUMBERS: Final = 20  # under half a second of work, so that a signal is handled soon

DIFFICULTIES: Final = range(EASIEST, HARDEST + 1)
CELLS_PER_CARD: Final = 2  # cells of the steady mean
CELLS_PER_TENFOLD: Final = 4  # cells of the clear chance
LAST_CHANCE_CELL: Final = 10 * CELLS_PER_TENFOLD  # one try in 10^10, and all smaller chances


@dataclass(frozen=True, slots=True)
class MeanRange:
    """The range of the steady mean that a level admits.

    Attributes:
        level: name of the level.
        low: least admitted mean; None for no bound.
        below: exclusive upper bound; None for no bound.
    """

    level: str
    low: Fraction | None = None
    below: Fraction | None = None

    def __contains__(self, mean: Fraction) -> bool:
        return (self.low is None or mean >= self.low) and (self.below is None or mean < self.below)


MEAN_RANGES: Final[Mapping[str, MeanRange]] = MappingProxyType(
    {
        "relaxed": MeanRange("easy", below=Fraction(9, 2)),
        "golf": MeanRange("medium"),
        "dead_king": MeanRange("hard", low=Fraction(7, 2), below=Fraction(13, 2)),
    }
)
"""The frozen ranges of policy v1, by rules: of these deals a policy may admit only some difficulties."""


@dataclass(frozen=True, slots=True)
class Rating:
    """What is known of a deal that can be cleared.

    Attributes:
        steady_mean: the steady player's mean score, rounded to a float.
        is_in_range: whether that mean lies in the range of the rules' level.
        mean_cell: that mean in halves of a card, rounded down.
        best_score: the best score.
        masses: of the holes that each player clears, in the order of `PLAYERS`.
    """

    steady_mean: float
    is_in_range: bool
    mean_cell: int
    best_score: int
    masses: tuple[int, ...]

    @property
    def clear_chance_mass(self) -> int:
        """The mass of the holes that the varied player clears."""
        return self.masses[list(PLAYERS).index(VARIED.name)]


@dataclass(frozen=True, slots=True)
class PlayersFindings:
    """What a players' study found.

    Attributes:
        study: the numbers and the rules.
        measures: what was measured of each deal: names as columns spell them.
        correlations: Spearman's rank correlation of each measure with each, over the deals that can be
            cleared; None if one of the two is the same for all deals.
        difficulties: how many of the deals that can be cleared have each difficulty, 1 to 5.
        level: the level whose range of the steady mean was applied; empty if the rules have none.
        level_difficulties: the same as `difficulties`, over the deals in that range.
        cells: how many deals there are in each cell: a steady mean in halves of a card, rounded down, and
            the number of tries for a clear in quarters of a power of ten, rounded down, at most 10^10.
    """

    study: Study
    measures: tuple[str, ...]
    correlations: tuple[tuple[float | None, ...], ...]
    difficulties: tuple[int, ...]
    level: str
    level_difficulties: tuple[int, ...]
    cells: tuple[tuple[int, int, int], ...]

    def __post_init__(self) -> None:
        size = len(self.measures)
        is_sound = (
            len(self.correlations) == size
            and all(len(row) == size for row in self.correlations)
            and len(self.difficulties) == len(self.level_difficulties) == len(DIFFICULTIES)
            and all(0 <= few <= all_ for few, all_ in zip(*self._counts, strict=True))
            and sum(count for *_, count in self.cells) == self.cleared <= self.study.count
        )
        if not is_sound:
            raise ValueError(f"the counts of {self.study.count} deals under {self.study.rules} do not add up")

    @property
    def _counts(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.level_difficulties, self.difficulties

    @property
    def cleared(self) -> int:
        """How many of the deals can be cleared."""
        return sum(self.difficulties)

    def correlation(self, one: str, other: str) -> float | None:
        """Return the rank correlation of two measures."""
        return self.correlations[self.measures.index(one)][self.measures.index(other)]


def measures() -> tuple[str, ...]:
    """Return the names of all measures: one a player, between those of the steady player and the search."""
    return ("steady_mean", *(f"{name}_clear_rate" for name in PLAYERS), "best_score")


def rate_numbers(study: Study) -> list[Rating]:
    """Rate those deals of a study that can be cleared, with one call of each kernel."""
    rules = rules_named(study.rules)
    deals = [deal_numbered(number) for number in range(study.first, study.last + 1)]
    solved = zip(deals, exact.solve_each(deals, rules, fewest=False), strict=True)
    scores = {deal: solution.best_score for deal, solution in solved if solution.cleared}
    cleared = list(scores)
    means = [distribution.mean_exact for distribution in steady.rate_each(cleared, rules)]
    masses = zip(*(player.clear_masses(cleared, rules) for player in PLAYERS.values()), strict=True)
    return [
        Rating(
            float(mean),
            study.rules in MEAN_RANGES and mean in MEAN_RANGES[study.rules],
            math.floor(mean * CELLS_PER_CARD),
            scores[deal] or 0,
            of_players,
        )
        for deal, mean, of_players in zip(cleared, means, masses, strict=True)
    ]


def play(study: Study, work: Work) -> PlayersFindings:
    """Carry out a players' study; the task in the progress is its rules."""
    # Compiled in this thread: signals are not handled while it waits for a worker that compiles.
    exact.warm_up()
    for player in PLAYERS.values():
        player.clear_masses([deal_numbered(study.first)], rules_named(study.rules))
    work.progress.update(study.rules, 0, study.count)
    with closing(_rated(study, work)) as ratings:
        return findings_of(study, list(ratings))


def findings_of(study: Study, ratings: Sequence[Rating]) -> PlayersFindings:
    """Derive what a study found from its ratings."""
    columns: list[Sequence[float]] = [
        [rating.steady_mean for rating in ratings],
        *([rating.masses[at] for rating in ratings] for at in range(len(PLAYERS))),
        [rating.best_score for rating in ratings],
    ]
    level = MEAN_RANGES.get(study.rules)
    cells = Counter((rating.mean_cell, _chance_cell(rating.clear_chance_mass)) for rating in ratings)
    return PlayersFindings(
        study,
        measures(),
        tuple(tuple(spearman(one, other) for other in columns) for one in columns),
        _difficulties(ratings),
        level.level if level else "",
        _difficulties([rating for rating in ratings if rating.is_in_range]),
        tuple((*cell, count) for cell, count in sorted(cells.items())),
    )


def _rated(study: Study, work: Work) -> Generator[Rating, None, None]:
    done = 0
    pieces = list(study.split(BATCH_NUMBERS))
    with closing(work.in_order(rate_numbers, pieces)) as results:
        for piece, ratings in zip(pieces, results, strict=True):
            done += piece.count
            work.progress.update(study.rules, done, study.count)
            yield from ratings


def _difficulties(ratings: Sequence[Rating]) -> tuple[int, ...]:
    counts = Counter(difficulty_of(rating.clear_chance_mass) for rating in ratings)
    return tuple(counts[difficulty] for difficulty in DIFFICULTIES)


def _chance_cell(mass: int) -> int:
    if not mass:
        return LAST_CHANCE_CELL
    return min(LAST_CHANCE_CELL, math.floor(CELLS_PER_TENFOLD * math.log10(TOTAL_MASS / mass)))
