"""Code is loaded only from folders that nobody else can write to or put another in place of."""

import os
from pathlib import Path

import pytest

from jobs.private_folder import check_closed, private_folder
from pipeline.errors import StorageError

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")


def refused(folder: Path) -> str:
    with pytest.raises(StorageError) as caught:
        private_folder(folder)
    return str(caught.value)


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o702, 0o1777])
def test_a_folder_that_others_can_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    home = tmp_path / "fairway"
    home.mkdir()
    home.chmod(mode)
    assert refused(home).startswith(f"others can write to {home};")


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("mode", [0o770, 0o777, 0o702])
def test_a_folder_below_one_that_others_can_write_to_is_refused(
    tmp_path: Path, mode: int, depth: int
) -> None:
    home = tmp_path / "a" / "b" / "c" / "fairway"
    home.mkdir(parents=True)
    parent = home.parents[depth - 1]
    parent.chmod(mode)
    assert refused(home) == f"others can write to {parent}; `chmod go-w` would mend that"


def test_a_folder_among_temporary_files_will_do(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    assert private_folder(tmp_path / "fairway") == tmp_path / "fairway"


def test_a_readable_folder_and_readable_parents_will_do(tmp_path: Path) -> None:
    (tmp_path / "fairway").mkdir()
    tmp_path.chmod(0o755)
    (tmp_path / "fairway").chmod(0o755)
    assert private_folder(tmp_path / "fairway") == tmp_path / "fairway"


def test_a_link_is_refused_even_to_a_folder_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir(mode=0o700)
    (tmp_path / "fairway").symlink_to(tmp_path / "own")
    assert (
        refused(tmp_path / "fairway")
        == f"{tmp_path / 'fairway'} is no folder but a link or a file; remove it"
    )


def test_a_link_on_the_way_is_followed_once_and_what_it_names_is_checked(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert private_folder(tmp_path / "link" / "fairway") == tmp_path / "real" / "fairway"
    (tmp_path / "real").chmod(0o770)
    assert refused(tmp_path / "link" / "fairway").startswith(f"others can write to {tmp_path / 'real'};")


@as_root
def test_a_folder_made_beforehand_by_another_user_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fairway").mkdir(mode=0o700)
    os.chown(tmp_path / "fairway", NOBODY, NOBODY)
    tmp_path.chmod(0o1777)
    assert refused(tmp_path / "fairway") == f"{tmp_path / 'fairway'} belongs to another user"


@as_root
def test_a_folder_below_that_of_another_user_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "theirs" / "cache" / "fairway"
    home.mkdir(parents=True, mode=0o700)
    os.chown(tmp_path / "theirs", NOBODY, NOBODY)
    assert refused(home) == f"{tmp_path / 'theirs'} belongs to another user"


def test_whoever_else_it_belongs_to_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fairway").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert refused(tmp_path / "fairway").endswith(" belongs to another user")


@pytest.mark.parametrize("mode", [0o750, 0o701, 0o755])
def test_a_folder_of_code_that_others_can_enter_is_refused(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    with pytest.raises(StorageError, match=r"others can enter .*; remove it"):
        check_closed(tmp_path)


@as_root
def test_a_folder_that_holds_a_file_of_another_user_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "solver").mkdir()
    (tmp_path / "solver" / "kernel.nbc").touch()
    check_closed(tmp_path)
    os.chown(tmp_path / "solver" / "kernel.nbc", NOBODY, NOBODY)
    with pytest.raises(StorageError, match=r"kernel\.nbc belongs to another user"):
        check_closed(tmp_path)
