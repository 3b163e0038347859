"""The operator's commands, which run after a run: given its record, limited in time, unable to harm it.

A command is a list of arguments, run without a shell. It gets a JSON document on standard input and an
environment without the daily key. Its process group is killed once the command has ended or timed out.
"""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from typing import IO, Final

from jobs.settings.model import Hooks
from jobs.watch.logs import details, log
from pipeline.store.documents import render
from pipeline.work.records import Outcome, RunRecord, record_document

HOOK_SCHEMA: Final = "fairway-hook/1.0"
STOP_SECONDS: Final = 1  # per command after a run that was stopped: the process must end soon

_SECRET: Final = "FAIRWAY_DAILY_KEY"  # noqa: S105 - prefix of the names of secret variables
_CHECK_SECONDS: Final = 0.1  # between two checks of how much a command has written
_MAX_OUTPUT: Final = 100_000_000  # bytes of output, which are kept in memory
_MAX_SHOWN: Final = 2_000  # bytes of output in a message, the last ones


def without_secrets(variables: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without the daily key and its location."""
    return {name: value for name, value in variables.items() if not name.upper().startswith(_SECRET)}


def run_hooks(record: RunRecord, root: Path, hooks: Hooks, variables: Mapping[str, str]) -> None:
    """Run the commands that apply to a run that has ended, one after the other; failures are logged."""
    stopped = record.outcome is Outcome.STOPPED
    seconds = min(hooks.timeout_seconds, STOP_SECONDS) if stopped else hooks.timeout_seconds
    for event, command in _commands_for(record, hooks):
        place = str(root).encode("utf-8", "backslashreplace").decode()
        document = {"schema": HOOK_SCHEMA, "event": event, "data": place, "run": record_document(record)}
        fault = run_hook(command, render(document), variables, seconds)
        extra = details(event="hook", hook=f"on_{event}", command=list(command), fault=fault)
        if fault is None:
            log.info("hook on_%s succeeded", event, extra=extra)
        else:
            log.warning("hook on_%s (%s) %s", event, command[0], fault, extra=extra)


def _commands_for(record: RunRecord, hooks: Hooks) -> Iterator[tuple[str, Sequence[str]]]:
    if hooks.on_failure and record.outcome is Outcome.FAILED:
        yield "failure", hooks.on_failure
    if hooks.on_publish and record.counts.dailies:
        yield "publish", hooks.on_publish
    if hooks.on_run:
        yield "run", hooks.on_run


def run_hook(
    command: Sequence[str], document: bytes, variables: Mapping[str, str], seconds: float
) -> str | None:
    """Run one command, then kill what is left of its process group.

    Args:
        command: its arguments, the program first.
        document: for its standard input; the command need not read it.
        variables: its environment.
        seconds: time limit.

    Returns:
        Why it failed, or None if it succeeded.
    """
    try:
        with _scratch_file() as given, _scratch_file() as output:
            given.write(document)
            given.seek(0)
            process = subprocess.Popen(  # noqa: S603 - the operator's own command
                command,
                stdin=given,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                env=dict(variables),
                start_new_session=True,
            )
            try:
                why_killed = _wait(process, output.fileno(), seconds)
            finally:
                with suppress(ProcessLookupError, PermissionError):  # the group is empty
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            words = _last_words(output.fileno())
    except (OSError, ValueError) as error:
        return f"could not be started: {error.strerror if isinstance(error, OSError) else error}"
    if why_killed is not None:
        return f"was killed {why_killed}{words}"
    return f"exited with {process.returncode}{words}" if process.returncode else None


def _scratch_file() -> IO[bytes]:
    """Return a file without a name; in memory if possible, because the disk may be full."""
    return os.fdopen(os.memfd_create("hook"), "w+b", 0) if hasattr(os, "memfd_create") else TemporaryFile()


def _wait(process: subprocess.Popen[bytes], output: int, seconds: float) -> str | None:
    """Wait for a command to end; return why it must be killed, or None if it has ended."""
    deadline = monotonic() + seconds
    while (left := deadline - monotonic()) > 0:
        with suppress(subprocess.TimeoutExpired):
            process.wait(min(left, _CHECK_SECONDS))
            return None
        if os.fstat(output).st_size > _MAX_OUTPUT:
            return f"because it wrote more than {_MAX_OUTPUT:,} bytes"
    return f"after {seconds} s"


def _last_words(output: int) -> str:
    start = max(os.fstat(output).st_size - _MAX_SHOWN, 0)
    words = os.pread(output, _MAX_SHOWN, start).decode("utf-8", "replace").strip()
    return f": {words}" if words else ""
