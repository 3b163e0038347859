"""Runs that change a data root, each with the state it begins with and the one it leads to undisturbed.

Shared by the tests that stop them: a new command that changes a data root is a new row here.
"""

import json
import shutil
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from jobs.runs.lock import LOCK_FILE
from jobs.settings.model import METRICS_FILE
from pipeline.pools.catalog import CATALOG_FILE, DEALS_PREFIX, KEPT_PREFIX
from pipeline.pools.unfinished import RECORD_NAME
from pipeline.store.root import MARKER
from pipeline.store.storage import INCOMING
from tests.support.command import files_of
from tests.support.victim import Request, Run, Victim

VARIABLES = {
    "FAIRWAY_DEALS_PER_NIGHT": "2",
    "FAIRWAY_DAILY_FROM": "2026-11-29",
    "FAIRWAY_WORKERS": "1",
}
_WHOLE = (DEALS_PREFIX, "daily/20", "daily/solutions/", "private/", KEPT_PREFIX, CATALOG_FILE)

Files = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Command:
    """A command at a moment.

    Attributes:
        words: of the command, without its data root.
        now: what its clock shows.
    """

    words: str
    now: datetime

    def on(self, root: Path) -> Request:
        """The command on a data root."""
        return Request((*self.words.split(), "--data", str(root)), self.now, VARIABLES)


def _at(day: int, words: str) -> Command:
    """A command at 13:00 UTC of a day counted from 2026-11-30 on."""
    return Command(
        words, datetime(2026, 11, 30, 13, tzinfo=UTC).replace(month=12 if day else 11, day=day or 30)
    )


@dataclass(frozen=True, slots=True)
class Row:
    """A run that is stopped.

    Attributes:
        before: the commands that make the state it begins with.
        command: the run.
        is_new_work: whether the command makes something new each time it has ended well.
    """

    before: tuple[Command, ...]
    command: Command
    is_new_work: bool = False


_NIGHT = _at(0, "nightly")
_NIGHTS = (_NIGHT, _at(1, "nightly"), _at(2, "nightly"))
ROWS = {
    "a first night": Row((), _NIGHT),
    "missed nights": Row((_NIGHT,), _at(3, "nightly")),
    "pool regenerate": Row(_NIGHTS, _at(3, "pool regenerate easy"), is_new_work=True),
    "daily publish": Row((_NIGHT,), _at(1, "daily publish --from 2026-11-27")),
    "solutions now": Row((_NIGHT,), _at(0, "daily publish --solutions now")),
    "pool compact": Row(_NIGHTS, _at(3, "pool compact medium")),
    "pool rollback": Row((*_NIGHTS, _at(3, "pool regenerate hard")), _at(4, "pool rollback hard --to 1")),
    "gc": Row((*_NIGHTS, _at(3, "pool regenerate hard")), _at(9, "gc --keep 1 --older-than 1")),
}


@dataclass(frozen=True, slots=True)
class Ordeal:
    """A row, played once without disturbance.

    Attributes:
        row: the row.
        start: a data root in the state that the run begins with.
        before: the files of that.
        after: the files that the run leads to.
        steps: how many steps on the disk it takes.
    """

    row: Row
    start: Path
    before: Files
    after: Files
    steps: int

    def copy_to(self, place: Path) -> Path:
        """A data root for a run to be stopped in."""
        if place.exists():
            shutil.rmtree(place)
        if self.start.exists():
            shutil.copytree(self.start, place)
        return place


class Stage:
    """Plays rows; a state that several of them begin with is made once.

    Args:
        victim: runs the commands.
        folder: where the data roots are made.
    """

    def __init__(self, victim: Victim, folder: Path) -> None:
        self._victim = victim
        self._folder = folder
        self._states: dict[tuple[Command, ...], Path] = {(): folder / "nothing"}
        self._played: dict[Row, Ordeal] = {}

    def play(self, row: Row) -> Ordeal:
        """Make what a row begins with, and run it undisturbed; once, however often it is asked for."""
        if row not in self._played:
            self._played[row] = self._play(row)
        return self._played[row]

    def _play(self, row: Row) -> Ordeal:
        start = self._state(row.before)
        end, run = self._after(start, row.command)
        before, after = (content(root) if root.exists() else {} for root in (start, end))
        assert before != after
        return Ordeal(row, start, before, after, run.steps)

    def _state(self, commands: tuple[Command, ...]) -> Path:
        if commands not in self._states:
            self._states[commands] = self._after(self._state(commands[:-1]), commands[-1])[0]
        return self._states[commands]

    def _after(self, start: Path, command: Command) -> tuple[Path, Run]:
        end = Path(tempfile.mkdtemp(dir=self._folder)) / "root"
        if start.exists():
            shutil.copytree(start, end)
        return end, done(self._victim.run(command.on(end)))


def done(run: Run) -> Run:
    """A run that must have ended well."""
    assert run.code == 0, run
    return run


def content(root: Path) -> Files:
    """All files but those that tell of times and processes; leftovers of killed writes are among them."""
    files = files_of(root)
    times = (LOCK_FILE, METRICS_FILE)
    return {path: data for path, data in files.items() if path not in times and not path.startswith("runs/")}


def check_readable(victim: Victim, ordeal: Ordeal, root: Path) -> None:
    """What every reader may rely on whatever has stopped the run: a whole state, of before or of after."""
    found = content(root)
    if MARKER not in found:
        assert not any(path.startswith(_WHOLE) for path in found)
        return
    states = (ordeal.before, ordeal.after)
    assert found.get(CATALOG_FILE) in [state.get(CATALOG_FILE) for state in states]
    for path, data in found.items():
        if path.startswith(_WHOLE) and not path.rpartition("/")[2].startswith((INCOMING, RECORD_NAME)):
            assert data in [state.get(path) for state in states], path
    status = done(victim.run(Command("pool status --json", ordeal.row.command.now).on(root)))
    assert len(json.loads(status.out)["levels"]) == 3
    verified = victim.run(Command("verify --sample 0", ordeal.row.command.now).on(root))
    assert verified.code == 0, verified.out


def check_finished(victim: Victim, ordeal: Ordeal, root: Path) -> None:
    """The next run finishes the work, to the very bytes of the undisturbed one, and clears all else away.

    Where the work was over and its command would begin anew, any other run clears away what is left.
    """
    finished = {path: data for path, data in content(root).items() if INCOMING not in path}
    is_over = ordeal.row.is_new_work and finished == ordeal.after
    command = Command("repair", ordeal.row.command.now) if is_over else ordeal.row.command
    done(victim.run(command.on(root)))
    found = content(root)
    assert {path for path in found if found[path] != ordeal.after.get(path)} == set()
    assert found.keys() == ordeal.after.keys()
