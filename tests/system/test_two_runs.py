"""A second run exits at once and names the first; readers never wait."""

import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jobs.runs.lock import LOCK_FILE, root_lock
from jobs.terminal import clock
from pipeline.store.storage import LocalStorage
from tests.support.command import done, fairway, files_of

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SINCE = datetime(2026, 11, 30, 0, 5, tzinfo=UTC)
WRITERS = [
    ["nightly", "--date", "2026-11-30"],
    ["daily", "publish"],
    ["pool", "regenerate", "easy"],
    ["pool", "compact", "easy"],
    ["pool", "rollback", "easy"],
    ["gc"],
    ["repair"],
]
READERS = [
    ["pool", "status"],
    ["pool", "show", "easy"],
    ["pool", "history", "easy"],
    ["daily", "show"],
    ["daily", "export"],
    ["verify", "--sample", "0"],
    ["gc", "--dry-run"],
    ["repair", "--dry-run"],
]


@pytest.fixture(autouse=True)
def _fixed_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: NOW)


@pytest.fixture
def locked_root(made_root: Path) -> Iterator[Path]:
    """Return a data root that is locked."""
    lock = (made_root / LOCK_FILE).read_bytes()
    with root_lock(made_root, SINCE):
        yield made_root
    (made_root / LOCK_FILE).write_bytes(lock)  # other tests share this root and compare it


@pytest.mark.parametrize("command", WRITERS, ids=" ".join)
def test_a_second_run_exits_at_once_and_names_the_first(command: list[str], locked_root: Path) -> None:
    outcome = fairway(*command, "--data", locked_root)
    assert f"process {os.getpid()} since 2026-11-30T00:05:00+00:00; try again" in outcome.complaint
    assert outcome.code == 75


def test_readers_never_wait(locked_root: Path) -> None:
    before = files_of(locked_root)
    for command in READERS:
        done(*command, "--data", locked_root)
    assert files_of(locked_root) == before


def test_nights_that_run_beside_a_verification_are_not_reported(
    made_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    shutil.copytree(made_root, root)
    monkeypatch.setenv("FAIRWAY_DEALS_PER_NIGHT", "2")
    monkeypatch.setenv("FAIRWAY_DAILY_FROM", "2026-11-28")
    read = LocalStorage.read
    nights = iter(range(1, 4))
    at = {"deals/": 1, "daily/solutions/": 2, "runs/": 3}  # how many nights there are by the first such read
    made = 0

    def slow(self: LocalStorage, path: str) -> bytes:
        nonlocal made
        wanted = max((n for start, n in at.items() if path.startswith(start)), default=0)
        if wanted > made:
            made = next(nights)
            with monkeypatch.context() as patch:
                patch.setattr(LocalStorage, "read", read)
                patch.setattr(clock, "now", lambda: NOW + timedelta(days=made))
                done("nightly", "--data", root)
        return read(self, path)

    monkeypatch.setattr(LocalStorage, "read", slow)
    outcome = fairway("verify", "--all", "--data", root)
    assert made == 3
    assert "problem:" not in outcome.text, outcome.text
    assert outcome.code == 0
