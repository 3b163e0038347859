"""The yardstick: built for this machine, timed, and its answers compared with ours."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from pipeline.deals.shuffle import deal_numbered
from solver.table.deal import Deal
from tests.benchmarks.children import run_child
from tests.benchmarks.timing import Spent, children_clock, timed
from tests.twins import yardstick

FOR_THIS_MACHINE: Final = "-march=native"
NOT_CLEARED: Final = "-"

_MICROSECOND: Final = 1e-6
_REPORT: Final = re.compile(r"([0-9]+) deals, ([0-9.]+) us per deal\n")


class WrongAnswerError(Exception):
    """A measured solver gave a wrong answer, so its time means nothing."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run over some deals.

    Attributes:
        answers: the best score of each deal as text, or `NOT_CLEARED`.
        spent: time per deal.
    """

    answers: tuple[str, ...]
    spent: Spent


def random_deals(count: int) -> tuple[Deal, ...]:
    """Return the deals that all solvers are measured on: those of the first deal numbers."""
    return tuple(deal_numbered(number) for number in range(count))


def build(folder: Path) -> Path:
    """Compile the yardstick for the processor of this machine."""
    return yardstick.build(folder, FOR_THIS_MACHINE)


def run(program: Path, rules: str, deals: Sequence[Deal]) -> Run:
    """Run the yardstick.

    Returns:
        Its answers and times. The wall time is the one that it reports, without start and reading; the
        processor time is that of the process, of which start and reading are some thousandths.
    """
    text = "".join(f"{deal.notation}\n" for deal in deals)
    done, spent = timed(partial(run_child, program, rules, text=text), children_clock)
    wall = reported_wall(done.stderr, len(deals))
    return Run(tuple(done.stdout.split()), Spent(wall, spent.each(len(deals)).cpu))


def reported_wall(report: str, count: int) -> float:
    """Return the seconds per deal that the yardstick reports.

    Raises:
        ValueError: if the report is not about this number of deals.
    """
    match = _REPORT.fullmatch(report)
    if match is None or int(match[1]) != count:
        raise ValueError(f"the yardstick was given {count} deals and reports {report!r}")
    return float(match[2]) * _MICROSECOND


def compare_answers(what: str, ours: Sequence[str], theirs: Sequence[str]) -> None:
    """Check that both give the same answers.

    Raises:
        WrongAnswerError: if they do not.
    """
    if tuple(ours) != tuple(theirs):
        wrong = [place for place, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]]
        raise WrongAnswerError(
            f"{what}: {len(ours)} answers, {len(theirs)} of the yardstick; different for deals {wrong[:9]}"
        )
