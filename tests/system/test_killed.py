"""A killed run leaves the state from before or after it, and the next run finishes it with the same bytes.

A kill is a real SIGKILL of a real run, before one of its steps on the disk or, in the soak tests, at a random
time. A file that is being synced when the run is killed loses half of its data.
"""

import dataclasses
import random
from pathlib import Path

import pytest

from pipeline.pools.catalog import CATALOG_FILE
from pipeline.pools.unfinished import RECORD_NAME
from tests.support.scenarios import SCENARIOS, Baseline, Baselines, check_finished, check_readable, content
from tests.support.victim import KILLED, Run, Victim

TIMED_KILLS = 6  # per scenario
KILLS_OF_RECOVERIES = 4  # per scenario


@pytest.fixture(params=SCENARIOS)
def name(request: pytest.FixtureRequest) -> str:
    scenario: str = request.param
    return scenario


@pytest.fixture
def baseline(baselines: Baselines, name: str) -> Baseline:
    return baselines.of(name)


def kill(victim: Victim, baseline: Baseline, root: Path, step: int) -> Run:
    """Run the command of a scenario and kill it before a step."""
    return victim.run(dataclasses.replace(baseline.scenario.command.on(root), fault="kill", at=step))


def check_survived(victim: Victim, baseline: Baseline, root: Path, step: int) -> None:
    """Check that a kill before a step hurts no reader, and that the next run finishes the work."""
    run = kill(victim, baseline, baseline.copy_to(root), step)
    assert run.code == KILLED, run
    check_readable(victim, baseline, root)
    check_finished(victim, baseline, root)


def test_a_killed_run_is_finished_by_the_next(
    victim: Victim, name: str, baseline: Baseline, tmp_path: Path
) -> None:
    kills = 2 if "night" in name else 1
    for n in range(kills):
        step = (2 * n + 1) * baseline.steps // (2 * kills)  # evenly spread
        check_survived(victim, baseline, tmp_path / "root", step)


def test_a_regeneration_that_is_killed_after_its_switch_is_not_repeated(
    victim: Victim, baselines: Baselines, tmp_path: Path
) -> None:
    baseline = baselines.of("pool regenerate")
    for step in range(baseline.steps - 1, 0, -1):  # back to the step that removes its record
        root = baseline.copy_to(tmp_path / "root")
        kill(victim, baseline, root, step)
        if list(root.rglob(RECORD_NAME)):
            break
    assert content(root)[CATALOG_FILE] == baseline.after[CATALOG_FILE]
    check_finished(victim, baseline, root)


@pytest.mark.soak
def test_a_run_that_is_killed_at_any_step_is_finished_by_the_next(
    victim: Victim, baseline: Baseline, tmp_path: Path
) -> None:
    for step in range(baseline.steps):
        check_survived(victim, baseline, tmp_path / "root", step)


@pytest.mark.soak
def test_a_run_that_is_killed_at_any_time_is_finished_by_the_next(
    victim: Victim, name: str, baseline: Baseline, tmp_path: Path
) -> None:
    dice = random.Random(name)
    for _ in range(TIMED_KILLS):
        root = baseline.copy_to(tmp_path / "root")
        request = dataclasses.replace(baseline.scenario.command.on(root), seconds=dice.uniform(0.02, 0.5))
        assert victim.run(request).code in (KILLED, 0)
        if root.exists():
            check_readable(victim, baseline, root)
        check_finished(victim, baseline, root)


@pytest.mark.soak
def test_a_run_that_finishes_a_killed_one_may_be_killed_too(
    victim: Victim, name: str, baseline: Baseline, tmp_path: Path
) -> None:
    dice = random.Random(name)
    for _ in range(KILLS_OF_RECOVERIES):
        root = baseline.copy_to(tmp_path / "root")
        for _ in range(3):
            kill(victim, baseline, root, dice.randrange(baseline.steps // 2))
        check_readable(victim, baseline, root)
        check_finished(victim, baseline, root)
