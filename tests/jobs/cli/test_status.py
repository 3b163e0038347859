"""`fairway status`: reads only files, loads no slow library, and exits with 0 or 1."""

import json
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs.terminal import clock
from pipeline.daily.files import daily_path, solution_path
from pipeline.store.root import open_root
from pipeline.work.records import Outcome, write_record
from tests.support.command import ROOT, done, fairway, files_of
from tests.support.doubles import MemoryStorage
from tests.support.run_records import run_at

NOON = datetime(2026, 11, 30, 12, 30, tzinfo=UTC)  # half an hour after the made root was


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("FAIRWAY_DAILY_FROM", "2026-11-28")

    def set_clock(moment: datetime) -> None:
        monkeypatch.setattr(clock, "now", lambda: moment)

    set_clock(NOON)
    return set_clock


@pytest.mark.usefixtures("at")
def test_a_healthy_root_ends_with_0(made_root: Path) -> None:
    text = done("status", "--data", made_root).text
    assert text.startswith("no problems\n")
    assert "today's hole:      published (2026-11-30 UTC)" in text
    assert "last success:      2026-11-30 12:00 UTC, 30 min ago" in text
    assert "next run:          2026-12-01 00:05 UTC" in text
    assert f"data root:         {made_root}" in text
    document = json.loads(done("status", "--data", made_root, "--json").out)
    assert document["is_well"] is True
    assert document["last_success_age_seconds"] == 1800
    assert [pool["grown_in_7_days"] for pool in document["pools"]] == [12, 12, 12]
    assert document["problems"] == []


def test_the_same_root_three_days_later_ends_with_1(made_root: Path, at: Any) -> None:
    at(NOON + timedelta(days=3))
    outcome = fairway("status", "--data", made_root)
    assert outcome.code == 1
    assert outcome.err == ""
    assert "tomorrow: the Daily hole for tomorrow, 2026-12-04, is not published" in outcome.text
    assert "success: the last successful nightly run ended 72 hours ago" in outcome.text
    document = json.loads(fairway("status", "--data", made_root, "--json").out)
    assert [problem["name"] for problem in document["problems"]] == [
        "today",
        "tomorrow",
        "success",
        "night",
    ]


def test_a_clock_that_is_behind_is_reported(made_root: Path, at: Any) -> None:
    at(NOON - timedelta(hours=2))
    outcome = fairway("status", "--data", made_root)
    assert outcome.code == 1
    assert "  clock: the clock says 2026-11-30 10:30 UTC" in outcome.text


@pytest.mark.usefixtures("at")
def test_an_empty_root_and_a_missing_one_are_distinguished(tmp_path: Path) -> None:
    outcome = fairway("status", "--data", tmp_path / "none")
    assert (outcome.code, "there is no data root" in outcome.complaint) == (1, True)  # never another status
    open_root(tmp_path / "root", create=True)
    outcome = fairway("status", "--data", tmp_path / "root")
    assert outcome.code == 1
    assert "last success:      none yet" in outcome.text
    assert "last published:    none" in outcome.text
    assert set(files_of(tmp_path)) == {"root/.fairway-root"}


@pytest.mark.usefixtures("at")
def test_damage_is_reported_with_1_and_what_to_do(tmp_path: Path) -> None:
    storage = open_root(tmp_path, create=True)
    storage.create("catalog.json", b"{")
    storage.create("runs/20261130T000500Z-7.json", b"{")
    outcome = fairway("status", "--data", tmp_path, "--json")
    problems = {each["name"]: each for each in json.loads(outcome.out)["problems"]}
    assert outcome.code == 1
    assert "fairway repair" in problems["catalog"]["remedy"]
    assert "runs/20261130T000500Z-7.json" in problems["records"]["what"]
    assert json.loads(outcome.out)["pools"] == []


@pytest.fixture(scope="module")
def old_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with the small files of three years."""
    storage = open_root(tmp_path_factory.mktemp("old"), create=True)
    for n in range(1000):
        day = date(2026, 1, 1) + timedelta(days=n)
        for path in (daily_path(day), solution_path(day)):
            file = storage.local_path(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"{}\n")
    memory = MemoryStorage()
    for n in range(2000):  # all failed, so that the search for a success goes back to its limit
        moment = datetime(2023, 1, 1, 0, 5, tzinfo=UTC) + timedelta(hours=12 * n)
        write_record(memory, run_at(moment, Outcome.FAILED))
    (storage.root / "runs").mkdir()
    for path, data in memory.files.items():
        storage.local_path(path).write_bytes(data)
    return storage.root


LOADED = """
import sys
sys.argv = ["fairway", "status", "--data", sys.argv[1]]
from jobs.cli import main
try:
    main()
finally:
    heavy = ("numba", "numpy", "duckdb", "pyarrow", "jsonschema", "prometheus_client", "apscheduler")
    sys.stderr.write(" ".join(name for name in heavy if name in sys.modules))
"""


@pytest.mark.system
def test_no_slow_library_is_loaded(old_root: Path) -> None:
    ended = run_status(old_root)
    assert (ended.returncode, ended.stderr) == (1, "")
    assert "last run:          2025-09-26 12:05 UTC, failed" in ended.stdout


def run_status(root: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", LOADED, str(root)], cwd=ROOT, capture_output=True, text=True, check=False
    )
