"""`fairway study` as a command: its output and files, and how it is stopped and continued."""

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jobs.terminal.output import duration_text
from jobs.terminal.progress import LineProgress
from pipeline.studies import study as study_module
from pipeline.studies.study_schema import blocks_bytes, read_blocks, read_whole
from pipeline.studies.winnability import Block, Study
from tests.support.command import done, fairway, files_of, read_until, spawned
from tests.support.reference import table

RULES = "dead_king"  # the quickest
DEALS = 300
BLOCK = f"studies/winnability/rules={RULES}/fewest=false/block-100-199.parquet"


def winnability(root: Path, *more: object) -> tuple[object, ...]:
    return ("study", "winnability", "--rules", RULES, "--deals", DEALS, "--data", root, *more)


@pytest.fixture(autouse=True, scope="module")
def _small_blocks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study_module, "BLOCK_NUMBERS", 100)
        yield


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("studied") / "root"
    done(*winnability(root))
    return root


def test_the_counts_agree_with_the_yardstick(studied: Path) -> None:
    outcome = done(*winnability(studied, "--json"))
    document: dict[str, Any] = json.loads(outcome.out)
    best = [row[RULES] for row in table("yardstick_v1.csv")[:DEALS]]
    assert document["cleared"] == DEALS - best.count("-")
    assert document["scores"] == [best.count(str(score)) for score in range(-16, 1)] + [None] * 35
    assert (document["deals"], document["first"], document["reused"]) == (DEALS, 0, DEALS)
    assert document["wilson_95"][0] < document["share"] < document["wilson_95"][1]
    assert (document["mean"], document["comparison"]) == (None, None)
    assert outcome.err.splitlines()[-1] == f"{RULES}: {DEALS} of {DEALS}"


def test_the_text_shows_share_interval_means_and_distribution(studied: Path) -> None:
    text = done(*winnability(studied, "--fewest")).text
    for words in (
        f"{DEALS} deals under {RULES}, numbers 0 to {DEALS - 1}",
        "can be cleared",
        "(Wilson)",
        "mean of those",
        "mean of all",
        f"no exact figure for {RULES} is known",
        "best score",
    ):
        assert words in text
    assert "not cleared" in done(*winnability(studied)).text


def test_golf_is_compared_with_the_published_share(studied: Path) -> None:
    arguments = ("study", "winnability", "--rules", "golf", "--deals", 100, "--data", studied)
    assert "45.109 % of 10,000,000: Blake and Gent" in done(*arguments).text
    comparison = json.loads(done(*arguments, "--json").out)["comparison"]
    assert (comparison["deals"], comparison["cleared"]) == (10_000_000, 4_510_900)


@pytest.mark.system
def test_a_chart_is_drawn_from_the_counts_that_were_written(studied: Path, tmp_path: Path) -> None:
    counts, picture = tmp_path / "counts.parquet", tmp_path / "chart.svg"
    done(*winnability(studied, "-o", counts))
    block = read_whole(counts.read_bytes(), "counts")
    assert block.study == Study(RULES, False, 0, DEALS)
    done("study", "chart", counts, counts, "-o", picture)
    text = picture.read_text()
    assert f"<!-- {block.cleared / DEALS:.2%}".replace("%", " %") in text
    assert done("study", "chart", counts, counts, "-o", "-").text == text
    done("study", "chart", counts, "-o", tmp_path / "chart.png")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_a_study_can_start_at_a_later_number(studied: Path) -> None:
    document = json.loads(done(*winnability(studied, "--from-number", 250, "--json")).out)
    assert (document["first"], document["deals"], document["reused"]) == (250, DEALS, 0)


def test_a_damaged_block_is_reported_on_standard_error(tmp_path: Path) -> None:
    root = tmp_path / "root"
    done(*winnability(root))
    before = files_of(root)
    (root / BLOCK).write_bytes(b"")
    assert f"{BLOCK} was damaged and has been counted again" in done(*winnability(root)).err
    assert files_of(root) == before


@pytest.mark.system
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.soak)])
def test_a_signal_stops_a_study_at_once_with_nothing_half_written(number: int, tmp_path: Path) -> None:
    root = tmp_path / "root"
    arguments = ("study", "winnability", "--rules", RULES, "--deals", 10**9, "--workers", 1, "--data", root)
    with spawned(*arguments) as process:
        read_until(process, f"{RULES}: 0 of 1,000,000,000")
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert "the same command continues from them" in err
    assert "Traceback" not in err
    for path, data in files_of(root).items():
        assert path == ".fairway-root" or read_blocks(data, path)


@pytest.mark.soak
def test_a_killed_study_continues_from_its_finished_blocks(tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    arguments = ("study", "winnability", "--rules", RULES, "--deals", 40_000, "--json", "--data")
    with spawned(*arguments, killed) as process:
        read_until(process, f"{RULES}: 24,")
        process.kill()
        process.wait()
    document = json.loads(done(*arguments, killed).out)
    assert document["reused"] == 20_000
    undisturbed = json.loads(done(*arguments, whole, "--workers", 1).out)
    assert {**document, "reused": 0, "seconds": 0} == {**undisturbed, "seconds": 0}
    assert {path: data for path, data in files_of(killed).items() if ".incoming-" not in path} == files_of(
        whole
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["winnability", "--deals", "5"], "Missing option '--rules'"),
        (["winnability", "--rules", "golf"], "Missing option '--deals'"),
        (["winnability", "--rules", "blue", "--deals", "5"], "unknown rules 'blue'"),
        (["winnability", "--rules", "golf", "--deals", "0"], "is not a whole number from 1 to 1000000000"),
        (
            ["winnability", "--rules", "golf", "--deals", "5", "--from-number", str(2**63 - 3)],
            "are not in 0 ..",
        ),
        (["chart", "-o", "chart.svg"], "Missing argument"),
        (["chart", "/nowhere/counts.parquet", "-o", "chart.svg"], "cannot read /nowhere/counts.parquet"),
    ],
)
def test_wrong_usage_exits_with_2(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRWAY_DATA", str(tmp_path / "root"))
    outcome = fairway("study", *arguments)
    assert words in outcome.complaint
    assert outcome.code == 2
    assert list(tmp_path.iterdir()) == []


def test_counts_are_not_written_into_the_data_root(studied: Path) -> None:
    outcome = fairway(*winnability(studied, "-o", studied / "counts.parquet"))
    assert outcome.code == 2
    assert "is in the data root" in outcome.complaint


def test_a_chart_of_a_file_without_counts_exits_with_1(tmp_path: Path) -> None:
    file = tmp_path / "notes.parquet"
    file.write_bytes(b"notes")
    outcome = fairway("study", "chart", file, "-o", tmp_path / "chart.svg")
    assert f"{file} is damaged" in outcome.complaint
    assert outcome.code == 1
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    assert fairway(*winnability(tmp_path)).code == 78
    assert files_of(tmp_path) == {"thesis.tex": b"precious"}


def test_the_time_left_is_estimated_from_the_work_of_this_run() -> None:
    lines: list[str] = []
    moments = iter([0.0, 10.0, 30.0, 60.0])
    progress = LineProgress(lines.append, lambda: next(moments))
    for done_so_far in (500, 600, 800, 1000):
        progress.update("golf", done_so_far, 1000)
    assert lines == [
        "golf: 0 of 1,000",
        "golf: 500 of 1,000",
        "golf: 600 of 1,000, about 40 s left",
        "golf: 800 of 1,000, about 20 s left",
        "golf: 1,000 of 1,000",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "120 min"), (7200, "2 h")]
)
def test_durations_are_shown_in_a_suitable_unit(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_a_file_of_counts_must_hold_one_study(tmp_path: Path) -> None:
    file = tmp_path / "counts.parquet"
    for blocks in ([], [Block(Study(RULES, True, 5, 1), 1, (1, *[0] * 51))] * 2):
        file.write_bytes(blocks_bytes(blocks))
        outcome = fairway("study", "chart", file, "-o", tmp_path / "chart.svg")
        assert "does not hold one study" in outcome.complaint
        assert outcome.code == 1


def test_an_output_that_cannot_be_written_is_reported_before_the_work(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere" / "counts.parquet"
    outcome = fairway(*winnability(tmp_path / "root"), "-o", nowhere)
    assert not list((tmp_path / "root").rglob("*.parquet"))
    assert outcome.code == 73
    assert f"cannot write {nowhere}" in outcome.err


def test_nothing_else_is_written_to_standard_output_with_the_counts(studied: Path) -> None:
    assert read_blocks(done(*winnability(studied), "-o", "-").out, "-")
    assert read_blocks(done(*winnability(studied), "-o", "-", "--json").out, "-")


def test_a_chart_is_not_written_into_a_data_root(studied: Path, tmp_path: Path) -> None:
    counts = tmp_path / "counts.parquet"
    done(*winnability(studied), "-o", counts)
    outcome = fairway("study", "chart", counts, "-o", studied / "daily" / "chart.svg")
    assert outcome.code == 2
    assert f"is in the data root {studied}" in outcome.complaint


def test_a_chart_does_not_overwrite_its_counts(studied: Path, tmp_path: Path) -> None:
    counts = tmp_path / "counts.parquet"
    done(*winnability(studied), "-o", counts)
    before = counts.read_bytes()
    outcome = fairway("study", "chart", counts, "-o", tmp_path / "." / "counts.parquet")
    assert outcome.code == 2
    assert "is one of the input files" in outcome.complaint
    assert counts.read_bytes() == before


def test_a_chart_without_matplotlib_exits_with_78_and_says_how_to_install_it(
    studied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts, picture = tmp_path / "counts.parquet", tmp_path / "chart.svg"
    done(*winnability(studied), "-o", counts)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for arguments in (("study", "chart", counts), ("stats", counts, "--data", studied)):
        outcome = fairway(*arguments, "-o", picture)
        assert outcome.complaint == (
            "charts need matplotlib, which is not installed; run: pip install 'fairway[plot]'"
        )
        assert outcome.code == 78
    assert not picture.exists()
