"""Run commands in forked children, each of which can be stopped at any step on the disk.

The process loads the program once and forks for each command, so that a real SIGKILL of a real run takes a
few milliseconds. A step is a call that changes the disk: it creates, syncs, links, renames or removes a file,
or makes a folder. Tests use the process through `Victim`.
"""

import errno
import importlib
import json
import os
import pkgutil
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

import jobs
import pipeline
from jobs.cli.app import run as run_command
from jobs.terminal import clock
from jobs.terminal.outcome import stop_on_sigterm
from pipeline.deals.certify import warm_up
from pipeline.store.documents import SCHEMA_FILES, schema_faults
from tests.support.command import ROOT, error_line

KILLED = -signal.SIGKILL
STEPS = ("open", "fsync", "link", "replace", "unlink", "mkdir")
CRASHED = 70  # no command exits with this code
BATCH_SIZE = 5  # deal numbers: little work for small levels
PART_ROWS = 3  # so that a small pool has several parts
POLL_SECONDS = 0.001
OPTIONAL = "pipeline.studies.charts"  # needs matplotlib, and no command here draws
LOADED_ON_USE = ("rich.box", "rich.console", "rich.table", "rich.text", "prometheus_client")


@dataclass(frozen=True, slots=True)
class Request:
    """A command, and how to disturb it.

    Attributes:
        now: the time on its clock.
        variables: environment variables, in addition to those of this process.
        fault: a key of `FAULTS` or `SIGNALS`; None for an undisturbed run.
        at: the step before which the fault happens, counted from 0; no fault if that step is never reached.
        place: part of a path; only steps on paths that contain it count for `at`.
        seconds: time after which the command is killed; None for never.
        user: id of the user who runs the command; None for the user of this process.
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
    """The result of a command.

    Attributes:
        code: exit code, or minus the number of the signal that killed it.
        steps: number of steps that it took or was about to take.
        work: seconds of processor time.
    """

    code: int
    out: str
    err: str
    steps: int
    work: float

    @property
    def complaint(self) -> str:
        """The error message; fails unless there is exactly one, at the end."""
        return error_line(self.err)


class Victim:
    """The process that forks for each command. Use it as a context manager."""

    def __init__(self) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.support.victim"],
            cwd=ROOT,
            env={
                name: value
                for name, value in os.environ.items()
                if not name.startswith("FAIRWAY_") or name == "FAIRWAY_CACHE"
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def run(self, request: Request) -> Run:
        """Run a command and wait until it ends.

        Raises:
            AssertionError: the process ended without an answer; the message contains its standard error.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            print(json.dumps(asdict(request), default=str), file=self._process.stdin, flush=True)
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            code = self._process.wait()
            self._errors.seek(0)
            raise AssertionError(f"the victim ended with exit code {code}:\n{self._errors.read()}")
        return Run(**json.loads(answer))

    def check(self, request: Request) -> Run:
        """Run a command, which must succeed."""
        run = self.run(request)
        assert run.code == 0, run
        return run


# -- faults, which happen in the process of the command; the first argument is the data root --------------


def _kill(_root: Path, step: str, arguments: Sequence[Any]) -> None:
    if step == "fsync" and (written := os.lseek(arguments[0], 0, os.SEEK_CUR)):
        os.ftruncate(arguments[0], written // 2)  # half of the data is lost
    os.kill(os.getpid(), signal.SIGKILL)


def _take_handles(_root: Path, _step: str, _arguments: Sequence[Any]) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def _take_permission(root: Path, _step: str, _arguments: Sequence[Any]) -> None:
    for folder in (*(place for place in root.rglob("*") if place.is_dir()), root):
        folder.chmod(0o500)


def _failing(number: int) -> Callable[[Path, str, Sequence[Any]], None]:
    def fail(_root: Path, step: str, _arguments: Sequence[Any]) -> None:
        if step != "unlink":  # so that a run can clean up
            raise OSError(number, os.strerror(number))

    return fail


def _sending(number: int) -> Callable[[Path, str, Sequence[Any]], None]:
    def send(_root: Path, _step: str, _arguments: Sequence[Any]) -> None:
        signal.raise_signal(number)

    return send


SIGNALS = {name: _sending(getattr(signal, name)) for name in ("SIGTERM", "SIGINT")}
ONCE = {"kill": _kill, "handles": _take_handles, "permission": _take_permission}
LASTING = {name: _failing(getattr(errno, name)) for name in ("ENOSPC", "EDQUOT", "EROFS", "EACCES", "EIO")}
FAULTS = (*ONCE, *LASTING)


# -- the process itself -----------------------------------------------------------------------------------


def _watch_steps(request: Request, root: Path, counter: int) -> None:
    """Write a byte to `counter` at each step of this process from now on, and cause the fault at its step."""
    done = 0
    once = ONCE | SIGNALS

    def watch(step: str) -> None:
        real = getattr(os, step)

        def watched(*arguments: Any, **options: Any) -> Any:
            nonlocal done
            if step == "open" and not (len(arguments) > 1 and arguments[1] & os.O_CREAT):
                return real(*arguments, **options)
            counts = request.place in repr(arguments)
            number, done = done, done + counts
            os.write(counter, b".")
            if request.fault in once and counts and number == request.at:
                once[request.fault](root, step, arguments)
            if request.fault in LASTING and number >= request.at:
                LASTING[request.fault](root, step, arguments)
            return real(*arguments, **options)

        setattr(os, step, watched)

    for step in STEPS:
        watch(step)


def _run_as_child(request: Request, counter: int, out: int, err: int) -> None:
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
        root = Path(request.arguments[request.arguments.index("--data") + 1])
        _watch_steps(request, root, counter)
        code = run_command(request.arguments)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _fork(request: Request) -> Run:
    """Run a command in a child."""
    reading, counter = os.pipe()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            _run_as_child(request, counter, out.fileno(), err.fileno())
        os.close(counter)
        code, work = _wait(child, request.seconds)
        with os.fdopen(reading, "rb") as steps:
            count = len(steps.read())
        out.seek(0)
        err.seek(0)
        return Run(code, out.read().decode(), err.read().decode(), count, work)


def _wait(child: int, seconds: float | None) -> tuple[int, float]:
    """Return a child's exit code and processor time; kill it after some seconds."""
    if seconds is not None:
        end = time.monotonic() + seconds
        while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
                break
            time.sleep(POLL_SECONDS)
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def _load() -> None:
    """Load everything that a command needs, so that its child does not have to."""
    for package in (pipeline, jobs):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name != OPTIONAL:
                importlib.import_module(module.name)
    for name in LOADED_ON_USE:
        importlib.import_module(name)
    for name in SCHEMA_FILES:
        schema_faults({"schema": name}, name)
    warm_up()
    replaced = {"BATCH_SIZE": BATCH_SIZE, "PART_ROWS": PART_ROWS, "warm_up": lambda: None}
    for name, loaded in list(sys.modules.items()):
        for attribute in replaced.keys() & vars(loaded).keys():
            if name.startswith("pipeline."):  # in every module that imports it
                setattr(loaded, attribute, replaced[attribute])


def _serve() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    _load()
    for line in sys.stdin:
        fields = json.loads(line)
        fields |= {"now": datetime.fromisoformat(fields["now"]), "arguments": tuple(fields["arguments"])}
        print(json.dumps(asdict(_fork(Request(**fields)))), file=answers, flush=True)


if __name__ == "__main__":
    _serve()
