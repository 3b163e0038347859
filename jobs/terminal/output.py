"""Where things go: data on standard output or into a file, all else on standard error."""

import contextlib
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal

from jobs.terminal.log import is_json
from jobs.watch.logs import log
from pipeline.errors import StorageError
from pipeline.store.root import MARKER
from pipeline.store.storage import INCOMING
from solver.errors import UsageError

if TYPE_CHECKING:  # it takes longer to load than help takes to print
    from rich.console import Console

NAME: Final = "fairway"
STANDARD: Final = Path("-")
_UNLIMITED_WIDTH: Final = 100_000
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def note(text: str) -> None:
    """Tell a person something, on standard error; a program, where the log is written for one.

    Where nobody can be told, the work goes on.
    """
    if is_json():
        log.info(text)
        return
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def typed_name() -> str:
    """What to type to run this command again: its name, or its path where the name does not find it."""
    given = Path(sys.argv[0])
    found = shutil.which(NAME)
    if given.name != NAME or (found is not None and Path(found).resolve() == given.resolve()):
        return NAME
    return shlex.quote(sys.argv[0])


def say(text: str = "") -> None:
    """Print a line for people, on standard output."""
    sys.stdout.write(f"{text}\n")


def can_carry(text: str) -> bool:
    """Whether standard output has a form for all letters of a text."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def put_bytes(data: bytes) -> None:
    """Write bytes to standard output as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


def put_json(document: Any) -> None:
    """Write one line of JSON, in UTF-8 whatever the terminal's encoding."""
    put_bytes(json_line(document))


def json_line(document: Any) -> bytes:
    """A document as one line of JSON, in UTF-8.

    What has no form in that, such as the bytes of a path that are no text, is escaped as JSON has it.
    """
    try:
        return f"{_COMPACT.encode(document)}\n".encode()
    except UnicodeEncodeError:
        return f"{json.dumps(document, allow_nan=False, separators=(',', ':'))}\n".encode("ascii")


def console() -> "Console":
    """Standard output for people: colours on a terminal only; elsewhere lines are never folded."""
    from rich.console import Console

    class Whole(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would end the process by itself, with the code of a failed check

    width = None if sys.stdout.isatty() else _UNLIMITED_WIDTH
    return Whole(width=width, highlight=False, markup=False, emoji=False)


def put_table(columns: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]]) -> None:
    """Print a table for people.

    Args:
        columns: the headings, each with whether its column holds numbers, which are set to the right.
        rows: one text a column.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading, is_number in columns:
        side: Literal["left", "right"] = "right" if is_number else "left"
        table.add_column(Text(heading), justify=side, overflow="ellipsis", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console().print(table)


def check_outside(path: Path) -> None:
    """Refuse to write a user's file into a data root, where everything has its place.

    Raises:
        UsageError: a folder above it is one.
    """
    for folder in Path(os.path.realpath(path)).parents:
        if (folder / MARKER).exists():
            raise UsageError(f"{path} lies in the data root {folder}; write it elsewhere")


def check_apart(path: Path, files: Iterable[Path]) -> None:
    """Refuse to write over a file that is to be read.

    Args:
        path: to be written.
        files: to be read; `-` is standard input, which may be a file too.

    Raises:
        UsageError: the path is one of the files.
    """
    if path.exists() and any(_is_at(file, path) for file in files):
        raise UsageError(f"{path} is one of the files to be read; name another with -o")


def _is_at(file: Path, path: Path) -> bool:
    try:
        read = os.fstat(sys.stdin.fileno()) if file == STANDARD else file.stat()
    except (OSError, ValueError):  # nothing is there, and nobody can be harmed
        return False
    return os.path.samestat(read, path.stat())


def check_writable(path: Path) -> None:
    """Find out before long work whether its outcome can be written to a user's file, which stays as it is.

    Raises:
        StorageError: it cannot.
    """
    if path == STANDARD or (path.exists() and not path.is_file()):
        return  # only writing can tell
    with contextlib.suppress(_Tried), sink(path) as stream:
        stream.write(b"")
        raise _Tried


class _Tried(Exception):  # noqa: N818 - it is no error
    """Ends an attempt before it takes effect."""


@contextlib.contextmanager
def sink(path: Path | None) -> Iterator[BinaryIO]:
    """Where the data of a command go: a file that appears whole or not at all, or standard output.

    Args:
        path: the file, which is replaced where it exists; None or `-` for standard output.

    Raises:
        StorageError: the file cannot be written.
    """
    if path is None or path == STANDARD:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        if path.exists() and not path.is_file():  # a device, a pipe, or a folder, which refuses
            with path.open("wb") as stream:
                yield stream
        else:
            with _beside(path) as stream:
                yield stream
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}; choose another place") from error


@contextlib.contextmanager
def _beside(path: Path) -> Iterator[BinaryIO]:
    path = Path(os.path.realpath(path))  # a symbolic link stays one
    incoming = path.with_name(f"{INCOMING}{os.getpid()}-{path.name}")
    try:
        with incoming.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        incoming.replace(path)
    finally:
        incoming.unlink(missing_ok=True)
