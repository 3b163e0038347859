"""Compiled kernels are kept for exactly this code, in a folder that is this user's alone."""

import os
import stat
from pathlib import Path

import pytest

from jobs.kernel_cache import cache_key, find_cache


def sources(folder: Path) -> Path:
    folder.mkdir()
    (folder / "a.py").write_text("a = 1\n")
    (folder / "b.py").write_text("b = 2\n")
    return folder


def test_the_key_changes_with_any_source_and_with_nothing_else(tmp_path: Path) -> None:
    folder = sources(tmp_path / "solver")
    key = cache_key(folder)
    os.utime(folder / "a.py", (0, 0))
    (folder / "notes.txt").touch()
    assert cache_key(folder) == key
    (folder / "b.py").write_text("b = 3\n")
    assert cache_key(folder) != key


def test_text_moved_from_one_source_to_the_next_changes_the_key(tmp_path: Path) -> None:
    folder = sources(tmp_path / "solver")
    key = cache_key(folder)
    (folder / "a.py").write_text("a = 1\nb = 2\n")
    (folder / "b.py").write_text("")
    assert cache_key(folder) != key


def test_the_folder_is_made_private_and_found_again(tmp_path: Path) -> None:
    home = tmp_path / "cache" / "fairway"
    cache = find_cache(home)
    assert cache.folder is not None
    assert cache.folder.parent == home
    assert (cache.filled, cache.why_not) == (False, None)
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (home, cache.folder)] == [0o700, 0o700]
    below = cache.folder / "solver"
    below.mkdir()
    (below / "kernel.nbi").touch()
    again = find_cache(home)
    assert (again.folder, again.filled) == (cache.folder, True)


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o702])
def test_a_folder_that_others_can_write_to_is_not_used(tmp_path: Path, mode: int) -> None:
    home = tmp_path / "fairway"
    home.mkdir()
    home.chmod(mode)
    cache = find_cache(home)
    assert cache.folder is None
    assert "others can write" in (cache.why_not or "")


def test_a_folder_below_that_others_can_write_to_is_not_used(tmp_path: Path) -> None:
    first = find_cache(tmp_path / "fairway")
    assert first.folder is not None
    first.folder.chmod(0o777)
    assert find_cache(tmp_path / "fairway").folder is None


def test_a_folder_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    cache = find_cache(tmp_path / "fairway")
    assert cache.folder is None
    assert "another user" in (cache.why_not or "")


def test_where_no_folder_can_be_kernels_are_compiled_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "cannot use the cache folder" in (find_cache(tmp_path / "file" / "fairway").why_not or "")
    assert "FAIRWAY_CACHE" in (find_cache(None).why_not or "")
