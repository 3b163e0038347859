"""Access to the files of a data root: read, create once, replace, list, remove, size.

Paths are relative POSIX strings, such as `daily/2026-11-30.json`. A finished file exists whole or not at all:
it is written to a temporary file in the same folder, whose name starts with `INCOMING`, synced and moved into
place in one step; then the folder is synced. An interrupted write leaves at most a temporary file. Object
storage would be a second implementation of `Storage`.
"""

import contextlib
import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from pipeline.errors import AlreadyThereError, MisplacedError, MissingError, StorageError

INCOMING: Final = ".incoming-"
PRIVATE_FOLDER: Final = "private"  # holds solutions until they are released; only this user may read it

_FILE_MODE: Final = 0o666  # the process's umask applies
_FOLDER_MODE: Final = 0o777  # the process's umask applies
_PRIVATE_FILE_MODE: Final = 0o600
_PRIVATE_FOLDER_MODE: Final = 0o700
_OTHERS: Final = 0o077
_FILE_ENDINGS: Final = (".json", ".parquet", ".sql", ".prom", ".lock", ".fairway-root")
_MEGABYTE: Final = 1e6
_LEAST_ROOM: Final = 50 * _MEGABYTE  # enough for several nights of the usual size
_LEAST_FILES: Final = 1000
_FOLDERS: Final = ("catalogs", "daily", "deals", PRIVATE_FOLDER, "runs")  # that every run may write to
_NAME_BYTES: Final = 8  # of randomness in the name of a temporary file

_ELSEWHERE: Final = "choose another place (--data names the data root)"
_NO_PERMISSION: Final = f"give this user permission, or {_ELSEWHERE}"
_REMEDIES: Final = {
    errno.ENOSPC: "free some space there and run the command again",
    errno.EDQUOT: "free some space there and run the command again",
    errno.EACCES: _NO_PERMISSION,
    errno.EPERM: _NO_PERMISSION,
    errno.EROFS: _NO_PERMISSION,
    errno.EMFILE: "raise the limit of open files (ulimit -n) and run the command again",
    errno.ENFILE: "close other programs and run the command again",
    errno.ENOTDIR: "move away the file that is in the place of a folder",
    errno.EINVAL: "move it away",
    errno.ELOOP: "move away the link that is in the place of a file",
    errno.EISDIR: "move away the folder that is in the place of a file",
}
_OTHER_REMEDY: Final = "check the disk and run the command again"


def reason_of(fault: OSError) -> str:
    """Return why the system refused an operation in a data root, and what to do about it."""
    return f"{fault.strerror or fault}; {_REMEDIES.get(fault.errno or 0, _OTHER_REMEDY)}"


class Storage(Protocol):
    """Finished files by path: all that a store must be able to do.

    Every operation raises `StorageError` if the store fails. What only a disk has, such as local paths and
    the temporary files of killed runs, is in `LocalStorage` alone.
    """

    def read(self, path: str) -> bytes:
        """Return the whole content of a file.

        Raises:
            MissingError: if there is no such file.
        """

    def size(self, path: str) -> int:
        """Return the size of a file in bytes, without reading it.

        Raises:
            MissingError: if there is no such file.
        """

    def create(self, path: str, data: bytes) -> None:
        """Create a file durably; an existing file is never changed.

        Raises:
            AlreadyThereError: if the file exists already.
            MisplacedError: if something that is not a file is in its place.
        """

    def replace(self, path: str, data: bytes) -> None:
        """Create a file, or replace it in one step, durably."""

    def list(self, prefix: str) -> tuple[str, ...]:
        """Return the sorted paths of the finished files that start with a prefix; there may be none."""

    def remove(self, path: str) -> None:
        """Remove a file durably.

        Raises:
            MissingError: if there is no such file.
        """


class LocalStorage:
    """Files in a folder of the local disk.

    The process's umask decides the permissions of files and folders; those below `private/` are accessible to
    this user only.

    Attributes:
        root: the folder, absolute, symbolic links resolved.
    """

    def __init__(self, root: Path) -> None:
        self.root: Final = root.resolve()
        # Length of the part of a full name that precedes the path.
        self._above: Final = len(os.path.join(self.root, ""))  # noqa: PTH118 - a Path drops the slash

    def local_path(self, path: str) -> Path:
        """Return the full path of a file on the disk.

        Raises:
            StorageError: if the path leads out of the root, by its text or through a symbolic link.
        """
        parts = path.split("/")
        if not path.isprintable() or "\\" in path or any(part in ("", ".", "..") for part in parts):
            raise StorageError(f"{path!r} is not a path inside the data root {self.root}")
        file = self.root.joinpath(*parts)
        # Path.resolve() raises on circular links in some versions of Python; realpath never does.
        if not Path(os.path.realpath(file)).is_relative_to(self.root):
            raise MisplacedError(
                f"{file} leads out of the data root through a symbolic link; remove the link"
            )
        return file

    def read(self, path: str) -> bytes:
        """See `Storage.read`."""
        file = self.local_path(path)
        with _explained("read", file), _opened(file) as stream:
            return stream.read()

    def create(self, path: str, data: bytes) -> None:
        """See `Storage.create`."""
        file = self.local_path(path)
        with _explained("create", file):
            self._make_folder(file.parent)
            with self._incoming(file, data) as incoming:
                _link(incoming, file)
            _sync_folder(file.parent)

    def replace(self, path: str, data: bytes) -> None:
        """See `Storage.replace`."""
        file = self.local_path(path)
        with _explained("replace", file):
            self._make_folder(file.parent)
            with self._incoming(file, data) as incoming:
                incoming.replace(file)
            _sync_folder(file.parent)

    def list(self, prefix: str) -> tuple[str, ...]:
        """See `Storage.list`."""
        folder = prefix.rpartition("/")[0]
        start = self.local_path(folder) if folder else self.root
        paths = (path for path in self._walk(start) if path.startswith(prefix))
        return tuple(sorted(path for path in paths if not _is_incoming(path)))

    def remove(self, path: str) -> None:
        """See `Storage.remove`."""
        file = self.local_path(path)
        with _explained("remove", file):
            file.unlink()
            _sync_folder(file.parent)

    def size(self, path: str) -> int:
        """See `Storage.size`."""
        file = self.local_path(path)
        with _explained("read", file):
            return file.stat().st_size

    def clear_leftovers(self) -> tuple[str, ...]:
        """Remove the temporary files of killed runs.

        A file that a live process is writing stays; a study, for example, does not hold the root's lock.

        Returns:
            The removed paths, sorted.
        """
        leftovers = sorted(path for path in self._walk(self.root) if _is_incoming(path))
        return tuple(path for path in leftovers if self._clear(path))

    def _clear(self, path: str) -> bool:
        """Remove a temporary file, unless a process is still writing it or has just finished."""
        file = self.local_path(path)
        with _explained("remove", file):
            try:
                handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return False
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                file.unlink(missing_ok=True)
            except BlockingIOError:
                return False
            finally:
                os.close(handle)
            _sync_folder(file.parent)
        return True

    def _walk(self, start: Path) -> Iterator[str]:
        """Yield the paths of all regular files below a folder; symbolic links are skipped."""
        with _explained("list", start):
            try:
                entries = list(os.scandir(start))
            except FileNotFoundError:
                return
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from self._walk(Path(entry.path))
            elif entry.is_file(follow_symlinks=False):
                yield entry.path[self._above :]

    def obstacle(self) -> str | None:
        """Return why this user cannot write, or soon cannot; None if nothing is known. Nothing is tried.

        Raises:
            StorageError: if the disk cannot be asked.
        """
        with _explained("look at", self.root):
            disk = os.statvfs(self.root)
        room = disk.f_bavail * disk.f_frsize
        if disk.f_flag & os.ST_RDONLY:
            return f"{self.root} is on a file system that is mounted read-only"
        for folder in (self.root, *(self.root / name for name in _FOLDERS)):
            if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
                return f"this user cannot write to {folder}"
        if room < _LEAST_ROOM:
            return f"{self.root} has room for {room / _MEGABYTE:,.1f} MB more; a night needs some megabytes"
        if disk.f_files and disk.f_favail < _LEAST_FILES:
            return f"{self.root} has room for {disk.f_favail:,} files more; a night makes some ten"
        return None

    def irregular_paths(self) -> tuple[str, ...]:
        """Return the paths of entries that are neither files nor folders, and of folders named like files."""
        return tuple(sorted(self._irregular(self.root)))

    def _irregular(self, start: Path) -> Iterator[str]:
        with _explained("list", start):
            entries = list(os.scandir(start))
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and not entry.name.endswith(_FILE_ENDINGS):
                yield from self._irregular(Path(entry.path))
            elif is_folder or not entry.is_file(follow_symlinks=False):
                yield Path(entry.path).relative_to(self.root).as_posix()

    def _is_private(self, place: Path) -> bool:
        return place.relative_to(self.root).parts[:1] == (PRIVATE_FOLDER,)

    def _make_folder(self, folder: Path) -> None:
        """Make a folder and its parents, and sync the parent of each."""
        private = self._is_private(folder)
        if not folder.exists():
            if folder != self.root:
                self._make_folder(folder.parent)
            try:
                folder.mkdir(_PRIVATE_FOLDER_MODE if private else _FOLDER_MODE, parents=True, exist_ok=True)
            except FileNotFoundError as fault:  # how some file systems report that they have no folders
                raise StorageError(
                    f"cannot create {folder}: this file system does not allow folders there; {_ELSEWHERE}"
                ) from fault
            _sync_folder(folder.parent)
        if private and stat.S_IMODE(folder.stat().st_mode) & _OTHERS:
            folder.chmod(_PRIVATE_FOLDER_MODE)

    @contextlib.contextmanager
    def _incoming(self, file: Path, data: bytes) -> Iterator[Path]:
        """Yield a synced temporary file with this content; remove it at the end if it is still there."""
        incoming, handle = _open_incoming(file, _PRIVATE_FILE_MODE if self._is_private(file) else _FILE_MODE)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
                yield incoming
        finally:
            incoming.unlink(missing_ok=True)


def names_in(folder: Path) -> tuple[str, ...]:
    """Return the sorted names of the entries of any folder; none if it does not exist.

    Raises:
        StorageError: if it cannot be read, or is not a folder.
    """
    with _explained("list", folder):
        try:
            return tuple(sorted(place.name for place in folder.iterdir()))
        except FileNotFoundError:
            return ()


def _opened(file: Path) -> BinaryIO:
    """Open a regular file for reading; opening a pipe would wait for a writer without end."""
    handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
    os.close(handle)
    fault = errno.EISDIR if is_folder else errno.EINVAL
    raise OSError(fault, os.strerror(fault) if is_folder else "it is not a file but a pipe or a device")


def _open_incoming(file: Path, mode: int) -> tuple[Path, int]:
    """Create a temporary file next to another; a lock on its handle shows that it is being written."""
    while True:
        incoming = file.with_name(f"{INCOMING}{secrets.token_hex(_NAME_BYTES)}")
        handle = os.open(incoming, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if os.fstat(handle).st_nlink:
                return incoming, handle
        except OSError:
            os.close(handle)
            raise
        os.close(handle)  # removed as a leftover before it could be locked


def _link(incoming: Path, file: Path) -> None:
    """Give a file its name; unlike a rename, this refuses to replace anything."""
    try:
        os.link(incoming, file)
    except FileExistsError:
        if not stat.S_ISREG(file.lstat().st_mode):
            raise MisplacedError(
                f"cannot create {file}: a folder, link, pipe or device is in its place; move it away"
            ) from None
        raise


def _is_incoming(path: str) -> bool:
    return path.rpartition("/")[2].startswith(INCOMING)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _explained(what: str, place: Path) -> Iterator[None]:
    """Turn errors of the system into one line: what failed, where, why, and what to do."""
    try:
        yield
    except FileNotFoundError as fault:
        raise MissingError(f"cannot {what} {place}: it does not exist") from fault
    except FileExistsError as fault:
        raise AlreadyThereError(f"cannot {what} {place}: it exists already") from fault
    except OSError as fault:
        raise StorageError(f"cannot {what} {place}: {reason_of(fault)}") from fault
