"""Where compiled kernels are kept between runs: a private folder that belongs to exactly this code.

What is kept are pickles, which run as code when they are loaded: hence private. A folder is named by a hash
of all that the machine code depends on, because the compiler's own cache looks at one source file at a time
and would keep a caller whose callee in another file has changed. It is filled out of sight and then put in
place whole, so it is never half full; a manifest of hashes tells one in which a file has decayed, which the
compiler would stumble over or run.
"""

import errno
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from jobs.private_folder import check_closed, private_folder
from pipeline.errors import StorageError

_KEPT: Final = "kernels-"
_INCOMING: Final = ".incoming-kernels-"
_MANIFEST: Final = "manifest"  # a line for each file: its hash, a blank, its path
_KEY_LENGTH: Final = 16
_ROOM: Final = 4_000_000  # bytes: more than twice what the compiled kernels take
_MARKED_EVERY: Final = timedelta(days=1)
_LIFETIMES: Final = ((_KEPT, timedelta(days=60)), (_INCOMING, timedelta(days=1)))


@dataclass(frozen=True, slots=True)
class KernelCache:
    """The outcome of looking for a place.

    Attributes:
        folder: where the kernels of this code are kept or will be, or None: they are compiled in memory.
        is_filled: whether they are there already.
        passed_over: for each place that would have been better, why it is not used.
    """

    folder: Path | None
    is_filled: bool
    passed_over: tuple[str, ...]


def cache_key(sources: Path, compiler: Iterable[str]) -> str:
    """Name of this code among others: its place, its sources, and what compiles it for which processor.

    Args:
        sources: the folder with the solver's modules.
        compiler: all else that the machine code depends on.
    """
    digest = hashlib.sha256(f"{sources.resolve()}\0".encode())
    for file in sorted(sources.rglob("*.py")):
        digest.update(f"{file.relative_to(sources).as_posix()}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    for part in compiler:
        digest.update(f"{part}\0".encode())
    return digest.hexdigest()[:_KEY_LENGTH]


def find_cache(homes: Iterable[Path], key: str) -> KernelCache:
    """Make or find a private folder for the kernels of this code.

    Args:
        homes: where such folders may lie, the best place first.
        key: the name of this code.
    """
    passed_over = []
    for home in homes:
        try:
            folder = private_folder(home) / f"{_KEPT}{key}"
            is_filled = _is_filled(folder)
            if not is_filled:
                _try_room(folder.parent)
        except OSError as error:
            passed_over.append(f"cannot use {error.filename or home}: {error.strerror}")
        except StorageError as error:
            passed_over.append(str(error))
        else:
            return KernelCache(folder, is_filled, tuple(passed_over))
    return KernelCache(None, is_filled=False, passed_over=tuple(passed_over))


@contextmanager
def filling(folder: Path) -> Iterator[Path]:
    """A new folder to compile into; after the block it takes its place whole, and is dropped if that fails.

    Two first runs at once fill a folder each, and the second drops its own.

    Args:
        folder: of a `KernelCache`.

    Raises:
        StorageError: there was no room after all.
    """
    try:
        room = Path(tempfile.mkdtemp(prefix=_INCOMING, dir=folder.parent))
        try:
            yield room
            (room / _MANIFEST).write_text(_manifest_of(room), "utf-8")
            _sync(room)
            _put_in_place(room, folder)
        finally:
            shutil.rmtree(room, ignore_errors=True)
    except OSError as error:
        wrong = f"cannot keep compiled kernels in {folder.parent}: {error.strerror}"
        raise StorageError(f"{wrong}; make room, or name another place by FAIRWAY_CACHE") from error


def mark_used(folder: Path, now: datetime) -> None:
    """Note on a folder that it is in use, once a day."""
    if now.timestamp() - folder.stat().st_mtime > _MARKED_EVERY.total_seconds():
        os.utime(folder, (now.timestamp(), now.timestamp()))


def remove_unused(home: Path, now: datetime) -> None:
    """Remove what no run has used for 60 days, as other versions leave it, and what killed runs have left."""
    for folder in home.iterdir():
        lifetime = next((time for prefix, time in _LIFETIMES if folder.name.startswith(prefix)), None)
        with suppress(FileNotFoundError):  # another run may remove it at the same time
            status = folder.lstat()
            ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
            if lifetime and ours and now.timestamp() - status.st_mtime > lifetime.total_seconds():
                shutil.rmtree(folder, ignore_errors=True)


def _is_filled(folder: Path) -> bool:
    """Whether kernels lie in a folder, as they were put there.

    Raises:
        StorageError: others have or had access to it, or the compiler cannot work in it.
    """
    if not os.path.lexists(folder):
        return False
    check_closed(folder)
    if not os.access(folder, os.W_OK):
        raise StorageError(f"{folder} cannot be written to")
    manifest, found = folder / _MANIFEST, _manifest_of(folder)
    return bool(found) and manifest.is_file() and manifest.read_bytes() == found.encode()


def _manifest_of(folder: Path) -> str:
    """What the manifest of a folder must say; a link is no file of ours, whatever it leads to."""
    files = [file for file in sorted(folder.rglob("*")) if file.name != _MANIFEST and not file.is_dir()]
    return "".join(f"{_hash_of(file)} {file.relative_to(folder).as_posix()}\n" for file in files)


def _hash_of(file: Path) -> str:
    return "a link" if file.is_symlink() else hashlib.sha256(file.read_bytes()).hexdigest()


def _try_room(home: Path) -> None:
    """Find out before compiling, which takes long, whether the outcome can be kept."""
    with tempfile.TemporaryFile(dir=home) as file:
        file.write(bytes(_ROOM))


def _sync(room: Path) -> None:
    """Get all files to the disk, so that after a crash none has its name without its content."""
    for file in room.rglob("*"):
        if file.is_file():
            with file.open("rb") as stream:
                os.fsync(stream.fileno())


def _put_in_place(room: Path, folder: Path) -> None:
    if folder.exists() and not _is_filled(folder):
        shutil.rmtree(folder)
    try:
        room.rename(folder)
    except OSError as error:
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:  # another first run was faster
            raise
