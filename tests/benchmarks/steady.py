"""The steady player: the exact score distribution of a deal."""

from collections.abc import Iterator, Sequence

from solver.players.steady import rate
from solver.table.deal import Deal
from solver.table.rules import RULES, Rules
from tests.benchmarks.figures import Bench, Figure
from tests.benchmarks.sweep import random_deals
from tests.benchmarks.timing import Spent, cpu_microseconds, in_turn, timed


def measure(bench: Bench) -> Iterator[Figure]:
    """Measure all rules, over all deals, whether they can be cleared or not."""
    deals = random_deals(bench.deals)
    for rules in RULES.values():
        bench.report(f"steady player, {rules.name}: {bench.rounds} rounds of {len(deals):,} deals")
        yield _of_rules(rules, deals, bench.rounds)


def _of_rules(rules: Rules, deals: Sequence[Deal], rounds: int) -> Figure:
    def rated() -> Spent:
        fresh = [Deal(deal.cards) for deal in deals]  # a deal caches its properties
        _, spent = timed(lambda: [rate(deal, rules) for deal in fresh])
        return spent.each(len(deals))

    spent = in_turn(rounds, {"rate": rated})["rate"]
    return Figure(f"{rules.name}: steady player", "us per deal", cpu_microseconds(spent))
