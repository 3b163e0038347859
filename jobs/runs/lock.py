"""One writer at a time: an advisory lock on the data root, released by the system when its holder dies."""

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from pipeline.errors import BusyError, StorageError
from pipeline.store.storage import reason_of

LOCK_FILE: Final = ".lock"
_MAX_BYTES: Final = 1000
_WIDTH: Final = 120


@contextmanager
def root_lock(root: Path, now: datetime) -> Iterator[None]:
    """Hold the lock of a data root, which names this process and `now`; readers need none.

    The file stays when the lock is released: removing it would let two runs lock two files of one name.

    Raises:
        BusyError: another process holds it; the message says which and since when.
        StorageError: the lock file cannot be opened or locked.
    """
    path = root / LOCK_FILE
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    except OSError as error:
        raise StorageError(f"cannot write the lock {path}: {reason_of(error)}") from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise StorageError(f"cannot write the lock {path}: it is not a regular file; move it away")
        _take(handle, path)
        _write_holder(handle, path, now)
        try:
            yield
        finally:
            with suppress(OSError):  # the next program to lock it may not write a name of its own
                _write(handle, "")
    finally:
        os.close(handle)


def _take(handle: int, path: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise BusyError(
            f"another run holds {path.parent}: {_holder_text(handle)}; try again when it has ended"
        ) from error
    except OSError as error:
        raise StorageError(f"cannot lock {path}: {reason_of(error)}") from error


def _write_holder(handle: int, path: Path, now: datetime) -> None:
    holder = {"pid": os.getpid(), "since": now.isoformat(timespec="seconds")}
    try:
        _write(handle, json.dumps(holder))
    except OSError as error:
        raise StorageError(f"cannot write the lock {path}: {reason_of(error)}") from error


def _write(handle: int, text: str) -> None:
    """Overwrite the content with the same number of bytes, which works even if the disk is full."""
    os.pwrite(handle, f"{text:<{_WIDTH}}\n".encode("ascii"), 0)
    os.ftruncate(handle, _WIDTH + 1)


def _holder_text(handle: int) -> str:
    """Describe the process that holds the lock, which may not have written its id yet."""
    try:
        holder = json.loads(os.pread(handle, _MAX_BYTES, 0))
        return f"process {int(holder['pid'])} since {datetime.fromisoformat(holder['since']).isoformat()}"
    except (OSError, ValueError, TypeError, KeyError):
        return "a process that has not named itself yet"
