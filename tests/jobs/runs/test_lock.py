"""One writer at a time; a second run names the holder; the lock of a process that died is free."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jobs.runs.lock import LOCK_FILE, root_lock
from pipeline.errors import BusyError, StorageError
from tests.support.command import ROOT

NOW = datetime(2026, 11, 30, 0, 5, tzinfo=UTC)
LATER = datetime(2026, 11, 30, 0, 6, tzinfo=UTC)

HOLDER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from jobs.runs.lock import root_lock
with root_lock(Path(sys.argv[1]), datetime(2026, 11, 30, 0, 5, tzinfo=UTC)):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_lock_names_its_holder_and_the_time(tmp_path: Path) -> None:
    with root_lock(tmp_path, NOW):
        holder = json.loads((tmp_path / LOCK_FILE).read_text())
    assert holder == {"pid": os.getpid(), "since": "2026-11-30T00:05:00+00:00"}
    assert (tmp_path / LOCK_FILE).read_bytes().strip() == b""  # it is released


def test_a_second_holder_is_refused_with_the_name_of_the_first(tmp_path: Path) -> None:
    with root_lock(tmp_path, NOW):
        expected = rf"process {os.getpid()} since 2026-11-30T00:05:00\+00:00; try again"
        with pytest.raises(BusyError, match=expected), root_lock(tmp_path, LATER):
            pass
        assert json.loads((tmp_path / LOCK_FILE).read_text())["since"] == "2026-11-30T00:05:00+00:00"


def test_the_lock_is_released_after_its_block_even_if_that_raises(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), root_lock(tmp_path, NOW):
        raise KeyboardInterrupt
    with root_lock(tmp_path, LATER):
        pass


@pytest.mark.system
def test_the_lock_of_a_killed_process_does_not_block(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(BusyError, match=f"process {holder.pid} "), root_lock(tmp_path, LATER):
            pass
        holder.kill()
    with root_lock(tmp_path, LATER):
        pass


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": 1}', b'{"pid": "x", "since": 1}', b"\xff"])
def test_a_holder_without_a_valid_name_is_reported_as_such(tmp_path: Path, content: bytes) -> None:
    with root_lock(tmp_path, NOW):
        (tmp_path / LOCK_FILE).write_bytes(content)
        with pytest.raises(BusyError, match="has not named itself yet"), root_lock(tmp_path, LATER):
            pass


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("kept")
    (tmp_path / LOCK_FILE).symlink_to("other")
    with pytest.raises(StorageError, match="cannot write the lock"), root_lock(tmp_path, NOW):
        pass
    assert (tmp_path / "other").read_text() == "kept"


@pytest.mark.parametrize(("kind", "remedy"), [("link", "the link"), ("folder", "the folder"), ("pipe", "it")])
def test_what_is_in_the_place_of_the_lock_is_to_be_moved_away(tmp_path: Path, kind: str, remedy: str) -> None:
    place = tmp_path / LOCK_FILE
    match kind:
        case "link":
            place.symlink_to("other")
        case "folder":
            place.mkdir()
        case _:
            os.mkfifo(place)
    expected = rf"the lock {place}: .*; move (away {remedy}|{remedy} away)"
    with pytest.raises(StorageError, match=expected), root_lock(tmp_path, NOW):
        pass
