"""The one way to the files of a data root: read, create once, replace, list, remove.

Paths are relative POSIX strings, such as `daily/2026-11-30.json`. A finished file exists whole or not at all:
it is written beside under a name that starts with `INCOMING`, synced, put in place in one step, and its
folder is synced. Whatever stops a write leaves at most such a leftover. Another store is a second
implementation of `Storage`.
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

from pipeline.errors import AlreadyThereError, MissingError, StorageError

INCOMING: Final = ".incoming-"
PRIVATE_FOLDER: Final = "private"  # solutions wait here: nobody else may read it

_FILE_MODE: Final = 0o666  # less the process's umask
_FOLDER_MODE: Final = 0o777  # less the process's umask
_PRIVATE_FILE_MODE: Final = 0o600
_PRIVATE_FOLDER_MODE: Final = 0o700
_OTHERS: Final = 0o077
_FILE_ENDINGS: Final = (".json", ".parquet", ".sql")
_NAME_BYTES: Final = 8  # random, in the name of a file that is being written

_ELSEWHERE: Final = "choose another place (--data names the data root)"
_NO_PERMISSION: Final = f"give this user the right to it, or {_ELSEWHERE}"
_REMEDIES: Final = {
    errno.ENOSPC: "free some space there and run the command again",
    errno.EDQUOT: "free some space there and run the command again",
    errno.EACCES: _NO_PERMISSION,
    errno.EPERM: _NO_PERMISSION,
    errno.EROFS: _NO_PERMISSION,
    errno.EMFILE: "raise the limit of open files (ulimit -n) and run the command again",
    errno.ENFILE: "close other programs and run the command again",
    errno.ENOTDIR: "move away the file that stands where a folder must be",
    errno.EINVAL: "move it away",
    errno.EISDIR: "move away the folder that stands where a file must be",
}
_OTHER_REMEDY: Final = "check the disk and run the command again"


def reason_of(fault: OSError) -> str:
    """Why the system refused something in a data root, and what to do about it."""
    return f"{fault.strerror or fault}; {_REMEDIES.get(fault.errno or 0, _OTHER_REMEDY)}"


class Storage(Protocol):
    """Finished files by path; all five operations raise `StorageError` when the store fails them."""

    def read(self, path: str) -> bytes:
        """Whole content of a file.

        Raises:
            MissingError: there is no such file.
        """

    def create(self, path: str, data: bytes) -> None:
        """Make a file that does not exist yet, durably; an existing one is never touched.

        Raises:
            AlreadyThereError: the path is taken.
        """

    def replace(self, path: str, data: bytes) -> None:
        """Make a file, or change it in one step, durably."""

    def list(self, prefix: str) -> tuple[str, ...]:
        """Paths of the finished files whose path starts with this text, sorted; none is no error."""

    def remove(self, path: str) -> None:
        """Remove a file, durably.

        Raises:
            MissingError: there is no such file.
        """


class LocalStorage:
    """Files below one folder of the local disk.

    Files and folders get the permissions that the process's umask leaves; below `private/` they are for this
    user alone.

    Attributes:
        root: the folder, absolute, symbolic links resolved.
    """

    def __init__(self, root: Path) -> None:
        self.root: Final = root.resolve()
        # Letters of a file's name before its path.
        self._above: Final = len(os.path.join(self.root, ""))  # noqa: PTH118 - a Path drops the slash

    def local_path(self, path: str) -> Path:
        """Where a file lies on the disk.

        Raises:
            StorageError: the path leads out of the root, by its text or through a symbolic link.
        """
        parts = path.split("/")
        if not path.isprintable() or "\\" in path or any(part in ("", ".", "..") for part in parts):
            raise StorageError(f"{path!r} is no path inside the data root {self.root}")
        found = self.root.joinpath(*parts)
        # Path.resolve() raises on a circle of links in some versions of Python; this never does.
        if not Path(os.path.realpath(found)).is_relative_to(self.root):
            raise StorageError(f"{found} leads out of the data root through a symbolic link; remove the link")
        return found

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
            with self._beside(file, data) as incoming:
                os.link(incoming, file)  # unlike a rename, this refuses to replace
            _sync_folder(file.parent)

    def replace(self, path: str, data: bytes) -> None:
        """See `Storage.replace`."""
        file = self.local_path(path)
        with _explained("replace", file):
            self._make_folder(file.parent)
            with self._beside(file, data) as incoming:
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
        """Bytes of a file, without reading it.

        Raises:
            MissingError: there is no such file.
        """
        file = self.local_path(path)
        with _explained("read", file):
            return file.stat().st_size

    def clear_leftovers(self) -> tuple[str, ...]:
        """Remove what killed writes left beside the finished files.

        A file that somebody is just writing, such as a study, which needs no lock of the root, stays.

        Returns:
            The paths that were removed, sorted.
        """
        leftovers = sorted(path for path in self._walk(self.root) if _is_incoming(path))
        return tuple(path for path in leftovers if self._clear(path))

    def _clear(self, path: str) -> bool:
        """Remove a leftover, unless somebody is still writing it or has just finished."""
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
        """Paths of all regular files below a folder; symbolic links are neither listed nor followed."""
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

    def odd_paths(self) -> tuple[str, ...]:
        """Paths below the root of what is neither a file nor a folder, or is a folder with a file's name."""
        return tuple(sorted(self._odd(self.root)))

    def _odd(self, start: Path) -> Iterator[str]:
        with _explained("list", start):
            entries = list(os.scandir(start))
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and not entry.name.endswith(_FILE_ENDINGS):
                yield from self._odd(Path(entry.path))
            elif is_folder or not entry.is_file(follow_symlinks=False):
                yield Path(entry.path).relative_to(self.root).as_posix()

    def _is_private(self, place: Path) -> bool:
        return place.relative_to(self.root).parts[:1] == (PRIVATE_FOLDER,)

    def _make_folder(self, folder: Path) -> None:
        """Make a folder and those above it, each synced into the one that holds it."""
        private = self._is_private(folder)
        if not folder.exists():
            if folder != self.root:
                self._make_folder(folder.parent)
            try:
                folder.mkdir(_PRIVATE_FOLDER_MODE if private else _FOLDER_MODE, parents=True, exist_ok=True)
            except FileNotFoundError as fault:  # some file systems take no folders, and say it like this
                raise StorageError(
                    f"cannot create {folder}: no folder can be made there; {_ELSEWHERE}"
                ) from fault
            _sync_folder(folder.parent)
        if private and stat.S_IMODE(folder.stat().st_mode) & _OTHERS:
            folder.chmod(_PRIVATE_FOLDER_MODE)

    @contextlib.contextmanager
    def _beside(self, file: Path, data: bytes) -> Iterator[Path]:
        """A synced file with this content beside its final place, gone again at the end."""
        incoming, handle = _begun_beside(file, _PRIVATE_FILE_MODE if self._is_private(file) else _FILE_MODE)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
                yield incoming
        finally:
            incoming.unlink(missing_ok=True)


def names_in(folder: Path) -> tuple[str, ...]:
    """Names of what lies in any folder of the disk, sorted; none when there is no such folder.

    Raises:
        StorageError: it cannot be read, or is no folder.
    """
    with _explained("list", folder):
        try:
            return tuple(sorted(place.name for place in folder.iterdir()))
        except FileNotFoundError:
            return ()


def _opened(file: Path) -> BinaryIO:
    """A regular file, to be read; opening a pipe would wait for whoever writes to it, for ever."""
    handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
    os.close(handle)
    fault = errno.EISDIR if is_folder else errno.EINVAL
    raise OSError(fault, os.strerror(fault) if is_folder else "it is no file but a pipe or a device")


def _begun_beside(file: Path, mode: int) -> tuple[Path, int]:
    """A new file beside another, and its handle; the lock on that tells it from a leftover."""
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
        os.close(handle)  # it was taken for a leftover before it could be locked


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
    """Turn the system's errors into one line: what failed, where, why, and what to do."""
    try:
        yield
    except FileNotFoundError as fault:
        raise MissingError(f"cannot {what} {place}: it does not exist") from fault
    except FileExistsError as fault:
        raise AlreadyThereError(f"cannot {what} {place}: it exists already") from fault
    except OSError as fault:
        raise StorageError(f"cannot {what} {place}: {reason_of(fault)}") from fault
