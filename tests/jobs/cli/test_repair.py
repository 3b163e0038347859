"""`fairway repair`: what it prints and changes, and that a dry run changes nothing."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from jobs.runs.lock import LOCK_FILE, root_lock
from jobs.settings.model import METRICS_FILE
from jobs.terminal import clock
from tests.support.command import done, fairway, files_of

pytestmark = pytest.mark.system

NOW = datetime(2026, 11, 30, 13, 1, tzinfo=UTC)
DAILY = "daily/2026-11-30.json"


@pytest.fixture(autouse=True)
def _frozen_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: NOW)


@pytest.fixture
def root(made_root: Path, tmp_path: Path) -> Path:
    shutil.copytree(made_root, tmp_path / "root")
    return tmp_path / "root"


def content(root: Path) -> dict[str, bytes]:
    """Return all files but those about runs."""
    return {
        path: data
        for path, data in files_of(root).items()
        if path not in (LOCK_FILE, METRICS_FILE) and not path.startswith("runs/")
    }


def part_of(root: Path) -> Path:
    return next(root.glob("deals/easy/*/*.parquet"))


def report(*arguments: object) -> Any:
    return json.loads(fairway(*arguments, "--json").out)


def record(root: Path) -> dict[str, Any]:
    """Return the record of this test's run."""
    (file,) = (root / "runs").glob("20261130T1301*.json")
    document: dict[str, Any] = json.loads(file.read_bytes())
    return document


def test_damage_is_repaired_reported_and_recorded(root: Path) -> None:
    before = content(root)
    part = part_of(root)
    part.write_bytes(part.read_bytes()[:-1] + b"x")
    (root / DAILY).unlink()
    assert fairway("verify", "--sample", 0, "--data", root).code == 1
    outcome = done("repair", "--data", root)
    part_line, daily_line, _, total = outcome.text.splitlines()
    assert part_line.startswith(f"repaired    {part.relative_to(root)} is damaged: ")
    assert daily_line == (
        f"repaired    {DAILY} is missing, but daily/index.json lists it; made again, byte for byte"
    )
    assert total == "2 files repaired"
    assert content(root) == before
    done("verify", "--data", root)
    found = record(root)
    assert (found["job"], found["outcome"], found["mended"], found["refused"]) == ("repair", "done", 2, 0)


def test_a_dry_run_reports_the_same_and_changes_nothing(root: Path) -> None:
    part_of(root).unlink()
    (root / "catalog.sql").unlink()
    before = files_of(root)
    with root_lock(root, NOW):  # it does not wait for another run
        outcome = done("repair", "--dry-run", "--data", root)
        planned = report("repair", "--dry-run", "--data", root)
    assert outcome.text.count("can repair  ") == 2
    assert outcome.text.endswith("\n2 files can be repaired; nothing was changed\n")
    assert {path: data for path, data in files_of(root).items() if path != LOCK_FILE} == {
        path: data for path, data in before.items() if path != LOCK_FILE
    }
    assert report("repair", "--data", root) == {**planned, "dry_run": False}


def test_a_refused_file_stays_and_the_exit_code_is_1(root: Path) -> None:
    (root / "catalog.json").write_text("{")
    (root / "daily" / "solutions" / "2026-11-28.json").unlink()
    outcome = fairway("repair", "--data", root)
    assert outcome.code == 1
    first, second = outcome.text.splitlines()[:2]
    assert first.startswith("repaired    daily/solutions/2026-11-28.json is missing, but")
    assert second.startswith("REFUSED     catalog.json ")
    assert "restore a copy" in second
    assert outcome.text.endswith("\n1 file repaired; 1 file refused\n")
    assert (root / "catalog.json").read_text() == "{"
    assert (record(root)["mended"], record(root)["refused"]) == (1, 1)


def test_without_damage_nothing_is_done(root: Path) -> None:
    before = content(root)
    assert "nothing to repair: every file has its recorded hash" in done("repair", "--data", root).text
    assert content(root) == before
    assert record(root)["outcome"] == "nothing to do"
    assert report("repair", "--data", root) == {"dry_run": False, "mended": [], "refused": []}


def test_a_repair_during_another_run_ends_with_75(root: Path) -> None:
    (root / DAILY).unlink()
    with root_lock(root, NOW):
        outcome = fairway("repair", "--data", root)
    assert "another run holds" in outcome.complaint
    assert (outcome.code, (root / DAILY).exists()) == (75, False)
