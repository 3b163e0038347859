"""A disk that fails in the middle of a run: 73, one line, a whole state, and nothing left that stays.

Each fault is that of a real run in a process of its own. Those of the disk come from the calls that change
it, and, where one may be mounted, from a real file system that is full or read-only.
"""

import dataclasses
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer

from tests.support.command import ROOT, files_of
from tests.support.ordeal import ROWS, VARIABLES, Ordeal, Stage, check_finished, check_readable, done
from tests.support.victim import FAULTS, LASTING, Request, Run, Victim

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
# By default one row for each fault, and one step of it; all of them in the soak.
DEFAULT = [
    ("ENOSPC", "missed nights", 0.5),
    ("EDQUOT", "daily publish", 0.3),
    ("EROFS", "pool compact", 0.6),
    ("EACCES", "pool rollback", 0.4),
    ("EIO", "pool regenerate", 0.7),
    ("handles", "missed nights", 0.3),
]
SPARE_KILOBYTES = (0, 24)  # left on a disk that is nearly full
DISK = "2m"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user can get into and write to; who must be able to read the program, too."""
    if OTHER_USER is not None and not all(map(lets_others_in, (ROOT, Path(typer.__file__).parent))):
        pytest.skip("another user cannot read the program where it lies")
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


def check_told(run: Run, fault: str) -> None:
    if run.code == 0:  # all was done and recorded when it happened
        assert "metrics were not written: cannot " in run.err
        return
    assert run.code == CANNOT_WRITE, run
    assert re.match(r"fairway: error: cannot \w+ ", run.complaint)
    assert REMEDIES[fault] in run.complaint
    assert "Traceback" not in run.err


def survive(victim: Victim, ordeal: Ordeal, root: Path, fault: str, step: int) -> None:
    """A fault at a step is told, hurts no reader, and is made good by the next run."""
    check_told(victim.run(dataclasses.replace(ordeal.row.command.on(root), fault=fault, at=step)), fault)
    if root.exists():
        check_readable(victim, ordeal, root)
    check_finished(victim, ordeal, root)


@pytest.mark.parametrize(("fault", "name", "part"), DEFAULT, ids=[f"{row[0]} {row[1]}" for row in DEFAULT])
def test_a_fault_in_the_middle_of_a_run_is_survived(
    victim: Victim, stage: Stage, tmp_path: Path, fault: str, name: str, part: float
) -> None:
    ordeal = stage.play(ROWS[name])
    survive(victim, ordeal, ordeal.copy_to(tmp_path / "root"), fault, int(ordeal.steps * part))


@pytest.mark.soak
@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault not in ("kill", "permission")])
@pytest.mark.parametrize("name", ROWS)
def test_any_fault_at_any_step_is_survived(
    victim: Victim, stage: Stage, tmp_path: Path, fault: str, name: str
) -> None:
    ordeal = stage.play(ROWS[name])
    every = 1 if fault == "ENOSPC" else 5
    for step in range(hash_of(fault) % every, ordeal.steps - 1, every):
        if fault in LASTING or step:
            survive(victim, ordeal, ordeal.copy_to(tmp_path / "root"), fault, step)


def hash_of(text: str) -> int:
    return sum(text.encode())


# Permission


def lose_permission(victim: Victim, ordeal: Ordeal, folder: Path, step: int) -> None:
    root = ordeal.copy_to(folder / "root")
    if root.exists():
        give_away(root)
    lost = dataclasses.replace(ordeal.row.command.on(root), fault="permission", at=step, user=OTHER_USER)
    check_told(victim.run(lost), "permission")
    give_away(folder)
    check_readable(victim, ordeal, root)
    check_finished(victim, ordeal, root)


def test_a_run_that_loses_its_permission_is_survived(victim: Victim, stage: Stage, open_folder: Path) -> None:
    ordeal = stage.play(ROWS["missed nights"])
    lose_permission(victim, ordeal, open_folder, ordeal.steps // 2)


@pytest.mark.soak
@pytest.mark.parametrize("name", ROWS)
def test_a_run_that_loses_its_permission_at_any_step_is_survived(
    victim: Victim, stage: Stage, open_folder: Path, name: str
) -> None:
    ordeal = stage.play(ROWS[name])
    for step in range(2, ordeal.steps - 8, 3):
        lose_permission(victim, ordeal, open_folder, step)


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


def check_read_only(
    victim: Victim, root: Path, readers: Sequence[str], writers: Sequence[str], user: int | None = None
) -> None:
    """What only reads works, what writes is told with 73, and nothing is changed."""
    before = files_of(root)
    now = datetime(2026, 11, 30, 13, tzinfo=UTC)
    for command in readers:
        done(victim.run(Request((*command.split(), "--data", str(root)), now, VARIABLES, user=user)))
    for command in writers:
        run = victim.run(Request((*command.split(), "--data", str(root)), now, VARIABLES, user=user))
        assert run.code == CANNOT_WRITE, run
        assert re.match(
            r"fairway: error: cannot write the lock .*(Read-only|Permission denied)", run.complaint
        )
    assert files_of(root) == before


def test_a_folder_marked_read_only_is_read_and_not_written(
    victim: Victim, stage: Stage, open_folder: Path
) -> None:
    root = stage.play(ROWS["missed nights"]).copy_to(open_folder / "root")
    (root / ".lock").unlink()
    give_away(root)
    for place in (root, *root.rglob("*")):
        place.chmod(0o555 if place.is_dir() else 0o444)
    check_read_only(victim, root, READERS, WRITERS, OTHER_USER)
    give_away(open_folder)


# A real disk


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no file system may be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk: Path, spare: int) -> Path:
    """Fill a disk up to so many kilobytes."""
    ballast = disk / "ballast"
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    ballast.write_bytes(bytes(free - spare * 1024))
    return ballast


@pytest.mark.parametrize("spare", SPARE_KILOBYTES)
def test_a_full_disk_is_survived(victim: Victim, stage: Stage, disk: Path, spare: int) -> None:
    ordeal = stage.play(ROWS["missed nights"])
    root = ordeal.copy_to(disk / "root")
    ballast = fill(disk, spare)
    check_told(victim.run(ordeal.row.command.on(root)), "ENOSPC")
    check_readable(victim, ordeal, root)
    ballast.unlink()
    check_finished(victim, ordeal, root)


def test_a_disk_that_is_read_only_is_read(victim: Victim, stage: Stage, disk: Path) -> None:
    root = stage.play(ROWS["missed nights"]).copy_to(disk / "root")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    check_read_only(victim, root, READERS[:1], WRITERS[:1])
