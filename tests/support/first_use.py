"""First runs of a program, which compile, with the real packages or a copy with two tiny kernels added.

These kernels compile in a fraction of a second, so that a test can make several first runs.
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
# Prints the value that the kernels compute, and whether the machine code was loaded (1) or compiled (0).
TINY = """
from solver.caller_kernel import stepped
print(stepped(40), sum(stepped.stats.cache_hits.values()))
"""


def tiny_tree(folder: Path) -> Path:
    """Copy the packages and add two tiny kernels to the solver, one calling the other."""
    for package in ("solver", "pipeline", "jobs"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "solver" / "callee_kernel.py").write_text(CALLEE)
    (folder / "solver" / "caller_kernel.py").write_text(CALLER)
    return folder


@cache
def interpreter_for_others() -> str | None:
    """Return a Python of this version that any user can run with the same libraries, or None."""
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
    """A way to run a program.

    Attributes:
        tree: the folder with the packages.
        variables: added to the environment, from which those of Fairway and numba and the places of home and
            temporary files are removed.
        user: id of the user; None for the user who runs the tests.
        python: the interpreter.
    """

    tree: Path = ROOT
    variables: Mapping[str, str] = field(default_factory=dict)
    user: int | None = None
    python: str = sys.executable

    def start(self, program: str, *arguments: object) -> "subprocess.Popen[str]":
        """Start a program given as source text."""
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
        """Run a program, which must succeed; return its standard output and standard error."""
        with self.start(program, *arguments) as process:
            out, err = process.communicate()
        assert process.returncode == 0, err
        return out, err
