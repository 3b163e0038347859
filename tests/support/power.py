"""What of a run is on the disk when the power goes: the calls that it made, and a disk that is lazy.

Such a disk keeps only what it was told to sync: the data of a file and, apart from them, the names in a
folder. The calls come from a run in this process, or from a trace that strace wrote of one.
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

# Each call of the system that is looked at, with its name here.
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
    """A call that changes the disk, below a data root.

    Attributes:
        name: write, sync, link, rename, unlink or mkdir.
        path: what it is about, relative to the data root; empty for that itself.
        target: the new name of a link or rename; else empty.
        data: what a file held when it was synced, where that is known.
    """

    name: str
    path: str
    target: str = ""
    data: bytes = b""


def _call(root: Path, name: str, places: Iterable[Path], data: bytes = b"") -> Call | None:
    """A call about these places; None where one of them is not below the root."""
    paths = list(places)
    if not paths or not all(path.is_relative_to(root) for path in paths):
        return None
    path, *target = ("" if path == root else path.relative_to(root).as_posix() for path in paths)
    return Call(name, path, "".join(target), data)


@contextmanager
def recorded(root: Path) -> Iterator[list[Call]]:
    """The calls that the block makes below a folder, in this process."""
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
            given = arguments[: 2 if name in _WITH_TARGET else 1]
            places = [opened[each] if isinstance(each, int) else Path(each) for each in given]
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
    """The calls below a folder that `strace -f -y` has written down; those that failed are left out."""
    begun: dict[str, str] = {}
    for line in text.splitlines():
        process, _, what = line.partition(" ")
        if what.endswith("<unfinished ...>"):
            begun[process] = what.removesuffix("<unfinished ...>")
            continue
        resumed = re.match(r" *<\.\.\. \w+ resumed>", what)
        whole = begun.pop(process, "") + what[resumed.end() :] if resumed else what.strip()
        match = re.match(r"(\w+)\((.*)\) += \d", whole)
        if match is not None and match[1] in _NAMES:
            name = _NAMES[match[1]]
            # A handle is followed by its file; a path is a text.
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
    """The files below a data root that would be there after a cut.

    Args:
        files: those that are on the disk at the beginning.
    """

    def __init__(self, files: Files) -> None:
        self._data: Files = {}  # synced, but under no name that is
        self._names = dict(files)
        self._folders = {folder for path in files for folder in _folders_above(path)} | {""}
        self._waiting: dict[str, list[Call]] = {}

    def feed(self, call: Call) -> None:
        """Let a call happen; fails where a name is given to data that have not been synced."""
        if call.name == "write":
            assert call.path not in self._data, f"{call.path} is written to after it was synced"
        elif call.name == "sync" and call.path in self._folders | self._waiting.keys():
            for each in self._waiting.pop(call.path, []):
                self._settle(each)
        elif call.name == "sync":
            self._data[call.path] = call.data
        else:
            if call.target:
                assert call.path in self._data, f"{call.path} becomes {call.target} before it is synced"
            self._waiting.setdefault(_folder_of(call.target or call.path), []).append(call)

    def _settle(self, call: Call) -> None:
        if call.name == "mkdir":
            self._folders.add(call.path)
        elif call.target:
            self._names[call.target] = self._data[call.path]
        else:
            self._names.pop(call.path, None)

    def files(self) -> Files:
        """What is on the disk whatever happens: files whose data, name and folders have been synced."""
        return {
            path: data for path, data in self._names.items() if self._folders.issuperset(_folders_above(path))
        }

    def unsettled(self) -> list[str]:
        """Names that were given, and not synced yet; those of files that are not finished do not count."""
        calls = (call for waiting in self._waiting.values() for call in waiting)
        return [name for name in (call.target or call.path for call in calls) if INCOMING not in name]
