"""Printing: data on standard output, everything else on standard error."""

import contextlib
import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any, Final

from jobs.terminal.log import is_json
from jobs.watch.logs import log

NAME: Final = "fairway"
_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_SMALL: Final = 2  # durations from twice a unit on are given in that unit
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def version() -> str:
    """Return the installed version of Fairway; `unknown` if it runs without being installed."""
    from importlib import metadata  # slow to load, and `--help` does not need it

    try:
        return metadata.version(NAME)
    except metadata.PackageNotFoundError:
        return "unknown"


def typed_name() -> str:
    """Return what to type to run this command again: its name, or its path if it is not on PATH."""
    given = Path(sys.argv[0])
    found = shutil.which(NAME)
    if given.name != NAME or (found is not None and Path(found).resolve() == given.resolve()):
        return NAME
    return shlex.quote(sys.argv[0])


def shown_text(text: str) -> str:
    """Escape everything unprintable in a text except newlines, as Python does.

    Otherwise a path, an error or a value could contain codes that the terminal obeys.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter == "\n" else repr(letter)[1:-1] for letter in text
    )


def note(text: str) -> None:
    """Print a remark on standard error, or log it if the log is in JSON. Failing to write is ignored."""
    if is_json():
        log.info(text)
        return
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{shown_text(text)}\n")
        sys.stderr.flush()


def say(text: str = "") -> None:
    """Print a line of text for people on standard output."""
    sys.stdout.write(f"{shown_text(text)}\n")


def duration_text(seconds: float) -> str:
    """Return a rough duration, such as `40 s`, `12 min` or `3 h`."""
    if seconds < _SMALL * _MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < _SMALL * _HOUR else f"{seconds / _HOUR:.0f} h"


def can_carry(text: str) -> bool:
    """Whether the encoding of standard output has every character of a text."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def put_bytes(data: bytes) -> None:
    """Write bytes to standard output unchanged."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


def put_json(document: Any) -> None:
    """Print a document as one line of JSON in UTF-8, whatever the encoding of the terminal."""
    put_bytes(json_line(document))


def json_line(document: Any) -> bytes:
    """Return a document as one line of JSON in UTF-8.

    Text that UTF-8 cannot represent, such as a file name that is not text, is written with JSON's escapes.
    """
    try:
        return f"{_COMPACT.encode(document)}\n".encode()
    except UnicodeEncodeError:
        return f"{json.dumps(document, allow_nan=False, separators=(',', ':'))}\n".encode("ascii")
