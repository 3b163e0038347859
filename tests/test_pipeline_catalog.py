"""The catalog is read back as it was written, and nothing that it must not say is let through."""

import dataclasses
import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.catalog import (
    CATALOG_FILE,
    Catalog,
    Part,
    PartName,
    Pool,
    catalog_bytes,
    empty_catalog,
    load_catalog,
    parse_catalog,
    parse_part_path,
    save_catalog,
)
from pipeline.errors import CheckError, DamagedError, StorageError
from pipeline.levels import LEVELS
from pipeline.shuffle import MOST_DEAL_NUMBER
from pipeline.storage import LocalStorage
from pipeline.versions import PART_VERSIONS
from solver.errors import UsageError
from tests.doubles import FailingStorage

NIGHT = date(2026, 11, 30)


def part(name: PartName, night: date | None = NIGHT, rows: int = 1) -> Part:
    return Part(name.path, night, name.first, name.last, rows, "0f" * 32, dict(PART_VERSIONS))


def example() -> Catalog:
    parts = (
        part(PartName("medium", 2, 5, 14), None, 10),
        part(PartName("medium", 2, 15, 40), NIGHT, 7),
    )
    return empty_catalog().with_pool(Pool("medium", 2, 41, NIGHT, parts))


@st.composite
def pools(draw: st.DrawFn, level: str) -> Pool:
    generation = draw(st.integers(1, 99_999))
    numbers = sorted(draw(st.sets(st.integers(0, MOST_DEAL_NUMBER), max_size=8)))
    last_night = draw(st.none() | st.dates())
    parts = []
    for first, last in zip(numbers[::2], numbers[1::2], strict=False):
        ago = draw(st.none() | st.integers(0, 1000))
        night = None
        if ago is not None and last_night is not None and last_night - date.min > timedelta(ago):
            night = last_night - timedelta(ago)
        rows = draw(st.integers(1, last - first + 1))
        parts.append(part(PartName(level, generation, first, last), night, rows))
    following = draw(st.integers(parts[-1].last + 1 if parts else 0, MOST_DEAL_NUMBER + 1))
    return Pool(level, generation, following, last_night, tuple(parts))


catalogs = st.builds(lambda *made: Catalog(1, made), *(pools(level) for level in LEVELS))


@given(catalogs)
def test_a_catalog_is_read_back_as_it_was_written(catalog: Catalog) -> None:
    data = catalog_bytes(catalog)
    again = parse_catalog(data)
    assert again == catalog
    assert catalog_bytes(again) == data
    assert data.endswith(b"}\n")
    assert data.isascii()


def test_without_a_file_every_pool_is_empty(tmp_path: Path) -> None:
    catalog = load_catalog(LocalStorage(tmp_path))
    assert catalog == empty_catalog()
    assert [(pool.level, pool.size, pool.next_number, pool.last_night) for pool in catalog.pools] == [
        (level, 0, 0, None) for level in LEVELS
    ]


def test_a_swap_is_one_replacement_and_a_failed_one_leaves_the_catalog_before(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    save_catalog(storage, example())
    failing = FailingStorage(storage, 0, StorageError("no space"))
    with pytest.raises(StorageError):
        save_catalog(failing, empty_catalog())
    assert failing.changes == [("replace", CATALOG_FILE)]
    assert load_catalog(storage) == example()
    assert storage.list("") == (CATALOG_FILE,)


def test_pools_are_found_by_level_and_their_sizes_add_up() -> None:
    assert example().pool("medium").size == 17
    assert example().pool("hard").size == 0
    with pytest.raises(UsageError, match="unknown level 'expert'"):
        example().pool("expert")


def changed(data: bytes, change: Callable[[Any], None]) -> bytes:
    document = json.loads(data)
    change(document)
    return json.dumps(document).encode()


def set_in_pool(key: str, value: object) -> Callable[[Any], None]:
    return lambda document: document["pools"][1].__setitem__(key, value)


def set_in_part(key: str, value: object, number: int = 1) -> Callable[[Any], None]:
    return lambda document: document["pools"][1]["parts"][number].__setitem__(key, value)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda document: document.pop("version"), "version': Field required"),
        (lambda document: document.pop("pools"), "pools': Field required"),
        (lambda document: document.__setitem__("version", 0), "version 0 was never used"),
        (lambda document: document.__setitem__("version", True), "version': Input should be a valid integer"),
        (lambda document: document.__setitem__("more", 1), "keys that do not belong there"),
        (lambda document: document["pools"].pop(), "levels are 'easy, medium', not easy, medium, hard"),
        (lambda document: document["pools"].reverse(), "levels are 'hard, medium, easy'"),
        (set_in_pool("level", "easy"), "levels are 'easy, easy, hard'"),
        (set_in_pool("level", "\n" * 9), "levels are 'easy, .n"),
        (set_in_pool("generation", 0), "generation 0 is below 1"),
        (set_in_pool("generation", 3), "path is not that of a part of this level, generation"),
        (set_in_pool("generation", "2"), r"pools\.1\.generation': Input should be a valid integer"),
        (set_in_pool("next_number", 40), "next_number 40 was sampled already"),
        (set_in_pool("next_number", -1), "next_number -1 is not in 0"),
        (set_in_pool("next_number", 2**63 + 1), "next_number 9223372036854775809 is not in 0"),
        (set_in_pool("next_number", 41.0), r"pools\.1\.next_number': Input should be a valid integer"),
        (set_in_pool("last_night", "2026-02-30"), r"pools\.1\.last_night': Input should be a valid date"),
        (set_in_pool("last_night", 20000), r"pools\.1\.last_night"),
        (set_in_pool("last_night", None), "night 2026-11-30 is after last_night None"),
        (set_in_pool("last_night", "2026-11-29"), "night 2026-11-30 is after last_night 2026-11-29"),
        (set_in_pool("parts", {}), r"pools\.1\.parts"),
        (set_in_part("path", "../../etc/passwd"), "'../../etc/passwd': the path is not that of a part"),
        (set_in_part("path", "/etc/passwd"), "the path is not that of a part"),
        (set_in_part("first", 14), "the path is not that of a part"),
        (set_in_part("last", 14), r"numbers 15 \.\. 14 are not in 0"),
        (set_in_part("rows", 0), "0 rows do not fit"),
        (set_in_part("rows", 27), "27 rows do not fit"),
        (set_in_part("rows", None), "rows': Input should be a valid integer"),
        (set_in_part("sha256", "0F" * 32), "sha256 is not 64 hex digits"),
        (set_in_part("sha256", "0f" * 32 + "\n"), "sha256 is not 64 hex digits"),
        (set_in_part("versions", {"schema": "1"}), "versions.schema': Input should be a valid integer"),
        (set_in_part("versions", {"\n": "1"}), r"versions.*valid integer"),
        (lambda document: document["pools"][1]["parts"].reverse(), "begins before"),
        (lambda document: document["pools"][1]["parts"][0].pop("night"), "night': Field required"),
        (lambda document: document["pools"][1]["parts"][0].__setitem__("size", 1), "keys that do not"),
    ],
)
def test_a_catalog_that_says_what_it_must_not_is_damaged(change: Callable[[Any], None], fault: str) -> None:
    data = changed(catalog_bytes(example()), change)
    with pytest.raises(DamagedError, match=f"^catalog.json is damaged: .*{fault}") as caught:
        parse_catalog(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", "is not a JSON document"),
        (b"\xff\xfe", "is not a JSON document"),
        (b"[" * 100_000, "is not a JSON document"),
        (catalog_bytes(example())[:-20], "is not a JSON document"),
        (b"[]", "holds no JSON object"),
        (b"{}", "Field required"),
        (b'{"version": 2, "pools": "unheard of"}', "is of version 2, this Fairway reads 1: upgrade it"),
    ],
)
def test_a_file_that_is_no_catalog_is_refused(tmp_path: Path, data: bytes, fault: str) -> None:
    storage = LocalStorage(tmp_path)
    storage.replace(CATALOG_FILE, data)
    with pytest.raises(DamagedError, match=f"^catalog.json .*{fault}"):
        load_catalog(storage)


@given(st.data())
def test_no_flipped_byte_makes_reading_fail_otherwise(data: st.DataObject) -> None:
    text = bytearray(catalog_bytes(example()))
    place = data.draw(st.integers(0, len(text) - 1))
    text[place] ^= data.draw(st.integers(1, 255))
    try:
        catalog = parse_catalog(bytes(text))
    except DamagedError:
        return
    assert parse_catalog(catalog_bytes(catalog)) == catalog


def test_a_catalog_that_contradicts_itself_is_never_written(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    wrong = example().with_pool(dataclasses.replace(example().pool("medium"), next_number=7))
    with pytest.raises(CheckError, match=r"was not replaced, .*next_number 7 was sampled already"):
        save_catalog(storage, wrong)
    assert storage.list("") == ()


@given(
    st.sampled_from(list(LEVELS)),
    st.integers(1, 10**9 - 1),
    st.integers(0, MOST_DEAL_NUMBER),
    st.integers(0, MOST_DEAL_NUMBER),
)
def test_a_parts_path_says_what_it_is(level: str, generation: int, first: int, last: int) -> None:
    name = PartName(level, generation, first, last)
    assert parse_part_path(name.path) == name


@pytest.mark.parametrize(
    "path",
    [
        "",
        "catalog.json",
        "deals/level=easy/generation=1/part-0-9.parquet",
        "deals/level=easy/generation=00001/part-0-9.parquet",
        "deals/level=easy/generation=0001/part-00-9.parquet",
        "deals/level=easy/generation=0001/part-0-9.parquet\n",
        "deals/level=easy/generation=0001/part-0-9.parquet.tmp",
        "deals/level=easy/generation=0001/part-0-\u0669.parquet",
        "deals/level=../generation=0001/part-0-9.parquet",
        "deals/level=easy/generation=0001/../part-0-9.parquet",
        "/deals/level=easy/generation=0001/part-0-9.parquet",
        "./deals/level=easy/generation=0001/part-0-9.parquet",
        "deals//level=easy/generation=0001/part-0-9.parquet",
        "deals/level=easy/generation=0001/part--1-9.parquet",
        f"deals/level=easy/generation=0001/part-0-{'1' * 5000}.parquet",
    ],
)
def test_anything_else_is_no_path_of_a_part(path: str) -> None:
    assert parse_part_path(path) is None
