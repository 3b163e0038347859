"""Where compiled kernels are kept between runs: a private folder that belongs to exactly this code.

numba keys its cache by the modification time of one source file, so a changed callee elsewhere could leave a
stale caller; and it stores pickles, so a folder that others can write to would be code execution. Hence a
folder named by the hash of every source file of the solver, used only when it is this user's alone.
"""

import hashlib
import os
import platform
import stat
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

import solver

_OTHERS_MAY_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_PRIVATE: Final = 0o700
_KEY_LENGTH: Final = 16
_COMPILED: Final = "*.nbi"


@dataclass(frozen=True, slots=True)
class KernelCache:
    """The outcome of looking for a place.

    Attributes:
        folder: where kernels are kept, or None: they are compiled in memory by every run.
        filled: whether an earlier run has left compiled kernels there.
        why_not: why there is no folder, or None.
    """

    folder: Path | None
    filled: bool
    why_not: str | None


def cache_key(sources: Path) -> str:
    """Name of the folder for this code: sources, numba, Python and processor.

    Args:
        sources: the folder with the solver's modules.
    """
    digest = hashlib.sha256()
    for file in sorted(sources.glob("*.py")):
        digest.update(f"{file.name}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    for part in (
        metadata.version("numba"),
        platform.python_version(),
        platform.machine(),
        platform.processor(),
    ):
        digest.update(f"{part}\0".encode())
    return digest.hexdigest()[:_KEY_LENGTH]


def find_cache(home: Path | None) -> KernelCache:
    """Make or find the folder for this code below the user's cache folder.

    Args:
        home: the user's cache folder, or None where there is none.
    """
    if home is None:
        return KernelCache(None, filled=False, why_not="no cache folder: set HOME or FAIRWAY_CACHE")
    folder = home / cache_key(Path(solver.__file__).parent)
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        home.mkdir(mode=_PRIVATE, exist_ok=True)
        folder.mkdir(mode=_PRIVATE, exist_ok=True)
        why_not = _unsafe(home) or _unsafe(folder)
    except OSError as error:
        why_not = f"cannot use the cache folder {home}: {error.strerror}"
    if why_not is not None:
        return KernelCache(None, filled=False, why_not=why_not)
    return KernelCache(folder, filled=any(folder.rglob(_COMPILED)), why_not=None)


def _unsafe(folder: Path) -> str | None:
    """Why code may not be loaded from a folder, or None."""
    status = folder.stat()
    if status.st_uid != os.getuid():
        return f"the cache folder {folder} belongs to another user"
    if status.st_mode & _OTHERS_MAY_WRITE:
        return f"others can write to the cache folder {folder}; chmod go-w would mend that"
    if not os.access(folder, os.W_OK):
        return f"the cache folder {folder} cannot be written to"
    return None
