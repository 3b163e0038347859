"""Calibration: whether par is where players are.

Players' scores are held against the steady player's, whose mean made the par: on the same deals, and as often
as each was played. So what is found does not depend on which deals the players happened to get.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import fsum
from typing import Final

from pipeline.deals.levels import DAILY, LEVELS, par_of_mean
from pipeline.play.results import Played
from pipeline.studies.statistics import Interval, Mean, Sample, mean_of, wilson_interval

LEAST_RESULTS: Final = 30
"""With fewer, the mean's interval is not to be relied on: it takes means to be distributed normally."""


class Verdict(StrEnum):
    """How players fare beside the steady player."""

    AS_RATED = "as rated"
    HARDER = "harder than rated"
    EASIER = "easier than rated"
    TOO_FEW = "too few results"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Players beside the steady player, over the results of one level and par.

    Attributes:
        level: name of the level, or `daily`.
        par: of the holes.
        score: the players' scores.
        apart: of each result, the score less the steady player's mean on that hole.
        steady_mean: the steady player's mean score over the same results.
        at_par: how many of the results are par or better.
        steady_at_par: the share that the steady player is expected to have at par or better.
    """

    level: str
    par: int
    score: Mean
    apart: Mean
    steady_mean: float
    at_par: Sample
    steady_at_par: float

    @property
    def at_par_interval(self) -> Interval:
        """Wilson 95 % interval of the players' share at par or better."""
        return wilson_interval(self.at_par)

    @property
    def verdict(self) -> Verdict:
        """Whether players and the steady player can be told apart, at 95 %."""
        spread = self.apart.spread
        if spread is None or self.apart.size < LEAST_RESULTS:
            return Verdict.TOO_FEW
        if spread.interval.low > 0:
            return Verdict.HARDER
        return Verdict.EASIER if spread.interval.high < 0 else Verdict.AS_RATED

    @property
    def players_par(self) -> int:
        """The par that the players' mean would give, by the rule that gives par from the steady mean."""
        return par_of_mean(Fraction(self.score.value))


def level_of(played: Played) -> str:
    """The level that a result counts under: `daily`, or the level that is played by its rules."""
    if played.day is not None:
        return DAILY.name
    return next(level.name for level in LEVELS.values() if level.rules == played.hole.rules)


def calibrations(results: Iterable[Played]) -> tuple[Calibration, ...]:
    """Hold results against the steady player.

    Returns:
        One for each level and par that there are results of: levels in their order, then the Daily; pars
        ascending.
    """
    groups: dict[tuple[str, int], list[Played]] = defaultdict(list)
    for played in results:
        groups[level_of(played), played.hole.par].append(played)
    order = [*LEVELS, DAILY.name]
    return tuple(
        _calibration(level, par, groups[level, par])
        for level, par in sorted(groups, key=lambda group: (order.index(group[0]), group[1]))
    )


def _calibration(level: str, par: int, results: list[Played]) -> Calibration:
    means = [played.hole.steady_mean for played in results]
    score = mean_of(Counter(played.score for played in results))
    apart = mean_of(Counter(played.score - played.hole.steady_mean for played in results))
    if score is None or apart is None:
        raise ValueError("no results to calibrate by")
    return Calibration(
        level=level,
        par=par,
        score=score,
        apart=apart,
        steady_mean=float(sum(means) / len(means)),
        at_par=Sample(sum(played.against_par <= 0 for played in results), len(results)),
        steady_at_par=fsum(played.hole.steady_at_par for played in results) / len(results),
    )
