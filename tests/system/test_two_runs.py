"""Of two runs one works and the other exits at once, naming the first; readers never wait."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jobs.runs.lock import root_lock
from jobs.terminal import clock
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
def _frozen_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: NOW)


@pytest.mark.parametrize("command", WRITERS, ids=" ".join)
def test_second_run_exits_at_once_and_names_the_first(
    command: list[str], made_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = (made_root / ".lock").read_bytes()
    with root_lock(made_root, SINCE):
        outcome = fairway(*command, "--data", made_root)
    (made_root / ".lock").write_bytes(lock)  # other tests share this root and compare it
    assert f"process {os.getpid()} since 2026-11-30T00:05:00+00:00; try again" in outcome.complaint
    assert outcome.code == 75


def test_readers_never_wait(made_root: Path) -> None:
    lock = (made_root / ".lock").read_bytes()
    with root_lock(made_root, SINCE):
        before = files_of(made_root)
        for command in READERS:
            done(*command, "--data", made_root)
        assert files_of(made_root) == before
    (made_root / ".lock").write_bytes(lock)
