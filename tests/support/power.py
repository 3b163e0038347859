"""What is on the disk after a power cut: the calls that a run makes, and a disk that keeps only synced data.

The data of a file and the names in a folder are synced separately. The calls are recorded in this process, or
read from the output of strace.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pipeline.store.storage import INCOMING

Files = dict[str, bytes]

# The name in this module of each system call that matters, and of `os.replace`.
_NAMES = {
    "write": "write",
    **dict.fromkeys(("fsync", "fdatasync"), "sync"),
    **dict.fromkeys(("link", "linkat"), "link"),
    **dict.fromkeys(("rename", "renameat", "renameat2", "replace"), "rename"),
    **dict.fromkeys(("unlink", "unlinkat"), "unlink"),
    **dict.fromkeys(("mkdir", "mkdirat"), "mkdir"),
}
TRACED = ",".join(name for name in _NAMES if name != "replace")
_RECORDED = ("fsync", "link", "replace", "unlink", "mkdir")
_WITH_TARGET = ("link", "rename")


@dataclass(frozen=True, slots=True)
class Call:
    """A call that changes the disk below a data root.

    Attributes:
        name: write, sync, link, rename, unlink or mkdir.
        path: relative to the data root, and empty for the root itself.
        target: the new path of a link or rename; else empty.
        data: the content of a file that is synced; empty in calls read from strace.
    """

    name: str
    path: str
    target: str = ""
    data: bytes = b""


def _call(root: Path, name: str, places: Iterable[Path], data: bytes = b"") -> Call | None:
    """Return a call on one or two paths; None unless all of them are below the root."""
    paths = list(places)
    if not paths or not all(path.is_relative_to(root) for path in paths):
        return None
    path, *target = ("" if path == root else path.relative_to(root).as_posix() for path in paths)
    return Call(name, path, "".join(target), data)


@contextmanager
def recorded(root: Path) -> Iterator[list[Call]]:
    """Record the calls below a folder that this process makes in the block."""
    calls: list[Call] = []
    opened: dict[int, Path] = {}
    real_open = os.open

    def watched_open(path: Any, *arguments: Any, **options: Any) -> int:
        handle = real_open(path, *arguments, **options)
        opened[handle] = Path(path)
        return handle

    def watched(function: str) -> Any:
        real, name = getattr(os, function), _NAMES[function]

        def watch(*arguments: Any, **options: Any) -> None:
            real(*arguments, **options)
            files = arguments[: 2 if name in _WITH_TARGET else 1]
            places = [opened[file] if isinstance(file, int) else Path(file) for file in files]
            data = places[0].read_bytes() if name == "sync" and places[0].is_file() else b""
            call = _call(root, name, places, data)
            if call is not None:
                calls.append(call)

        return watch

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", watched_open)
        for function in _RECORDED:
            patch.setattr(os, function, watched(function))
        yield calls


def traced(text: str, root: Path) -> Iterator[Call]:
    """Yield the successful calls below a folder in the output of `strace -f -y`."""
    begun: dict[str, str] = {}
    for line in text.splitlines():
        process, _, text_of_call = line.partition(" ")
        if text_of_call.endswith("<unfinished ...>"):
            begun[process] = text_of_call.removesuffix("<unfinished ...>")
            continue
        resumed = re.match(r" *<\.\.\. \w+ resumed>", text_of_call)
        if resumed:
            text_of_call = begun.pop(process, "") + text_of_call[resumed.end() :]
        match = re.match(r"(\w+)\((.*)\) += \d", text_of_call.strip())
        if match is not None and match[1] in _NAMES:
            name = _NAMES[match[1]]
            # strace shows a file descriptor as 3</path/of/file>, and a path in quotes.
            pattern = r"^\d+<([^>]*)>" if name in ("write", "sync") else r'"([^"]*)"'
            call = _call(root, name, map(Path, re.findall(pattern, match[2])))
            if call is not None:
                yield call


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def _folders_above(path: str) -> Iterator[str]:
    while path:
        path = _folder_of(path)
        yield path


class LazyDisk:
    """A disk below a data root that loses everything not synced.

    Args:
        files: the files at the start, all of them synced.
    """

    def __init__(self, files: Files) -> None:
        self._data: Files = {}  # of files that are synced, by the name that they were written under
        self._names = dict(files)
        self._folders = {folder for path in files for folder in _folders_above(path)} | {""}
        self._unsynced: dict[str, list[Call]] = {}  # changes of names, by folder

    def feed(self, call: Call) -> None:
        """Apply a call; fails if it renames a file before the file is synced."""
        if call.name == "write":
            assert call.path not in self._data, f"{call.path} is written to after its sync"
        elif call.name == "sync" and call.path in self._folders | self._unsynced.keys():
            for each in self._unsynced.pop(call.path, []):
                self._apply(each)
        elif call.name == "sync":
            self._data[call.path] = call.data
        else:
            if call.target:
                assert call.path in self._data, f"{call.path} is renamed to {call.target} before its sync"
            self._unsynced.setdefault(_folder_of(call.target or call.path), []).append(call)

    def _apply(self, call: Call) -> None:
        if call.name == "mkdir":
            self._folders.add(call.path)
        elif call.target:
            self._names[call.target] = self._data[call.path]
        else:
            self._names.pop(call.path, None)

    def files(self) -> Files:
        """Return the files that a power cut now would leave: their data, names and folders are synced."""
        return {
            path: data for path, data in self._names.items() if self._folders.issuperset(_folders_above(path))
        }

    def unsynced(self) -> list[str]:
        """Return the names whose change is not synced, except those of unfinished files."""
        calls = (call for waiting in self._unsynced.values() for call in waiting)
        return [name for name in (call.target or call.path for call in calls) if INCOMING not in name]
