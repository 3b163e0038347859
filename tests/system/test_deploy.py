"""The files for operators work as they are: every command, option, setting and metric in them exists."""

import io
import json
import re
import runpy
import shutil
import subprocess
import sys
import urllib.request
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import typer

from jobs.settings.load import configure
from jobs.settings.model import ALLOWED, Settings
from jobs.settings.sources import VARIABLES, from_file, text_of
from pipeline.work.records import Outcome, record_document
from tests.support.command import ROOT, check_words, run_child
from tests.support.documentation import commands_in
from tests.support.run_records import STARTED, run_at

FOLDER = ROOT / "jobs" / "deploy"
FILES = sorted(path.name for path in FOLDER.iterdir() if path.is_file())
SERVICES = ("fairway.service", "fairway-nightly.service")
UNITS = (*SERVICES, "fairway-nightly.timer")
MAX_EXPOSURE = 20  # in tenths, as systemd-analyze counts
PROGRAM = "/opt/fairway/bin/fairway"


@pytest.mark.parametrize("name", FILES)
def test_every_command_and_option_in_a_file_exists(name: str) -> None:
    for words in commands_in((FOLDER / name).read_text()):
        check_words(words)


def test_the_commands_of_the_files_are_found() -> None:
    commands = {name: list(commands_in((FOLDER / name).read_text())) for name in FILES}
    assert commands["fairway.service"] == [["serve", "--data", "/var/lib/fairway"]]
    assert commands["fairway-nightly.service"] == [["nightly", "--data", "/var/lib/fairway"]]
    assert commands["fairway.cron"] == [["nightly", "--quiet", "--data", "/var/lib/fairway"]]
    assert commands["Dockerfile"] == [["status"], ["serve"]]


@pytest.mark.parametrize("words", [["nightli"], ["nightly", "--dat", "x"], ["config", "sho"]])
def test_a_command_that_does_not_exist_is_detected(words: list[str]) -> None:
    with pytest.raises(typer.TyperException):
        check_words(words)


@pytest.mark.parametrize("name", FILES)
def test_every_variable_and_file_in_a_file_exists(name: str) -> None:
    text = (FOLDER / name).read_text()
    assert set(re.findall(r"FAIRWAY_[A-Z_]+", text)) <= set(VARIABLES)
    assert set(re.findall(r"jobs/deploy/([\w.-]+)", text)) <= set(FILES)


# -- systemd ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the units, in which the program exists."""
    folder = tmp_path_factory.mktemp("units")
    for name in UNITS:
        (folder / name).write_text((FOLDER / name).read_text().replace(PROGRAM, sys.executable))
    return folder


def analyze(*words: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    return run_child("systemd-analyze", *words, cwd=folder)


def test_systemd_accepts_the_units(units: Path) -> None:
    run = analyze("verify", *(f"./{name}" for name in UNITS), folder=units)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_hardened(name: str, units: Path) -> None:
    words = ("security", "--no-pager", "--offline=true", f"--threshold={MAX_EXPOSURE}", f"./{name}")
    run = analyze(*words, folder=units)
    assert run.returncode == 0, run.stdout[-2000:]


def lines_in(name: str) -> list[str]:
    lines = (FOLDER / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_its_own_user_and_is_not_restarted_after_wrong_settings(name: str) -> None:
    assert {"User=fairway", "Group=fairway", "RestartPreventExitStatus=2 78"} <= set(lines_in(name))


def test_the_timer_catches_up_after_sleep_and_uses_utc() -> None:
    assert {"Persistent=true", "OnCalendar=*-*-* 00:05:00 UTC"} <= set(lines_in("fairway-nightly.timer"))


# -- cron and the container -------------------------------------------------------------------------------


def test_the_line_for_cron_has_a_time_a_user_and_the_command() -> None:
    (line,) = [line for line in lines_in("fairway.cron") if "=" not in line.split()[0]]
    assert re.fullmatch(rf"\d+ \* \* \* \* +fairway +{PROGRAM} nightly .*", line)
    assert "%" not in line  # which ends the line for cron


def test_the_container_is_not_root_and_has_one_volume_and_a_read_only_root() -> None:
    text = (FOLDER / "Dockerfile").read_text()
    (user,) = re.findall(r"^USER (\d+):\d+$", text, re.MULTILINE)
    (volume,) = re.findall(r"^VOLUME (\S+)$", text, re.MULTILINE)
    folders = re.findall(r"FAIRWAY_(?:DATA|CACHE)=(\S+)", text)
    assert int(user) > 0
    assert len(folders) == 2
    assert all(folder.startswith(f"{volume}/") for folder in folders)
    options = ("--read-only", "--cap-drop ALL", "no-new-privileges", f"-v fairway:{volume}")
    assert [option for option in options if option not in text] == []
    copied = " ".join(re.findall(r"^COPY (?!--)(.*) \S+$", text, re.MULTILINE)).split()
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert {"solver", "pipeline", "jobs", "pyproject.toml"} <= set(copied)


# -- settings and alerts ----------------------------------------------------------------------------------


def test_the_example_settings_are_valid_as_they_are_and_without_comment_signs(tmp_path: Path) -> None:
    uncommented = tmp_path / "fairway.toml"
    text = (FOLDER / "fairway.toml").read_text()
    uncommented.write_text(re.sub(r"^# (\w+ = )", r"\1", text, flags=re.MULTILINE))
    for file in (FOLDER / "fairway.toml", uncommented):
        configure({}, 1, file, reads_key_file=False)
    in_file = {each.key for each in from_file(uncommented, in_root=False)}
    levels = {key for key in ALLOWED if key[0] == "levels" and key[1] != "hard"}
    assert {text_of(key) for key in ALLOWED.keys() - in_file - levels} == {"daily_key"}


def test_the_example_settings_show_the_defaults() -> None:
    settings = configure({}, 1, FOLDER / "fairway.toml").settings
    assert settings.model_copy(update={"levels": {}}) == Settings()
    assert [settings.deals_of("hard"), settings.cap_of("hard")] == [500, 20_000]


def test_every_metric_in_the_alerts_is_written(made_root: Path) -> None:
    written = (made_root / "metrics.prom").read_text()
    alerts = (FOLDER / "alerts.yml").read_text()
    used = re.findall(r'\b(fairway_\w+)(?:\{(\w+)=~?"([^"]*)"\})?', alerts)
    assert "fairway_last_success_timestamp_seconds" in [name for name, _, _ in used]
    assert "> 26 * 3600" in alerts
    for name, label, values in used:
        for value in values.split("|"):
            series = f'{name}{{{label}="{value}"}} ' if label else f"{name} "
            assert f"\n{series}" in written


# -- the hook ---------------------------------------------------------------------------------------------

ADDRESS = "http://monitoring.example/1"


@pytest.mark.parametrize("outcome", Outcome)
def test_the_example_hook_calls_the_monitoring_address(
    outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = []

    def urlopen(request: urllib.request.Request, timeout: int) -> Any:
        called.append((request.full_url, request.data, timeout))
        return nullcontext()

    document = json.dumps({"event": "run", "run": record_document(run_at(STARTED, outcome))})
    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    monkeypatch.setattr(sys, "argv", ["fairway-ping", ADDRESS])
    monkeypatch.setattr(sys, "stdin", io.StringIO(document))
    runpy.run_path(str(FOLDER / "fairway-ping"))
    addresses = {Outcome.FAILED: [f"{ADDRESS}/fail"], Outcome.STOPPED: []}
    assert called == [(address, document.encode(), 10) for address in addresses.get(outcome, [ADDRESS])]


def test_the_example_hook_is_executable() -> None:
    assert (FOLDER / "fairway-ping").stat().st_mode & 0o111
