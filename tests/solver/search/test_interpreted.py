"""The kernels as plain Python: `NUMBA_DISABLE_JIT=1 pytest -m interpreted`.

Without the compiler an overflow, a wrong index or a line that never runs is detected, and coverage tools see
the kernels. Compiled, the same checks take no time.
"""

import inspect
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

import pytest

from pipeline.deals.shuffle import deal_numbered
from solver import jit
from solver.players import cards_kernel, run_kernel, steady_kernel, varied, varied_kernel
from solver.players.steady import Workspace, rate, score_masses
from solver.players.varied import VARIED
from solver.search import line_kernel, solve_kernel, sweep_kernel
from solver.search.exact import solve, solve_position
from solver.table.deal import parse_deal
from solver.table.rules import RULES, Rules
from tests.support.holes import any_position
from tests.support.reference import frozen, table
from tests.twins import naive
from tests.twins.naive_steady import exact_masses

REFERENCE = next(row for row in frozen()["deals"] if row["deal_number"] == "11")  # a deal with short proofs
KERNELS = (
    line_kernel,
    sweep_kernel,
    solve_kernel,
    cards_kernel,
    steady_kernel,
    run_kernel,
    varied_kernel,
)

every_rules = pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
interpreted = pytest.mark.interpreted
# Heights below an empty column wrap around, as in machine code; they never lead to a play.
wraps = pytest.mark.filterwarnings("ignore:overflow encountered in scalar subtract:RuntimeWarning")


def check_positions(rules: Rules) -> None:
    dice = random.Random("positions without a compiler")
    for cards_left in (0, 2, 15, 18):
        position = any_position(dice, cards_left)
        ours, theirs = solve_position(position, rules), naive.solve(position, rules.name)
        assert (ours.cleared, ours.best_score, ours.line) == (theirs.cleared, theirs.best_score, theirs.line)
        assert solve_position(position, rules, fewest=False).cleared == theirs.cleared


def check_steady(rules: Rules) -> None:
    deal = parse_deal(REFERENCE["deal"])
    assert (
        [rate(deal, rules).masses]
        == score_masses((deal,), rules, Workspace(2**10))
        == [exact_masses(deal, rules)]
    )


def check_varied() -> None:
    """Rate the two deals of the reference for which the fewest tables are listed."""
    deals = [deal_numbered(number) for number in (480, 986)]
    expected = {
        row["deal_number"]: int(row["cleared_mass"])
        for row in table("varied_v1.csv")
        if row["rules"] == "dead_king"
    }
    small = varied.make_workspace(8)  # it has to grow
    small.stamp[0] = run_kernel.LARGEST_STAMP
    varied._THREAD.workspace = small
    assert VARIED.clear_masses(deals, RULES["dead_king"]) == [expected["480"], expected["986"]]


@interpreted
@wraps
@every_rules
def test_positions_agree_with_the_slow_twin(rules: Rules) -> None:
    check_positions(rules)


@interpreted
@wraps
def test_a_reference_deal_matches_the_reference() -> None:
    solution, expected = solve(parse_deal(REFERENCE["deal"]), RULES["dead_king"]), REFERENCE["dead_king"]
    assert (solution.best_score, solution.line) == (expected["best_score"], expected["line"])


@interpreted
@every_rules
def test_the_steady_player_agrees_with_its_twin(rules: Rules) -> None:
    check_steady(rules)


@interpreted
@wraps
def test_the_varied_player_meets_the_reference() -> None:
    check_varied()


# -- every line of the kernels ----------------------------------------------------------------------------


@contextmanager
def lines_run(modules: tuple[ModuleType, ...]) -> Iterator[set[tuple[str, int]]]:
    """Collect the lines of these modules that run within the block, as file and line number."""
    files = {module.__file__ for module in modules}
    seen: set[tuple[str, int]] = set()

    def follow(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            seen.add((frame.f_code.co_filename, frame.f_lineno))
        return follow

    before = sys.gettrace()
    sys.settrace(lambda frame, *_: follow if frame.f_code.co_filename in files else None)
    try:
        yield seen
    finally:
        sys.settrace(before)


def lines_of(module: ModuleType) -> set[tuple[str, int]]:
    """Return the lines of a module's functions, without `raise` statements, which never run."""
    found = set()
    for _, function in inspect.getmembers(module, inspect.isfunction):
        if function.__module__ == module.__name__:
            source, first = inspect.getsourcelines(function)
            numbers = {number for *_, number in function.__code__.co_lines() if number}
            head = [n for n in numbers if source[n - first].startswith(("@", "def "))]
            never = [n for n in numbers if source[n - first].lstrip().startswith("raise ")]
            found |= {(function.__code__.co_filename, n) for n in numbers.difference(head, never)}
    return found


@interpreted
@wraps
@pytest.mark.skipif(not jit.is_interpreted(), reason="compiled lines cannot be traced")
def test_every_line_of_every_kernel_runs() -> None:
    with lines_run(KERNELS) as seen:
        check_positions(RULES["golf"])
        check_steady(RULES["golf"])
        check_varied()
    wanted = set().union(*map(lines_of, KERNELS))
    assert len(wanted) > 150
    assert sorted(wanted - seen) == []
