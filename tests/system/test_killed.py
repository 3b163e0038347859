"""Killed anywhere, a run leaves a state of before or after, and the next run finishes it to the same bytes.

A kill is a real SIGKILL of a real run, before one of its steps on the disk or, in the soak, after some time.
A write that is killed while it is synced has lost half of its data.
"""

import dataclasses
import random
from pathlib import Path

import pytest

from pipeline.pools.catalog import CATALOG_FILE
from pipeline.pools.unfinished import RECORD_NAME
from tests.support.ordeal import ROWS, Ordeal, Stage, check_finished, check_readable, content
from tests.support.victim import Run, Victim

KILLED = -9
DEFAULT_KILLS = {name: 2 if "night" in name else 1 for name in ROWS}
TIMED_KILLS = 6  # a row, in the soak
KILLS_ON_KILLS = 4  # a row, in the soak


@pytest.fixture(scope="module", params=ROWS)
def named(request: pytest.FixtureRequest, stage: Stage) -> tuple[str, Ordeal]:
    return request.param, stage.play(ROWS[request.param])


@pytest.fixture
def name(named: tuple[str, Ordeal]) -> str:
    return named[0]


@pytest.fixture
def ordeal(named: tuple[str, Ordeal]) -> Ordeal:
    return named[1]


def killed(victim: Victim, ordeal: Ordeal, root: Path, step: int) -> Run:
    """The run of an ordeal, killed before a step."""
    return victim.run(dataclasses.replace(ordeal.row.command.on(root), fault="kill", at=step))


def spread(steps: int, kills: int) -> list[int]:
    return [(2 * n + 1) * steps // (2 * kills) for n in range(kills)]


def test_a_killed_run_is_finished_by_the_next(
    victim: Victim, name: str, ordeal: Ordeal, tmp_path: Path
) -> None:
    for step in spread(ordeal.steps, DEFAULT_KILLS[name]):
        root = ordeal.copy_to(tmp_path / "root")
        run = killed(victim, ordeal, root, step)
        assert run.code == KILLED, run
        check_readable(victim, ordeal, root)
        check_finished(victim, ordeal, root)


def test_a_regeneration_that_is_killed_after_its_switch_is_not_made_again(
    victim: Victim, stage: Stage, tmp_path: Path
) -> None:
    ordeal = stage.play(ROWS["pool regenerate"])
    for step in range(ordeal.steps - 1, 0, -1):  # back to the removal of its record
        root = ordeal.copy_to(tmp_path / "root")
        killed(victim, ordeal, root, step)
        if list(root.rglob(RECORD_NAME)):
            break
    assert content(root)[CATALOG_FILE] == ordeal.after[CATALOG_FILE]
    check_finished(victim, ordeal, root)


def test_enough_is_killed_by_default() -> None:
    assert sum(DEFAULT_KILLS.values()) == 10


@pytest.mark.soak
def test_a_run_that_is_killed_at_any_step_is_finished_by_the_next(
    victim: Victim, ordeal: Ordeal, tmp_path: Path
) -> None:
    for step in range(ordeal.steps):
        root = ordeal.copy_to(tmp_path / "root")
        run = killed(victim, ordeal, root, step)
        assert run.code == KILLED, run
        check_readable(victim, ordeal, root)
        check_finished(victim, ordeal, root)


@pytest.mark.soak
def test_a_run_that_is_killed_at_any_time_is_finished_by_the_next(
    victim: Victim, name: str, ordeal: Ordeal, tmp_path: Path
) -> None:
    dice = random.Random(name)
    for _ in range(TIMED_KILLS):
        root = ordeal.copy_to(tmp_path / "root")
        wanted = dataclasses.replace(ordeal.row.command.on(root), seconds=dice.uniform(0.02, 0.5))
        assert victim.run(wanted).code in (KILLED, 0)
        if root.exists():
            check_readable(victim, ordeal, root)
        check_finished(victim, ordeal, root)


@pytest.mark.soak
def test_a_run_that_finishes_a_killed_one_may_be_killed_itself(
    victim: Victim, name: str, ordeal: Ordeal, tmp_path: Path
) -> None:
    dice = random.Random(name)
    for _ in range(KILLS_ON_KILLS):
        root = ordeal.copy_to(tmp_path / "root")
        for _ in range(3):
            killed(victim, ordeal, root, dice.randrange(ordeal.steps // 2))
        check_readable(victim, ordeal, root)
        check_finished(victim, ordeal, root)
