"""Folders that are this user's alone: nobody else can write to one, or put another in its place.

That is what it takes to load code from one. A folder among the temporary files can be private, because those
lie under the sticky bit: there only its owner can remove or rename it.
"""

import os
import stat
from pathlib import Path
from typing import Final

from pipeline.errors import StorageError

PRIVATE: Final = 0o700
_OTHERS_MAY_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_MAY_ENTER: Final = stat.S_IRWXG | stat.S_IRWXO


def private_folder(place: Path) -> Path:
    """Make or find a private folder; it is made where only it and its parent are missing.

    Returns:
        Its path without links: what a link names could change after it was looked at.

    Raises:
        StorageError: somebody else could write to it or replace it.
        OSError: it cannot be made or looked at.
    """
    place.parent.mkdir(mode=PRIVATE, exist_ok=True)
    parent = place.parent.resolve(strict=True)
    for folder in (parent, *parent.parents):
        _check_parent(folder)
    place = parent / place.name
    place.mkdir(mode=PRIVATE, exist_ok=True)
    status = check_own(place)
    if status.st_mode & _OTHERS_MAY_WRITE:
        raise StorageError(f"others can write to {place}; look into it, then `chmod go-w` would mend that")
    return place


def check_own(place: Path) -> os.stat_result:
    """Refuse what is no folder, or one that another user has made.

    Raises:
        StorageError: it is.
        OSError: it cannot be looked at.
    """
    status = place.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise StorageError(f"{place} is no folder but a link or a file; remove it")
    if status.st_uid != os.geteuid():
        raise StorageError(f"{place} belongs to another user")
    return status


def check_closed(place: Path) -> None:
    """Refuse a folder that anybody else can enter, or that holds what another user has put there.

    Raises:
        StorageError: it is.
        OSError: it cannot be looked at.
    """
    if check_own(place).st_mode & _OTHERS_MAY_ENTER:
        raise StorageError(f"others can enter {place}; remove it")
    foreign = [file for file in place.rglob("*") if file.lstat().st_uid != os.geteuid()]
    if foreign:
        raise StorageError(f"{foreign[0]} belongs to another user; remove {place}")


def _check_parent(folder: Path) -> None:
    """Refuse a folder in which somebody else could replace what this user has put there."""
    status = folder.stat()
    # Whoever owns the root of the file system, a nameless user within some containers, has it all anyway.
    if status.st_uid not in {os.geteuid(), 0, Path("/").stat().st_uid}:
        raise StorageError(f"{folder} belongs to another user")
    if status.st_mode & _OTHERS_MAY_WRITE and not status.st_mode & stat.S_ISVTX:
        raise StorageError(f"others can write to {folder}; `chmod go-w` would mend that")
