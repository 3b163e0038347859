"""What a figure depends on beside the code: versions, processors, and how busy the machine was. No names."""

import os
import platform
import subprocess
import tomllib
from importlib import metadata
from typing import Any, Final

from jobs.settings.load import processors
from tests.benchmarks.command import ROOT
from tests.twins import yardstick

IDLE: Final = 0.5  # processes that want to run; with more of them wall times mean little

_LIBRARIES: Final = ("numba", "llvmlite", "numpy", "pyarrow", "duckdb")


def circumstances() -> dict[str, Any]:
    """As plain values, in a fixed order."""
    return {
        "versions": versions(),
        "processors": processors(),
        "machine": platform.machine(),
        "load": os.getloadavg()[0],
    }


def versions() -> dict[str, str]:
    """Versions of this project, of Python, of the libraries that count and of the yardstick's compiler."""
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
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return said.partition("\n")[0]
