"""Files that a user names on the command line, to be read or written; `-` is standard input or output."""

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Final, cast

from pipeline.errors import StorageError
from pipeline.store.root import MARKER
from pipeline.store.storage import INCOMING
from solver.errors import UsageError

STANDARD: Final = Path("-")
_BLOCK_BYTES: Final = 2**20


def check_readable(files: Iterable[Path]) -> None:
    """Check before long work that files can be read. Pipes are skipped, since they can be opened only once.

    Raises:
        UsageError: a file cannot be read.
    """
    for file in files:
        if file != STANDARD and not file.is_fifo():
            with opened(file):
                pass


@contextlib.contextmanager
def opened(file: Path) -> Iterator[tuple[BufferedReader, str, int]]:
    """Open a file of lines.

    Args:
        file: the file; `-` is standard input.

    Yields:
        Its bytes, its name for messages, and its number of lines: 0 if that is unknown, as for a pipe.

    Raises:
        UsageError: it cannot be read.
    """
    if file == STANDARD:
        yield cast("BufferedReader", sys.stdin.buffer), "standard input", 0
        return
    try:
        stream = file.open("rb")
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    with stream:
        total = 0
        if file.is_file():
            total = line_count(stream)
            stream.seek(0)
        yield stream, str(file), total


def line_count(stream: BinaryIO) -> int:
    """Count the lines from here to the end of a stream, which is read block by block."""
    count, last = 0, b"\n"
    while block := stream.read(_BLOCK_BYTES):
        count += block.count(b"\n")
        last = block[-1:]
    return count + (last != b"\n")


def check_output(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Check before long work that a file can be written, without changing it.

    Args:
        path: the file to write; `-` is standard output.
        inputs: files that the command reads; `-` is standard input, which may be a file too.

    Raises:
        UsageError: the file is in a data root, or is one of the inputs.
        StorageError: it cannot be written.
    """
    check_outside(path)
    if path.exists() and any(_is_at(file, path) for file in inputs):
        raise UsageError(f"{path} is one of the input files; name another file with -o")
    if path == STANDARD or (path.exists() and not path.is_file()):
        return  # a pipe or a device shows only when it is written to
    with contextlib.suppress(_Undone), sink(path) as stream:
        stream.write(b"")
        raise _Undone


def check_outside(path: Path) -> None:
    """Check that a file is not in a data root, where every file has its place.

    Raises:
        UsageError: a folder above it is a data root.
    """
    for folder in Path(os.path.realpath(path)).parents:
        if (folder / MARKER).exists():
            raise UsageError(f"{path} is in the data root {folder}; write it elsewhere")


@contextlib.contextmanager
def sink(path: Path | None) -> Iterator[BinaryIO]:
    """Open the output of a command: a file that appears complete or not at all, or standard output.

    Args:
        path: the file, which is replaced if it exists; None or `-` for standard output.

    Raises:
        StorageError: the file cannot be written.
    """
    if path is None or path == STANDARD:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        if path.exists() and not path.is_file():  # a device, a pipe, or a folder, which raises
            with path.open("wb") as stream:
                yield stream
        else:
            with _replacement(path) as stream:
                yield stream
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}; choose another place") from error


@contextlib.contextmanager
def _replacement(path: Path) -> Iterator[BinaryIO]:
    path = Path(os.path.realpath(path))  # a symbolic link stays a link
    incoming = path.with_name(f"{INCOMING}{os.getpid()}-{path.name}")
    try:
        with incoming.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        incoming.replace(path)
    finally:
        incoming.unlink(missing_ok=True)


def _is_at(file: Path, path: Path) -> bool:
    """Whether an input is the file at a path."""
    try:
        status = os.fstat(sys.stdin.fileno()) if file == STANDARD else file.stat()
    except (OSError, ValueError):  # there is no such file, or standard input is not one
        return False
    return os.path.samestat(status, path.stat())


class _Undone(Exception):  # noqa: N818 - not an error
    """Ends an attempt to write before it takes effect."""
