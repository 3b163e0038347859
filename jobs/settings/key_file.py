"""The file that holds the secret key: read only if it is private."""

import codecs
import os
import stat
from pathlib import Path
from typing import Final

from pipeline.errors import ConfigurationError

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_ROOT: Final = 0
_MAX_BYTES: Final = 100  # more than a key and a line ending
_BYTE_ORDER_MARKS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_key_text(file: Path) -> str:
    """Return the text of a key file, without its line ending.

    A file is private if only its owner can access it, who is this user or root, or if it belongs to root and
    this user's group can read it, as a mounted secret often does.

    The checks are made on the opened file, so that it cannot be replaced between check and reading.

    Raises:
        ConfigurationError: if the file cannot be read, is not a regular file, is not private, or
            starts with a byte order mark. The message never contains the text.
    """
    try:
        # Without O_NONBLOCK, opening a pipe would wait for a writer.
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            _check(file, os.fstat(handle))
            data = os.read(handle, _MAX_BYTES)
        finally:
            os.close(handle)
    except OSError as error:
        raise ConfigurationError(f"cannot read {file}: {error.strerror}") from error
    if data.startswith(_BYTE_ORDER_MARKS):
        raise ConfigurationError(f"{file} starts with a byte order mark; save it as plain ASCII text")
    return data.decode("ascii", errors="replace").removesuffix("\n").removesuffix("\r")


def _check(file: Path, status: os.stat_result) -> None:
    mode = stat.S_IMODE(status.st_mode)
    if not stat.S_ISREG(status.st_mode):
        raise ConfigurationError(f"{file} is not a regular file")
    if status.st_uid not in (os.geteuid(), _ROOT):
        raise ConfigurationError(f"{file} belongs to another user; change its owner with chown")
    groups = (os.getegid(), *os.getgroups())
    readable = stat.S_IRGRP if status.st_uid == _ROOT and status.st_gid in groups else 0
    if mode & _OTHERS & ~readable:
        raise ConfigurationError(f"{file} is accessible to others (mode {mode:03o}); run chmod 600 on it")
