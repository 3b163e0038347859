"""The command as a process: signals, closed pipes, a full device, and the lock between two processes."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import date
from pathlib import Path

import pytest

from pipeline.store.root import open_root
from pipeline.store.storage import INCOMING
from tests.support.command import PROGRAM, ROOT, STOP_SECONDS, done, files_of, read_until, run_child, spawned
from tests.support.scenarios import records

# Far in the future, so that no solution is published, whenever the tests run.
FUTURE = "2931-03-01"
TASKS = ("easy", "medium", "hard", "daily")
SMALL = {"FAIRWAY_DEALS_PER_NIGHT": "2", "FAIRWAY_DAILY_FROM": FUTURE}
TERMINAL = {"TERM": "xterm", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
LARGE = {"FAIRWAY_DEALS_PER_NIGHT": "3000", "FAIRWAY_DAILY_FROM": FUTURE, "FAIRWAY_WORKERS": "1"}


def shell(command: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    """Run a shell command in which `fairway` is the program."""
    program = f'fairway() {{ "{sys.executable}" -c "{PROGRAM}" "$@"; }}\n{command}'
    return run_child("bash", "-c", program, "bash", *arguments, timeout=STOP_SECONDS)


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.soak)])
def test_a_stopped_night_leaves_nothing_half_done(tmp_path: Path, number: int) -> None:
    arguments = ("nightly", "--date", FUTURE, "--allow-future", "--data", tmp_path)
    with spawned(*arguments, variables=LARGE) as process:
        read_until(process, "easy: 300 of 3,000")
        process.send_signal(number)
        _, err = process.communicate(timeout=STOP_SECONDS)
    assert process.returncode == 128 + number, err
    assert "Traceback" not in err
    assert not any(INCOMING in path for path in files_of(tmp_path))
    assert not (tmp_path / "catalog.json").exists()
    assert [record["outcome"] for record in records(tmp_path)] == ["stopped"]
    assert done("pool", "status", "--data", tmp_path, "--json").code == 0


CLOSED = (("617", ""), ("617", ">&-"), ("x", ">&-"))


@pytest.mark.parametrize("closed", ["2>&-", "<&- >&- 2>&-"])
def test_a_closed_standard_stream_does_not_disturb_a_file(closed: str, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    data = tmp_path / "data"
    open_root(data, create=True)
    run = shell(f'fairway query "select 1 as one" --data "$1" --format csv -o "$2" {closed}', data, out)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert out.read_text() == "one\n1\n"


def test_a_closed_standard_output_counts_as_one_that_cannot_be_written() -> None:
    closed = shell("fairway deal show 617 --json >&-")
    assert closed.returncode == 73
    assert closed.stderr == "fairway: error: cannot write the output: standard output is closed\n"
    codes = [shell(f"fairway deal show {deal} <&- {out} 2>&-").returncode for deal, out in CLOSED]
    assert codes == [0, 73, 2]


def test_a_reader_that_closes_the_pipe_of_a_drawing_ends_the_command_quietly() -> None:
    run = shell("fairway deal show 617 | true; echo ${PIPESTATUS[0]}")
    assert run.stdout in ("0\n", "141\n")  # the command may finish before `true`
    assert run.stderr == ""


def test_ctrl_c_while_the_command_loads_shows_no_traceback() -> None:
    program = (
        "import builtins, sys; load = builtins.__import__\n"
        "def stop(name, *rest):\n"
        "    if name == 'jobs.cli.app': raise KeyboardInterrupt\n"
        "    return load(name, *rest)\n"
        "builtins.__import__ = stop\n"
        "from jobs.cli import main; main()"
    )
    run = run_child(sys.executable, "-c", program)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")


@pytest.mark.parametrize(
    "log", ["2>/dev/full", pytest.param("2>&1 >/dev/null | true", marks=pytest.mark.soak)]
)
def test_a_log_that_cannot_be_written_does_not_stop_a_night(tmp_path: Path, log: str) -> None:
    variables = " ".join(f"{name}={value}" for name, value in SMALL.items())
    command = f'export {variables}; fairway nightly --date {FUTURE} --allow-future --data "$1" {log}'
    run = shell(f"{command}; exit ${{PIPESTATUS[0]}}", tmp_path)
    assert run.returncode == 0, run.stderr
    assert [record["outcome"] for record in records(tmp_path)] == ["done"]


def test_an_error_that_cannot_be_written_keeps_its_exit_code() -> None:
    assert shell("fairway deal rate xx 2>/dev/full").returncode == 2


def test_a_cron_job_during_a_run_of_the_service_exits_with_75(tmp_path: Path) -> None:
    arguments = ("nightly", "--date", FUTURE, "--allow-future", "--data", tmp_path)
    with spawned("serve", "--data", tmp_path, variables=LARGE) as first:
        read_until(first, "easy: 300")
        with spawned(*arguments, variables=SMALL) as second:
            out, err = second.communicate(timeout=STOP_SECONDS)
        assert (second.returncode, out) == (75, ""), err
        assert f"process {first.pid} since {date.today().year}-" in err  # noqa: DTZ011 - the year alone
        first.terminate()
        first.communicate(timeout=STOP_SECONDS)


def test_the_service_runs_what_is_due_and_stops_at_sigterm(tmp_path: Path) -> None:
    variables = {"FAIRWAY_DEALS_PER_NIGHT": "2", "FAIRWAY_DAILY_FROM": str(date.today())}  # noqa: DTZ011 - one day off is fine
    with spawned("serve", "--data", tmp_path, variables=variables) as process:
        read_until(process, ": 6 deals, ")
        process.terminate()
        _, err = process.communicate(timeout=STOP_SECONDS)
    assert process.returncode == 0, err
    assert "stopped by SIGTERM" in err
    assert "Traceback" not in err
    assert [record["outcome"] for record in records(tmp_path)] == ["done"]


def test_a_reader_that_closes_the_pipe_ends_the_command_quietly() -> None:
    ended = shell("seq 0 20000 | fairway deal show --file - | head -n 1; echo ${PIPESTATUS[1]}")
    line, code = ended.stdout.splitlines()
    assert json.loads(line)["deal_number"] == 0
    assert code == "141"
    assert all(line.startswith("lines: ") for line in ended.stderr.splitlines()), ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("command", ["deal show 1", "deal show 1 --json", "--help"])
def test_output_that_cannot_be_written_is_reported_with_73(command: str) -> None:
    ended = shell(f"fairway {command} > /dev/full")
    assert ended.returncode == 73
    assert ended.stderr == "fairway: error: cannot write the output: No space left on device\n"


def on_terminal(*arguments: object, variables: dict[str, str] | None = None) -> str:
    """Run a command in a terminal of 100 columns; return what it shows."""
    terminal, device = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **TERMINAL, **(variables or {})},
        stdin=subprocess.DEVNULL,
        stdout=device,
        stderr=device,
    )
    os.close(device)
    shown = b""
    with process, suppress(OSError):  # which is raised at the end of the output
        while piece := os.read(terminal, 4096):
            shown += piece
    os.close(terminal)
    return shown.decode()


def test_on_a_terminal_red_suits_are_red_and_parquet_is_refused(made_root: Path) -> None:
    assert "\x1b[31m7♥" in on_terminal("deal", "show", 1)
    assert "\x1b[31m" not in on_terminal("deal", "show", 1, variables={"NO_COLOR": "1"})
    query = ("query", "from deals", "--format", "parquet", "--data", made_root)
    assert "Parquet cannot be written to a terminal; give -o FILE" in on_terminal(*query)


def test_on_a_terminal_a_night_shows_a_bar_for_each_level(tmp_path: Path) -> None:
    shown = on_terminal("nightly", "--date", FUTURE, "--allow-future", "--data", tmp_path, variables=SMALL)
    assert all(re.search(rf"{task} +(\x1b\[[0-9;]*m)*━━", shown) for task in TASKS)
    assert "easy: " not in shown


def test_a_terminal_without_suit_symbols_shows_letters() -> None:
    ended = shell("LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 PYTHONIOENCODING=ascii fairway deal show 1")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "| 7H |" in ended.stdout
    assert "+----+" in ended.stdout


LOADED = """
import json, sys
sys.argv[0] = "fairway"
from jobs.cli.app import run
for words in json.loads(sys.argv[1]):
    assert run(words) == 0
    loaded = (name for name in ("numba", "duckdb", "pyarrow") if name in sys.modules)
    sys.stderr.write(f"{' '.join(words[:2])}: {' '.join(loaded)}\\n")
"""

# In one process, so in the order of what they load.
READING = {
    ("pool", "status"): "",
    ("pool", "history", "medium"): "",
    ("level", "list"): "",
    ("daily", "export", "--date", "2026-11-30"): "",
    ("query", "from runs"): "pyarrow",
    ("gc", "--dry-run"): "pyarrow",
    ("pool", "show", "medium"): "duckdb pyarrow",
}


def test_a_command_that_only_reads_loads_no_kernels(made_root: Path) -> None:
    commands = [[*words, "--data", str(made_root)] for words in READING]
    ended = run_child(sys.executable, "-c", LOADED, json.dumps(commands), check=True)
    assert ended.stderr.splitlines() == [
        f"{words[0]} {words[1]}: {loaded}" for words, loaded in READING.items()
    ]
