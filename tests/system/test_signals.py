"""SIGTERM and SIGINT stop the service at any point, with exit code 0 and with nothing half done."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from pipeline.store.storage import INCOMING
from tests.support.command import STOP_SECONDS, fairway, files_of, read_until, spawned
from tests.support.scenarios import (
    NOW,
    VARIABLES,
    Baseline,
    Baselines,
    check_finished,
    check_readable,
    records,
)
from tests.support.victim import SIGNALS, Request, Victim

NUMBERS = [getattr(signal, name) for name in SIGNALS]
LARGE = {"FAIRWAY_DEALS_PER_NIGHT": "3000", "FAIRWAY_DAILY_FROM": "2931-03-01", "FAIRWAY_WORKERS": "1"}
# When the signal arrives: part of a path, and the number of steps on such paths before the signal.
PLACES = {
    "writing a part": ("deals/medium", 2),
    "swapping the catalog": ("catalog.json", 0),
    "publishing a solution": ("private/solutions/", 2),
    "publishing a hole": ("daily/20", 0),
    "publishing the index": ("daily/index.json", 0),
}

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processor time is read there")


def work_of(process: int) -> float:
    """Return the processor time of a process in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check_stopped(root: Path, words: str, number: int, variables: dict[str, str], work: float = 0) -> None:
    """Check that a signal stops the service soon, some processor time after it has logged these words."""
    with spawned("serve", "--data", root, variables=variables) as process:
        read_until(process, words)
        begun = work_of(process.pid)
        while work_of(process.pid) < begun + work:
            time.sleep(0.01)
        process.send_signal(number)
        _, err = process.communicate(timeout=STOP_SECONDS)
    assert process.returncode == 0, err
    assert f"stopped by {signal.Signals(number).name}" in err
    assert "Traceback" not in err
    assert [record["outcome"] for record in records(root)] == ["stopped"]
    assert not any(INCOMING in path for path in files_of(root))
    assert not (root / "catalog.json").exists()


@pytest.mark.parametrize("number", NUMBERS)
def test_the_service_is_stopped_while_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def read(*_: object, **__: object) -> None:
        signal.raise_signal(number)

    monkeypatch.setattr("jobs.cli.serve.read_settings", read)
    ended = fairway("serve", "--data", tmp_path / "root")
    assert (ended.code, ended.err) == (0, "")
    assert not (tmp_path / "root").exists()


def check_compiling_is_stopped(folder: Path, number: int, work: float) -> None:
    variables = LARGE | {"FAIRWAY_CACHE": str(folder / "cache")}
    check_stopped(folder / "root", "compiling the solver", number, variables, work)
    left = {file.name.partition("-")[0] for file in (folder / "cache").iterdir()}
    assert left <= {"kernels"}


def test_compiling_is_stopped(tmp_path: Path) -> None:
    check_compiling_is_stopped(tmp_path, signal.SIGTERM, 1)


@pytest.mark.soak
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("work", [0, 0.5, 2, 3, 4, 5, 6, 7])
def test_compiling_is_stopped_at_any_time(tmp_path: Path, number: int, work: float) -> None:
    check_compiling_is_stopped(tmp_path, number, work)


@pytest.mark.parametrize("number", [NUMBERS[0], pytest.param(NUMBERS[1], marks=pytest.mark.soak)])
def test_sampling_is_stopped(tmp_path: Path, number: int) -> None:
    check_stopped(tmp_path / "root", "easy: 300 of 3,000", number, LARGE)


@pytest.fixture
def baseline(baselines: Baselines) -> Baseline:
    return baselines.of("a first night")


def check_survived(victim: Victim, baseline: Baseline, root: Path, fault: str, **step: Any) -> None:
    """Check that a signal stops the service soon, and that the next run finishes with the same bytes."""
    words = ("serve", "--data", str(root))
    ended = victim.run(Request(words, NOW, VARIABLES, fault=fault, seconds=STOP_SECONDS, **step))
    assert ended.code == 0, ended
    assert f"stopped by {fault}" in ended.err
    assert "Traceback" not in ended.err
    check_readable(victim, baseline, root)
    assert {record["outcome"] for record in records(root)} <= {"stopped", "done"}
    check_finished(victim, baseline, root)


@pytest.mark.parametrize("fault", SIGNALS)
@pytest.mark.parametrize("name", PLACES)
def test_writing_and_publishing_are_stopped(
    victim: Victim, baseline: Baseline, tmp_path: Path, name: str, fault: str
) -> None:
    place, at = PLACES[name]
    check_survived(victim, baseline, tmp_path, fault, place=place, at=at)
    assert records(tmp_path)[0]["outcome"] == "stopped"


def test_a_signal_while_the_record_is_written_does_not_lose_it(
    victim: Victim, baseline: Baseline, tmp_path: Path
) -> None:
    check_survived(victim, baseline, tmp_path, "SIGTERM", place="runs/", at=2)
    assert records(tmp_path)[0]["outcome"] == "done"


@pytest.mark.soak
@pytest.mark.parametrize("fault", SIGNALS)
def test_a_run_is_stopped_at_any_step(victim: Victim, baseline: Baseline, tmp_path: Path, fault: str) -> None:
    for at in range(8, baseline.steps):  # the earlier steps make the data root
        check_survived(victim, baseline, baseline.copy_to(tmp_path / "root"), fault, at=at)
