"""A data root is created in an empty place and recognised later; nothing else is taken for one."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import ConfigurationError, DamagedError, StorageError
from pipeline.store.root import MARKER, open_root

REPOSITORY = Path(__file__).parents[3]


def test_a_missing_or_empty_folder_becomes_a_root_and_stays_one(tmp_path: Path) -> None:
    missing, empty, disk = tmp_path / "deep" / "missing", tmp_path / "empty", tmp_path / "disk"
    empty.mkdir()
    (disk / "lost+found").mkdir(parents=True)
    for folder in (missing, empty, disk):
        made = open_root(folder, create=True)
        marker = (folder / MARKER).read_bytes()
        assert made.root == folder
        assert open_root(folder, create=False).root == folder
        open_root(folder, create=True)
        assert (folder / MARKER).read_bytes() == marker


def test_without_leave_to_create_nothing_is_made(tmp_path: Path) -> None:
    for folder in (tmp_path / "missing", tmp_path):
        with pytest.raises(ConfigurationError, match=r"no data root at .*; `fairway nightly` makes one"):
            open_root(folder, create=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("create", [True, False])
def test_a_folder_that_holds_something_else_is_refused_and_left_alone(tmp_path: Path, create: bool) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(ConfigurationError, match=r"contains other files \(thesis\.tex\)"):
        open_root(tmp_path, create=create)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_root_that_has_lost_its_marker_is_distinguished_from_another_folder(tmp_path: Path) -> None:
    open_root(tmp_path, create=True).create("catalog.json", b"{}")
    text = (tmp_path / MARKER).read_text()
    (tmp_path / MARKER).unlink()
    with pytest.raises(ConfigurationError, match=f"its marker {MARKER} is gone; put back") as caught:
        open_root(tmp_path, create=True)
    assert str(caught.value).endswith(text.strip())


def test_a_marker_of_a_hundred_thousand_brackets_is_damage(tmp_path: Path) -> None:
    (tmp_path / MARKER).write_text("[" * 100_000)
    with pytest.raises(DamagedError, match="is not JSON"):
        open_root(tmp_path, create=False)


def test_a_root_whose_making_was_killed_is_made_again(tmp_path: Path) -> None:
    (tmp_path / ".incoming-0123").write_text("ha")
    assert open_root(tmp_path, create=True).root == tmp_path


def test_a_file_is_not_a_root(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="is a file"):
        open_root(tmp_path / "file", create=True)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", DamagedError, "is not JSON"),
        ("[]", DamagedError, "does not mark a data root"),
        ('{"fairway": "pool export"}', DamagedError, "does not mark a data root"),
        ('{"fairway": "data root", "format": 2}', ConfigurationError, "upgrade it"),
    ],
)
def test_a_marker_that_is_not_ours_is_refused(
    tmp_path: Path, text: str, error: type[Exception], message: str
) -> None:
    (tmp_path / MARKER).write_text(text)
    with pytest.raises(error, match=message):
        open_root(tmp_path, create=True)


@pytest.mark.parametrize("step", ["mkdir", "listdir"])
def test_a_place_that_cannot_be_used_is_a_storage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def refused(*_arguments: Any, **_options: Any) -> Any:
        raise OSError(errno.EROFS, "Read-only file system")

    folder = tmp_path / "root"
    # What iterdir() calls depends on the version of Python.
    for name in ("mkdir",) if step == "mkdir" else ("listdir", "scandir"):
        monkeypatch.setattr(os, name, refused)
    with pytest.raises(StorageError, match="Read-only file system"):
        open_root(folder, create=True)
    monkeypatch.undo()


def test_the_checkouts_data_folder_is_a_root(tmp_path: Path) -> None:
    fresh = open_root(tmp_path / "fresh", create=True)
    assert (REPOSITORY / "data" / MARKER).read_bytes() == fresh.read(MARKER)
    storage = open_root(REPOSITORY / "data", create=False)
    assert "reference/frozen_v1.json" in storage.list("reference/")
    assert not [path for path in storage.list("deals/") if "reference" in path]


@pytest.mark.parametrize("create", [True, False])
def test_a_root_whose_path_is_not_utf_8_is_refused_everywhere(tmp_path: Path, create: bool) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    with pytest.raises(ConfigurationError, match=r"caf\\udce9', is not UTF-8 text; rename the folder"):
        open_root(folder, create=create)
    assert list(folder.iterdir()) == []
