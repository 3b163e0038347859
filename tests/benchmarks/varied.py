"""The varied player compared with the yardstick, in turn, on one core; and Daily holes chosen by difficulty.

The player is measured over the deals that can be cleared, as only those are certified; the yardstick over all
deals, as elsewhere, and over the same deals as the player.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from pipeline.daily.hole import choose
from pipeline.deals.levels import DAILY_V2_FROM
from solver.players.varied import VARIED
from solver.search.exact import solve
from solver.table.deal import Deal
from solver.table.rules import RULES, Rules
from tests.benchmarks import sweep
from tests.benchmarks.figures import Bench, Figure
from tests.benchmarks.timing import Spent, cpu_microseconds, in_turn, ratios, timed

_DATES: Final = 35  # each weekday five times


def measure(bench: Bench) -> Iterator[Figure]:
    """Measure all rules."""
    program = sweep.build(bench.folder)
    deals = sweep.random_deals(bench.deals)
    for rules in RULES.values():
        cleared = [deal for deal in deals if solve(deal, rules, fewest=False).cleared]
        bench.report(f"varied player, {rules.name}: {bench.rounds} rounds of {len(cleared):,} deals")
        yield from _of_rules(rules, (deals, cleared), bench.rounds, program)
    bench.report(f"Daily holes: {bench.rounds} rounds of {_DATES} dates")
    spent = in_turn(bench.rounds, {"dates": _choose_holes})["dates"]
    yield Figure("a Daily hole from 2027 on", "ms per date", tuple(each.cpu * 1000 for each in spent))


def _choose_holes() -> Spent:
    days = [DAILY_V2_FROM + timedelta(n) for n in range(_DATES)]
    _, spent = timed(lambda: [choose(day, None) for day in days])
    return spent.each(_DATES)


def _of_rules(
    rules: Rules, sample: tuple[Sequence[Deal], Sequence[Deal]], rounds: int, program: Path
) -> Iterator[Figure]:
    deals, cleared = sample
    spent = in_turn(
        rounds,
        {
            "yardstick": lambda: sweep.run(program, rules.name, deals).spent,
            "yardstick, cleared": lambda: sweep.run(program, rules.name, cleared).spent,
            "varied player": lambda: _run(rules, cleared),
        },
    )
    cpu = {name: [each.cpu for each in found] for name, found in spent.items()}
    for name, found in spent.items():
        yield Figure(f"{rules.name}: {name}", "us per deal", cpu_microseconds(found))
    for base in ("yardstick", "yardstick, cleared"):
        ratio = ratios(cpu["varied player"], cpu[base])
        yield Figure(f"{rules.name}: varied player to {base}", "ratio", ratio)


def _run(rules: Rules, deals: Sequence[Deal]) -> Spent:
    fresh = [Deal(deal.cards) for deal in deals]  # a deal caches its properties
    masses, spent = timed(lambda: VARIED.clear_masses(fresh, rules))
    if min(masses) < 0:
        raise sweep.WrongAnswerError(f"{rules.name}: a negative mass")
    return spent.each(len(deals))
