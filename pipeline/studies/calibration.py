"""Calibration: compare players with the steady player, whose mean score determines par.

Each result is compared with the steady player's mean on the same hole, so the comparison does not depend on
which holes the players happened to play.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import fsum
from typing import Final

from pipeline.deals.levels import DAILY_NAME, LEVELS, par_of_mean
from pipeline.play.results import Played
from pipeline.studies.statistics import Interval, Mean, Sample, mean_of, wilson_interval

MIN_RESULTS: Final = 30
"""With fewer results the interval of the mean, a normal approximation, is not reliable."""


class Verdict(StrEnum):
    """How players compare with the steady player."""

    AS_RATED = "as rated"
    HARDER = "harder than rated"
    EASIER = "easier than rated"
    TOO_FEW = "too few results"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Comparison of players with the steady player over the results of one level and par.

    Attributes:
        level: name of the level, or `daily`.
        par: par of the holes.
        score: mean score of the players.
        apart: mean of score minus the steady player's mean on the same hole.
        steady_mean: mean score of the steady player over the same results.
        at_par: number of results at par or better.
        steady_at_par: share at par or better that is expected of the steady player.
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
        """Wilson 95 % interval of the share of players at par or better."""
        return wilson_interval(self.at_par)

    @property
    def verdict(self) -> Verdict:
        """Whether players differ from the steady player, at 95 %."""
        spread = self.apart.spread
        if spread is None or self.apart.size < MIN_RESULTS:
            return Verdict.TOO_FEW
        if spread.interval.low > 0:
            return Verdict.HARDER
        return Verdict.EASIER if spread.interval.high < 0 else Verdict.AS_RATED

    @property
    def players_par(self) -> int:
        """The par that results from the players' mean by the rule of par v1."""
        return par_of_mean(Fraction(self.score.value))


def level_of(played: Played) -> str:
    """Return `daily` for a Daily hole, otherwise the level with the rules of the hole, or those rules."""
    if played.day is not None:
        return DAILY_NAME
    names = (level.name for level in LEVELS.values() if level.rules == played.hole.rules)
    return next(names, played.hole.rules.name)


def calibrations(results: Iterable[Played]) -> tuple[Calibration, ...]:
    """Compare results with the steady player.

    Returns:
        One calibration per level and par that occur: levels in their order, then the Daily; pars ascending.
    """
    groups: dict[tuple[str, int], list[Played]] = defaultdict(list)
    for played in results:
        groups[level_of(played), played.hole.par].append(played)
    order = [*LEVELS, DAILY_NAME]
    return tuple(
        _calibration(level, par, groups[level, par])
        for level, par in sorted(groups, key=lambda group: (order.index(group[0]), group[1]))
    )


def _calibration(level: str, par: int, results: list[Played]) -> Calibration:
    means = [played.hole.steady_mean for played in results]
    score = mean_of(Counter(played.score for played in results))
    apart = mean_of(Counter(played.score - played.hole.steady_mean for played in results))
    if score is None or apart is None:
        raise ValueError("a calibration needs results")
    return Calibration(
        level=level,
        par=par,
        score=score,
        apart=apart,
        steady_mean=float(sum(means) / len(means)),
        at_par=Sample(sum(played.against_par <= 0 for played in results), len(results)),
        steady_at_par=fsum(played.hole.steady_at_par for played in results) / len(results),
    )
