"""Runs that change a data root, each with the state that it starts from and its undisturbed result.

The tests that interrupt runs share them. Add a scenario for each new command that changes a data root.
"""

import json
import shutil
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from jobs.runs.lock import LOCK_FILE
from jobs.settings.model import METRICS_FILE
from pipeline.pools.catalog import CATALOG_FILE, DEALS_PREFIX, KEPT_PREFIX
from pipeline.pools.unfinished import RECORD_NAME
from pipeline.store.root import MARKER
from pipeline.store.storage import INCOMING
from tests.support.command import files_of
from tests.support.victim import Request, Run, Victim

NOW = datetime(2026, 11, 30, 13, tzinfo=UTC)
VARIABLES = {"FAIRWAY_DEALS_PER_NIGHT": "2", "FAIRWAY_DAILY_FROM": "2026-11-29", "FAIRWAY_WORKERS": "1"}
_NEVER_PARTIAL = (DEALS_PREFIX, "daily/20", "daily/solutions/", "private/", KEPT_PREFIX, CATALOG_FILE)

Files = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Command:
    """A command line without `--data`, and the time on its clock."""

    words: str
    now: datetime = NOW

    def on(self, root: Path) -> Request:
        """Return the command with a data root."""
        return Request((*self.words.split(), "--data", str(root)), self.now, VARIABLES)


def _later(days: int, words: str) -> Command:
    return Command(words, NOW + timedelta(days=days))


@dataclass(frozen=True, slots=True)
class Scenario:
    """A command to interrupt.

    Attributes:
        before: commands that make the state it starts from.
        repeats: whether the command does new work each time it is called, even after it succeeded.
    """

    before: tuple[Command, ...]
    command: Command
    repeats: bool = False


_NIGHT = _later(0, "nightly")
_NIGHTS = (_NIGHT, _later(1, "nightly"), _later(2, "nightly"))
_REGENERATED = (*_NIGHTS, _later(3, "pool regenerate hard"))
SCENARIOS = {
    "a first night": Scenario((), _NIGHT),
    "missed nights": Scenario((_NIGHT,), _later(3, "nightly")),
    "pool regenerate": Scenario(_NIGHTS, _later(3, "pool regenerate easy"), repeats=True),
    "daily publish": Scenario((_NIGHT,), _later(1, "daily publish --from 2026-11-27")),
    "solutions now": Scenario((_NIGHT,), _later(0, "daily publish --solutions now")),
    "pool compact": Scenario(_NIGHTS, _later(3, "pool compact medium")),
    "pool rollback": Scenario(_REGENERATED, _later(4, "pool rollback hard --to 1")),
    "gc": Scenario(_REGENERATED, _later(9, "gc --keep 1 --older-than 1")),
}


@dataclass(frozen=True, slots=True)
class Baseline:
    """A scenario and its undisturbed result.

    Attributes:
        start: a data root in the state that the run starts from.
        before: the files of `start`.
        after: the files after the run.
        steps: number of steps on the disk that the run takes.
    """

    scenario: Scenario
    start: Path
    before: Files
    after: Files
    steps: int

    def copy_to(self, place: Path) -> Path:
        """Replace `place` by a copy of `start`, and return it as a data root to interrupt a run in."""
        if place.exists():
            shutil.rmtree(place)
        if self.start.exists():
            shutil.copytree(self.start, place)
        return place


class Baselines:
    """Runs scenarios undisturbed; each scenario, and each state that several start from, is made once."""

    def __init__(self, victim: Victim, folder: Path) -> None:
        self._victim = victim
        self._folder = folder
        self._states: dict[tuple[Command, ...], Path] = {(): folder / "nothing"}
        self._made: dict[str, Baseline] = {}

    def of(self, name: str) -> Baseline:
        """Return the baseline of a scenario, given by its name in `SCENARIOS`."""
        if name not in self._made:
            self._made[name] = self._run(SCENARIOS[name])
        return self._made[name]

    def _run(self, scenario: Scenario) -> Baseline:
        start = self._state(scenario.before)
        end, run = self._run_on_copy(start, scenario.command)
        before, after = (content(root) if root.exists() else {} for root in (start, end))
        assert before != after
        return Baseline(scenario, start, before, after, run.steps)

    def _state(self, commands: tuple[Command, ...]) -> Path:
        if commands not in self._states:
            self._states[commands] = self._run_on_copy(self._state(commands[:-1]), commands[-1])[0]
        return self._states[commands]

    def _run_on_copy(self, start: Path, command: Command) -> tuple[Path, Run]:
        end = Path(tempfile.mkdtemp(dir=self._folder)) / "root"
        if start.exists():
            shutil.copytree(start, end)
        return end, self._victim.check(command.on(end))


def content(root: Path) -> Files:
    """Return all files except those that depend on times and processes; leftovers of killed writes count."""
    volatile = (LOCK_FILE, METRICS_FILE)
    return {
        path: data
        for path, data in files_of(root).items()
        if path not in volatile and not path.startswith("runs/")
    }


def records(root: Path) -> list[dict[str, Any]]:
    """Return the run records of a data root, oldest first."""
    return [json.loads(file.read_bytes()) for file in sorted((root / "runs").iterdir())]


def check_readable(victim: Victim, baseline: Baseline, root: Path) -> None:
    """Check what readers rely on after any interruption: a complete state, from before or after the run."""
    found = content(root)
    if MARKER not in found:
        assert not any(path.startswith(_NEVER_PARTIAL) for path in found)
        return
    states = (baseline.before, baseline.after)
    assert found.get(CATALOG_FILE) in [state.get(CATALOG_FILE) for state in states]
    for path, data in found.items():
        leftover = path.rpartition("/")[2].startswith((INCOMING, RECORD_NAME))
        if path.startswith(_NEVER_PARTIAL) and not leftover:
            assert data in [state.get(path) for state in states], path
    now = baseline.scenario.command.now
    status = victim.check(Command("pool status --json", now).on(root))
    assert len(json.loads(status.out)["levels"]) == 3
    verified = victim.run(Command("verify --sample 0", now).on(root))
    assert verified.code == 0, verified.out


def check_finished(victim: Victim, baseline: Baseline, root: Path) -> None:
    """Check that the next run finishes the work with the same bytes as an undisturbed run, and cleans up.

    If the work was complete and the command would do new work, `repair` cleans up instead.
    """
    command = baseline.scenario.command
    finished = {path: data for path, data in content(root).items() if INCOMING not in path}
    if baseline.scenario.repeats and finished == baseline.after:
        command = Command("repair", command.now)
    victim.check(command.on(root))
    found = content(root)
    assert {path for path in found if found[path] != baseline.after.get(path)} == set()
    assert found.keys() == baseline.after.keys()
