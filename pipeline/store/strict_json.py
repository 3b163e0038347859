"""Frozen dataclasses as JSON files of the data root: written one way, read back strictly or not at all."""

import dataclasses
import json
from collections.abc import Sequence
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Final, TypeVar

from pipeline.errors import DamagedError, NewerError
from pipeline.store.documents import parse

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from pydantic import TypeAdapter

_Value = TypeVar("_Value", bound="DataclassInstance")

_MOST_SHOWN: Final = 3
_MOST_CHARACTERS: Final = 100


def to_json(value: "DataclassInstance") -> bytes:
    """JSON in ASCII, keys in the order of the fields, a newline at the end."""
    return (json.dumps(dataclasses.asdict(value), indent=1, default=_iso) + "\n").encode("ascii")


def from_json(kind: type[_Value], data: bytes, path: str, version: int) -> _Value:
    """Read what `to_json` wrote.

    Args:
        kind: the dataclass; it has a field `version`.
        data: the file.
        path: where it lies, for messages.
        version: the newest version of the file that this program knows.

    Raises:
        NewerError: it was made by a newer Fairway.
        DamagedError: it is not JSON, or lacks, mistypes or adds something.
    """
    from pydantic import ValidationError

    document = parse(data, path)
    found = document.get("version")
    if isinstance(found, int) and found > version:
        raise NewerError(f"{path} is of version {found}, this Fairway reads {version}: upgrade it")
    try:
        value: _Value = _adapter(kind).validate_json(data, strict=True)
    except ValidationError as wrong:
        rows = wrong.errors()
        faults = [f"{shown('.'.join(map(str, row['loc'])))}: {row['msg']}" for row in rows]
        raise damaged(path, faults) from wrong
    if _adapter(kind).dump_python(value, mode="json") != document:
        raise damaged(path, ["it holds keys that do not belong there"])
    return value


@cache
def _adapter(kind: type[_Value]) -> "TypeAdapter[_Value]":
    from pydantic import TypeAdapter  # it is slow to load, and most commands do without

    return TypeAdapter(kind)


def damaged(path: str, faults: Sequence[str]) -> DamagedError:
    """The error for a file with these faults; it names the first few."""
    return DamagedError(f"{path} is damaged: {listed(faults)}")


def listed(faults: Sequence[str]) -> str:
    """The first few faults in one line."""
    more = len(faults) - _MOST_SHOWN
    return "; ".join(faults[:_MOST_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def shown(text: str) -> str:
    """Text out of a damaged file, as it may stand in a message of one line."""
    return repr(text[:_MOST_CHARACTERS])


def _iso(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{value!r} has no form in JSON")
