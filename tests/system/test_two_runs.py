"""A second run exits at once and names the first; readers never wait."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jobs.runs.lock import LOCK_FILE, root_lock
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
