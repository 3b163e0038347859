"""The operator's own commands, which run when a run has ended: told of it, bounded, and unable to hurt it.

A command is a list of arguments that no shell reads. It gets a JSON document on standard input, and an
environment without the daily key. It runs in a process group of its own, which is ended by force, with all
that it started there, once the command has ended or its time is over.
"""

import contextlib
import os
import selectors
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, Final

from jobs.settings.model import Hooks
from jobs.watch.logs import details, log
from pipeline.store.documents import render
from pipeline.work.records import Outcome, RunRecord, record_document

HOOK_SCHEMA: Final = "fairway-hook/1.0"
STOP_SECONDS: Final = 1  # for each command after a run that was stopped: the whole process must soon end

_SECRET: Final = "FAIRWAY_DAILY_KEY"  # noqa: S105 - how the names of secret variables begin
_LOOK_EVERY: Final = 0.05  # seconds between two looks whether a command has ended
_PIECE: Final = 65_536
_MOST_KEPT: Final = 2_000  # bytes of a command's output, the last ones


def without_secrets(variables: Mapping[str, str]) -> dict[str, str]:
    """An environment as commands of the operator's may see it: without the daily key, and where it lies."""
    return {name: value for name, value in variables.items() if not name.upper().startswith(_SECRET)}


def run_hooks(record: RunRecord, root: Path, hooks: Hooks, variables: Mapping[str, str]) -> None:
    """Run the commands that a run calls for, one after the other; what fails is logged.

    Args:
        record: of the run, which has ended.
        root: the data root.
        hooks: the commands.
        variables: their environment, from `without_secrets`.
    """
    stopped = record.outcome is Outcome.STOPPED
    seconds = min(hooks.timeout_seconds, STOP_SECONDS) if stopped else hooks.timeout_seconds
    for event, command in _called_for(record, hooks):
        place = str(root).encode("utf-8", "backslashreplace").decode()
        document = {"schema": HOOK_SCHEMA, "event": event, "data": place, "run": record_document(record)}
        fault = run_hook(command, render(document), variables, seconds)
        extra = details(event="hook", hook=f"on_{event}", command=list(command), fault=fault)
        if fault is None:
            log.info("the hook on_%s has run", event, extra=extra)
        else:
            log.warning("the hook on_%s, %s, %s", event, command[0], fault, extra=extra)


def _called_for(record: RunRecord, hooks: Hooks) -> Iterator[tuple[str, Sequence[str]]]:
    if hooks.on_failure and record.outcome is Outcome.FAILED:
        yield "failure", hooks.on_failure
    if hooks.on_publish and record.counts.dailies:
        yield "publish", hooks.on_publish
    if hooks.on_run:
        yield "run", hooks.on_run


def run_hook(
    command: Sequence[str], document: bytes, variables: Mapping[str, str], seconds: float
) -> str | None:
    """Run one command, and end it and what it started in its process group.

    Args:
        command: its arguments, the program first.
        document: for its standard input; a command need not read it.
        variables: its environment.
        seconds: when it is ended by force.

    Returns:
        Why it failed; None where it ended well.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 - the operator's own command, by the operator's own settings
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=dict(variables),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        return f"could not be started: {reason}"
    with process:
        try:
            talk = _Talk(process, document)
            has_ended = talk.until_end(monotonic() + seconds)
        finally:
            _end_group(process)
            process.wait()
    if not has_ended:
        return f"had not ended after {seconds} s and was ended by force{talk.last_words()}"
    return f"ended with {process.returncode}{talk.last_words()}" if process.returncode else None


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """End a command by force, with everything in its group; what it has left behind there must not stay."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # there is nobody left
        os.killpg(process.pid, signal.SIGKILL)


class _Talk:
    """What goes into a command and what comes out, neither of which may hold anything up.

    Args:
        process: the command, with raw pipes.
        document: what goes in.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", document: bytes) -> None:
        self._process: Any = process  # its streams are pipes, which its type does not say
        self._waiting = document
        self._kept = b""

    def until_end(self, deadline: float) -> bool:
        """Talk until the command has ended, or until a moment of the monotonic clock.

        Returns:
            Whether it has ended by itself.
        """
        with selectors.DefaultSelector() as selector:
            for stream, kind in (
                (self._process.stdin, selectors.EVENT_WRITE),
                (self._process.stdout, selectors.EVENT_READ),
            ):
                os.set_blocking(stream.fileno(), False)
                selector.register(stream, kind)
            while self._process.poll() is None:
                left = deadline - monotonic()
                if left <= 0:
                    return False
                for key, _ in selector.select(min(left, _LOOK_EVERY)):
                    if not (self._give() if key.fileobj is self._process.stdin else self._take()):
                        selector.unregister(key.fileobj)
                        key.fileobj.close()  # type: ignore[union-attr]  # it is one of the two streams
        if not self._process.stdout.closed:
            self._take()
        return True

    def last_words(self) -> str:
        """What the command wrote last, to be told after why it failed."""
        words = self._kept.decode("utf-8", "replace").strip()
        return f": {words}" if words else ""

    def _give(self) -> bool:
        """Write some of the document; whether there is more to come."""
        try:
            given = self._process.stdin.write(self._waiting[:_PIECE])
        except BrokenPipeError:  # it does not want to know
            return False
        self._waiting = self._waiting[given or 0 :]
        return bool(self._waiting)

    def _take(self) -> bool:
        """Read some of the output, of which the end is kept; whether there may be more to come."""
        piece = self._process.stdout.read(_PIECE)
        if piece is None:  # nothing is there at the moment
            return True
        self._kept = (self._kept + piece)[-_MOST_KEPT:]
        return bool(piece)
