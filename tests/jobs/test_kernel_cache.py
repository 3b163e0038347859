"""Compiled kernels are kept for exactly this code, in a folder that is put in place whole."""

import compileall
import os
import resource
import shutil
import stat
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jobs.bytecode import renew
from jobs.kernel_cache import KernelCache, cache_key, filling, find_cache, mark_used, remove_unused
from pipeline.errors import StorageError
from solver import jit

KEY = "0123456789abcdef"
COMPILER = ("numba", "0.68", "znver4", "+avx2")
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def sources(folder: Path) -> Path:
    folder.mkdir()
    (folder / "a.py").write_text("a = 1\n")
    (folder / "b.py").write_text("b = 2\n")
    return folder


def fill(cache: KernelCache, text: str = "compiled") -> Path:
    """Keep something as numba would; the folder it is kept in."""
    assert cache.folder is not None
    with filling(cache.folder) as room:
        (room / "solver").mkdir()
        (room / "solver" / "kernel.nbi").write_text(text)
    return cache.folder


def stop_in(room: Path) -> None:
    (room / "kernel.nbi").touch()
    raise KeyboardInterrupt


def aged(folder: Path, **age: float) -> Path:
    moment = (NOW - timedelta(**age)).timestamp()
    os.utime(folder, (moment, moment))
    return folder


# -- the key ----------------------------------------------------------------------------------------------


def test_the_key_changes_with_any_source_and_not_with_its_time(tmp_path: Path) -> None:
    folder = sources(tmp_path / "solver")
    key = cache_key(folder, COMPILER)
    os.utime(folder / "a.py", (0, 0))
    (folder / "notes.txt").touch()
    assert cache_key(folder, COMPILER) == key
    for name in ("a.py", "b.py"):
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace("=", "+"))  # of the same size
        assert cache_key(folder, COMPILER) != key
        (folder / name).write_text(text)
    assert cache_key(folder, COMPILER) == key


def test_no_source_of_the_solver_is_left_out_of_the_key(tmp_path: Path) -> None:
    folder = tmp_path / "solver"
    shutil.copytree(Path(jit.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    key = cache_key(folder, COMPILER)
    for source in folder.rglob("*.py"):
        text = source.read_bytes()
        source.write_bytes(text + b"#")
        assert cache_key(folder, COMPILER) != key, source.name
        source.write_bytes(text)
    assert cache_key(folder, COMPILER) == key


def test_text_moved_from_one_source_to_the_next_changes_the_key(tmp_path: Path) -> None:
    folder = sources(tmp_path / "solver")
    key = cache_key(folder, COMPILER)
    (folder / "a.py").write_text("a = 1\nb = 2\n")
    (folder / "b.py").write_text("")
    assert cache_key(folder, COMPILER) != key


def test_another_compiler_processor_or_place_has_another_key(tmp_path: Path) -> None:
    first, second = sources(tmp_path / "solver"), sources(tmp_path / "other")
    keys = {cache_key(first, [*COMPILER[:n], "x", *COMPILER[n + 1 :]]) for n in range(len(COMPILER))}
    keys |= {cache_key(first, COMPILER), cache_key(second, COMPILER)}
    assert len(keys) == len(COMPILER) + 2


# -- filling ----------------------------------------------------------------------------------------------


def decayed(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def linked(file: Path) -> None:
    file.rename(file.parent.parent.parent / "elsewhere")
    file.symlink_to(file.parent.parent.parent / "elsewhere")


@pytest.mark.parametrize(
    "damage",
    [
        decayed,
        linked,
        Path.unlink,
        lambda file: file.write_bytes(b""),
        lambda file: file.with_name("more.nbi").touch(),
        lambda file: (file.parent.parent / "manifest").unlink(),
    ],
)
def test_a_folder_that_is_not_as_it_was_filled_is_filled_again(
    tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    home = tmp_path / "home"
    folder = fill(find_cache([home], KEY))
    assert find_cache([home], KEY).is_filled
    damage(folder / "solver" / "kernel.nbi")
    again = find_cache([home], KEY)
    assert (again.folder, again.is_filled) == (folder, False)
    fill(again, "anew")
    assert find_cache([home], KEY).is_filled
    assert (folder / "solver" / "kernel.nbi").read_text() == "anew"


def test_the_folder_is_made_private_and_found_filled(tmp_path: Path) -> None:
    home = tmp_path / "cache" / "fairway"
    cache = find_cache([home], KEY)
    assert cache == KernelCache(home / f"kernels-{KEY}", is_filled=False, passed_over=())
    folder = fill(cache)
    made = (home.parent, home, folder)
    assert [stat.S_IMODE(place.stat().st_mode) for place in made] == [0o700] * 3
    assert find_cache([home], KEY) == KernelCache(folder, is_filled=True, passed_over=())
    assert list(home.iterdir()) == [folder]


def test_of_two_first_runs_at_once_the_second_drops_its_own(tmp_path: Path) -> None:
    cache = find_cache([tmp_path / "fairway"], KEY)
    assert cache.folder is not None
    with filling(cache.folder) as room:
        (room / "kernel.nbi").write_text("slower")
        folder = fill(cache, "faster")
    assert (folder / "solver" / "kernel.nbi").read_text() == "faster"
    assert list(folder.parent.iterdir()) == [folder]


def test_a_first_run_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    cache = find_cache([tmp_path / "fairway"], KEY)
    assert cache.folder is not None
    with pytest.raises(KeyboardInterrupt), filling(cache.folder) as room:
        stop_in(room)
    assert list(cache.folder.parent.iterdir()) == []


def test_what_a_killed_run_left_is_not_taken_for_kernels(tmp_path: Path) -> None:
    cache = find_cache([tmp_path / "fairway"], KEY)
    assert cache.folder is not None
    (cache.folder.parent / ".incoming-kernels-x").mkdir()
    (cache.folder.parent / ".incoming-kernels-x" / "kernel.nbi").touch()
    cache.folder.mkdir(mode=0o700)
    assert find_cache([tmp_path / "fairway"], KEY) == cache
    fill(cache)
    assert find_cache([tmp_path / "fairway"], KEY).is_filled


@pytest.fixture
def small_disk() -> Iterator[None]:
    """No file may grow beyond a megabyte."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("small_disk")
def test_a_place_without_room_is_passed_over_before_anything_is_compiled(tmp_path: Path) -> None:
    cache = find_cache([tmp_path / "fairway"], KEY)
    assert cache == KernelCache(
        None, is_filled=False, passed_over=(f"cannot use {tmp_path / 'fairway'}: File too large",)
    )


def test_room_that_runs_out_while_compiling_is_told_in_one_line(tmp_path: Path) -> None:
    cache = find_cache([tmp_path / "fairway"], KEY)
    assert cache.folder is not None
    with pytest.raises(StorageError, match="No space left on device; make room"), filling(cache.folder):
        raise OSError(28, os.strerror(28))
    assert list(cache.folder.parent.iterdir()) == []


# -- the right place --------------------------------------------------------------------------------------


def test_the_first_place_that_will_do_is_taken_and_the_others_are_accounted_for(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    homes = [tmp_path / "file" / "fairway", tmp_path / "missing" / "cache" / "fairway", tmp_path / "good"]
    cache = find_cache([*homes, tmp_path / "later"], KEY)
    assert cache.folder == tmp_path / "good" / f"kernels-{KEY}"
    assert cache.passed_over == (
        f"cannot use {tmp_path / 'file'}: File exists",
        f"cannot use {tmp_path / 'missing' / 'cache'}: No such file or directory",
    )
    assert not (tmp_path / "later").exists()


def test_where_no_place_will_do_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert find_cache([tmp_path / "file" / "fairway"], KEY).folder is None
    assert find_cache([], KEY) == KernelCache(None, is_filled=False, passed_over=())


# -- how long ---------------------------------------------------------------------------------------------


def test_what_no_run_has_used_for_60_days_is_removed_and_nothing_else(tmp_path: Path) -> None:
    home = tmp_path / "fairway"
    home.mkdir()
    gone = [home / "kernels-1", home / ".incoming-kernels-1"]
    kept = [home / name for name in ("kernels-2", ".incoming-kernels-2", "notes", "0123456789abcdef")]
    for folder in (*gone, *kept):
        (folder / "solver").mkdir(parents=True)
        (folder / "solver" / "kernel.nbi").touch()
    for folder in (gone[0], *kept[2:]):
        aged(folder, days=60, seconds=1)
    aged(kept[0], days=59)
    aged(gone[1], days=1, seconds=1)
    aged(kept[1], hours=23)
    elsewhere = aged(sources(tmp_path / "elsewhere"), days=100)
    (home / "kernels-3").symlink_to(elsewhere)
    (home / "kernels-4").write_text("a file")
    remove_unused(home, NOW)
    assert sorted(home.iterdir()) == sorted([*kept, home / "kernels-3", home / "kernels-4"])
    assert all((folder / "solver" / "kernel.nbi").exists() for folder in kept)
    assert len(list(elsewhere.iterdir())) == 2


def test_a_run_marks_what_it_uses_once_a_day(tmp_path: Path) -> None:
    folder = tmp_path / "kernels-1"
    folder.mkdir()
    for age, marked in ((timedelta(days=59), NOW), (timedelta(hours=23), NOW - timedelta(hours=23))):
        aged(folder, seconds=age.total_seconds())
        mark_used(folder, NOW)
        assert folder.stat().st_mtime == marked.timestamp()


# -- Python's own compiled files --------------------------------------------------------------------------


def test_compiled_files_of_an_earlier_source_are_remade_though_its_time_and_size_are_the_same(
    tmp_path: Path,
) -> None:
    package = sources(tmp_path / "package")
    assert compileall.compile_dir(package, quiet=1)
    assert renew(package) == ()
    compiled = {file.name: file.read_bytes() for file in package.rglob("*.pyc")}
    before = (package / "b.py").stat()
    (package / "b.py").write_text("b = 3\n")
    os.utime(package / "b.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert renew(package) == ("package.b",)
    remade = {file.name for file in package.rglob("*.pyc") if file.read_bytes() != compiled[file.name]}
    assert {name.split(".")[0] for name in remade} == {"b"}
    assert renew(package) == ()
