"""The data root: the folder that holds everything, recognised by a small marker file."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from pipeline.errors import AlreadyThereError, ConfigurationError, DamagedError
from pipeline.store.storage import INCOMING, LocalStorage, names_in
from pipeline.store.text import listed

MARKER: Final = ".fairway-root"
CONFIG_FILE: Final = "fairway.toml"  # an operator may create it before the folder is a data root
FORMAT: Final = 1

_MARKER_TEXT: Final = json.dumps({"fairway": "data root", "format": FORMAT}) + "\n"
_NOT_CONTENT: Final = (CONFIG_FILE, "lost+found")  # the second is in every newly formatted disk
_SIGNS: Final = frozenset({"catalog.json", "catalogs", "deals"})


def open_root(path: Path, *, create: bool) -> LocalStorage:
    """Open a data root; with `create`, a missing or empty folder is turned into one.

    Raises:
        ConfigurationError: if there is no data root, the folder contains other files, its format is newer, or
            its path is not UTF-8 text, which queries and JSON cannot hold.
        DamagedError: if the marker file is damaged.
        StorageError: if the folder cannot be read or created.
    """
    try:
        os.fspath(path).encode()
        os.path.realpath(path).encode()
    except UnicodeEncodeError as error:
        raise ConfigurationError(
            f"the path of the data root, {os.fspath(path)!r}, is not UTF-8 text; rename the folder"
        ) from error
    if path.is_file():
        raise ConfigurationError(f"{path} is a file; the data root must be a folder")
    content = _content(path)
    storage = LocalStorage(path)
    if MARKER not in content:
        if _SIGNS & set(content):
            raise ConfigurationError(
                f"{path} looks like a data root, but its marker {MARKER} is gone; put back "
                f"a file of that name with the text {_MARKER_TEXT.strip()}"
            )
        if content:
            raise ConfigurationError(
                f"{path} is not a data root and contains other files ({listed(content)}); "
                "choose an empty or new folder"
            )
        if not create:
            raise ConfigurationError(f"there is no data root at {path}; `fairway nightly` makes one there")
        with suppress(AlreadyThereError):  # another run created the same root at the same time
            storage.create(MARKER, _MARKER_TEXT.encode())
    _check_marker(storage)
    return storage


def _content(path: Path) -> list[str]:
    """Names of the files in a folder that belong to a user or to a data root."""
    return [name for name in names_in(path) if name not in _NOT_CONTENT and not name.startswith(INCOMING)]


def check_root(storage: LocalStorage) -> None:
    """Check that a data root still is one: its folder may be gone, or replaced by an empty one.

    Raises:
        DamagedError: if its marker is missing or damaged.
    """
    if MARKER not in names_in(storage.root):
        raise DamagedError(
            f"{storage.root} is not a data root any more: {MARKER} is gone; nothing is written there"
        )
    _check_marker(storage)


def _check_marker(storage: LocalStorage) -> None:
    place = storage.root / MARKER
    try:
        marker = json.loads(storage.read(MARKER))
    except (ValueError, RecursionError) as fault:
        raise DamagedError(f"{place} is not JSON; its text must be {_MARKER_TEXT.strip()}") from fault
    if not isinstance(marker, dict) or marker.get("fairway") != "data root":
        raise DamagedError(f"{place} does not mark a data root; its text must be {_MARKER_TEXT.strip()}")
    if marker.get("format") != FORMAT:
        raise ConfigurationError(
            f"{place} has format {marker.get('format')!r}, but this Fairway knows {FORMAT}; upgrade it"
        )
