"""JSON documents as bytes: written in one way only, read strictly, and held against their JSON Schema.

One closed schema (2020-12) a minor version ships in `pipeline/schemas`. What a schema cannot say is checked
in `pipeline.daily.checks`.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pipeline.errors import DamagedError
from solver.cards import CARD_NAMES

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

Document: TypeAlias = dict[str, Any]

DAILY_SCHEMA: Final = "fairway-daily/1.0"
SOLUTION_SCHEMA: Final = "fairway-solution/1.0"
INDEX_SCHEMA: Final = "fairway-index/1.0"
SCHEMA_FILES: Final = {
    DAILY_SCHEMA: "daily-1.0.json",
    SOLUTION_SCHEMA: "solution-1.0.json",
    INDEX_SCHEMA: "index-1.0.json",
}

_MOST_SHOWN: Final = 100
_DECK_CLAUSES: Final = "whole_deck"


def render(document: Mapping[str, Any]) -> bytes:
    """The bytes of a document: UTF-8, keys as they come, no blanks, a newline at the end."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"{text}\n".encode()


def parse(data: bytes, file: str) -> Document:
    """Read a document that `render` may have written.

    Args:
        data: the bytes of the file.
        file: its path, for the message.

    Raises:
        DamagedError: the bytes are no JSON object, hold a key twice or a number that JSON does not know.
    """
    try:
        document = json.loads(data.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"{file} is not a JSON document: {error}") from error
    if not isinstance(document, dict):
        raise DamagedError(f"{file} holds no JSON object")
    return document


def _unique(pairs: list[tuple[str, Any]]) -> Document:
    document = dict(pairs)
    if len(document) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} stands there twice")
    return document


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


@cache
def schema_of(name: str) -> Document:
    """The JSON Schema of this name, one of `SCHEMA_FILES`; it is shared, so it must not be changed."""
    text = (
        resources.files("pipeline.store").joinpath("schemas", SCHEMA_FILES[name]).read_text(encoding="utf-8")
    )
    schema: Document = json.loads(text)
    return schema


def schema_faults(document: Document, name: str) -> tuple[str, ...]:
    """Everything in which a document departs from its schema, each with the place where.

    The verdict is that of the schema as it ships (a test compares them). Only its 52 clauses about the deck,
    some 10 ms a document, are replaced by a count of the cards.

    Args:
        document: the parsed document.
        name: the schema it must follow, one of `SCHEMA_FILES`.
    """
    found = document.get("schema")
    if found != name:
        return (f"$.schema: {_short(repr(found))} is not {name!r}, the version this program knows",)
    faults = tuple(_sentence(error) for error in _quick_validator(name).iter_errors(document))
    if faults or _DECK_CLAUSES not in schema_of(name).get("$defs", {}):
        return faults
    columns = (card for column in document["columns"] for card in column)
    return _deck_faults((*columns, document["waste"], *document["stock"]))


@cache
def _quick_validator(name: str) -> "Validator":
    # Imported late: commands that touch no document must not wait for it.
    from jsonschema import Draft202012Validator

    schema = schema_of(name)
    if _DECK_CLAUSES in schema.get("$defs", {}):
        schema = {**schema, "$defs": {**schema["$defs"], _DECK_CLAUSES: True}}
    return Draft202012Validator(schema)


def _sentence(error: Any) -> str:
    return f"{error.json_path}: {_short(error.message)}"


def _short(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}.."


def _deck_faults(cards: Sequence[str]) -> tuple[str, ...]:
    missing = [name for name in CARD_NAMES if name not in cards]
    twice = [name for name in CARD_NAMES if cards.count(name) > 1]
    if not missing:
        return ()
    return (f"$: not the 52 cards of a deck; twice: {' '.join(twice)}; missing: {' '.join(missing)}",)
