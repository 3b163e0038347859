"""Files that commands read line by line, or standard input in their place."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from jobs.api.lines import line_count
from solver.errors import UsageError

STANDARD_INPUT: Final = Path("-")


def check_readable(files: Iterable[Path]) -> None:
    """Find out before long work whether files can be read; a pipe can be opened but once, and is let be.

    Raises:
        UsageError: one cannot.
    """
    for file in files:
        if file != STANDARD_INPUT and not file.is_fifo():
            with opened(file):
                pass


@contextmanager
def opened(file: Path) -> Iterator[tuple[BinaryIO, str, int]]:
    """The bytes of a file, what to call it, and how many lines it has: 0 where that cannot be known.

    Args:
        file: the file; `-` is standard input.

    Raises:
        UsageError: it cannot be read.
    """
    if file == STANDARD_INPUT:
        yield sys.stdin.buffer, "standard input", 0
        return
    try:
        stream = file.open("rb")
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    with stream:
        total = 0
        if file.is_file():  # a pipe can be read but once
            total = line_count(stream)
            stream.seek(0)
        yield stream, str(file), total
