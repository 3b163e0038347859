"""The first run compiles and says so, later runs load; whoever runs it, wherever it may write or not."""

import os
import resource
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.bytecode import renew
from tests.support.command import PROGRAM, ROOT
from tests.support.first_use import CALLEE, NOBODY, TINY, Run, interpreter_for_others, tiny_tree

FIRST = "compiling the solver, some seconds on first use"
IN_MEMORY = "compiling the solver, some seconds at every start because it cannot be kept"
MOST_SECONDS_FIRST = 15
MOST_SECONDS_LATER = 1.5
SOLVE = ("deal", "solve", "617", "--rules", "golf")
COMPILED, LOADED = "42 0\n", "42 1\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return tiny_tree(tmp_path / "tree")


def kept_in(home: Path) -> Path:
    """The one folder of compiled kernels below a home, which must hold nothing else."""
    (folder,) = home.iterdir()
    assert folder.name.startswith("kernels-")
    assert stat.S_IMODE(home.stat().st_mode) == stat.S_IMODE(folder.stat().st_mode) == 0o700
    return folder


def processor_seconds() -> float:
    """What the processes that have ended so far have used; the time on the wall depends on who else works."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_the_first_solve_takes_at_most_15_s_and_says_why_and_the_next_at_most_1_5_s(tmp_path: Path) -> None:
    run = Run(variables={"FAIRWAY_CACHE": str(tmp_path / "kernels")})
    started = processor_seconds()
    out, err = run.check(PROGRAM, *SOLVE)
    first = processor_seconds()
    assert err == f"{FIRST}\n"
    assert "best score  -5" in out
    kept_in(tmp_path / "kernels")
    assert run.check(PROGRAM, *SOLVE) == (out, "")
    later = processor_seconds()
    assert first - started < MOST_SECONDS_FIRST
    assert later - first < MOST_SECONDS_LATER


@pytest.mark.parametrize("locators", ["", "InTreeCacheLocator", "NoSuchLocator"])
def test_a_changed_callee_is_compiled_anew_though_its_time_and_size_are_the_same(
    tree: Path, tmp_path: Path, locators: str
) -> None:
    run = Run(tree, {"FAIRWAY_CACHE": str(tmp_path / "kernels"), "NUMBA_CACHE_LOCATOR_CLASSES": locators})
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
    assert renew(tree / "solver") == ()  # Python's own compiled files are those of the sources, too


def test_two_first_runs_at_once_both_compile_and_one_outcome_is_kept(tree: Path, tmp_path: Path) -> None:
    run = Run(tree, {"FAIRWAY_CACHE": str(tmp_path / "kernels")})
    with run.start(TINY) as one, run.start(TINY) as other:
        outcomes = [process.communicate() for process in (one, other)]
    assert set(outcomes) <= {(COMPILED, f"{FIRST}\n"), (LOADED, "")}
    kept_in(tmp_path / "kernels")


def test_where_nothing_can_be_written_each_run_compiles_in_memory_and_says_so_once(
    tree: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    out, err = Run(tree, {"FAIRWAY_CACHE": str(tmp_path / "file" / "kernels")}).check(TINY)
    reason = f"cannot use {tmp_path / 'file'}: File exists"
    assert (out, err) == (COMPILED, f"{IN_MEMORY} ({reason})\n")
    assert not any(tree.rglob("*.nb?"))


# -- other users ------------------------------------------------------------------------------------------


@pytest.fixture
def as_nobody() -> Iterator[Run]:
    """Runs of another user: a tree that is not theirs to write to, no home, a folder for temporary files."""
    if os.geteuid() != 0:
        pytest.skip("only root can run something as another user")
    python = interpreter_for_others()
    if python is None:
        pytest.skip("no Python that another user can run has the libraries of this one")
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # pytest's own folders are closed to others
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "shared").mkdir()
        (folder / "shared").chmod(0o1777)
        variables = {"HOME": str(folder / "no" / "home"), "TMPDIR": str(folder / "shared")}
        yield Run(tiny_tree(folder / "tree"), variables, NOBODY, python)


def test_a_user_without_a_home_keeps_the_kernels_of_a_read_only_package(as_nobody: Run) -> None:
    home = Path(as_nobody.variables["TMPDIR"]) / f"fairway-{NOBODY}"
    why_not = f"cannot use {as_nobody.variables['HOME']}/.cache: No such file or directory"
    assert as_nobody.check(TINY) == (COMPILED, f"{FIRST}; kept in {home} ({why_not})\n")
    assert kept_in(home).stat().st_uid == home.stat().st_uid == NOBODY
    assert as_nobody.check(TINY) == (LOADED, "")
    assert not any(as_nobody.tree.rglob("*.nb?"))


@pytest.mark.soak
def test_what_another_user_has_laid_out_is_not_loaded(as_nobody: Run) -> None:
    home = Path(as_nobody.variables["TMPDIR"]) / f"fairway-{NOBODY}"
    assert Run(as_nobody.tree, {"FAIRWAY_CACHE": str(home)}).check(TINY)[0] == COMPILED  # it is root's now
    home.chmod(0o755)
    out, err = as_nobody.check(TINY)
    assert (out, err.count("\n")) == (COMPILED, 1)
    assert f"{home} belongs to another user" in err


# -- the whole solver -------------------------------------------------------------------------------------


@pytest.mark.soak
def test_the_whole_solver_serves_another_user_from_a_read_only_package(
    as_nobody: Run,
) -> None:
    shutil.copy(ROOT / "pipeline" / "certify.py", as_nobody.tree / "pipeline")
    out, err = as_nobody.check(PROGRAM, *SOLVE)
    assert "best score  -5" in out
    assert err.startswith(FIRST)
    assert as_nobody.check(PROGRAM, *SOLVE) == (out, "")


@pytest.mark.soak
def test_two_first_solves_at_once_both_succeed(tmp_path: Path) -> None:
    run = Run(variables={"FAIRWAY_CACHE": str(tmp_path / "kernels")})
    with run.start(PROGRAM, *SOLVE) as one, run.start(PROGRAM, *SOLVE) as other:
        outcomes = [process.communicate() for process in (one, other)]
    assert all("best score  -5" in out and err in ("", f"{FIRST}\n") for out, err in outcomes)
    kept_in(tmp_path / "kernels")
    assert run.check(PROGRAM, *SOLVE)[1] == ""


@pytest.mark.soak
def test_the_whole_solver_compiles_in_memory_too(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    out, err = Run(variables={"FAIRWAY_CACHE": str(tmp_path / "file" / "kernels")}).check(PROGRAM, *SOLVE)
    assert "best score  -5" in out
    assert err.startswith(IN_MEMORY)
