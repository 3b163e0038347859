"""The file of settings: where it lies, what is in it, and in which line each key stands."""

import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pipeline.errors import ConfigurationError
from pipeline.store.root import CONFIG_FILE

MOST_BYTES: Final = 65_536

_PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file of settings.

    Attributes:
        path: where it lies.
        text: what is in it.
        in_root: whether it was found in the data root, not named.
    """

    path: Path
    text: str
    in_root: bool = False


@dataclass(frozen=True, slots=True)
class SyntaxFault:
    """What is no TOML, and where: line and column count from 1."""

    line: int
    column: int
    what: str


def find_config(named: Path | None, root: Path | None) -> ConfigFile | None:
    """The file of settings: the one that is named, else that of the data root, where there is one.

    Args:
        named: by the option `--config`.
        root: where the data root is or will be.

    Raises:
        ConfigurationError: it cannot be read, is not text in UTF-8, or is far too large to be one.
    """
    if named is not None:
        return ConfigFile(named, _text(named))
    if root is None or not os.path.lexists(root / CONFIG_FILE):
        return None
    return ConfigFile(root / CONFIG_FILE, _text(root / CONFIG_FILE), in_root=True)


def _text(file: Path) -> str:
    data = _bytes(file)
    try:
        # As text files are read: with whichever end of line.
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(f"{file}, line {line}: this is not text in UTF-8") from error


def _bytes(file: Path) -> bytes:
    try:
        # A pipe without a writer would keep us waiting.
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise ConfigurationError(f"cannot read {file}: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ConfigurationError(f"{file} is no regular file; name a file of settings")
        data = os.read(handle, MOST_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(f"cannot read {file}: {error.strerror}") from error
    finally:
        os.close(handle)
    if len(data) > MOST_BYTES:
        raise ConfigurationError(f"{file} has more than {MOST_BYTES:,} bytes; this is no file of settings")
    return data


def parsed(text: str) -> dict[str, Any] | SyntaxFault:
    """The document that a text is, or where it ceases to be one."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        return SyntaxFault(1, 1, "it is nested too deep")
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        what = str(error)[: place.start()] if place else str(error)
        if place and place[1]:
            return SyntaxFault(int(place[1]), int(place[2]), what)
        lines = text.removesuffix("\n").split("\n")
        return SyntaxFault(len(lines), len(lines[-1]) + 1, f"{what}, and here the file ends")
    except ValueError as error:  # such as a number of thousands of digits
        return SyntaxFault(1, 1, str(error))


def lines_of(text: str) -> Mapping[tuple[str, ...], int]:
    """The line in which each key and each section of a document begins, counted from 1.

    A statement of TOML means the same wherever it stands below its section's heading. So the text is taken
    apart into statements, the shortest runs of lines that can be read, and each is read for itself.

    Args:
        text: a whole document.
    """
    found: dict[tuple[str, ...], int] = {}
    heading = ""
    for first, statement in _statements(text.split("\n")):
        is_heading = statement.lstrip().startswith("[")
        if is_heading:
            heading = statement
        for key in _keys(tomllib.loads(statement if is_heading else f"{heading}\n{statement}"), ()):
            found.setdefault(key, first)
    return found


def _statements(lines: list[str]) -> Iterator[tuple[int, str]]:
    begin = 0
    for end in range(1, len(lines) + 1):
        if end == begin + 1 and not _says_something(lines[begin]):
            begin = end
            continue
        statement = "\n".join(lines[begin:end])
        if isinstance(parsed(statement), dict):
            yield begin + 1, statement
            begin = end


def _says_something(line: str) -> bool:
    return line.strip() != "" and not line.lstrip().startswith("#")


def _keys(document: Mapping[str, Any], section: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name, value in document.items():
        yield (*section, name)
        if isinstance(value, dict):
            yield from _keys(value, (*section, name))
