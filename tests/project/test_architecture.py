"""The packages keep the rules of the architecture, and each rule finds a planted violation."""

import ast
import shutil
import sys
from pathlib import Path

import pytest

from tests.project.architecture import (
    CIRCLE,
    DOWNWARDS,
    OWNED,
    PACKAGES,
    circles,
    floors_in,
    uses,
    violations,
)
from tests.support.command import run_child

ROOT = Path(__file__).parents[2]
FLOORS = floors_in((ROOT / "ARCHITECTURE.md").read_text("utf-8"))

TOP_LEVEL = {"solver", "pipeline", "jobs", "data", "tests", "pyproject.toml", ".gitignore", ".ci"}
TOP_LEVEL |= {"docs", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE"}
HEAVY = (
    *("numba", "llvmlite", "numpy", "pyarrow", "duckdb", "jsonschema", "pydantic", "apscheduler"),
    *("prometheus_client", "matplotlib"),
)

# A file, a text that breaks exactly one rule in it, and words of that rule.
PLANTED = [
    ("solver/x.py", "import pipeline.deals.shuffle", "solver never imports pipeline"),
    ("solver/x.py", "from jobs import settings", "solver never imports jobs"),
    (
        "pipeline/x.py",
        "def f():\n    from jobs.settings.model import Settings",
        "pipeline never imports jobs",
    ),
    ("pipeline/x.py", "from .. import jobs", "pipeline never imports jobs"),
    ("pipeline/deep/x.py", "from ...jobs import settings", "pipeline never imports jobs"),
    ("solver/x.py", "import importlib\nimportlib.import_module('jobs.cli')", "solver never imports jobs"),
    ("pipeline/store/x.py", "from pipeline.pools.catalog import Pool", "only wings on the floors below"),
    (
        "pipeline/pools/x.py",
        "def f():\n    from pipeline.daily import hole",
        "only wings on the floors below",
    ),
    ("solver/table/x.py", "import solver.search.exact", "only wings on the floors below"),
    ("solver/cards.py", "from solver.table.rules import RULES", "only wings on the floors below"),
    ("jobs/settings/x.py", "from ..terminal import output", "only wings on the floors below"),
    ("jobs/x.py", "from tests import naive", "no program imports its tests"),
    ("solver/x.py", "import numba", "numba only"),
    ("pipeline/x.py", "from numba import njit", "numba only"),
    ("pipeline/x.py", "import numba.typed as typed", "numba only"),
    ("solver/x.py", "from solver.jit import kernel", "numba only"),
    ("solver/x.py", "from .jit import kernel as compiled", "numba only"),
    ("solver/x.py", "from solver.jit import inlined", "numba only"),
    ("solver/x.py", "from solver import jit\njit.kernel(f)", "numba only"),
    ("pipeline/store/storage.py", "import duckdb", "duckdb only"),
    ("jobs/cli/x.py", "def f():\n    import duckdb", "duckdb only"),
    ("jobs/x.py", "__import__('duckdb')", "duckdb only"),
    ("pipeline/x.py", "if True:\n    import pyarrow.parquet", "pyarrow only"),
    ("pipeline/x.py", "from jsonschema import validate", "JSON Schema only"),
    ("pipeline/x.py", "from pydantic import BaseModel", "pydantic only"),
    ("jobs/cli/x.py", "def f():\n    import pydantic_core", "pydantic only"),
    ("jobs/x.py", "import tomllib", "TOML only"),
    ("jobs/x.py", "from apscheduler.schedulers.blocking import BlockingScheduler", "APScheduler only"),
    ("pipeline/studies/study.py", "from matplotlib.figure import Figure", "matplotlib only"),
    ("jobs/watch/status.py", "from prometheus_client import Gauge", "Prometheus only"),
    ("jobs/x.py", "import typer", "only in the command line"),
    ("jobs/x.py", "from rich.progress import Progress", "only in the command line"),
    ("pipeline/x.py", "print('done')", "only in the command line"),
    ("pipeline/x.py", "show = print", "only in the command line"),
    ("solver/x.py", "import sys\nsys.stderr.write('done')", "only in the command line"),
    ("jobs/x.py", "import os\nos.environ['A']", "the environment only in settings"),
    ("jobs/cli/x.py", "from os import environ", "the environment only in settings"),
    ("jobs/x.py", "from os import getenv as look", "the environment only in settings"),
    ("pipeline/x.py", "from datetime import UTC, datetime\ndatetime.now(UTC)", "current time only"),
    ("jobs/x.py", "import datetime as dt\nclock = dt.datetime.utcnow", "current time only"),
    ("pipeline/x.py", "from datetime import date as day\nday.today()", "current time only"),
    ("jobs/x.py", "from time import time", "current time only"),
    ("pipeline/x.py", "import time\ntime.sleep(1)", "durations are measured"),
    ("solver/x.py", "from time import perf_counter", "durations are measured"),
    ("solver/x.py", "import random", "randomness only"),
    ("solver/x.py", "import numpy as np\nnp.random.default_rng()", "randomness only"),
    ("jobs/x.py", "from secrets import token_hex", "randomness only"),
    ("pipeline/x.py", "with open('f') as f: pass", "files are written"),
    ("pipeline/x.py", "from pathlib import Path\nPath('f').write_text('x')", "files are written"),
    ("pipeline/x.py", "def f(folder):\n    (folder / 'f').open('w')", "files are written"),
    ("pipeline/x.py", "import os\nos.replace('a', 'b')", "files are written"),
    ("jobs/x.py", "import tempfile", "files are written"),
    ("solver/x.py", "def f(path):\n    return path.read_text()", "files are read"),
    ("pipeline/x.py", "import os\nos.listdir('.')", "files are read"),
    ("jobs/x.py", "import subprocess", "processes are started"),
    ("pipeline/x.py", "import os\nos.system('ls')", "processes are started"),
    ("jobs/x.py", "from urllib.request import urlopen", "uses the network"),
]

# Texts that look like a violation and are not.
ALLOWED = [
    ("solver/x.py", "import numpy as np\nfrom solver.cards import rank_of"),
    ("solver/search/x_kernel.py", "from solver.jit import kernel"),
    ("solver/x.py", "from solver.x_kernel import search\n'print(numba)'"),
    ("pipeline/x.py", "from datetime import date, time\ntime.min, date.max"),
    ("pipeline/x.py", "from dataclasses import replace\nreplace(a, b=1), 'a'.replace('a', 'b')"),
    ("pipeline/x.py", "def f(storage, now):\n    storage.replace('a', now)\n    # print(open)"),
    ("jobs/x.py", "from solver.errors import FairwayError\nfrom pipeline.store.storage import LocalStorage"),
    ("jobs/settings/load.py", "import os\nos.environ"),
    ("jobs/cli/deep/x.py", "print('done')"),
    ("pipeline/x.py", "def f(glob, random):\n    socket = glob\n    return random.x, socket.y, time"),
    ("tests/x.py", "import random, duckdb, jobs"),
]


def plant(root: Path, file: str, text: str) -> None:
    for package in PACKAGES:
        (root / package).mkdir()
    place = root / file
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"{text}\n")


def test_no_module_breaks_a_rule_of_the_layout() -> None:
    assert violations(ROOT, FLOORS) == []


@pytest.mark.parametrize(("file", "text", "rule"), PLANTED)
def test_a_planted_violation_is_found(tmp_path: Path, file: str, text: str, rule: str) -> None:
    plant(tmp_path, file, text)
    found = violations(tmp_path, FLOORS)
    assert found
    assert all(line.startswith(f"{file}:{len(text.splitlines())}: ") for line in found)
    assert {line.split(": ", 2)[2] for line in found} == {next(line for line in rules() if rule in line)}


@pytest.mark.parametrize(("file", "text"), ALLOWED)
def test_what_only_looks_like_a_violation_is_allowed(tmp_path: Path, file: str, text: str) -> None:
    plant(tmp_path, file, text)
    assert violations(tmp_path, FLOORS) == []


def rules() -> list[str]:
    """Return the text of every rule."""
    layers = [f"{low} never imports {high}" for n, low in enumerate(PACKAGES) for high in PACKAGES[n + 1 :]]
    return [*layers, DOWNWARDS, "no program imports its tests", *(row.what for row in OWNED)]


def test_every_rule_has_a_planted_violation() -> None:
    missing = [rule for rule in rules() if not any(words in rule for _, _, words in PLANTED)]
    assert missing == []


@pytest.mark.parametrize(
    "late", ["from pipeline.work import b", "if TYPE_CHECKING:\n    import pipeline.work.b"]
)
def test_a_circle_of_imports_is_found_even_if_one_is_late_or_only_for_types(
    tmp_path: Path, late: str
) -> None:
    plant(tmp_path, "pipeline/work/a.py", f"from typing import TYPE_CHECKING\n{late}")
    (tmp_path / "pipeline" / "work" / "b.py").write_text("from pipeline.work.c import x\n")
    (tmp_path / "pipeline" / "work" / "c.py").write_text("def x():\n    from pipeline.work import a\n")
    circle = "pipeline.work.a -> pipeline.work.b -> pipeline.work.c -> pipeline.work.a"
    assert violations(tmp_path, FLOORS) == [f"{circle}: {CIRCLE}"]


def test_every_circle_is_reported_once() -> None:
    graph = {"a": {"b"}, "b": {"a", "c"}, "c": {"d"}, "d": {"c"}, "e": {"a", "d"}}
    assert list(circles(graph)) == [["a", "b", "a"], ["c", "d", "c"]]


def test_the_floors_name_every_wing_and_every_module_directly_in_a_package() -> None:
    there = {
        f"{package}.{path.stem}"
        for package in PACKAGES
        for path in (ROOT / package).iterdir()
        if (path.suffix == ".py" and path.stem != "__init__") or (path / "__init__.py").exists()
    }
    assert there == set(FLOORS)


def test_every_owner_of_a_rule_exists() -> None:
    patterns = {pattern for row in OWNED for pattern in row.owners}
    assert [pattern for pattern in sorted(patterns) if not list(ROOT.glob(pattern))] == []


def test_the_check_reads_every_module_of_the_packages() -> None:
    modules = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    assert len(modules) > 20


@pytest.mark.parametrize("place", ["solver/table/replay.py", "solver/table/moves.py", "tests/twins/naive.py"])
def test_code_that_checks_the_search_shares_no_code_with_it(place: str) -> None:
    touched = {use.name for use in uses(ast.parse((ROOT / place).read_text("utf-8")), place)}
    shared = [
        "solver.search.exact",
        "solver.search.bound",
        "solver.search.vector",
        *(["solver.table.moves"] if "replay" in place else []),
    ]
    assert [name for name in touched if name.startswith(tuple(shared)) or "kernel" in name] == []


def tracked_files() -> list[str]:
    """Return every file in the repository; skip the test outside a git checkout."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("this is not a git checkout, or git is not installed")
    return run_child("git", "ls-files", "-z", check=True).stdout.removesuffix("\0").split("\0")


@pytest.mark.system
def test_the_top_level_contains_nothing_else() -> None:
    assert {name.split("/")[0] for name in tracked_files()} <= TOP_LEVEL


@pytest.mark.system
def test_of_data_only_the_page_the_marker_and_the_reference_are_tracked() -> None:
    data = [name for name in tracked_files() if name.startswith("data/")]
    kept = ("data/README.md", "data/.fairway-root", "data/reference/")
    assert [name for name in data if not name.startswith(kept)] == []


def test_few_modules_lie_directly_in_the_packages() -> None:
    assert len([path for package in PACKAGES for path in (ROOT / package).glob("*.py")]) <= 12


@pytest.mark.system
@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"]], ids=["import", "help", "version"])
def test_starting_the_command_loads_nothing_heavy(arguments: list[str]) -> None:
    program = f"""
import sys
from jobs.cli import main
sys.argv = ["fairway", *{arguments!r}]
try:
    if len(sys.argv) > 1: main()
except SystemExit as end:
    assert not end.code, end.code
sys.stderr.write(" ".join(name for name in {HEAVY!r} if name in sys.modules))
"""
    run = run_child(sys.executable, "-c", program)
    assert (run.returncode, run.stderr) == (0, "")
