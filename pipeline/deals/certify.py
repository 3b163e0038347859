"""Certify deals: solve them, rate them, apply the level's policy, and replay every line before it is kept.

Everything here is a pure function with plain values in and out, so it can run in a thread, in another process
or on another machine.
"""

from collections.abc import Sequence

from pipeline.deals.certified import CertifiedDeal
from pipeline.deals.levels import Level, par_of_mean
from pipeline.errors import CheckError
from pipeline.work.counts import Stopwatch, no_clock
from solver.errors import LineError
from solver.players import steady
from solver.players.difficulty import difficulty_of
from solver.players.distribution import ScoreDistribution
from solver.players.varied import VARIED
from solver.search import exact as search
from solver.search.exact import Solution
from solver.table.deal import Deal
from solver.table.replay import replay


def certify(level: Level, deal: Deal, number: int, watch: Stopwatch | None = None) -> CertifiedDeal | None:
    """Certify one deal; the result carries its number.

    Returns:
        The certified deal; None if it cannot be cleared or the policy does not admit it.

    Raises:
        CheckError: if the replay of the search's line contradicts the search.
    """
    _, certified = certify_each(level, [(number, deal)], watch or Stopwatch(no_clock))
    return certified[0] if certified else None


def certify_each(
    level: Level, deals: Sequence[tuple[int, Deal]], watch: Stopwatch
) -> tuple[tuple[int, ...], tuple[CertifiedDeal, ...]]:
    """Certify many deals with one call of each kernel.

    Returns:
        The numbers of the deals that can be cleared, and the certified deals, both in the order of `deals`.

    Raises:
        CheckError: see `certify`.
    """
    solutions = search.solve_each([deal for _, deal in deals], level.rules, fewest=False)
    solved = [(*each, solution) for each, solution in zip(deals, solutions, strict=True)]
    cleared = [each for each in solved if each[2].cleared]
    watch.lap("solving")
    distributions = steady.rate_each([deal for _, deal, _ in cleared], level.rules)
    rated = [
        (*each, distribution)
        for each, distribution in zip(cleared, distributions, strict=True)
        if level.policy.admits_mean(distribution.mean_exact)
    ]
    masses = VARIED.clear_masses([deal for _, deal, *_ in rated], level.rules)
    admitted = [
        (*each, mass)
        for each, mass in zip(rated, masses, strict=True)
        if level.policy.admits_difficulty(difficulty_of(mass))
    ]
    watch.lap("rating")
    certified = tuple(_certified(level, *each) for each in admitted)
    watch.lap("solving")
    return tuple(number for number, *_ in cleared), certified


def _certified(
    level: Level,
    number: int,
    deal: Deal,
    solution: Solution,
    distribution: ScoreDistribution,
    clear_mass: int,
) -> CertifiedDeal:
    """Build the result from the replay, after checking that it agrees with the search."""
    name = f"{level.name} deal {number}"
    line = solution.line or ""
    try:
        played = replay(deal, level.rules, line)
    except LineError as error:
        raise CheckError(f"{name}: the line {line!r} fails its replay: {error}") from error
    if (played.cleared, played.score, played.draws) != (True, solution.best_score, solution.draws):
        raise CheckError(
            f"{name}: the search claims score {solution.best_score} and {solution.draws} draws, but the "
            f"replay of {line!r} ends with {played}; please report this; nothing was stored"
        )
    return CertifiedDeal(
        level=level.name,
        deal_number=number,
        deal=deal,
        rules=level.rules.name,
        par=par_of_mean(distribution.mean_exact),
        best_score=played.score,
        line=line,
        draws=played.draws,
        distribution=distribution,
        clear_mass=clear_mass,
    )


def warm_up() -> None:
    """Compile or load all kernels; call it in the main thread before work is handed out.

    Signals are not handled while the main thread waits for a worker that compiles.
    """
    search.warm_up()
    steady.warm_up()
