"""The exact search compared with the yardstick, on the same deals in turn, on one core."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from solver.search.exact import Solution, solve
from solver.table.deal import Deal
from solver.table.rules import RULES, Rules
from tests.benchmarks import sweep
from tests.benchmarks.figures import Bench, Figure
from tests.benchmarks.sweep import Run
from tests.benchmarks.timing import cpu_microseconds, in_turn, ratios, timed


def measure(bench: Bench) -> Iterator[Figure]:
    """Measure all rules."""
    program = sweep.build(bench.folder)
    deals = sweep.random_deals(bench.deals)
    for rules in RULES.values():
        bench.report(f"search, {rules.name}: {bench.rounds} rounds of {len(deals):,} deals")
        for name, unit, values in _of_rules(rules, deals, bench.rounds, program):
            yield Figure(f"{rules.name}: {name}", unit, values)


_Row = tuple[str, str, tuple[float, ...]]


def _of_rules(rules: Rules, deals: Sequence[Deal], rounds: int, program: Path) -> Iterator[_Row]:
    # Finding the fewest cards takes most of its time on the deals that cannot be cleared, so they are also
    # measured alone, with the yardstick on the same deals.
    stuck = [deal for deal in deals if not solve(deal, rules, fewest=False).cleared]
    runs = in_turn(
        rounds,
        {
            "yardstick": lambda: sweep.run(program, rules.name, deals),
            "verdict": lambda: _run(rules, deals, _verdict),
            "fewest": lambda: _run(rules, deals, solve),
            "yardstick, not cleared": lambda: sweep.run(program, rules.name, stuck),
            "fewest, not cleared": lambda: _run(rules, stuck, solve),
        },
    )
    for name, base in (
        ("verdict", "yardstick"),
        ("fewest", "yardstick"),
        ("fewest, not cleared", "yardstick, not cleared"),
    ):
        for ours, theirs in zip(runs[name], runs[base], strict=True):
            sweep.compare_answers(f"{rules.name}, {name}", ours.answers, theirs.answers)
    cpu = {name: [run.spent.cpu for run in found] for name, found in runs.items()}
    wall = {name: [run.spent.wall for run in found] for name, found in runs.items()}
    for name, found in runs.items():
        yield name, "us per deal", cpu_microseconds(run.spent for run in found)
    yield "verdict to yardstick", "ratio", ratios(cpu["verdict"], cpu["yardstick"])
    yield "verdict to yardstick, wall", "ratio", ratios(wall["verdict"], wall["yardstick"])
    yield "fewest to yardstick", "ratio", ratios(cpu["fewest"], cpu["yardstick"])
    alone = ratios(cpu["fewest, not cleared"], cpu["yardstick, not cleared"])
    yield "fewest to yardstick, not cleared", "ratio", alone
    yield "yardstick, wall to processor time", "ratio", ratios(wall["yardstick"], cpu["yardstick"])


def _verdict(deal: Deal, rules: Rules) -> Solution:
    return solve(deal, rules, fewest=False)


def _run(rules: Rules, deals: Sequence[Deal], solver: Callable[[Deal, Rules], Solution]) -> Run:
    fresh = [Deal(deal.cards) for deal in deals]  # a deal caches its properties
    solutions, spent = timed(lambda: [solver(deal, rules) for deal in fresh])
    answers = tuple(
        str(solution.best_score) if solution.cleared else sweep.NOT_CLEARED for solution in solutions
    )
    return Run(answers, spent.each(len(deals)))
