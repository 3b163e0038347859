"""The command compared with the yardstick, and two commands on the data root of a night.

Compared is `fairway deal solve --verdict-only --file` with one worker. Starting is excluded: the time for one
deal is subtracted from the time for all of them.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from solver.table.deal import Deal
from solver.table.rules import RULES
from tests.benchmarks import sweep
from tests.benchmarks.children import run_child
from tests.benchmarks.figures import Bench, Figure
from tests.benchmarks.sweep import Run
from tests.benchmarks.timing import (
    Spent,
    children_clock,
    cpu_microseconds,
    in_turn,
    ratios,
    timed,
    wall_milliseconds,
)

_FAIRWAY: Final = (sys.executable, "-c", "from jobs.cli import main; main()")


def fairway(*arguments: str | Path) -> tuple[str, Spent]:
    """Run the command of this checkout; return its standard output and the time from start to end."""
    done, spent = timed(partial(run_child, *_FAIRWAY, *arguments), children_clock)
    return done.stdout, spent


def measure(bench: Bench) -> Iterator[Figure]:
    """Measure all rules."""
    program = sweep.build(bench.folder)
    deals = sweep.random_deals(bench.deals)
    for rules in RULES:
        bench.report(f"command, {rules}: {bench.rounds} rounds of {len(deals):,} deals")
        yield from _of_rules(rules, deals, program, bench)
    yield from _of_a_night(bench)


def _of_rules(rules: str, deals: Sequence[Deal], program: Path, bench: Bench) -> Iterator[Figure]:
    all_file, one_file = _written(bench.folder, deals), _written(bench.folder, deals[:1])
    _solved(rules, one_file)  # anything that only the first start has to do
    runs = in_turn(
        bench.rounds,
        {
            "yardstick": lambda: sweep.run(program, rules, deals),
            "all": lambda: _solved(rules, all_file),
            "one": lambda: _solved(rules, one_file),
        },
    )
    for ours, theirs in zip(runs["all"], runs["yardstick"], strict=True):
        sweep.compare_answers(f"{rules}, the command", ours.answers, theirs.answers)
    spent = [
        (every.spent - one.spent).each(len(deals) - 1)
        for every, one in zip(runs["all"], runs["one"], strict=True)
    ]
    yardstick = [run.spent for run in runs["yardstick"]]
    cpu = ratios((own.cpu for own in spent), (other.cpu for other in yardstick))
    wall = ratios((own.wall for own in spent), (other.wall for other in yardstick))
    starts = wall_milliseconds(run.spent for run in runs["one"])
    yield Figure(f"{rules}: command", "us per deal", cpu_microseconds(spent))
    yield Figure(f"{rules}: command to yardstick", "ratio", cpu)
    yield Figure(f"{rules}: command to yardstick, wall", "ratio", wall)
    yield Figure(f"{rules}: command for one deal", "ms", starts)


def _of_a_night(bench: Bench) -> Iterator[Figure]:
    """Measure whole commands on a data root with one night, as the default settings make it."""
    root = bench.folder / "night"
    bench.report("command: making the data root of a night")
    fairway("nightly", "--data", root)
    spent = in_turn(
        bench.rounds,
        {
            "status": lambda: fairway("status", "--data", root)[1],
            "verify --sample 0": lambda: fairway("verify", "--sample", "0", "--data", root)[1],
        },
    )
    for name, found in spent.items():
        yield Figure(f"{name} after a night", "ms", wall_milliseconds(found))


def _written(folder: Path, deals: Sequence[Deal]) -> Path:
    file = folder / f"{len(deals)}-deals.txt"
    file.write_text("".join(f"{deal.notation}\n" for deal in deals), "ascii")
    return file


def _solved(rules: str, file: Path) -> Run:
    """Run the command on a file; the time is that of the whole run, including its start."""
    options = ("--verdict-only", "--workers", "1", "--rules", rules)
    output, spent = fairway("deal", "solve", *options, "--file", file)
    documents = [json.loads(line) for line in output.splitlines()]
    answers = tuple(
        str(document["best_score"]) if document["cleared"] else sweep.NOT_CLEARED for document in documents
    )
    return Run(answers, spent)
