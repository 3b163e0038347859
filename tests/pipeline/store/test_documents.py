"""Documents have one form, and a schema that refuses a field lost, renamed or mistyped, and any odd deck."""

import copy
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pipeline.errors import DamagedError
from pipeline.store.documents import (
    DAILY_SCHEMA,
    INDEX_SCHEMA,
    RATED_DAILY_SCHEMA,
    SCHEMA_FILES,
    SOLUTION_SCHEMA,
    Document,
    parse,
    render,
    schema_faults,
    schema_of,
)
from solver.cards import CARD_NAMES
from tests.support.examples import examples
from tests.support.reference import REFERENCE

DAILY_DATA = (REFERENCE / "daily-2026-11-30.json").read_bytes()
SOLUTION_DATA = (REFERENCE / "solution-2026-11-30.json").read_bytes()
OTHER_TYPES: tuple[Any, ...] = (None, True, 1, 0.5, "x", ["x"], {"x": 1})

Path = tuple[str | int, ...]


def sample(name: str) -> Document:
    """A faultless document of each schema; the daily and the solution are the reference's."""
    documents: dict[str, Document] = {
        DAILY_SCHEMA: parse(DAILY_DATA, "daily"),
        RATED_DAILY_SCHEMA: parse(DAILY_DATA, "daily")
        | {"schema": RATED_DAILY_SCHEMA, "difficulty": 3, "clear_chance": 0.0005},
        SOLUTION_SCHEMA: parse(SOLUTION_DATA, "solution"),
        INDEX_SCHEMA: {
            "schema": INDEX_SCHEMA,
            "dailies": [_entry("2026-11-29", True), _entry("2026-11-30", False)],
        },
    }
    return documents[name]


def _entry(day: str, released: bool) -> Document:
    solution = {"file": f"solutions/{day}.json", "sha256": "0" * 64}
    return {
        "date": day,
        "hole": 334,
        "par": 4,
        "file": f"{day}.json",
        "sha256": "f" * 64,
        "solution": solution if released else None,
    }


@cache
def validator(name: str) -> Draft202012Validator:
    """The schema just as it ships."""
    return Draft202012Validator(schema_of(name))


def refused(document: Any, name: str) -> bool:
    """Whether a document is refused; the shipped schema and the quicker check must agree on it."""
    shipped = not validator(name).is_valid(document)
    if isinstance(document, dict):
        assert bool(schema_faults(document, name)) == shipped
    return shipped


def paths(value: Any, above: Path = ()) -> Iterator[Path]:
    """The way to every field and every element of a document."""
    items: Iterator[tuple[str | int, Any]] = iter(())
    if isinstance(value, dict):
        items = iter(value.items())
    elif isinstance(value, list):
        items = iter(enumerate(value))
    for step, inner in items:
        yield (*above, step)
        yield from paths(inner, (*above, step))


def changed(name: str, path: Path) -> tuple[Document, Any, Any]:
    """A copy of the sample, what holds the last step of a path in it, and that step."""
    document = copy.deepcopy(sample(name))
    holder: Any = document
    for step in path[:-1]:
        holder = holder[step]
    return document, holder, path[-1]


FIELDS = [(name, path) for name in SCHEMA_FILES for path in paths(sample(name)) if isinstance(path[-1], str)]
field_ids = [f"{name.split('/')[0]}:{'.'.join(map(str, path))}" for name, path in FIELDS]


@pytest.mark.parametrize("name", SCHEMA_FILES)
def test_the_samples_are_accepted(name: str) -> None:
    assert not refused(sample(name), name)


@pytest.mark.parametrize("name", SCHEMA_FILES)
def test_each_schema_is_a_sound_schema_of_its_version(name: str) -> None:
    schema = schema_of(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["properties"]["schema"]["const"] == name


@pytest.mark.parametrize("name", SCHEMA_FILES)
def test_every_object_is_closed_and_every_field_required_and_described(name: str) -> None:
    def visit(schema: Any) -> None:
        if isinstance(schema, list):
            for inner in schema:
                visit(inner)
        if not isinstance(schema, dict):
            return
        if "object" in schema.get("type", ()):
            assert schema["additionalProperties"] is False
            assert schema["required"] == list(schema["properties"])
            for field, inner in schema["properties"].items():
                assert "$ref" in inner or (inner["title"] and inner["description"].endswith(".")), field
        for inner in schema.values():
            visit(inner)

    visit(schema_of(name))


@pytest.mark.parametrize(("name", "path"), FIELDS, ids=field_ids)
def test_no_field_may_be_dropped(name: str, path: Path) -> None:
    document, holder, step = changed(name, path)
    del holder[step]
    assert refused(document, name)


@pytest.mark.parametrize(("name", "path"), FIELDS, ids=field_ids)
def test_no_field_may_be_renamed(name: str, path: Path) -> None:
    document, holder, step = changed(name, path)
    holder[f"{step}_"] = holder.pop(step)
    assert refused(document, name)


@pytest.mark.parametrize(("name", "path"), FIELDS, ids=field_ids)
def test_no_field_may_be_added(name: str, path: Path) -> None:
    document, holder, _ = changed(name, path)
    holder["more"] = 1
    assert refused(document, name)


@pytest.mark.parametrize("name", SCHEMA_FILES)
def test_no_value_at_any_place_may_be_of_another_type(name: str) -> None:
    nullable = {("dailies", 0, "solution")}
    # The first element of a list stands for the others; the soak tries the second as well.
    for path in (
        path
        for path in paths(sample(name))
        if not any(isinstance(step, int) and step >= examples(2) for step in path)
    ):
        for other in OTHER_TYPES:
            document, holder, step = changed(name, path)
            same = _kind(holder[step]) == _kind(other) or (other is None and path in nullable)
            if not same:
                holder[step] = other
                assert refused(document, name), (path, other)


def _kind(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "number" if is_number else type(value).__name__


def test_whole_numbers_may_not_be_broken() -> None:
    for path in paths(sample(DAILY_SCHEMA)):
        document, holder, step = changed(DAILY_SCHEMA, path)
        if type(holder[step]) is int:
            holder[step] += 0.5
            assert refused(document, DAILY_SCHEMA), path


@pytest.mark.parametrize(
    "path", [("columns",), ("columns", 6), ("stock",), ("steady", "probabilities")], ids=str
)
def test_no_list_may_be_longer_or_shorter(path: Path) -> None:
    for count in (-1, 1):
        document, holder, step = changed(DAILY_SCHEMA, path)
        values = holder[step]
        holder[step] = values[:-1] if count < 0 else [*values, values[0]]
        assert refused(document, DAILY_SCHEMA)


CARD_PLACES: list[Path] = [
    ("waste",),
    *(("stock", place) for place in range(16)),
    *(("columns", column, place) for column in range(7) for place in range(5)),
]


def test_no_card_may_lie_in_two_places() -> None:
    dice = random.Random(1)
    assert len(CARD_PLACES) == len(CARD_NAMES)
    for path in dice.sample(CARD_PLACES, examples(len(CARD_PLACES))):
        document, holder, step = changed(DAILY_SCHEMA, path)
        holder[step] = dice.choice([name for name in CARD_NAMES if name != holder[step]])
        assert refused(document, DAILY_SCHEMA), path


@pytest.mark.parametrize("card", ["1C", "AX", "ac", "", "AC ", "AC\n", "10C", "\uff21C"])
def test_a_card_that_does_not_exist_is_refused(card: str) -> None:
    for path in (("waste",), ("stock", 3), ("columns", 0, 0)):
        document, holder, step = changed(DAILY_SCHEMA, path)
        holder[step] = card
        assert refused(document, DAILY_SCHEMA)


def test_the_clauses_of_the_deck_name_each_card_once_a_place() -> None:
    clauses = schema_of(DAILY_SCHEMA)["$defs"]["whole_deck"]["allOf"]
    for clause, card in zip(clauses, CARD_NAMES, strict=True):
        const = {"const": card}
        assert clause["anyOf"] == [
            {"properties": {"stock": {"contains": const}}},
            {"properties": {"columns": {"contains": {"contains": const}}}},
            {"properties": {"waste": const}},
        ]


def notation_with(changes: dict[int, str]) -> str:
    tokens = sample(DAILY_SCHEMA)["deal"].split(" ")
    for place, token in changes.items():
        tokens[place] = token
    return " ".join(tokens)


@pytest.mark.parametrize(
    "deal",
    [
        notation_with({0: "TH"}),  # twice in a column
        notation_with({0: "KH"}),  # the first and the last card
        notation_with({0: "1C"}),
        notation_with({5: "AC"}),  # no bar
        notation_with({5: "||"}),
        notation_with({0: "2c"}),
        sample(DAILY_SCHEMA)["deal"] + " ",
        sample(DAILY_SCHEMA)["deal"] + "\n",
        sample(DAILY_SCHEMA)["deal"].replace(" | ", "|"),
        sample(DAILY_SCHEMA)["deal"][:-3],
        "",
    ],
)
def test_a_notation_without_the_shape_of_a_deal_or_with_a_card_twice_is_refused(deal: str) -> None:
    document = sample(DAILY_SCHEMA) | {"deal": deal}
    assert refused(document, DAILY_SCHEMA)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "fairway-daily/1.1"),
        (("date",), "2025-12-31"),
        (("date",), "2026-02-30"),
        (("date",), "2026-04-31"),
        (("date",), "2026-13-01"),
        (("date",), "2026-11-30\n"),
        (("date",), "20261130"),
        (("date",), "\u0662\u0660\u0662\u0666-11-30"),
        (("hole",), 0),
        (("level",), "medium"),
        (("par",), 2),
        (("par",), 6),
        (("rules", "name"), "golfing"),
        (("rules", "plays_on", "A"), ["1"]),
        (("rules", "plays_on", "A"), ["2", "2"]),
        (("rules", "redeals"), -1),
        (("puzzle_id",), "243F8B18D5796B58"),
        (("done_when",), "never"),
        (("best_score",), 1),
        (("best_score",), -17),
        (("steady", "clear_rate"), 1.1),
        (("steady", "lowest_score"), -15),
        (("steady", "probabilities", 3), -0.1),
        (("attempt",), -1),
        (("keyed",), True),
        (("key_id",), "0123abcd"),
        (("versions", "par"), 0),
        (("solution_sha256",), "0" * 63),
    ],
    ids=str,
)
def test_a_value_that_cannot_be_is_refused(path: Path, value: Any) -> None:
    document, holder, step = changed(DAILY_SCHEMA, path)
    holder[step] = value
    assert refused(document, DAILY_SCHEMA)


def test_a_keyed_daily_names_its_key() -> None:
    assert not refused(sample(DAILY_SCHEMA) | {"keyed": True, "key_id": "0123abcd"}, DAILY_SCHEMA)
    assert refused(sample(DAILY_SCHEMA) | {"keyed": True, "key_id": "0123ABCD"}, DAILY_SCHEMA)


@pytest.mark.parametrize(
    "line", ["", "D" * 35, "8" * 35, "1" * 34, "1" * 36, "1" * 35 + "D", "1" * 35 + "\n"]
)
def test_a_line_that_clears_nothing_is_refused(line: str) -> None:
    assert refused(sample(SOLUTION_SCHEMA) | {"line": line}, SOLUTION_SCHEMA)


def test_a_fault_says_where_it_is_and_stays_short() -> None:
    document = sample(DAILY_SCHEMA) | {"par": 9, "hole": "x" * 10_000}
    faults = schema_faults(document, DAILY_SCHEMA)
    assert sorted(fault.split(":")[0] for fault in faults) == ["$.hole", "$.par"]
    assert all(len(fault) < 200 for fault in faults)


def test_a_version_from_the_future_is_named() -> None:
    document = sample(DAILY_SCHEMA) | {"schema": "fairway-daily/1.1"}
    assert schema_faults(document, DAILY_SCHEMA) == (
        "$.schema: 'fairway-daily/1.1' is not 'fairway-daily/1.0', the version this program knows",
    )


@pytest.mark.parametrize("data", [DAILY_DATA, SOLUTION_DATA])
def test_the_reference_is_written_in_the_one_form(data: bytes) -> None:
    assert render(parse(data, "file")) == data


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(max_examples=examples(50))
@given(st.dictionaries(st.text(), json_values))
def test_what_was_written_is_read_back(document: Document) -> None:
    assert parse(render(document), "file") == document


@settings(max_examples=examples(50))
@given(st.dictionaries(st.sampled_from(sorted(sample(DAILY_SCHEMA))), json_values))
def test_any_other_json_is_judged_alike_by_the_schema_and_by_the_quicker_check(fields: Document) -> None:
    refused(sample(DAILY_SCHEMA) | fields, DAILY_SCHEMA)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "is not a JSON document"),
        (b"{", "is not a JSON document"),
        (b"\xff\xfe{\x00}\x00", "is not a JSON document"),
        ("{}".encode("utf-8-sig"), "is not a JSON document"),
        (b"[1]", "does not contain a JSON object"),
        (b'{"a":1,"a":2}', "the key 'a' occurs twice"),
        (b'{"a":{"b":1,"b":1}}', "the key 'b' occurs twice"),
        (b'{"a":NaN}', "NaN is not a JSON number"),
        (b'{"a":-Infinity}', "-Infinity is not a JSON number"),
        (b'{"a":' + b"9" * 5000 + b"}", "is not a JSON document"),
        (b'{"a":' + b"[" * 100_000, "is not a JSON document"),
        (b"\x00" * 1_000_000, "is not a JSON document"),
    ],
)
def test_bytes_that_are_no_document_are_damage_that_names_the_file(data: bytes, what: str) -> None:
    with pytest.raises(DamagedError, match=r"^daily/2026-11-30\.json ") as caught:
        parse(data, "daily/2026-11-30.json")
    assert what in str(caught.value)
    assert "\n" not in str(caught.value)
