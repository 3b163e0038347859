"""JSON documents: written in one way only, read strictly, checked against a JSON Schema or a dataclass.

Published documents have one closed JSON Schema (2020-12) per minor version, which ships in
`pipeline/store/schemas`. What a schema cannot express is checked in `pipeline.daily.checks`. Files that only
Fairway reads, such as the catalog, are frozen dataclasses; pydantic reads them back.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from importlib import resources
from math import isinf
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from pipeline.errors import DamagedError, VersionError
from pipeline.store.text import listed, quoted, shortened
from solver.cards import CARD_NAMES

if TYPE_CHECKING:  # all are slow to load, and most commands need none
    from _typeshed import DataclassInstance
    from jsonschema.protocols import Validator
    from pydantic import TypeAdapter

Document: TypeAlias = dict[str, Any]
_Value = TypeVar("_Value", bound="DataclassInstance")

DAILY_SCHEMA: Final = "fairway-daily/1.0"  # of dates before 2027
RATED_DAILY_SCHEMA: Final = "fairway-daily/1.1"  # with difficulty and clear chance
SOLUTION_SCHEMA: Final = "fairway-solution/1.0"
INDEX_SCHEMA: Final = "fairway-index/1.0"
SCHEMA_FILES: Final = {
    DAILY_SCHEMA: "daily-1.0.json",
    RATED_DAILY_SCHEMA: "daily-1.1.json",
    SOLUTION_SCHEMA: "solution-1.0.json",
    INDEX_SCHEMA: "index-1.0.json",
}

_DECK_CLAUSES: Final = "whole_deck"


def render(document: Mapping[str, Any]) -> bytes:
    """Return a document as bytes: UTF-8, keys in the given order, no blanks, a newline at the end."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"{text}\n".encode()


def parse(data: bytes, file: str) -> Document:
    """Read a JSON object strictly.

    Raises:
        DamagedError: if the bytes are not a JSON object, or contain a key twice, a number such as NaN or
            1e999 that JSON or a float does not have, or half of a character.
    """
    try:
        document = json.loads(
            data.decode(), object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite
        )
        if b"\\u" in data:  # only an escape can stand for half of a character
            json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"{file} is not a JSON document: {error}") from error
    if not isinstance(document, dict):
        raise DamagedError(f"{file} does not contain a JSON object")
    return document


def _unique(pairs: list[tuple[str, Any]]) -> Document:
    document = dict(pairs)
    if len(document) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {quoted(repeated)} occurs twice")
    return document


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"{quoted(text)} is too large a number")
    return number


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


@cache
def schema_of(name: str) -> Document:
    """Return the JSON Schema with this name, one of `SCHEMA_FILES`; it is shared, so do not change it."""
    file = resources.files("pipeline.store").joinpath("schemas", SCHEMA_FILES[name])
    schema: Document = json.loads(file.read_text(encoding="utf-8"))
    return schema


def schema_faults(document: Document, name: str) -> tuple[str, ...]:
    """List every violation of the schema with this name, each with its JSON path.

    The verdict is that of the schema as it ships (a test compares the two). Only its 52 clauses about the
    deck, which take some 10 ms per document, are replaced by a count of the cards.
    """
    found = document.get("schema")
    if found != name:
        return (f"$.schema: {shortened(repr(found))} is not {name!r}, the version this program knows",)
    errors = _quick_validator(name).iter_errors(document)
    faults = tuple(f"{shortened(error.json_path)}: {shortened(error.message)}" for error in errors)
    if faults or _DECK_CLAUSES not in schema_of(name).get("$defs", {}):
        return faults
    columns = (card for column in document["columns"] for card in column)
    return _deck_faults((*columns, document["waste"], *document["stock"]))


@cache
def _quick_validator(name: str) -> "Validator":
    from jsonschema import Draft202012Validator

    schema = schema_of(name)
    if _DECK_CLAUSES in schema.get("$defs", {}):
        schema = {**schema, "$defs": {**schema["$defs"], _DECK_CLAUSES: True}}
    return Draft202012Validator(schema)


def _deck_faults(cards: Sequence[str]) -> tuple[str, ...]:
    missing = [name for name in CARD_NAMES if name not in cards]
    repeated = [name for name in CARD_NAMES if cards.count(name) > 1]
    if not missing:
        return ()
    return (f"$: not the 52 cards of a deck; twice: {' '.join(repeated)}; missing: {' '.join(missing)}",)


def to_json(value: "DataclassInstance") -> bytes:
    """Return a dataclass as JSON in ASCII, keys in the order of the fields, a newline at the end."""
    return (json.dumps(dataclasses.asdict(value), indent=1, default=_iso) + "\n").encode("ascii")


def from_json(kind: type[_Value], data: bytes, path: str, version: int) -> _Value:
    """Read back what `to_json` wrote.

    Args:
        kind: the dataclass; it has a field `version`.
        data: the bytes of the file.
        path: its path, for messages.
        version: the newest version of the file that this program knows.

    Raises:
        VersionError: if a newer Fairway wrote the file.
        DamagedError: if it is not JSON, or a field is missing, has another type or is unknown.
    """
    document = parse(data, path)
    found = document.get("version")
    if isinstance(found, int) and found > version:
        raise VersionError(f"{path} has version {found}, but this Fairway reads up to {version}; upgrade it")
    value = validated(kind, data, path)
    if adapter_of(kind).dump_python(value, mode="json") != document:
        raise damaged(path, ["it contains unknown keys"])
    return value


def validated(kind: type[_Value], data: bytes, path: str) -> _Value:
    """Read JSON as a dataclass, strictly; unknown keys are ignored.

    Raises:
        DamagedError: if it is not JSON, or a field is missing or has another type.
    """
    from pydantic import ValidationError

    try:
        value: _Value = adapter_of(kind).validate_json(data, strict=True)
    except ValidationError as error:
        rows = error.errors()
        faults = [f"{quoted('.'.join(map(str, row['loc'])))}: {shortened(row['msg'])}" for row in rows]
        raise damaged(path, faults) from error
    return value


@cache
def adapter_of(kind: type[_Value]) -> "TypeAdapter[_Value]":
    """Return pydantic's adapter for a dataclass; building one takes milliseconds."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def damaged(path: str, faults: Sequence[str]) -> DamagedError:
    """Return the error for a file with these faults; its message contains the first few."""
    return DamagedError(f"{path} is damaged: {listed(faults, sep='; ')}")


def _iso(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{value!r} cannot be written as JSON")
