"""The benchmarks measure what they report, and a missed limit is named and decides the exit code."""

import io
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.deals.levels import LEVELS
from pipeline.pools.catalog import load_catalog
from pipeline.pools.parquet import DEALS_SCHEMA, table_of
from pipeline.pools.parts import read_named_part
from solver.table.deal import parse_deal
from tests.benchmarks import __main__ as command
from tests.benchmarks import memory_worker, sweep, synthetic
from tests.benchmarks.circumstances import circumstances
from tests.benchmarks.figures import Bench, Figure, Measure, Target, Targets
from tests.benchmarks.report import shown
from tests.benchmarks.runner import Streams, run
from tests.benchmarks.targets import TARGETS
from tests.benchmarks.timing import (
    Clock,
    Spent,
    children_clock,
    in_turn,
    ratios,
    spread_of,
    thread_clock,
    timed,
)
from tests.support.doubles import fake_deal, fake_row

seconds = st.floats(1e-6, 1e3)
several = st.lists(seconds, min_size=1, max_size=9)

# -- timing -----------------------------------------------------------------------------------------------


def test_time_spent_is_the_difference_of_two_clock_readings() -> None:
    moments = iter([Spent(10.0, 1.0), Spent(12.5, 1.5)])
    assert timed(lambda: "done", lambda: next(moments)) == ("done", Spent(2.5, 0.5))


def test_the_share_of_one_piece_is_the_total_divided_by_their_number() -> None:
    assert Spent(3.0, 1.5).each(3) == Spent(1.0, 0.5)


@pytest.mark.parametrize("clock", [thread_clock, children_clock])
def test_the_clocks_never_go_back(clock: Clock) -> None:
    first, second = clock(), clock()
    assert second.wall >= first.wall
    assert second.cpu >= first.cpu


def test_pieces_of_work_alternate_and_their_results_are_kept_by_round() -> None:
    order: list[str] = []

    def done(name: str) -> int:
        order.append(name)
        return len(order)

    assert in_turn(3, {"a": partial(done, "a"), "b": partial(done, "b")}) == {"a": (1, 3, 5), "b": (2, 4, 6)}
    assert order == ["a", "b", "a", "b", "a", "b"]


@given(several, st.floats(0.01, 1.0), st.data())
def test_a_slow_period_that_affects_both_does_not_change_the_ratio(
    theirs: list[float], ratio: float, data: st.DataObject
) -> None:
    spells = data.draw(st.lists(st.floats(1.0, 10.0), min_size=len(theirs), max_size=len(theirs)))
    slowed = [value * spell for value, spell in zip(theirs, spells, strict=True)]
    assert ratios([ratio * value for value in slowed], slowed) == pytest.approx([ratio] * len(theirs))


def test_ratios_of_different_numbers_of_rounds_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        ratios([1.0, 2.0], [1.0])


@given(several)
def test_the_median_lies_between_the_least_and_the_most(values: list[float]) -> None:
    spread = spread_of(tuple(values))
    assert spread.least == min(values) <= spread.median <= max(values) == spread.most
    assert sum(value < spread.median for value in values) <= len(values) / 2
    assert sum(value > spread.median for value in values) <= len(values) / 2


# -- targets ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "value", "verdict"),
    [
        (Target(0.15, 0.09), 0.09, "aim met"),
        (Target(0.15, 0.09), 0.0901, "must met"),
        (Target(0.15, 0.09), 0.15, "must met"),
        (Target(0.15, 0.09), 0.1501, "FAILED"),
        (Target(1.0), 1.0, "met"),
        (Target(450, sense="at least"), 450.0, "met"),
        (Target(450, sense="at least"), 449.9, "FAILED"),
        (Target(450, 600, "at least"), 500.0, "must met"),
    ],
)
def test_a_value_equal_to_a_limit_reaches_it(target: Target, value: float, verdict: str) -> None:
    assert target.verdict(value) == verdict


def test_every_limit_belongs_to_a_subject() -> None:
    assert {subject for subject, _ in TARGETS} <= set(command.SUBJECTS)


# -- the command ------------------------------------------------------------------------------------------

LIMITS: Targets = {("one", "fast"): Target(0.5, 0.1), ("two", "many"): Target(10, sense="at least")}


def idle() -> dict[str, Any]:
    return {"load": 0.0}


def busy() -> dict[str, Any]:
    return {"load": 1.7}


def giving(*figures: Figure) -> Measure:
    return lambda _: figures


def ran(
    arguments: Sequence[str],
    subjects: dict[str, Measure],
    about: Callable[[], dict[str, Any]] = idle,
) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = run(arguments, subjects, LIMITS, Streams(out, err), about)
    return code, out.getvalue(), err.getvalue()


FAST = Figure("fast", "ratio", (0.4, 0.3, 0.9))
MANY = Figure("many", "deals", (10.0,))


def test_a_run_that_reaches_every_must_exits_with_0() -> None:
    code, out, err = ran([], {"one": giving(FAST), "two": giving(MANY)})
    assert (code, err) == (0, "")
    assert "FAILED" not in out


def test_a_run_that_misses_a_must_exits_with_1_and_names_it() -> None:
    slow = Figure("fast", "ratio", (0.4, 0.6, 0.7))
    code, out, _ = ran([], {"one": giving(slow), "two": giving(MANY)})
    assert code == 1
    assert out.splitlines()[-1] == "FAILED: one, fast is 0.6000, must be at most 0.5"
    code, out, _ = ran(["--quick"], {"one": giving(FAST), "two": giving(Figure("many", "deals", (9.0,)))})
    assert code == 1
    assert out.splitlines()[-1] == "FAILED: two, many is 9.00, must be at least 10"


@pytest.mark.parametrize("place", ["-", "/tmp", "/nowhere/x.json"])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(place: str) -> None:
    with pytest.raises(SystemExit) as end:
        run(["--json", place], {}, {}, Streams(io.StringIO(), io.StringIO()))
    assert end.value.code == 2


def test_a_limit_without_a_figure_exits_with_1_except_in_a_quick_run() -> None:
    renamed = {"one": giving(Figure("quick", "ratio", (0.1,)))}
    code, out, _ = ran([], renamed)
    assert (code, out.splitlines()[-1]) == (1, "not measured: one, fast")
    code, out, _ = ran(["--quick"], renamed)
    assert (code, out.splitlines()[-1]) == (0, "not measured: one, fast")


def test_only_the_requested_subjects_are_measured_and_judged() -> None:
    def never(_: Bench) -> Iterator[Figure]:
        raise AssertionError("this one was not asked for")

    code, out, _ = ran(["--only", "two"], {"one": never, "two": giving(MANY)})
    assert code == 0
    assert "fast" not in out


@pytest.mark.parametrize(
    "arguments", [["--rounds", "0"], ["--json", "no/such/folder/x.json"], ["--only", "three"], ["--only"]]
)
def test_wrong_options_are_refused_before_anything_is_measured(arguments: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        ran(arguments, {"one": giving(FAST)})


def test_two_figures_with_the_same_name_are_refused() -> None:
    with pytest.raises(ValueError, match="one has two figures named 'fast'"):
        ran([], {"one": giving(FAST, FAST)})


def test_a_busy_machine_is_reported() -> None:
    code, _, err = ran([], {"one": giving(FAST)}, busy)
    assert code == 0
    assert err == "this machine is busy (load 1.70): do not quote these figures\n"


def test_the_table_shows_median_range_limits_and_verdict() -> None:
    _, out, _ = ran([], {"one": giving(FAST), "two": giving(MANY)})
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "fast ratio 0.4000 0.3000 .. 0.9000 <= 0.5 <= 0.1 must met" in lines
    assert "many deals 10.0 10.0 .. 10.0 >= 10 met" in lines


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.08912, "0.0891"), (1.234, "1.23"), (12.34, "12.3"), (123.4, "123"), (-0.5, "-0.5000")],
)
def test_numbers_are_shown_with_three_significant_digits(value: float, text: str) -> None:
    assert shown(value) == text


def test_the_json_has_every_value_the_sizes_and_the_judgement(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    slow = Figure("many", "deals", (9.0, 8.0))
    ran(["--json", str(file), "--rounds", "3", "--quick"], {"one": giving(FAST), "two": giving(slow)}, busy)
    document = json.loads(file.read_text("ascii"))
    assert (document["load"], document["quick"], document["rounds"]) == (1.7, True, 3)
    assert document["figures"][0] == {
        "subject": "one",
        "name": "fast",
        "unit": "ratio",
        "median": 0.4,
        "least": 0.3,
        "most": 0.9,
        "values": [0.4, 0.3, 0.9],
        "must": 0.5,
        "aim": 0.1,
        "sense": "at most",
        "verdict": "must met",
    }
    assert document["figures"][1]["verdict"] == "FAILED"
    assert document["failed"] == ["two, many"]
    assert document["not_measured"] == []


@pytest.mark.system
def test_the_circumstances_do_not_name_the_host() -> None:
    about = circumstances()
    assert set(about) == {"versions", "processors", "machine", "load"}
    libraries = {"numba", "llvmlite", "numpy", "pyarrow", "duckdb"}
    assert set(about["versions"]) == {"fairway", "python", *libraries, "compiler"}
    assert about["processors"] >= 1


# -- what is measured -------------------------------------------------------------------------------------


def test_the_report_of_the_yardstick_is_read_in_seconds() -> None:
    assert sweep.reported_wall("2000 deals, 3970.5 us per deal\n", 2000) == pytest.approx(3970.5e-6)


@pytest.mark.parametrize("report", ["", "1999 deals, 3970.5 us per deal\n", "2000 deals, nan us per deal\n"])
def test_a_report_about_something_else_is_refused(report: str) -> None:
    with pytest.raises(ValueError, match="the yardstick was given 2000 deals"):
        sweep.reported_wall(report, 2000)


def test_a_wrong_answer_stops_the_benchmark() -> None:
    sweep.compare_answers("golf", ["-3", "-"], ["-3", "-"])
    with pytest.raises(sweep.WrongAnswerError, match=r"different for deals \[1\]"):
        sweep.compare_answers("golf", ["-3", "-"], ["-3", "0"])
    with pytest.raises(sweep.WrongAnswerError, match="1 answers, 2 of"):
        sweep.compare_answers("golf", ["-3"], ["-3", "0"])


@pytest.mark.parametrize("count", [1, 3, 8])
def test_repeated_rows_are_valid_rows_of_deals_with_their_own_numbers(count: int) -> None:
    table = synthetic.multiplied(
        table_of([fake_row("hard", number) for number in range(3)], DEALS_SCHEMA), 40, count
    )
    table.validate(full=True)
    assert table.schema.equals(DEALS_SCHEMA, check_metadata=True)
    rows = table.to_pylist()
    assert [row["deal_number"] for row in rows] == list(range(40, 40 + count))
    for place, row in enumerate(rows):
        assert parse_deal(row["deal"]).notation == row["deal"]
        assert len(row["puzzle_id"]) == 16
        assert row["line"] == fake_deal("hard", place % 3).line
        assert sum(score > 0 for score in row["steady_scores"]) == 1
    assert len({row["puzzle_id"] for row in rows}) == count


def test_synthetic_pools_have_what_their_catalog_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synthetic, "PART_ROWS", 3)
    tables = {level: table_of([fake_row(level, 5)], DEALS_SCHEMA) for level in LEVELS}
    storage, catalog = synthetic.pools(tmp_path / "pools", tables, 11)
    assert load_catalog(storage) == catalog
    assert [[part.rows for part in pool.parts] for pool in catalog.pools] == [[3, 1], [3, 1], [3]]
    for pool in catalog.pools:
        found = [read_named_part(storage, part).to_pylist() for part in pool.parts]
        rows = [row for part in found for row in part]
        assert [row["deal_number"] for row in rows] == list(range(pool.next_number))
        assert {row["level"] for row in rows} == {pool.level}


@pytest.mark.skipif(not memory_worker.can_measure(), reason="the system reports no peak")
def test_a_peak_is_reported_after_the_memory_was_freed() -> None:
    size = 64 * 2**20
    memory_worker.can_measure()  # this resets the peak
    before = memory_worker.resident("VmHWM")
    del bytearray(size)[:]  # touched and freed
    assert memory_worker.resident("VmHWM") - before > size * 0.9
