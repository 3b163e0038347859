"""The wheel contains everything the command needs: built, installed elsewhere and run in another folder."""

import ast
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.command import ROOT, run_child

PACKAGES = ("solver", "pipeline", "jobs")
SOURCES = ("pyproject.toml", "README.md", "LICENSE", *PACKAGES)
WITH_OTHERS = {"llvmlite", "pydantic_core", "_typeshed"}  # come with numba, pydantic and type checkers
NIGHT = ("nightly", "--date", "2931-03-01", "--allow-future")
SMALL = {"FAIRWAY_DEALS_PER_NIGHT": "1", "FAIRWAY_DAILY_FROM": "2931-03-01"}


@dataclass(frozen=True, slots=True)
class Command:
    """An installed `fairway`, run in a folder outside the repository and the environment."""

    home: Path
    elsewhere: Path

    def __call__(self, *arguments: object) -> "subprocess.CompletedProcess[str]":
        return run(self.home / "venv" / "bin" / "fairway", *arguments, cwd=self.elsewhere, **SMALL)


def run(*words: object, cwd: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    return run_child(*words, cwd=cwd, env={**os.environ, **variables})


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of the sources, without a network."""
    if int(importlib.metadata.version("setuptools").split(".")[0]) < 77:
        pytest.skip("building without a network needs setuptools 77 or later")
    folder = tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    built = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", cwd=folder)
    assert built.returncode == 0, built.stdout + built.stderr
    (file,) = (folder / "dist").glob("fairway-*.whl")
    return file


@pytest.fixture(scope="module")
def fairway(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Install the wheel in an environment that sees the libraries of this one."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home / "venv", with_pip=False)
    python = home / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index"]
    installed = run(*pip, wheel, cwd=home)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    site = next((home / "venv" / "lib").glob("python*")) / "site-packages"
    libraries = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (site / "libraries.pth").write_text("\n".join(libraries))
    return Command(home, tmp_path_factory.mktemp("elsewhere"))


def test_the_wheel_contains_the_packages_and_their_data_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for pattern in ("*.py", "*.json", "py.typed", "deploy/*")
        for path in (ROOT / package).rglob(pattern)
    }
    assert names == expected


def test_the_wheel_requires_what_the_packages_import_and_matplotlib_only_for_charts(wheel: Path) -> None:
    (distribution,) = importlib.metadata.distributions(path=[str(wheel)])
    required: dict[str, set[str]] = {}
    for requirement in distribution.requires or ():
        (name,) = re.findall(r"^[\w-]+", requirement)
        required.setdefault(requirement.partition("extra == ")[2].strip("\"'"), set()).add(name)
    imported = {
        name.partition(".")[0]
        for package in PACKAGES
        for file in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_bytes()))
        for name in modules_of(node)
    }
    assert required["plot"] == {"matplotlib"}
    assert required[""] | required["plot"] == imported - sys.stdlib_module_names - {*PACKAGES} - WITH_OTHERS


def modules_of(node: ast.AST) -> list[str]:
    """Return the modules that a statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def test_the_installed_command_works_from_another_folder(fairway: Command, made_root: Path) -> None:
    assert fairway("--version").stdout == f"fairway {importlib.metadata.version('fairway')}\n"
    without_root = fairway("pool", "status")
    assert (without_root.returncode, "give --data DIR or set FAIRWAY_DATA" in without_root.stderr) == (
        78,
        True,
    )
    query = fairway("query", "select count(*) n from deals", "--data", made_root, "--json")
    assert (query.returncode, query.stdout) == (0, '{"n":36}\n')
    hole = fairway("daily", "export", "--date", "2026-11-30", "--data", made_root)
    assert hole.stdout == (made_root / "daily" / "2026-11-30.json").read_text()


def test_every_module_of_the_wheel_can_be_imported(wheel: Path, fairway: Command) -> None:
    with zipfile.ZipFile(wheel) as archive:
        files = [name for name in archive.namelist() if name.endswith(".py")]
    names = [name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in files]
    python = fairway.home / "venv" / "bin" / "python"
    imported = run(python, "-c", "\n".join(f"import {name}" for name in names), cwd=fairway.elsewhere)
    assert (imported.returncode, imported.stderr) == (0, "")


@pytest.mark.soak
def test_the_installed_command_makes_a_night(fairway: Command, tmp_path: Path) -> None:
    night = fairway(*NIGHT, "--data", tmp_path)
    assert night.returncode == 0, night.stderr
    verified = fairway("verify", "--data", tmp_path, "--json")
    assert (verified.returncode, json.loads(verified.stdout)["passed"]) == (0, True)
