"""The wheel holds all that the command needs: built, installed elsewhere, and run from another folder."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.command import ROOT, run_child

SOURCES = ("pyproject.toml", "README.md", "LICENSE", "solver", "pipeline", "jobs")
NIGHT = ("nightly", "--date", "2931-03-01", "--allow-future")
SMALL = {"FAIRWAY_DEALS_PER_NIGHT": "1", "FAIRWAY_DAILY_FROM": "2931-03-01"}


@dataclass(frozen=True, slots=True)
class Command:
    """An installed `fairway`, run from a folder that has nothing to do with it."""

    home: Path
    elsewhere: Path

    def __call__(self, *arguments: object) -> "subprocess.CompletedProcess[str]":
        return run(self.home / "venv" / "bin" / "fairway", *arguments, cwd=self.elsewhere, **SMALL)


def run(*words: object, cwd: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    return run_child(*words, cwd=cwd, env={**os.environ, **variables})


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the sources without a network."""
    if int(importlib.metadata.version("setuptools").split(".")[0]) < 77:
        pytest.skip("setuptools is older than pyproject.toml asks for, and building must not need a network")
    folder = tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    built = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", cwd=folder)
    assert built.returncode == 0, built.stdout + built.stderr
    (made,) = (folder / "dist").glob("fairway-*.whl")
    return made


@pytest.fixture(scope="module")
def fairway(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Command:
    """The command that the wheel installs, in an environment that sees the libraries of this one."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home / "venv", with_pip=False)
    python = home / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index"]
    installed = run(*pip, wheel, cwd=home)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    site = next((home / "venv" / "lib").glob("python*")) / "site-packages"
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return Command(home, tmp_path_factory.mktemp("elsewhere"))


def test_the_wheel_holds_the_packages_and_their_data_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = {
        path.relative_to(ROOT).as_posix()
        for package in ("solver", "pipeline", "jobs")
        for pattern in ("*.py", "*.json", "py.typed", "deploy/*")
        for path in (ROOT / package).rglob(pattern)
    }
    assert names == expected


def test_the_installed_command_works_from_another_folder(fairway: Command, made_root: Path) -> None:
    assert fairway("--version").stdout == f"fairway {importlib.metadata.version('fairway')}\n"
    nowhere = fairway("pool", "status")
    assert (nowhere.returncode, "give --data DIR or set FAIRWAY_DATA" in nowhere.stderr) == (78, True)
    asked = fairway("query", "select count(*) n from deals", "--data", made_root, "--json")
    assert (asked.returncode, asked.stdout) == (0, '{"n":36}\n')
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
