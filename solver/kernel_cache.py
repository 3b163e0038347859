"""The folder in which compiled kernels are kept between runs.

The files are pickles, which run code when they are loaded, so a folder that another user could write to or
replace is not used. Its name contains a hash of everything that the machine code depends on, so a change of
any source of the solver gets a new folder. A file that is damaged or cannot be read counts as missing.

The place is, in this order: the folder passed to `keep_in`, the variable `FAIRWAY_CACHE`, the user's cache
folder (`XDG_CACHE_HOME`, else `~/.cache`), a private folder among the temporary files (`TMPDIR`, `/tmp`,
`/var/tmp`).
"""

import hashlib
import os
import shutil
import stat
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

_TEMPORARY: Final = ("/tmp", "/var/tmp")  # noqa: S108 - a private folder is made in one of them
_SOURCES: Final = Path(__file__).parent
_PREFIX: Final = "kernels-"
_MAX_OTHERS: Final = 10  # folders of other versions that are kept
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_KEY_LENGTH: Final = 16
_DIGEST_SIZE: Final = hashlib.sha256().digest_size

_chosen: list[Path] = []


def keep_in(place: Path) -> None:
    """Use this place instead of the one that the environment names; call it before the first kernel runs."""
    _chosen[:] = [place]


def source_key(compiler: tuple[str, ...], sources: Path = _SOURCES) -> str:
    """Return a hash of everything that the machine code depends on.

    Args:
        compiler: versions and settings of the compiler, and the processor.
        sources: the folder with the solver's modules.
    """
    digest = hashlib.sha256("\0".join(compiler).encode())
    for file in sorted(sources.rglob("*.py")):
        digest.update(f"\0{file.relative_to(sources).as_posix()}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:_KEY_LENGTH]


class KernelCache:
    """The kept kernels of one version of the solver.

    Attributes:
        folder: where they are kept; None if no place can be used, in which case nothing is kept.
        reasons: for each better place, why it is not used.
    """

    def __init__(self, key: str, places: Iterator[Path] | None = None) -> None:
        self.folder: Path | None = None
        self.reasons: list[str] = []
        for place in _places(os.environ) if places is None else places:
            try:
                self.folder = private_folder(private_folder(place) / f"{_PREFIX}{key}")
            except OSError as error:
                self.reasons.append(f"cannot use {error.filename or place}: {error.strerror}")
            else:
                _remove_others(self.folder)
                return

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if it is missing, damaged or not the user's own."""
        if self.folder is None:
            return None
        try:
            with (self.folder / name).open("rb") as file:
                if os.fstat(file.fileno()).st_uid != os.geteuid():
                    return None
                digest, data = file.read(_DIGEST_SIZE), file.read()
        except OSError:
            return None
        return data if hashlib.sha256(data).digest() == digest else None

    def write(self, name: str, data: bytes) -> None:
        """Keep a file; it appears under its name only when it is complete.

        Raises:
            OSError: if it cannot be written.
        """
        if self.folder is None:
            return
        incoming = self.folder / f".{name}-{os.getpid()}-{threading.get_ident()}"
        try:
            incoming.write_bytes(hashlib.sha256(data).digest() + data)
            incoming.replace(self.folder / name)
        except BaseException:
            incoming.unlink(missing_ok=True)
            raise


def private_folder(place: Path) -> Path:
    """Make or find a folder that only this user can write to or replace; at most its parent is made too.

    Returns:
        Its path without symbolic links, which could be changed later.

    Raises:
        PermissionError: if another user could write to it or replace it.
        OSError: if it cannot be made or read.
    """
    place.parent.mkdir(mode=0o700, exist_ok=True)
    parent = place.parent.resolve(strict=True)
    place = parent / place.name
    for folder in (parent, *parent.parents):
        status = folder.stat()
        # The owner of the root folder, a user without a name in some containers, can replace anything anyway.
        if status.st_uid not in {os.geteuid(), 0, Path("/").stat().st_uid}:
            raise PermissionError(None, "it belongs to another user", str(folder))
        if status.st_mode & _OTHERS_WRITE and not status.st_mode & stat.S_ISVTX:
            raise PermissionError(None, "others can write to it; run `chmod go-w` on it", str(folder))
    place.mkdir(mode=0o700, exist_ok=True)
    status = place.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(None, "it is a link or a file; remove it", str(place))
    if status.st_uid != os.geteuid():
        raise PermissionError(None, "it belongs to another user", str(place))
    if status.st_mode & _OTHERS_WRITE:
        raise PermissionError(None, "others can write to it; remove it", str(place))
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(None, "it is not writable", str(place))
    return place


def _places(variables: Mapping[str, str]) -> Iterator[Path]:
    """Yield the places to try, the best first; relative paths in the user's variables are ignored."""
    named = _chosen or [Path(name) for name in (variables.get("FAIRWAY_CACHE"),) if name]
    if named:
        yield named[0].absolute()
        return
    if Path(variables.get("XDG_CACHE_HOME", "")).is_absolute():
        yield Path(variables["XDG_CACHE_HOME"]) / "fairway"
    if Path(variables.get("HOME", "")).is_absolute():
        yield Path(variables["HOME"]) / ".cache" / "fairway"
    # Not `tempfile.gettempdir`, which raises if no folder is writable, and may return the current folder.
    for folder in dict.fromkeys((variables.get("TMPDIR", ""), *_TEMPORARY)):
        if Path(folder).is_absolute() and Path(folder).is_dir():
            yield Path(folder) / f"fairway-{os.geteuid()}"


def _remove_others(folder: Path) -> None:
    """Remove the folders of other versions except the newest ones."""
    with suppress(OSError):  # another process may be removing them, too
        others = [each for each in folder.parent.glob(f"{_PREFIX}*") if each != folder]
        for each in sorted(others, key=lambda each: each.lstat().st_mtime)[:-_MAX_OTHERS]:
            shutil.rmtree(each, ignore_errors=True)
