"""The shuffle: from a number to a deal."""

from collections.abc import Iterator

from tests.benchmarks.figures import Bench, Figure
from tests.benchmarks.sweep import random_deals
from tests.benchmarks.timing import Spent, cpu_microseconds, in_turn, timed


def measure(bench: Bench) -> Iterator[Figure]:
    """Measure the shuffle."""
    bench.report(f"shuffle: {bench.rounds} rounds of {bench.deals:,} deals")

    def shuffled() -> Spent:
        _, spent = timed(lambda: random_deals(bench.deals))
        return spent.each(bench.deals)

    spent = in_turn(bench.rounds, {"shuffle": shuffled})["shuffle"]
    yield Figure("shuffle", "us per deal", cpu_microseconds(spent))
