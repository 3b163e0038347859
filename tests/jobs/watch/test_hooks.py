"""Hooks get the record of a run, no secrets, limited time and output, and cannot make the run fail."""

import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from jobs.runs.exclusive import job_run
from jobs.runs.lock import root_lock
from jobs.settings.model import Hooks, Settings
from jobs.terminal import clock
from jobs.watch import hooks as module
from jobs.watch.hooks import run_hook, run_hooks, without_secrets
from pipeline.errors import BusyError, CheckError
from pipeline.store.storage import LocalStorage
from pipeline.work.counts import Counts
from pipeline.work.records import Outcome, record_document
from tests.support.command import STOP_SECONDS, done, fairway, read_until, spawned
from tests.support.jobs import context_at
from tests.support.run_records import A_RECORD, run_at

NOW = datetime(2026, 11, 30, 0, 5, tzinfo=UTC)
PATH = {"PATH": os.environ["PATH"]}
SOON = 20.0  # seconds, many times what a command here takes on a busy machine
KEY = "5a" * 32
# Appends its input to a file: standard input, environment, arguments, process group, folder.
REPORT = """
import json, os, sys
got = {"document": json.load(sys.stdin), "variables": dict(os.environ), "arguments": sys.argv[2:],
       "leads_its_group": os.getpid() == os.getpgrp(), "folder": os.getcwd()}
with open(sys.argv[1], "a") as file: file.write(json.dumps(got) + "\\n")
"""


def python(program: str, *arguments: object) -> tuple[str, ...]:
    return (sys.executable, "-c", program, *map(str, arguments))


def shell(program: str, *arguments: object) -> tuple[str, ...]:
    return ("sh", "-c", program, "sh", *map(str, arguments))


def run(command: Sequence[str], document: bytes = b"{}\n", seconds: float = SOON) -> str | None:
    return run_hook(command, document, PATH, seconds)


def reports_in(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def wait_until_gone(process: int) -> None:
    """Wait until a killed process has been reaped, or waits for that as a zombie."""
    end = time.monotonic() + SOON
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return
        if state == "Z":
            return
        time.sleep(0.01)
    raise AssertionError(f"process {process} still runs")


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc here")


@pytest.mark.system
def test_command_gets_the_document_and_its_arguments_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "report"
    odd = ("$HOME; touch x", "a b", "", "*")
    run_hooks(A_RECORD, tmp_path / "root", Hooks(on_run=python(REPORT, file, *odd)), {**PATH, "OTHER": "1"})
    (report,) = reports_in(file)
    assert report["document"] == {
        "schema": "fairway-hook/1.0",
        "event": "run",
        "data": str(tmp_path / "root"),
        "run": record_document(A_RECORD),
    }
    assert report["arguments"] == list(odd)
    assert report["variables"]["OTHER"] == "1"
    assert report["leads_its_group"]
    assert report["folder"] == "/"


@pytest.mark.parametrize(
    ("outcome", "dailies", "events"),
    [
        (Outcome.DONE, 0, ["run"]),
        (Outcome.DONE, 2, ["publish", "run"]),
        (Outcome.NOTHING, 0, ["run"]),
        (Outcome.FAILED, 0, ["failure", "run"]),
        (Outcome.FAILED, 2, ["failure", "publish", "run"]),
        (Outcome.STOPPED, 1, ["publish", "run"]),
    ],
)
def test_commands_run_for_their_events_only(
    monkeypatch: pytest.MonkeyPatch, outcome: Outcome, dailies: int, events: list[str]
) -> None:
    called: list[tuple[str, str, float]] = []

    def note(command: Sequence[str], document: bytes, _: object, seconds: float) -> None:
        called.append((command[0], json.loads(document)["event"], seconds))

    monkeypatch.setattr(module, "run_hook", note)
    record = run_at(NOW, outcome, counts=Counts(dailies=dailies))
    names = Hooks(on_failure=("failure",), on_publish=("publish",), on_run=("run",), timeout_seconds=7)
    run_hooks(record, Path("/root"), names, {})
    seconds = 1 if outcome is Outcome.STOPPED else 7
    assert called == [(event, event, seconds) for event in events]
    called.clear()
    run_hooks(record, Path("/root"), Hooks(), {})
    assert called == []


def test_environment_has_neither_the_key_nor_its_location() -> None:
    variables = {
        "FAIRWAY_DAILY_KEY": KEY,
        "FAIRWAY_DAILY_KEY_FILE": "/key",
        "fairway_daily_key": KEY,
        "FAIRWAY_DATA": "/data",
        "PATH": "/bin",
    }
    assert without_secrets(variables) == {"FAIRWAY_DATA": "/data", "PATH": "/bin"}


@pytest.mark.system
@needs_proc
def test_command_that_hangs_is_killed_with_its_children() -> None:
    fault = run(shell("trap '' TERM INT HUP; sleep 1000 & echo $! $$; sleep 1000"), seconds=0.5)
    assert fault is not None
    words, processes = fault.split(": ")
    assert words == "was killed after 0.5 s"
    for process in map(int, processes.split()):
        wait_until_gone(process)


@pytest.mark.system
@needs_proc
def test_child_left_behind_is_killed_and_not_waited_for(tmp_path: Path) -> None:
    assert run(shell('sleep 1000 & echo $! > "$1"', tmp_path / "child")) is None
    wait_until_gone(int((tmp_path / "child").read_text()))


@pytest.mark.system
@pytest.mark.parametrize(
    ("command", "fault"),
    [
        (("true",), None),
        (shell("echo out; echo no network >&2; exit 3"), "exited with 3: out\nno network"),
        (shell("kill -9 $$"), "exited with -9"),
        (("/nowhere/notify",), "could not be started: No such file or directory"),
        (("fairway-no-such-command",), "could not be started: No such file or directory"),
        (("/",), "could not be started: Permission denied"),
    ],
)
def test_fault_says_how_a_command_failed(command: Sequence[str], fault: str | None) -> None:
    assert run(command) == fault


@pytest.mark.system
@pytest.mark.parametrize(
    ("command", "start", "end"),
    [
        (
            python("import sys\nfor _ in range(2000): print('x' * 10_000, flush=True)\nsys.exit('the end')"),
            "exited with 1: x",
            "the end",
        ),
        (("yes",), "was killed because it wrote more than 100,000,000 bytes: y\n", "\ny"),
    ],
)
def test_only_the_end_of_much_output_is_kept(command: Sequence[str], start: str, end: str) -> None:
    fault = run(command)
    assert fault is not None
    assert fault.startswith(start)
    assert fault.endswith(end)
    assert len(fault) < 2_100


@pytest.mark.system
def test_command_need_not_read_its_input_nor_keep_its_output_open(tmp_path: Path) -> None:
    assert run(shell("exit 0"), b"x" * 5_000_000) is None
    assert run(shell('exec <&- >&- 2>&-; sleep 0.3; touch "$1"', tmp_path / "done")) is None
    assert (tmp_path / "done").exists()


@pytest.mark.system
@needs_proc
def test_command_is_killed_if_a_signal_interrupts_the_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, gate = tmp_path / "process", tmp_path / "gate"
    real = module._wait

    def opened(*arguments: Any) -> str | None:
        gate.touch()  # now the process to kill is known
        return real(*arguments)

    monkeypatch.setattr(module, "_wait", opened)
    text = 'echo $$ > "$1.new"; mv "$1.new" "$1"; until [ -e "$3" ]; do :; done; kill -INT $2; sleep 1000'
    with pytest.raises(KeyboardInterrupt):
        run(shell(text, file, os.getpid(), gate), seconds=600)
    wait_until_gone(int(file.read_text()))


def test_commands_run_after_the_lock_is_released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []

    def lock(command: Sequence[str], *_: object) -> str:
        with root_lock(tmp_path, NOW):
            called.append(command[0])
        return "failed, without harm"

    monkeypatch.setattr(module, "run_hook", lock)
    settings = Settings(hooks=Hooks(on_failure=("failure",), on_run=("run",)))

    def fail() -> None:
        with job_run(LocalStorage(tmp_path), "nightly", settings, context_at(NOW)):
            raise CheckError("too bad")

    with pytest.raises(CheckError, match="too bad"):
        fail()
    assert called == ["failure", "run"]
    with root_lock(tmp_path, NOW), pytest.raises(BusyError):
        fail()
    assert called == ["failure", "run"]  # a run that never got the lock is not reported


@pytest.mark.system
def test_root_that_cannot_be_locked_is_reported_as_a_failure(tmp_path: Path) -> None:
    file, root = tmp_path / "report", tmp_path / "root"
    (root / ".lock").mkdir(parents=True)
    settings = Settings(hooks=Hooks(on_failure=python(REPORT, file)))
    with (
        pytest.raises(Exception, match="cannot write the lock"),
        job_run(LocalStorage(root), "nightly", settings, context_at(NOW, variables=PATH)),
    ):
        pass
    (report,) = reports_in(file)
    assert report["document"]["event"] == "failure"
    assert "cannot write the lock" in report["document"]["run"]["error"]


@pytest.mark.system
def test_commands_of_a_night_never_see_the_key_and_their_failure_is_only_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report"
    monkeypatch.setattr(clock, "now", lambda: NOW)
    for name, value in {
        "FAIRWAY_DEALS_PER_NIGHT": "2",
        "FAIRWAY_DAILY_FROM": "2026-11-30",
        "FAIRWAY_DAILY_KEY": KEY,
        "FAIRWAY_HOOKS__ON_PUBLISH": json.dumps(python(REPORT, file)),
        "FAIRWAY_HOOKS__ON_RUN": json.dumps(python(f"{REPORT}\nsys.exit('no network')", file)),
        "FAIRWAY_HOOKS__ON_FAILURE": json.dumps(["/nowhere/notify"]),
    }.items():
        monkeypatch.setenv(name, value)
    outcome = done("nightly", "--data", tmp_path / "root")
    reports = reports_in(file)
    assert [each["document"]["event"] for each in reports] == ["publish", "run"]
    assert reports[0]["document"]["run"]["dailies"] == 3
    assert KEY not in file.read_text()
    assert all("FAIRWAY_HOOKS__ON_RUN" in each["variables"] for each in reports)
    (warning,) = (line for line in outcome.err.splitlines() if " WARNING " in line)
    assert warning.endswith(f"hook on_run ({sys.executable}) exited with 1: no network")
    (tmp_path / "root" / "catalog.json").write_bytes(b"{")
    failed = fairway("nightly", "--data", tmp_path / "root")
    assert failed.code == 1
    assert "hook on_failure (/nowhere/notify) could not be started" in failed.err
    assert "catalog.json" in failed.complaint
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.system
def test_command_that_hangs_delays_a_stopped_run_by_one_second_only(tmp_path: Path) -> None:
    variables = {
        "FAIRWAY_DEALS_PER_NIGHT": "3000",
        "FAIRWAY_WORKERS": "1",
        "FAIRWAY_HOOKS__ON_RUN": '["sleep", "1000"]',
        "FAIRWAY_HOOKS__TIMEOUT_SECONDS": "600",
    }
    with spawned("nightly", "--data", tmp_path / "root", variables=variables) as process:
        read_until(process, "easy: 300 of 3,000")
        process.terminate()
        _, err = process.communicate(timeout=STOP_SECONDS)
    assert process.returncode == 128 + signal.SIGTERM, err
    assert "hook on_run (sleep) was killed after 1 s" in err
