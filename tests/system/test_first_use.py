"""The first run compiles and reports it; later runs load the kernels, for any user, if possible."""

import os
import resource
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command import PROGRAM
from tests.support.first_use import CALLEE, NOBODY, TINY, Run, interpreter_for_others, tiny_tree

FIRST = "compiling the solver, a few seconds on first use"
IN_MEMORY = "compiling the solver, a few seconds at every start because it cannot be kept"
RATE = ("deal", "rate", "617", "--rules", "golf")
COMPILED, LOADED = "42 0\n", "42 1\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return tiny_tree(tmp_path / "tree")


def kept_in(place: Path) -> Path:
    """Return the only folder of compiled kernels in a folder, which must contain nothing else."""
    (folder,) = place.iterdir()
    assert folder.name.startswith("kernels-")
    assert stat.S_IMODE(place.stat().st_mode) == stat.S_IMODE(folder.stat().st_mode) == 0o700
    return folder


@pytest.mark.parametrize(
    "locators",
    ["InTreeCacheLocator", *(pytest.param(name, marks=pytest.mark.soak) for name in ("", "NoSuchLocator"))],
)
def test_a_changed_callee_with_the_same_time_and_size_and_a_damaged_file_are_compiled_again(
    tree: Path, tmp_path: Path, locators: str
) -> None:
    variables = {"FAIRWAY_CACHE": str(tmp_path / "kernels"), "NUMBA_CACHE_LOCATOR_CLASSES": locators}
    run = Run(tree, {**variables, "PYTHONDONTWRITEBYTECODE": "1"})
    callee = tree / "solver" / "callee_kernel.py"
    before = callee.stat()

    def write(text: str) -> None:
        callee.write_text(text)
        os.utime(callee, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert callee.stat().st_size == before.st_size

    assert run.check(TINY) == (COMPILED, f"{FIRST}\n")
    write(CALLEE.replace("+ 1", "+ 5"))
    assert run.check(TINY) == ("50 0\n", f"{FIRST}\n")
    write(CALLEE)
    assert run.check(TINY) == (LOADED, "")
    assert not any(tree.rglob("*.nb?"))
    for file in (tmp_path / "kernels").glob("*/*"):
        data = file.read_bytes()
        file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert run.check(TINY) == (COMPILED, f"{FIRST}\n")


def test_two_first_runs_at_the_same_time_both_succeed(tree: Path, tmp_path: Path) -> None:
    run = Run(tree, {"FAIRWAY_CACHE": str(tmp_path / "kernels")})
    with run.start(TINY) as first, run.start(TINY) as second:
        outcomes = [process.communicate() for process in (first, second)]
    assert set(outcomes) <= {(COMPILED, f"{FIRST}\n"), (LOADED, "")}
    assert run.check(TINY) == (LOADED, "")
    kept_in(tmp_path / "kernels")


def test_if_nothing_can_be_written_each_run_compiles_in_memory_and_reports_it_once(
    tree: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    out, err = Run(tree, {"FAIRWAY_CACHE": str(tmp_path / "file" / "kernels")}).check(TINY)
    reason = f"cannot use {tmp_path / 'file'}: File exists"
    assert (out, err) == (COMPILED, f"{IN_MEMORY} ({reason})\n")
    assert not any(tree.rglob("*.nb?"))


def test_a_full_disk_is_reported_once_and_the_kernels_run(tree: Path, tmp_path: Path) -> None:
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, {resource.RLIM_INFINITY}))\n"
    out, err = Run(tree, {"FAIRWAY_CACHE": str(tmp_path / "kernels")}).check(limit + TINY)
    kept = kept_in(tmp_path / "kernels")
    assert (out, err) == (COMPILED, f"{FIRST}\ncannot keep compiled kernels in {kept}: File too large\n")
    assert list(kept.iterdir()) == []


# -- other users ------------------------------------------------------------------------------------------


@pytest.fixture
def as_nobody() -> Iterator[Run]:
    """Return runs of another user, who has no home and can write only temporary files."""
    if os.geteuid() != 0:
        pytest.skip("only root can run programs as another user")
    python = interpreter_for_others()
    if python is None:
        pytest.skip("another user has no Python with the same libraries")
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # pytest's own folders are closed to others
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "shared").mkdir()
        (folder / "shared").chmod(0o1777)
        variables = {"HOME": str(folder / "no" / "home"), "TMPDIR": str(folder / "shared")}
        yield Run(tiny_tree(folder / "tree"), variables, NOBODY, python)


def test_a_user_without_a_home_keeps_the_kernels_of_a_read_only_package(as_nobody: Run) -> None:
    place = Path(as_nobody.variables["TMPDIR"]) / f"fairway-{NOBODY}"
    why = f"cannot use {as_nobody.variables['HOME']}/.cache: No such file or directory"
    assert as_nobody.check(TINY) == (COMPILED, f"{FIRST}; kept in {place} ({why})\n")
    assert kept_in(place).stat().st_uid == place.stat().st_uid == NOBODY
    assert as_nobody.check(TINY) == (LOADED, "")
    assert not any(as_nobody.tree.rglob("*.nb?"))


@pytest.mark.soak
def test_files_of_another_user_are_not_loaded(as_nobody: Run) -> None:
    place = Path(as_nobody.variables["TMPDIR"]) / f"fairway-{NOBODY}"
    Run(as_nobody.tree, {"FAIRWAY_CACHE": str(place)}).check(TINY)  # makes the folder, as root
    place.chmod(0o755)
    out, err = as_nobody.check(TINY)
    assert (out, err.count("\n")) == (COMPILED, 1)
    assert f"cannot use {place}: it belongs to another user" in err


# -- the whole solver -------------------------------------------------------------------------------------


def test_the_first_command_with_kernels_reports_that_it_compiles_and_the_next_one_loads(
    tmp_path: Path,
) -> None:
    run = Run(variables={"FAIRWAY_CACHE": str(tmp_path / "kernels")})
    out, err = run.check(PROGRAM, *RATE)
    assert err == f"{FIRST}\n"
    assert "617" in out
    kept_in(tmp_path / "kernels")
    assert run.check(PROGRAM, *RATE) == (out, "")
