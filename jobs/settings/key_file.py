"""The file that holds the secret key: read only where nobody but its owner can read it."""

import os
import stat
from pathlib import Path
from typing import Final

from pipeline.errors import ConfigurationError

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_ROOT: Final = 0
_MOST_BYTES: Final = 100  # more than a key and the end of its line have


def read_key_text(file: Path) -> str:
    """The text of a key file, without the end of its line.

    What was opened is what is checked, so that nobody can put another file in its place in between.

    Args:
        file: where it lies.

    Raises:
        ConfigurationError: it cannot be read, is no regular file, belongs to somebody else, or others can
            read or change it. The message never holds what is in it.
    """
    try:
        # A pipe without a writer would keep us waiting.
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise ConfigurationError(f"cannot read {file}: {error.strerror}") from error
    try:
        _check(file, os.fstat(handle))
        data = os.read(handle, _MOST_BYTES)
    except OSError as error:
        raise ConfigurationError(f"cannot read {file}: {error.strerror}") from error
    finally:
        os.close(handle)
    return data.decode("ascii", errors="replace").removesuffix("\n").removesuffix("\r")


def _check(file: Path, status: os.stat_result) -> None:
    mode = stat.S_IMODE(status.st_mode)
    if not stat.S_ISREG(status.st_mode):
        raise ConfigurationError(f"{file} is no regular file")
    if status.st_uid not in (os.geteuid(), _ROOT):
        raise ConfigurationError(f"{file} belongs to another user; chown would mend that")
    if mode & _OTHERS:
        raise ConfigurationError(f"others can get at {file} (mode {mode:03o}); chmod 600 would mend that")
