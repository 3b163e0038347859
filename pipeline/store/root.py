"""The data root: the one folder that holds everything, told from any other folder by a small marker file."""

import json
from pathlib import Path
from typing import Final

from pipeline.errors import AlreadyThereError, ConfigurationError, DamagedError
from pipeline.store.storage import INCOMING, LocalStorage, names_in
from pipeline.store.text import listed

MARKER: Final = ".fairway-root"
CONFIG_FILE: Final = "fairway.toml"  # what an operator may put into a folder before it is a data root
FORMAT: Final = 1

_MARKER_TEXT: Final = json.dumps({"fairway": "data root", "format": FORMAT}) + "\n"
_NOT_CONTENT: Final = (CONFIG_FILE, "lost+found")  # the second is what a freshly mounted disk holds
_SIGNS: Final = frozenset({"catalog.json", "catalogs", "deals"})


def open_root(path: Path, *, create: bool) -> LocalStorage:
    """The storage of a data root.

    Args:
        path: the folder; what it must be called is up to whoever runs the program.
        create: make a missing or empty folder a data root, instead of refusing it.

    Raises:
        ConfigurationError: there is no data root, or the folder holds something else, or a newer one.
        DamagedError: the marker file is not what it must be.
        StorageError: the folder cannot be read, or cannot be made.
    """
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
        _mark(storage)
    _check_marker(storage)
    return storage


def _content(path: Path) -> list[str]:
    """What somebody has put in a folder."""
    return [name for name in names_in(path) if name not in _NOT_CONTENT and not name.startswith(INCOMING)]


def _mark(storage: LocalStorage) -> None:
    try:
        storage.create(MARKER, _MARKER_TEXT.encode())
    except AlreadyThereError:
        return  # another run made the same root at the same moment


def check_root(storage: LocalStorage) -> None:
    """Make sure that a data root is still one: its folder may have gone, or an empty one come in its place.

    Raises:
        DamagedError: it has no marker, or one that is not what it must be.
    """
    if MARKER not in names_in(storage.root):
        raise DamagedError(
            f"{storage.root} is no data root any more: {MARKER} is gone; nothing is written there"
        )
    _check_marker(storage)


def _check_marker(storage: LocalStorage) -> None:
    place = storage.root / MARKER
    try:
        marker = json.loads(storage.read(MARKER))
    except (ValueError, RecursionError) as fault:
        raise DamagedError(f"{place} is not JSON; its text must be {_MARKER_TEXT.strip()}") from fault
    if not isinstance(marker, dict) or marker.get("fairway") != "data root":
        raise DamagedError(f"{place} marks no data root; its text must be {_MARKER_TEXT.strip()}")
    if marker.get("format") != FORMAT:
        raise ConfigurationError(
            f"{place} is of format {marker.get('format')!r}, this Fairway knows {FORMAT}; use a newer Fairway"
        )
