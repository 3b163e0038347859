"""The command line run by tests: in this process, with its streams taken down, or as a process of its own."""

import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from jobs.cli.app import command, run
from jobs.cli.lazy import LazyCommand
from jobs.terminal.output import NAME

ROOT = Path(__file__).parents[2]
PROGRAM = "import sys; sys.argv[0] = 'fairway'; from jobs.cli import main; main()"
STOP_SECONDS = 60


def commands() -> Iterator[tuple[str, Any]]:
    """Every command and group, as listed, by its full name."""
    waiting: list[tuple[str, Any]] = [(NAME, command())]
    while waiting:
        name, each = waiting.pop()
        yield name, each
        waiting += [(f"{name} {word}", below) for word, below in getattr(each, "commands", {}).items()]


def loaded(listed: Any) -> Any:
    """Return a command itself for one that `commands` lists."""
    return listed.load() if isinstance(listed, LazyCommand) else listed


def check_words(words: Sequence[str]) -> None:
    """Check that the command line accepts these words; nothing is run.

    Raises:
        typer.TyperException: they name no command, or what they give it is wrong.
    """
    below: Any = command()
    name, context, rest = NAME, None, list(words)
    while hasattr(below, "commands"):
        context = below.make_context(name, rest[:1], parent=context)
        name, below, _ = below.resolve_command(context, rest[:1])
        rest = rest[1:]
    below.make_context(name, rest, parent=context)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run of the command gave."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def complaint(self) -> str:
        """The one line of an error; fails where there is more or less than that."""
        assert self.out == b""
        return error_line(self.err).removeprefix("fairway: error: ")


def error_line(err: str) -> str:
    """Return the one error line of a command, which must be the last line of its standard error."""
    assert "Traceback" not in err
    lines = [line for line in err.splitlines() if line.startswith("fairway: error: ")]
    assert len(lines) == 1, err
    assert err.endswith(f"{lines[0]}\n"), err
    return lines[0]


def fairway(*arguments: object, stdin: bytes = b"") -> Outcome:
    """Run the command in this process."""
    streams: list[Any] = [io.TextIOWrapper(io.BytesIO(data), encoding="utf-8") for data in (stdin, b"", b"")]
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = streams
    try:
        code = run([str(argument) for argument in arguments])
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
    for stream in streams:
        stream.flush()
    return Outcome(code, streams[1].buffer.getvalue(), streams[2].buffer.getvalue().decode())


def done(*arguments: object, stdin: bytes = b"") -> Outcome:
    """Run the command in this process; it must end well."""
    outcome = fairway(*arguments, stdin=stdin)
    assert outcome.code == 0, outcome.err
    return outcome


def show(error_output: str | bytes) -> None:
    """Write a child's standard error to that of the test, which pytest shows if the test fails."""
    # A child that timed out gives bytes, even in text mode.
    sys.stderr.write(error_output if isinstance(error_output, str) else error_output.decode(errors="replace"))


def run_child(*words: object, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end, from the root of the repository unless `cwd` says otherwise.

    Args:
        words: the program and its arguments.
        options: of `subprocess.run`; with `check=True` the program must succeed.
    """
    settings: dict[str, Any] = {"cwd": ROOT, "capture_output": True, "text": True} | options
    ended: subprocess.CompletedProcess[str]
    try:
        ended = subprocess.run([str(word) for word in words], check=settings.pop("check", False), **settings)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        show(error.stderr or "")
        raise
    show(ended.stderr)
    return ended


class Child(subprocess.Popen[str]):
    """A process whose standard error is also written to that of the test."""

    def communicate(self, input: str | None = None, timeout: float | None = None) -> tuple[str, str]:  # noqa: A002
        """See `subprocess.Popen.communicate`."""
        try:
            out, err = super().communicate(input, timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            show(super().communicate()[1] or "")
            raise
        show(err or "")
        return out, err


@contextmanager
def spawned(
    *arguments: object, variables: Mapping[str, str] | None = None, stdin: BinaryIO | None = None
) -> Iterator[Child]:
    """Start the command as a child process; kill it at the end of the block if it still runs."""
    process = Child(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **(variables or {})},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: "subprocess.Popen[str]", words: str) -> None:
    """Read a process's standard error up to the line that holds these words."""
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        show(line)
        if words in line:
            return
    raise AssertionError(f"{words!r} is not in {''.join(lines)!r}")


def files_of(root: Path) -> dict[str, bytes]:
    """Every file below a folder, by its relative path."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }
