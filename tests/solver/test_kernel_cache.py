"""Compiled kernels are kept for one version of the code, in a folder that no other user can change."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from solver import jit
from solver.kernel_cache import KernelCache, keep_in, private_folder, source_key

KEY = "0123456789abcdef"
COMPILER = ("numba", "0.68", "znver4", "+avx2")
NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")


# -- the key ----------------------------------------------------------------------------------------------


def test_the_key_depends_on_every_source_of_the_solver_but_not_on_times(tmp_path: Path) -> None:
    folder = tmp_path / "solver"
    shutil.copytree(Path(jit.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    key = source_key(COMPILER, folder)
    (folder / "notes.txt").touch()
    for source in folder.rglob("*.py"):
        text = source.read_bytes()
        source.write_bytes(text + b"#")
        assert source_key(COMPILER, folder) != key, source.name
        source.write_bytes(text)
        os.utime(source, (0, 0))
    assert source_key(COMPILER, folder) == key


def test_the_key_depends_on_the_compiler_and_the_processor() -> None:
    keys = {source_key((*COMPILER[:n], "x", *COMPILER[n + 1 :])) for n in range(len(COMPILER))}
    assert len(keys | {source_key(COMPILER)}) == len(COMPILER) + 1


# -- files ------------------------------------------------------------------------------------------------


def cache_at(place: Path) -> KernelCache:
    return KernelCache(KEY, iter([place]))


def test_what_was_written_is_read_by_the_next_run(tmp_path: Path) -> None:
    cache_at(tmp_path / "cache" / "fairway").write("kernel", b"code")
    cache = cache_at(tmp_path / "cache" / "fairway")
    assert (cache.read("kernel"), cache.read("other"), cache.reasons) == (b"code", None, [])
    folder = tmp_path / "cache" / "fairway" / f"kernels-{KEY}"
    assert [file.name for file in folder.iterdir()] == ["kernel"]
    made = (folder, folder.parent, folder.parent.parent)
    assert [stat.S_IMODE(each.stat().st_mode) for each in made] == [0o700] * 3


@pytest.mark.parametrize("damage", [b"", b"short", None], ids=["empty", "short", "one bit"])
def test_a_damaged_file_counts_as_missing_and_can_be_written_again(
    tmp_path: Path, damage: bytes | None
) -> None:
    cache = cache_at(tmp_path / "fairway")
    cache.write("kernel", b"code")
    assert cache.folder is not None
    file = cache.folder / "kernel"
    data = file.read_bytes()
    file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]) if damage is None else damage)
    assert cache.read("kernel") is None
    cache.write("kernel", b"code")
    assert cache.read("kernel") == b"code"


@as_root
def test_a_file_of_another_user_is_not_read(tmp_path: Path) -> None:
    cache = cache_at(tmp_path / "fairway")
    cache.write("kernel", b"code")
    assert cache.folder is not None
    os.chown(cache.folder / "kernel", NOBODY, NOBODY)
    assert cache.read("kernel") is None


def test_the_newest_folders_of_other_versions_stay_whatever_the_clock_says(tmp_path: Path) -> None:
    (tmp_path / "notes").touch()
    for n in range(15):
        folder = tmp_path / f"kernels-{n:02}"
        folder.mkdir()
        os.utime(folder, (n, n))  # half a century ago
    cache_at(tmp_path)
    expected = ["notes", *(f"kernels-{n:02}" for n in range(5, 15)), f"kernels-{KEY}"]
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(expected)


# -- the place --------------------------------------------------------------------------------------------


def test_the_first_usable_place_is_taken_and_the_others_are_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    places = [tmp_path / "file" / "fairway", tmp_path / "missing" / "cache" / "fairway", tmp_path / "good"]
    cache = KernelCache(KEY, iter([*places, tmp_path / "later"]))
    assert cache.folder == tmp_path / "good" / f"kernels-{KEY}"
    assert cache.reasons == [
        f"cannot use {tmp_path / 'file'}: File exists",
        f"cannot use {tmp_path / 'missing' / 'cache'}: No such file or directory",
    ]
    assert not (tmp_path / "later").exists()


def test_without_a_usable_place_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = cache_at(tmp_path / "file" / "fairway")
    cache.write("kernel", b"code")
    assert (cache.folder, cache.read("kernel")) == (None, None)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"FAIRWAY_CACHE": "named", "XDG_CACHE_HOME": "cache", "HOME": "home"}, "named"),
        ({"XDG_CACHE_HOME": "cache", "HOME": "home"}, "cache/fairway"),
        ({"HOME": "home"}, "home/.cache/fairway"),
        ({"HOME": "missing"}, f"temporary/fairway-{os.geteuid()}"),
        ({}, f"temporary/fairway-{os.geteuid()}"),
    ],
)
def test_the_environment_names_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str
) -> None:
    for folder in ("cache", "home", "temporary"):
        (tmp_path / folder).mkdir()
    monkeypatch.setattr("solver.kernel_cache._chosen", [])
    for name in ("FAIRWAY_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    for name, folder in variables.items():
        monkeypatch.setenv(name, str(tmp_path / folder))
    assert KernelCache(KEY).folder == tmp_path / expected / f"kernels-{KEY}"
    assert not (tmp_path / "missing").exists()


def test_without_any_folder_for_temporary_files_nothing_is_kept_and_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solver.kernel_cache._chosen", [])
    monkeypatch.setattr("solver.kernel_cache._TEMPORARY", (str(tmp_path / "absent"),))
    for name in ("FAIRWAY_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path / "missing"))
    monkeypatch.chdir(tmp_path)
    assert KernelCache(KEY).folder is None
    assert list(tmp_path.iterdir()) == []


def test_the_place_that_settings_choose_comes_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solver.kernel_cache._chosen", [])
    keep_in(tmp_path / "chosen")
    assert KernelCache(KEY).folder == tmp_path / "chosen" / f"kernels-{KEY}"


# -- private folders --------------------------------------------------------------------------------------


def refused(folder: Path) -> str:
    with pytest.raises(OSError, match="it") as caught:
        private_folder(folder)
    return f"{caught.value.filename}: {caught.value.strerror}"


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o702, 0o1777])
def test_a_folder_that_others_can_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    place = tmp_path / "fairway"
    place.mkdir()
    place.chmod(mode)
    assert refused(place) == f"{place}: others can write to it; remove it"


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("mode", [0o770, 0o777, 0o702])
def test_a_folder_below_one_that_others_can_write_to_is_refused(
    tmp_path: Path, mode: int, depth: int
) -> None:
    place = tmp_path / "a" / "b" / "c" / "fairway"
    place.mkdir(parents=True)
    parent = place.parents[depth - 1]
    parent.chmod(mode)
    assert refused(place) == f"{parent}: others can write to it; run `chmod go-w` on it"


def test_a_folder_below_one_with_the_sticky_bit_is_accepted(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    assert private_folder(tmp_path / "fairway") == tmp_path / "fairway"


def test_folders_that_others_can_only_read_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "fairway").mkdir()
    tmp_path.chmod(0o755)
    (tmp_path / "fairway").chmod(0o755)
    assert private_folder(tmp_path / "fairway") == tmp_path / "fairway"


def test_a_link_is_refused_even_to_a_folder_of_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir(mode=0o700)
    (tmp_path / "fairway").symlink_to(tmp_path / "own")
    assert refused(tmp_path / "fairway") == f"{tmp_path / 'fairway'}: it is a link or a file; remove it"


def test_a_link_in_the_path_is_resolved_and_its_target_is_checked(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert private_folder(tmp_path / "link" / "fairway") == tmp_path / "real" / "fairway"
    (tmp_path / "real").chmod(0o770)
    assert refused(tmp_path / "link" / "fairway").startswith(f"{tmp_path / 'real'}: others can write to it")


@as_root
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fairway").mkdir(mode=0o700)
    os.chown(tmp_path / "fairway", NOBODY, NOBODY)
    tmp_path.chmod(0o1777)
    assert refused(tmp_path / "fairway") == f"{tmp_path / 'fairway'}: it belongs to another user"


@as_root
def test_a_folder_below_one_of_another_user_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "theirs" / "cache" / "fairway"
    place.mkdir(parents=True, mode=0o700)
    os.chown(tmp_path / "theirs", NOBODY, NOBODY)
    assert refused(place) == f"{tmp_path / 'theirs'}: it belongs to another user"


def test_the_folder_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fairway").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert refused(tmp_path / "fairway").endswith("it belongs to another user")
