"""What a figure depends on besides the code: versions, processors, and the load of the machine."""

import os
import platform
import tomllib
from importlib import metadata
from typing import Any, Final

from jobs.settings.load import processors
from tests.benchmarks.children import ROOT, run_child
from tests.twins import yardstick

IDLE: Final = 0.5  # load average; above it wall times mean little

_LIBRARIES: Final = ("numba", "llvmlite", "numpy", "pyarrow", "duckdb")


def circumstances() -> dict[str, Any]:
    """Return them as plain values, in a fixed order."""
    return {
        "versions": versions(),
        "processors": processors(),
        "machine": platform.machine(),
        "load": os.getloadavg()[0],
    }


def versions() -> dict[str, str]:
    """Return the versions of this project, Python, the relevant libraries and the C compiler."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    libraries = {name: metadata.version(name) for name in _LIBRARIES}
    return {
        "fairway": project["version"],
        "python": platform.python_version(),
        **libraries,
        "compiler": _compiler(),
    }


def _compiler() -> str:
    program = yardstick.compiler()
    if program is None:
        return "none"
    return run_child(program, "--version").stdout.partition("\n")[0]
