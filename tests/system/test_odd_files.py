"""A file that cannot be read, or a link, folder or pipe in its place, keeps back no hole and no repair."""

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jobs.runs.lock import LOCK_FILE
from jobs.terminal import clock
from pipeline.daily.files import INDEX_PATH
from pipeline.errors import StorageError
from pipeline.pools.catalog import CATALOG_FILE
from pipeline.query.views import SQL_FILE
from pipeline.store.storage import LocalStorage
from tests.support.command import done, fairway, files_of

OLD_DAILY, OLD_SOLUTION = "daily/2026-11-28.json", "daily/solutions/2026-11-28.json"
DUE = "daily/2026-12-03.json"
PART = "deals/medium"  # the start of its path


@pytest.fixture
def root(made_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data root on the day after its last night, for which a hole is due."""
    monkeypatch.setenv("FAIRWAY_DEALS_PER_NIGHT", "2")
    monkeypatch.setenv("FAIRWAY_DAILY_FROM", "2026-11-28")
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 12, 1, 12, tzinfo=UTC))
    shutil.copytree(made_root, tmp_path / "root")
    return tmp_path / "root"


def unreadable(start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = LocalStorage.read

    def failing(self: LocalStorage, path: str) -> bytes:
        if path.startswith(start):
            raise StorageError(f"cannot read {path}: Permission denied")
        return read(self, path)

    monkeypatch.setattr(LocalStorage, "read", failing)


def link(place: Path) -> None:
    place.symlink_to(place.name)  # to itself


def link_out(place: Path) -> None:
    place.symlink_to(place.parents[2] / "elsewhere.json")


KINDS: dict[str, Callable[[Path], None]] = {
    "folder": Path.mkdir,
    "link": link,
    "link out": link_out,
    "pipe": os.mkfifo,
}


odd_files = pytest.mark.parametrize(
    ("path", "kind"),
    [
        pytest.param(path, kind, marks=() if kind == "folder" or path == OLD_DAILY else pytest.mark.soak)
        for path in (PART, OLD_DAILY, INDEX_PATH, SQL_FILE)
        for kind in KINDS
    ],
)


def put_instead(root: Path, path: str, kind: str) -> None:
    place = next(root.glob(f"{path}/*/*.parquet")) if path == PART else root / path
    place.unlink()
    KINDS[kind](place)


@pytest.mark.parametrize("path", [PART, OLD_DAILY, INDEX_PATH, SQL_FILE])
def test_a_file_that_cannot_be_read_keeps_back_no_hole(
    path: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unreadable(path, monkeypatch)
    outcome = fairway("nightly", "--data", root)
    assert (root / DUE).exists()
    if path in (INDEX_PATH, SQL_FILE):  # derived, so it is written again
        assert outcome.code == 0, outcome.err
    else:
        assert outcome.code in (1, 73)
        assert "Permission denied" in outcome.complaint


@odd_files
def test_what_is_not_a_file_in_the_place_of_one_keeps_back_no_hole(path: str, kind: str, root: Path) -> None:
    put_instead(root, path, kind)
    outcome = fairway("nightly", "--data", root)
    assert (root / DUE).exists(), outcome.err
    if not (path in (INDEX_PATH, SQL_FILE) and kind != "folder"):  # a rename replaces the others
        assert outcome.code in (1, 73)
        assert "exists already" not in outcome.complaint


def test_a_folder_in_the_place_of_a_daily_is_named_as_what_it_is(root: Path) -> None:
    (root / DUE).mkdir()
    complaint = fairway("nightly", "--data", root).complaint
    assert "a folder, link, pipe or device is in its place; move it away" in complaint
    assert complaint.count(DUE) == 1


@odd_files
def test_repair_leaves_what_is_not_a_file_and_repairs_the_rest(path: str, kind: str, root: Path) -> None:
    lost = OLD_SOLUTION if path != OLD_DAILY else "daily/solutions/2026-11-29.json"
    content = (root / lost).read_bytes()
    (root / lost).unlink()
    put_instead(root, path, kind)
    planned = json.loads(fairway("repair", "--dry-run", "--json", "--data", root).out)
    outcome = fairway("repair", "--json", "--data", root)
    log = json.loads(outcome.out)
    assert (root / lost).read_bytes() == content
    repaired, refused = ({found["file"] for found in log[name]} for name in ("mended", "refused"))
    assert not repaired & refused
    assert outcome.code == bool(refused)
    stays = kind in ("folder", "link out")  # what no file can replace
    assert bool(refused) == (not (path in (INDEX_PATH, SQL_FILE) and not stays)) or path == INDEX_PATH
    if path != SQL_FILE or not stays:  # that it cannot be replaced shows only when it is tried
        assert {found["file"] for found in planned["refused"]} == refused


def test_repair_without_a_terminal_reports_all_parts_as_one_task(root: Path) -> None:
    for part in list(root.glob("deals/*/*/*.parquet")):
        part.write_bytes(b"")
    lines = done("repair", "--data", root).err.splitlines()
    tasks = [line for line in lines if line.startswith("deals of parts: ")]
    assert tasks == lines
    assert len(tasks) <= 11
    assert tasks[-1] == "deals of parts: 36 of 36"


def test_a_folder_in_the_place_of_the_lock_is_a_problem(root: Path) -> None:
    (root / LOCK_FILE).unlink(missing_ok=True)
    (root / LOCK_FILE).mkdir()
    outcome = fairway("verify", "--sample", 0, "--data", root)
    assert f"problem: {LOCK_FILE}: not a regular file" in outcome.text
    assert "problems: 1; run" in outcome.text
    assert outcome.code == 1


@pytest.mark.parametrize("field", [b'"last_night": "\\ud800"', b'"next_number": 1e999'])
def test_a_catalog_with_what_json_cannot_hold_is_damage_that_repair_undoes(field: bytes, root: Path) -> None:
    done("nightly", "--data", root)
    catalog = root / CATALOG_FILE
    data = catalog.read_bytes()
    name = field.partition(b":")[0]
    start = data.index(name)
    catalog.write_bytes(data[:start] + field + data[data.index(b",", start) :])
    (root / "catalogs" / "000003.json").write_bytes(catalog.read_bytes())
    for command in (["nightly"], ["status"], ["verify"], ["gc"], ["query", "from deals"]):
        outcome = fairway(*command, "--data", root)
        assert outcome.code == 1, command
        assert "Traceback" not in outcome.err
        assert CATALOG_FILE in outcome.err + outcome.text
    repaired = fairway("repair", "--data", root)
    assert "replaced by catalogs/000001.json" in repaired.text
    assert {path for path in files_of(root) if path.startswith("catalogs/damaged-")}
