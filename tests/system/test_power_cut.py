"""A power cut leaves the state from before or after a run: data, then folders, then pointers are synced."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Set
from pathlib import Path
from typing import Any

import pytest

from jobs.runs.lock import LOCK_FILE
from jobs.terminal import clock
from pipeline.daily.files import INDEX_PATH
from pipeline.pools import nights as generate
from pipeline.pools.catalog import CATALOG_FILE, kept_path
from pipeline.query.views import SQL_FILE
from tests.support.command import PROGRAM, done, files_of, run_child
from tests.support.power import TRACED, Call, LazyDisk, recorded, traced
from tests.support.scenarios import (
    SCENARIOS,
    VARIABLES,
    Baseline,
    Baselines,
    Files,
    check_finished,
    check_readable,
    content,
)
from tests.support.victim import Victim

CUTS = 3  # by default
NOT_SYNCED = LOCK_FILE  # it names the running process, which a power cut ends anyway


def check_order(calls: Iterable[Call], before: Files, end: Path) -> LazyDisk:
    """Check that nothing points to data that are not synced yet, and that everything is synced at the end.

    Args:
        calls: of a run, in order.
        before: the files before the run.
        end: the data root after the run.

    Returns:
        The disk after the run.
    """
    disk = LazyDisk(before)
    seen: dict[str, Set[str]] = {}  # for each path, what was on the disk when it last changed
    for call in calls:
        seen[call.target or call.path] = disk.files().keys()
        disk.feed(call)
    parts = {part["path"] for pool in document(end, CATALOG_FILE)["pools"] for part in pool["parts"]}
    assert parts <= seen[CATALOG_FILE]
    assert {kept_path(document(end, CATALOG_FILE)["change"] - 1)} - {kept_path(0)} <= seen[CATALOG_FILE]
    assert {*parts, CATALOG_FILE} <= seen[SQL_FILE]
    assert {f"daily/{entry['file']}" for entry in document(end, INDEX_PATH)["dailies"]} <= seen[INDEX_PATH]
    for path, on_disk in seen.items():
        if path.startswith("daily/2"):
            assert {
                path.replace("daily/", f"{folder}/solutions/") for folder in ("daily", "private")
            } & on_disk
        if path.startswith("private/solutions/2") and path not in disk.files():
            assert path.replace("private/", "daily/") in on_disk
    assert disk.unsynced() == []
    assert disk.files().keys() | {NOT_SYNCED} == files_of(end).keys()
    return disk


def document(root: Path, path: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads((root / path).read_bytes())
    return fields


def run_recorded(baseline: Baseline, root: Path) -> list[Call]:
    """Run the command of a scenario in this process; return the calls that change the disk."""
    command = baseline.scenario.command
    with pytest.MonkeyPatch.context() as patch:
        for name, value in VARIABLES.items():
            patch.setenv(name, value)
        patch.setattr(clock, "now", lambda: command.now)
        patch.setattr(generate, "BATCH_SIZE", 5)
        root.mkdir(exist_ok=True)
        with recorded(root) as calls:
            done(*command.words.split(), "--data", root)
    return calls


def survive_cuts(
    victim: Victim, baseline: Baseline, calls: list[Call], cuts: Iterable[int], place: Path
) -> None:
    """Check that readers and the next run work with what is on the disk after so many calls."""
    for cut in cuts:
        disk = LazyDisk(files_of(baseline.start) if baseline.start.exists() else {})
        for call in calls[:cut]:
            disk.feed(call)
        if place.exists():
            shutil.rmtree(place)
        for path, data in disk.files().items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(data)
        if place.exists():
            check_readable(victim, baseline, place)
        check_finished(victim, baseline, place)


def test_a_power_cut_is_survived(victim: Victim, baselines: Baselines, tmp_path: Path) -> None:
    baseline = baselines.of("missed nights")
    root = baseline.copy_to(tmp_path / "root")
    calls = run_recorded(baseline, root)
    assert content(root) == baseline.after
    on_disk = check_order(calls, files_of(baseline.start), root).files()
    differing = {path for path, data in files_of(root).items() if on_disk.get(path) != data}
    assert differing <= {NOT_SYNCED}
    cuts = [(2 * n + 1) * len(calls) // (2 * CUTS) for n in range(CUTS)]
    survive_cuts(victim, baseline, calls, cuts, tmp_path / "cut")


@pytest.mark.soak
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_power_cut_at_any_time_is_survived(
    victim: Victim, baselines: Baselines, tmp_path: Path, name: str
) -> None:
    baseline = baselines.of(name)
    calls = run_recorded(baseline, baseline.copy_to(tmp_path / "root"))
    survive_cuts(victim, baseline, calls, range(len(calls) + 1), tmp_path / "cut")


def can_trace() -> bool:
    try:
        return subprocess.run(["strace", "-qq", "-o", os.devnull, "true"], check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not can_trace(), reason="strace is missing or may not trace")
def test_a_trace_of_a_real_night_shows_the_same_order(tmp_path: Path) -> None:
    root, trace = tmp_path / "root", tmp_path / "trace"
    root.mkdir()
    night = ["nightly", "--date", "2931-03-01", "--allow-future", "--data", str(root)]
    variables = {**VARIABLES, "FAIRWAY_DAILY_FROM": "2931-03-01"}
    options = ["-f", "-y", "-qq", "--seccomp-bpf", "-s", "0", "-e", "signal=none"]
    run_child(
        *("strace", *options, "-e", f"trace={TRACED}", "-o", trace, sys.executable, "-c", PROGRAM, *night),
        env={**os.environ, **variables},
        check=True,
    )
    check_order(traced(trace.read_text(), root), {}, root)


# -- the simulated disk and planted mistakes --------------------------------------------------------------

WHOLE = [
    Call("mkdir", "deals"),
    Call("sync", ""),
    Call("write", "deals/.incoming-1"),
    Call("sync", "deals/.incoming-1", data=b"part"),
    Call("link", "deals/.incoming-1", "deals/part"),
    Call("unlink", "deals/.incoming-1"),
    Call("sync", "deals"),
]


def disk_after(calls: Iterable[Call]) -> LazyDisk:
    disk = LazyDisk({})
    for call in calls:
        disk.feed(call)
    return disk


def test_a_file_is_on_the_disk_once_its_data_name_and_folder_are_synced() -> None:
    assert disk_after(WHOLE).files() == {"deals/part": b"part"}
    assert disk_after(WHOLE).unsynced() == []
    for left_out in (0, 1, 6):
        assert disk_after(WHOLE[:left_out] + WHOLE[left_out + 1 :]).files() == {}
    assert disk_after(WHOLE[:-1]).unsynced() == ["deals/part"]


def test_data_that_are_renamed_before_their_sync_are_detected() -> None:
    with pytest.raises(AssertionError, match="is renamed to deals/part before its sync"):
        disk_after(WHOLE[:3] + WHOLE[4:])
    with pytest.raises(AssertionError, match="is written to after its sync"):
        disk_after([*WHOLE[:4], WHOLE[2]])


def test_a_name_that_is_replaced_or_removed_stays_until_its_folder_is_synced() -> None:
    swap = [Call("sync", ".incoming-2", data=b"new"), Call("rename", ".incoming-2", "catalog.json")]
    disk = LazyDisk({"catalog.json": b"old", "gone": b"gone"})
    for call in (*swap, Call("unlink", "gone")):
        disk.feed(call)
    assert disk.files() == {"catalog.json": b"old", "gone": b"gone"}
    disk.feed(Call("sync", ""))
    assert disk.files() == {"catalog.json": b"new"}


def test_a_trace_is_read_with_calls_that_were_interrupted() -> None:
    text = """\
7 mkdir("/r/deals", 0777) = 0
7 fsync(3</r>) = 0
8 write(4</r/deals/.incoming-1>, ""..., 4) = 4
7 fsync(4</r/deals/.incoming-1> <unfinished ...>
8 write(2</dev/null>, ""..., 4) = 4
7 <... fsync resumed>) = 0
7 link("/r/deals/.incoming-1", "/r/deals/part") = 0
7 linkat(AT_FDCWD</>, "/r/deals/.incoming-1", AT_FDCWD</>, "/r/deals/part", 0) = -1 EEXIST (File exists)
7 unlink("/r/deals/.incoming-1") = 0
7 rename("/r/a", "/elsewhere/b") = 0
7 fsync(5</r/deals>) = 0
"""
    calls = [Call(call.name, call.path, call.target) for call in WHOLE]
    assert list(traced(text, Path("/r"))) == calls
