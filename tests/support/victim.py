"""A process that runs commands in children of its own, each of which can be stopped at any step on the disk.

It loads the program once and forks for each command, so that a real SIGKILL in the middle of a real run costs
some milliseconds. A step is a call that changes the disk: a file begun, synced, linked, renamed or removed, a
folder made. `Victim` is its other end.
"""

import errno
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parents[2]
STEPS = ("open", "fsync", "link", "replace", "unlink", "mkdir")
CRASHED = 70  # what no command ends with
BATCH = 5  # deal numbers: little work where little is asked for
PART_ROWS = 3  # so that a small pool has several parts
POLL_SECONDS = 0.001
_SETTINGS_OF_THE_DEVELOPER = {
    name for name in os.environ if name.startswith("FAIRWAY_") and name != "FAIRWAY_CACHE"
}
LOADED = (
    *(f"jobs.runs.{name}" for name in ("nightly", "pools", "others")),
    *("jobs.service.service", "jobs.cli.app", "jobs.cli.history_report"),
    *("pipeline.pools.compact", "pipeline.pools.rollback", "pipeline.query.engine"),
    *("pipeline.integrity.repair", "pipeline.integrity.verify"),
    *("rich.box", "rich.console", "rich.table", "rich.text", "prometheus_client"),
)


@dataclass(frozen=True, slots=True)
class Request:
    """A command, and what happens to it.

    Attributes:
        arguments: of the command.
        now: the moment that its clock shows.
        variables: of its environment, beside those of this process.
        fault: a row of `FAULTS` or `SIGNALS`; None for an undisturbed run.
        at: the step before which the fault happens, counted from 0; no fault if it is never reached.
        place: part of a path; only steps that name it are counted for `at`.
        seconds: after which it is killed; None for never.
        user: id of the user who runs it; None for the one who runs this process.
    """

    arguments: tuple[str, ...]
    now: datetime
    variables: Mapping[str, str] = field(default_factory=dict)
    fault: str | None = None
    at: int = 0
    place: str = ""
    seconds: float | None = None
    user: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """How a command ended.

    Attributes:
        code: its exit code, or minus the signal that killed it.
        out: what it wrote to standard output.
        err: what it wrote to standard error.
        steps: how many steps it took, or was about to take.
        work: seconds of processor time that it took.
    """

    code: int
    out: str
    err: str
    steps: int
    work: float

    @property
    def complaint(self) -> str:
        """The one line of an error; fails where there is more or less than that."""
        lines = [line for line in self.err.splitlines() if line.startswith("fairway: error: ")]
        assert len(lines) == 1, self.err
        assert self.err.endswith(f"{lines[0]}\n"), self.err
        return lines[0]


class Victim:
    """The process, as its user sees it; to be closed by `with`."""

    def __init__(self) -> None:
        own = {name: value for name, value in os.environ.items() if name not in _SETTINGS_OF_THE_DEVELOPER}
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.support.victim"],
            cwd=ROOT,
            env=own,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def run(self, request: Request) -> Run:
        """Run a command and wait for its end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(asdict(request), default=str), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, "the victim has ended; see its standard error"
        return Run(**json.loads(answer))


# What can happen to a command, in its own process. The first argument is the data root.


def _kill(_root: Path, step: str, arguments: Sequence[Any]) -> None:
    if step == "fsync" and os.lseek(arguments[0], 0, os.SEEK_CUR):
        os.ftruncate(arguments[0], os.lseek(arguments[0], 0, os.SEEK_CUR) // 2)  # in the middle of the data
    os.kill(os.getpid(), signal.SIGKILL)


def _take_handles(_root: Path, _step: str, _arguments: Sequence[Any]) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def _take_permission(root: Path, _step: str, _arguments: Sequence[Any]) -> None:
    for folder in (*(place for place in root.rglob("*") if place.is_dir()), root):
        folder.chmod(0o500)


def _failing(number: int) -> Callable[[Path, str, Sequence[Any]], None]:
    """From now on every step fails but the removal of files."""

    def fail(_root: Path, step: str, _arguments: Sequence[Any]) -> None:
        if step != "unlink":
            raise OSError(number, os.strerror(number))

    return fail


def _sending(number: int) -> Callable[[Path, str, Sequence[Any]], None]:
    """The process gets a signal."""

    def send(_root: Path, _step: str, _arguments: Sequence[Any]) -> None:
        signal.raise_signal(number)

    return send


SIGNALS = {name: _sending(getattr(signal, name)) for name in ("SIGTERM", "SIGINT")}
ONCE = {"kill": _kill, "handles": _take_handles, "permission": _take_permission}
LASTING = {name: _failing(getattr(errno, name)) for name in ("ENOSPC", "EDQUOT", "EROFS", "EACCES", "EIO")}
FAULTS = (*ONCE, *LASTING)


def _watch_steps(request: Request, root: Path, counter: int) -> None:
    """Count the steps of this process from now on, and let the fault happen at its step."""
    done = 0
    once = ONCE | SIGNALS

    def watch(step: str) -> None:
        real = getattr(os, step)

        def watched(*arguments: Any, **options: Any) -> Any:
            nonlocal done
            if step == "open" and not (len(arguments) > 1 and arguments[1] & os.O_CREAT):
                return real(*arguments, **options)
            named = request.place in repr(arguments)
            number, done = done, done + named
            os.write(counter, b".")
            if request.fault in once and named and number == request.at:
                once[request.fault](root, step, arguments)
            if request.fault in LASTING and number >= request.at:
                LASTING[request.fault](root, step, arguments)
            return real(*arguments, **options)

        setattr(os, step, watched)

    for step in STEPS:
        watch(step)


def _child(request: Request, counter: int, out: int, err: int) -> None:
    from jobs.cli.app import run
    from jobs.terminal import clock
    from jobs.terminal.outcome import stop_on_sigterm

    code = CRASHED
    try:
        for old, new in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (err, 2)):
            os.dup2(old, new)
        os.environ.update(request.variables)
        if request.user is not None:
            os.setgroups([])
            os.setgid(request.user)
            os.setuid(request.user)
        clock.now = lambda: request.now
        stop_on_sigterm()
        data = request.arguments[request.arguments.index("--data") + 1]
        _watch_steps(request, Path(data), counter)
        code = run(request.arguments)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _served(request: Request) -> Run:
    reading, counter = os.pipe()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            _child(request, counter, out.fileno(), err.fileno())
        os.close(counter)
        code, work = _waited(child, request.seconds)
        with os.fdopen(reading, "rb") as steps:
            count = len(steps.read())
        out.seek(0)
        err.seek(0)
        return Run(code, out.read().decode(), err.read().decode(), count, work)


def _waited(child: int, seconds: float | None) -> tuple[int, float]:
    """The exit code of a child, and the processor time that it took; it is killed after some seconds."""
    if seconds is not None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found, status, usage = os.wait4(child, os.WNOHANG)
            if found:
                return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
            time.sleep(POLL_SECONDS)
        os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def _load() -> None:
    """Everything that a command needs, so that its child finds it loaded."""
    from pipeline.deals import certify
    from pipeline.store import documents

    for name in LOADED:
        importlib.import_module(name)
    for name in documents.SCHEMA_FILES:
        documents.schema_faults({"schema": name}, name)
    certify.warm_up()
    for module in [module for name, module in sys.modules.items() if name.startswith("pipeline.")]:
        for name, value in (("warm_up", _is_warm), ("BATCH_SIZE", BATCH), ("PART_ROWS", PART_ROWS)):
            if hasattr(module, name):  # wherever it was imported to
                setattr(module, name, value)


def _is_warm() -> None:
    """The kernels are loaded, and a child has them from its parent."""


def _serve() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    _load()
    for line in sys.stdin:
        fields = json.loads(line)
        fields |= {"now": datetime.fromisoformat(fields["now"]), "arguments": tuple(fields["arguments"])}
        print(json.dumps(asdict(_served(Request(**fields)))), file=answers, flush=True)


if __name__ == "__main__":
    _serve()
