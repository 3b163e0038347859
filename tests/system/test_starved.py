"""A disk that fails during a run: exit code 73, one line, a complete state, and nothing left behind for good.

Each fault happens to a real run in a process of its own. Calls that change the disk raise an error or, if the
tests may mount a file system, it is really full or read-only.
"""

import dataclasses
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import typer

from jobs.runs.lock import LOCK_FILE
from tests.support.command import ROOT, files_of
from tests.support.scenarios import SCENARIOS, Baseline, Baselines, Command, check_finished, check_readable
from tests.support.victim import FAULTS, LASTING, Run, Victim

CANNOT_WRITE = 73
NOBODY = 65534
OTHER_USER = NOBODY if os.geteuid() == 0 else None  # root may write anywhere
REMEDIES = {
    "ENOSPC": "free some space",
    "EDQUOT": "free some space",
    "EROFS": "--data",
    "EACCES": "--data",
    "EIO": "check the disk",
    "handles": "ulimit -n",
    "permission": "--data",
}
# By default one scenario and one step for each fault; the soak tests take all of them.
DEFAULT = {
    "ENOSPC": ("missed nights", 0.5),
    "EDQUOT": ("daily publish", 0.3),
    "EROFS": ("pool compact", 0.6),
    "EACCES": ("pool rollback", 0.4),
    "EIO": ("pool regenerate", 0.7),
    "handles": ("missed nights", 0.3),
}
SPARE_KILOBYTES = (0, 24)  # free on a disk that is nearly full
DISK_SIZE = "2m"
READERS = (
    "verify --sample 1",
    "pool status",
    "pool show easy",
    "pool history easy",
    "daily show",
    "daily export",
    "repair --dry-run",
    "gc --dry-run",
)
WRITERS = ("nightly", "daily publish", "pool regenerate easy", "pool compact easy", "gc", "repair")


def check_reported(run: Run, fault: str) -> None:
    if run.code == 0:  # the work was done and recorded before the fault
        assert "metrics were not written: cannot " in run.err
        return
    assert run.code == CANNOT_WRITE, run
    assert re.match(r"fairway: error: cannot \w+ ", run.complaint)
    assert REMEDIES[fault] in run.complaint


def check_survived(victim: Victim, baseline: Baseline, root: Path, fault: str, step: int) -> None:
    """Check that a fault at a step is reported, hurts no reader, and that the next run finishes the work."""
    baseline.copy_to(root)
    run = victim.run(dataclasses.replace(baseline.scenario.command.on(root), fault=fault, at=step))
    check_reported(run, fault)
    if root.exists():
        check_readable(victim, baseline, root)
    check_finished(victim, baseline, root)


@pytest.mark.parametrize("fault", DEFAULT)
def test_a_fault_during_a_run_is_survived(
    victim: Victim, baselines: Baselines, tmp_path: Path, fault: str
) -> None:
    name, part = DEFAULT[fault]
    baseline = baselines.of(name)
    check_survived(victim, baseline, tmp_path / "root", fault, int(baseline.steps * part))


@pytest.mark.soak
@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault not in ("kill", "permission")])
@pytest.mark.parametrize("name", SCENARIOS)
def test_any_fault_at_any_step_is_survived(
    victim: Victim, baselines: Baselines, tmp_path: Path, fault: str, name: str
) -> None:
    baseline = baselines.of(name)
    every = 1 if fault == "ENOSPC" else 5
    for step in range(sum(fault.encode()) % every, baseline.steps - 1, every):
        if fault in LASTING or step:
            check_survived(victim, baseline, tmp_path / "root", fault, step)


# -- permission -------------------------------------------------------------------------------------------


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Return a folder that another user can enter and write to."""
    if OTHER_USER is not None and not all(map(lets_others_in, (ROOT, Path(typer.__file__).parent))):
        pytest.skip("another user cannot read the program")
    folder = Path(tempfile.mkdtemp())
    give_away(folder)
    yield folder
    shutil.rmtree(folder)


def lets_others_in(folder: Path) -> bool:
    return all(place.stat().st_mode & stat.S_IXOTH for place in (folder, *folder.parents))


def give_away(folder: Path) -> None:
    for place in (folder, *folder.rglob("*")):
        place.chmod(0o755 if place.is_dir() else 0o644)
        if OTHER_USER is not None:
            os.chown(place, OTHER_USER, OTHER_USER)


def check_loss_of_permission(victim: Victim, baseline: Baseline, folder: Path, step: int) -> None:
    root = baseline.copy_to(folder / "root")
    if root.exists():
        give_away(root)
    request = baseline.scenario.command.on(root)
    request = dataclasses.replace(request, fault="permission", at=step, user=OTHER_USER)
    check_reported(victim.run(request), "permission")
    give_away(folder)
    check_readable(victim, baseline, root)
    check_finished(victim, baseline, root)


def test_a_run_that_loses_its_permission_is_survived(
    victim: Victim, baselines: Baselines, open_folder: Path
) -> None:
    baseline = baselines.of("missed nights")
    check_loss_of_permission(victim, baseline, open_folder, baseline.steps // 2)


@pytest.mark.soak
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_that_loses_its_permission_at_any_step_is_survived(
    victim: Victim, baselines: Baselines, open_folder: Path, name: str
) -> None:
    baseline = baselines.of(name)
    for step in range(2, baseline.steps - 8, 3):
        check_loss_of_permission(victim, baseline, open_folder, step)


def check_read_only(
    victim: Victim, root: Path, readers: Sequence[str], writers: Sequence[str], user: int | None = None
) -> None:
    """Check that commands that read succeed, those that write end with 73, and nothing changes."""
    before = files_of(root)
    for words in readers:
        victim.check(dataclasses.replace(Command(words).on(root), user=user))
    for words in writers:
        run = victim.run(dataclasses.replace(Command(words).on(root), user=user))
        assert run.code == CANNOT_WRITE, run
        assert re.match(
            r"fairway: error: cannot write the lock .*(Read-only|Permission denied)", run.complaint
        )
    assert files_of(root) == before


def test_a_folder_without_write_permission_can_be_read(
    victim: Victim, baselines: Baselines, open_folder: Path
) -> None:
    root = baselines.of("missed nights").copy_to(open_folder / "root")
    (root / LOCK_FILE).unlink()
    give_away(root)
    for place in (root, *root.rglob("*")):
        place.chmod(0o555 if place.is_dir() else 0o444)
    check_read_only(victim, root, READERS, WRITERS, OTHER_USER)
    give_away(open_folder)


# -- a real disk ------------------------------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Return the folder of a small file system of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK_SIZE}", "tmpfs", str(place)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("the tests may not mount a file system")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk: Path, spare: int) -> Path:
    """Fill a disk except for some kilobytes; return the file that fills it."""
    ballast = disk / "ballast"
    state = os.statvfs(disk)
    ballast.write_bytes(bytes(state.f_bavail * state.f_frsize - spare * 1024))
    return ballast


@pytest.mark.parametrize("spare", SPARE_KILOBYTES)
def test_a_full_disk_is_survived(victim: Victim, baselines: Baselines, disk: Path, spare: int) -> None:
    baseline = baselines.of("missed nights")
    root = baseline.copy_to(disk / "root")
    ballast = fill(disk, spare)
    check_reported(victim.run(baseline.scenario.command.on(root)), "ENOSPC")
    check_readable(victim, baseline, root)
    ballast.unlink()
    check_finished(victim, baseline, root)


def test_a_read_only_disk_can_be_read(victim: Victim, baselines: Baselines, disk: Path) -> None:
    root = baselines.of("missed nights").copy_to(disk / "root")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    check_read_only(victim, root, READERS[:1], WRITERS[:1])
