"""`fairway repair`: what it says and leaves behind, and that it only rehearses where that was asked for."""

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
    """Everything but what tells of runs."""
    return {
        path: data
        for path, data in files_of(root).items()
        if path not in (LOCK_FILE, METRICS_FILE) and not path.startswith("runs/")
    }


def part_of(root: Path) -> Path:
    return next(root.glob("deals/level=easy/*/*.parquet"))


def report(*arguments: object) -> Any:
    return json.loads(fairway(*arguments, "--json").out)


def record(root: Path) -> dict[str, Any]:
    """Of the run of this test."""
    (file,) = (root / "runs").glob("20261130T1301*.json")
    document: dict[str, Any] = json.loads(file.read_bytes())
    return document


def test_damage_is_mended_told_and_recorded(root: Path) -> None:
    before = content(root)
    part = part_of(root)
    part.write_bytes(part.read_bytes()[:-1] + b"x")
    (root / DAILY).unlink()
    assert fairway("verify", "--sample", 0, "--data", root).code == 1
    outcome = done("repair", "--data", root)
    part_line, daily_line, _, total = outcome.text.splitlines()
    assert part_line.startswith(f"mended    {part.relative_to(root)} is damaged: ")
    assert daily_line == f"mended    {DAILY}: missing; made anew, to the hash in daily/index.json"
    assert total == "2 files mended"
    assert content(root) == before
    done("verify", "--data", root)
    found = record(root)
    assert (found["job"], found["outcome"], found["mended"], found["refused"]) == ("repair", "done", 2, 0)


def test_a_dry_run_tells_the_same_and_changes_nothing(root: Path) -> None:
    part_of(root).unlink()
    (root / "catalog.sql").unlink()
    before = files_of(root)
    with root_lock(root, NOW):  # it does not wait for another run
        outcome = done("repair", "--dry-run", "--data", root)
        rehearsed = report("repair", "--dry-run", "--data", root)
    assert outcome.text.count("can mend  ") == 2
    assert outcome.text.endswith("\n2 files can be mended; nothing was changed\n")
    assert {path: data for path, data in files_of(root).items() if path != LOCK_FILE} == {
        path: data for path, data in before.items() if path != LOCK_FILE
    }
    assert report("repair", "--data", root) == {**rehearsed, "dry_run": False}


def test_what_is_refused_is_told_with_1_and_stays(root: Path) -> None:
    (root / "catalog.json").write_text("{")
    (root / "daily" / "solutions" / "2026-11-28.json").unlink()
    outcome = fairway("repair", "--data", root)
    assert outcome.code == 1
    first, second = outcome.text.splitlines()[:2]
    assert first.startswith("mended    daily/solutions/2026-11-28.json: missing, though")
    assert second.startswith("REFUSED   catalog.json is not a JSON document")
    assert "restore a copy" in second
    assert outcome.text.endswith("\n1 file mended; 1 file refused\n")
    assert (root / "catalog.json").read_text() == "{"
    assert (record(root)["mended"], record(root)["refused"]) == (1, 1)


def test_where_nothing_is_damaged_nothing_is_done(root: Path) -> None:
    before = content(root)
    assert "nothing to do, every file has the hash on record" in done("repair", "--data", root).text
    assert content(root) == before
    assert record(root)["outcome"] == "nothing to do"
    assert report("repair", "--data", root) == {"dry_run": False, "mended": [], "refused": []}


def test_a_repair_beside_another_run_is_told_to_wait_with_75(root: Path) -> None:
    (root / DAILY).unlink()
    with root_lock(root, NOW):
        outcome = fairway("repair", "--data", root)
    assert "another run holds" in outcome.complaint
    assert (outcome.code, (root / DAILY).exists()) == (75, False)
