"""The operator's own commands: told of the run, bounded in time and output, without secrets, and harmless."""

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

from jobs.runs.context import JobContext
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
# Writes what it is given into a file: standard input, environment, arguments, process group.
TELL = """
import json, os, sys
told = {"document": json.load(sys.stdin), "variables": dict(os.environ), "arguments": sys.argv[2:],
        "leads_its_group": os.getpid() == os.getpgrp(), "folder": os.getcwd()}
with open(sys.argv[1], "a") as file: file.write(json.dumps(told) + "\\n")
"""


def python(program: str, *arguments: object) -> tuple[str, ...]:
    return (sys.executable, "-c", program, *map(str, arguments))


def shell(program: str, *arguments: object) -> tuple[str, ...]:
    return ("sh", "-c", program, "sh", *map(str, arguments))


def run(command: Sequence[str], document: bytes = b"{}\n", seconds: float = SOON) -> str | None:
    return run_hook(command, document, PATH, seconds)


def told_in(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def wait_until_gone(process: int) -> None:
    """A process that was killed goes once whoever has inherited it has taken notice."""
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


def test_a_command_is_told_of_the_run_and_no_shell_reads_its_arguments(tmp_path: Path) -> None:
    file = tmp_path / "told"
    odd = ("$HOME; touch x", "a b", "", "*")
    on_run = Hooks(on_run=python(TELL, file, *odd))
    run_hooks(A_RECORD, tmp_path / "root", on_run, {"PATH": os.environ["PATH"], "OTHER": "1"})
    (told,) = told_in(file)
    assert told["document"] == {
        "schema": "fairway-hook/1.0",
        "event": "run",
        "data": str(tmp_path / "root"),
        "run": record_document(A_RECORD),
    }
    assert told["arguments"] == list(odd)
    assert told["variables"]["OTHER"] == "1"
    assert told["leads_its_group"]
    assert told["folder"] == "/"


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
def test_each_command_is_called_for_what_it_is_there_for(
    monkeypatch: pytest.MonkeyPatch, outcome: Outcome, dailies: int, events: list[str]
) -> None:
    called: list[tuple[str, str, float]] = []

    def noted(command: Sequence[str], document: bytes, _: object, seconds: float) -> None:
        called.append((command[0], json.loads(document)["event"], seconds))

    monkeypatch.setattr(module, "run_hook", noted)
    record = run_at(NOW, outcome, counts=Counts(dailies=dailies))
    names = Hooks(on_failure=("failure",), on_publish=("publish",), on_run=("run",), timeout_seconds=7)
    run_hooks(record, Path("/root"), names, {})
    seconds = 1 if outcome is Outcome.STOPPED else 7
    assert called == [(event, event, seconds) for event in events]
    called.clear()
    run_hooks(record, Path("/root"), Hooks(), {})
    assert called == []


def test_the_key_and_where_it_lies_are_in_no_environment_of_theirs() -> None:
    variables = {
        "FAIRWAY_DAILY_KEY": KEY,
        "FAIRWAY_DAILY_KEY_FILE": "/key",
        "fairway_daily_key": KEY,
        "FAIRWAY_DATA": "/data",
        "PATH": "/bin",
    }
    assert without_secrets(variables) == {"FAIRWAY_DATA": "/data", "PATH": "/bin"}


# What goes wrong


@needs_proc
def test_a_command_that_hangs_is_ended_with_all_that_it_started() -> None:
    begun = time.monotonic()
    fault = run(shell("sleep 1000 & echo $! $$; sleep 1000"), seconds=0.5)
    assert time.monotonic() - begun < SOON
    assert fault is not None
    words, processes = fault.split(": ")
    assert words == "had not ended after 0.5 s and was ended by force"
    for process in map(int, processes.split()):
        wait_until_gone(process)


@needs_proc
def test_what_a_command_leaves_behind_in_its_group_does_not_stay(tmp_path: Path) -> None:
    begun = time.monotonic()
    # The child holds the streams of its parent, which has long ended.
    fault = run(shell('sleep 1000 & echo $! > "$1"', tmp_path / "child"), seconds=600)
    assert time.monotonic() - begun < SOON
    assert fault is None
    wait_until_gone(int((tmp_path / "child").read_text()))


def test_a_command_that_ignores_every_polite_signal_is_ended_too() -> None:
    fault = run(shell("trap '' TERM INT HUP; while :; do sleep 1; done"), seconds=0.5)
    assert fault == "had not ended after 0.5 s and was ended by force"


def test_a_command_that_fails_is_told_with_its_last_words() -> None:
    assert run(shell("echo out; echo no network >&2; exit 3")) == "ended with 3: out\nno network"
    assert run(shell("kill -9 $$")) == "ended with -9"
    assert run(("true",)) is None


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("/nowhere/notify", "could not be started: No such file or directory"),
        ("fairway-no-such-command", "could not be started: No such file or directory"),
        ("/", "could not be started: Permission denied"),
    ],
)
def test_a_command_that_cannot_be_started_is_told(command: str, words: str) -> None:
    assert run((command,)) == words


def test_a_flood_of_output_is_neither_kept_nor_in_the_way() -> None:
    program = "import sys\nfor _ in range(2000): sys.stdout.write('x' * 10_000)\nsys.exit('the end')"
    fault = run(python(program))
    assert fault is not None
    assert fault.endswith("the end")
    assert len(fault) < 2_100


def test_a_flood_without_end_is_ended() -> None:
    fault = run(("yes",), seconds=0.5)
    assert fault is not None
    assert fault.startswith("had not ended after 0.5 s and was ended by force: y\n")
    assert len(fault) < 2_100


@pytest.mark.parametrize("program", ["exit 0", "exec <&-; sleep 0.2", "sleep 0.2"])
def test_a_command_need_not_read_what_it_is_told(program: str) -> None:
    assert run(shell(program), b"x" * 5_000_000) is None


def test_a_command_may_read_and_write_much_at_once() -> None:
    counted = "import sys; data = sys.stdin.read(); sys.stdout.write(data); sys.exit(len(data) != 3_000_000)"
    assert run(python(counted), b"x" * 3_000_000) is None


def test_a_command_that_closes_its_output_is_waited_for(tmp_path: Path) -> None:
    assert run(shell('exec >&- 2>&-; sleep 0.3; touch "$1"', tmp_path / "done")) is None
    assert (tmp_path / "done").exists()


@needs_proc
def test_a_signal_while_a_command_runs_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, gate = tmp_path / "process", tmp_path / "gate"
    until_end = module._Talk.until_end

    def opened(talk: module._Talk, deadline: float) -> bool:
        gate.touch()  # now it is known which process is to be ended
        return until_end(talk, deadline)

    monkeypatch.setattr(module._Talk, "until_end", opened)
    text = 'echo $$ > "$1.new"; mv "$1.new" "$1"; until [ -e "$3" ]; do :; done; kill -INT $2; sleep 1000'
    command = shell(text, file, os.getpid(), gate)
    with pytest.raises(KeyboardInterrupt):
        run(command, seconds=600)
    wait_until_gone(int(file.read_text()))


# After a run


def tools(variables: dict[str, str]) -> JobContext:
    return context_at(NOW, variables=variables)


def test_they_run_once_the_data_root_is_free_again_however_the_run_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[str] = []

    def locking(command: Sequence[str], *_: object) -> str:
        with root_lock(tmp_path, NOW):
            called.append(command[0])
        return "failed, which hurts nobody"

    monkeypatch.setattr(module, "run_hook", locking)
    settings = Settings(hooks=Hooks(on_failure=("failure",), on_run=("run",)))

    def fail() -> None:
        with job_run(LocalStorage(tmp_path), "nightly", settings, tools({})):
            raise CheckError("too bad")

    with pytest.raises(CheckError, match="too bad"):
        fail()
    assert called == ["failure", "run"]
    with root_lock(tmp_path, NOW), pytest.raises(BusyError):
        fail()
    assert called == ["failure", "run"]  # what had to wait was no run


def test_a_root_that_cannot_be_locked_is_a_failure_they_are_told_of(tmp_path: Path) -> None:
    file, place = tmp_path / "told", tmp_path / "root"
    (place / ".lock").mkdir(parents=True)
    settings = Settings(hooks=Hooks(on_failure=python(TELL, file)))
    with (
        pytest.raises(Exception, match="cannot write the lock"),
        job_run(LocalStorage(place), "nightly", settings, tools(PATH)),
    ):
        pass
    (told,) = told_in(file)
    assert told["document"]["event"] == "failure"
    assert "cannot write the lock" in told["document"]["run"]["error"]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRWAY_DEALS_PER_NIGHT", "2")
    monkeypatch.setenv("FAIRWAY_DAILY_FROM", "2026-11-30")
    monkeypatch.setattr(clock, "now", lambda: NOW)


def test_a_night_s_commands_never_see_the_key_and_their_failure_is_logged_and_harmless(
    small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "told"
    monkeypatch.setenv("FAIRWAY_DAILY_KEY", KEY)
    monkeypatch.setenv("FAIRWAY_HOOKS__ON_PUBLISH", json.dumps(python(TELL, file)))
    monkeypatch.setenv("FAIRWAY_HOOKS__ON_RUN", json.dumps(python(f"{TELL}\nsys.exit('no network')", file)))
    monkeypatch.setenv("FAIRWAY_HOOKS__ON_FAILURE", json.dumps(["/nowhere/notify"]))
    outcome = done("nightly", "--data", tmp_path / "root")
    told = told_in(file)
    assert [each["document"]["event"] for each in told] == ["publish", "run"]
    assert told[0]["document"]["run"]["dailies"] == 3
    assert KEY not in file.read_text()
    assert all("FAIRWAY_HOOKS__ON_RUN" in each["variables"] for each in told)
    (warning,) = (line for line in outcome.err.splitlines() if " WARNING " in line)
    assert warning.endswith(f"the hook on_run, {sys.executable}, ended with 1: no network")
    (tmp_path / "root" / "catalog.json").write_bytes(b"{")
    failed = fairway("nightly", "--data", tmp_path / "root")
    assert failed.code == 1
    assert "the hook on_failure, /nowhere/notify, could not be started" in failed.err
    assert "catalog.json" in failed.complaint
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_command_that_hangs_does_not_keep_a_stopped_run_from_ending(tmp_path: Path) -> None:
    variables = {
        "FAIRWAY_DEALS_PER_NIGHT": "3000",
        "FAIRWAY_HOOKS__ON_RUN": '["sleep", "1000"]',
        "FAIRWAY_HOOKS__TIMEOUT_SECONDS": "600",
    }
    with spawned("nightly", "--data", tmp_path / "root", variables=variables) as process:
        read_until(process, "easy: 300 of 3,000")
        process.terminate()
        _, err = process.communicate(timeout=STOP_SECONDS)
    assert process.returncode == 128 + signal.SIGTERM
    assert "the hook on_run, sleep, had not ended after 1 s and was ended by force" in err
