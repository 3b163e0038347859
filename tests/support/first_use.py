"""Runs that compile: of the real command, and of a copy of the packages with two tiny kernels in the solver.

The copy's kernels take a fraction of a second to compile, so that a test can afford several first runs.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.support.command import ROOT

NOBODY = 65534

CALLEE = """from solver.jit import kernel

@kernel
def step(value):
    return value + 1
"""
CALLER = """from solver.callee_kernel import step
from solver.jit import kernel

@kernel
def stepped(value):
    return step(step(value))
"""
WARM_UP = """def warm_up():
    from solver.caller_kernel import stepped
    stepped(0)
"""
# Prints the value that the kernels have, and how many of the two calls found one in the cache.
TINY = """
from jobs.terminal.context import load_kernels, read_settings
from jobs.terminal.outcome import ended

def use():
    load_kernels(read_settings())
    from solver.caller_kernel import stepped
    print(stepped(40), sum(stepped.stats.cache_hits.values()))

raise SystemExit(ended(use))
"""


def tiny_tree(folder: Path) -> Path:
    """A copy of the packages in which the warm-up compiles two tiny kernels, one calling the other."""
    for package in ("solver", "pipeline", "jobs"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "solver" / "callee_kernel.py").write_text(CALLEE)
    (folder / "solver" / "caller_kernel.py").write_text(CALLER)
    (folder / "pipeline" / "deals" / "certify.py").write_text(WARM_UP)
    return folder


@cache
def interpreter_for_others() -> str | None:
    """A Python of this version that any user can run with this one's libraries, or None."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        try:
            Run(python=python, user=NOBODY).check("import llvmlite.binding")
        except (OSError, AssertionError):
            continue
        return python
    return None


@dataclass(frozen=True, slots=True)
class Run:
    """How to run a program: from which tree, as which user, with which variables.

    Attributes:
        tree: the folder with the packages.
        variables: added to the environment, which holds nothing of Fairway's, numba's, or of where the user
            has a home or temporary files.
        user: its number, or None for the one who runs the tests.
        python: the interpreter.
    """

    tree: Path = ROOT
    variables: Mapping[str, str] = field(default_factory=dict)
    user: int | None = None
    python: str = sys.executable

    def start(self, program: str, *arguments: object) -> "subprocess.Popen[str]":
        """Start a program given as text."""
        hidden = ("FAIRWAY_", "NUMBA_", "XDG_", "HOME", "TMPDIR", "PYTHONDONTWRITEBYTECODE", "COVERAGE_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        path = os.pathsep.join([str(self.tree), sysconfig.get_path("purelib")])
        return subprocess.Popen(
            [self.python, "-c", program, *map(str, arguments)],
            cwd=self.tree,
            env={**kept, "PYTHONPATH": path, **self.variables},
            user=self.user,
            group=self.user,
            extra_groups=None if self.user is None else [],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def check(self, program: str, *arguments: object) -> tuple[str, str]:
        """Run a program, which must end well; its output and what it told on standard error."""
        with self.start(program, *arguments) as process:
            out, err = process.communicate()
        assert process.returncode == 0, err
        return out, err
