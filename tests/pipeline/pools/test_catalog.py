"""A catalog round-trips, is replaced in one step, and is refused if it is damaged or contradicts itself."""

import dataclasses
import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import versions
from pipeline.deals.levels import LEVELS, POLICIES_V1
from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.errors import CheckError, DamagedError, VersionError
from pipeline.pools.catalog import (
    CATALOG_FILE,
    Catalog,
    Part,
    PartName,
    Pool,
    catalog_bytes,
    empty_catalog,
    kept_changes,
    kept_path,
    load_catalog,
    parse_catalog,
    parse_part_path,
    save_catalog,
)
from pipeline.store.storage import LocalStorage, Storage
from pipeline.versions import PART_VERSIONS
from pipeline.work.counts import Counts
from pipeline.work.records import Outcome, RunRecord, write_record
from solver.errors import UsageError
from tests.support.doubles import FailingStorage, Killed, files_in

NIGHT = date(2026, 11, 30)


def part(name: PartName, night: date | None = NIGHT, rows: int = 1) -> Part:
    return Part(name.path, night, name.first, name.last, rows, "0f" * 32, dict(PART_VERSIONS), {3: rows})


def example() -> Catalog:
    parts = (
        part(PartName("medium", 2, 5, 14), None, 10),
        part(PartName("medium", 2, 15, 40), NIGHT, 7),
    )
    policy = LEVELS["medium"].policy
    pool = Pool("medium", 2, 3, policy, policy.sha256, "larger", 41, NIGHT, parts)
    return dataclasses.replace(empty_catalog().with_pool(pool), change=7)


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
    newest = draw(st.integers(generation, 100_000))
    policy = draw(st.sampled_from((LEVELS[level].policy, POLICIES_V1[level])))
    note = draw(st.text("ab ü", max_size=5))
    return Pool(level, generation, newest, policy, policy.sha256, note, following, last_night, tuple(parts))


catalogs = st.builds(
    lambda change, *made: Catalog(versions.CATALOG, change, made),
    st.integers(1, 10**6),
    *(pools(level) for level in LEVELS),
)


@given(catalogs)
def test_a_catalog_round_trips_to_the_same_bytes(catalog: Catalog) -> None:
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


def saved(storage: Storage, *numbers: int) -> list[Catalog]:
    """Save one change after another, each with another next number."""
    return [save_catalog(storage, moved(number)) for number in numbers]


def moved(number: int) -> Catalog:
    return example().with_pool(dataclasses.replace(example().pool("medium"), next_number=number))


def test_each_change_counts_up_and_keeps_a_copy_of_the_old_catalog(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    texts = []
    for number in range(50, 53):
        assert saved(storage, number) == [load_catalog(storage)]
        texts.append(storage.read(CATALOG_FILE))
    assert load_catalog(storage).change == 3
    assert files_in(storage) == {
        CATALOG_FILE: texts[2],
        kept_path(1): texts[0],
        kept_path(2): texts[1],
    }


def test_saving_the_same_pools_changes_nothing(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    (first,) = saved(storage, 50)
    before = files_in(storage)
    assert save_catalog(storage, dataclasses.replace(moved(50), change=99)) == first
    assert files_in(storage) == before


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", [0, 1])
def test_a_stopped_replacement_leaves_either_the_old_or_the_new_catalog(
    tmp_path: Path, step: int, after: bool
) -> None:
    whole, storage = LocalStorage(tmp_path / "whole"), LocalStorage(tmp_path / "stopped")
    first, second = saved(whole, 50, 51)
    saved(storage, 50)
    failing = FailingStorage(storage, step, Killed(), after=after)
    with pytest.raises(Killed):
        saved(failing, 51)
    assert failing.changes == [("create", kept_path(1)), ("replace", CATALOG_FILE)][: step + 1]
    assert load_catalog(storage) == (second if after and step == 1 else first)
    saved(storage, 51)
    assert files_in(storage) == files_in(whole)


def test_after_restoring_an_old_catalog_by_hand_no_change_number_is_reused(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    saved(storage, 50)
    text = storage.read(CATALOG_FILE)
    saved(storage, 51, 52)
    kept = {path: data for path, data in files_in(storage).items() if path != CATALOG_FILE}
    storage.replace(CATALOG_FILE, text)
    assert [each.change for each in saved(storage, 60)] == [3]
    assert {path: data for path, data in files_in(storage).items() if path != CATALOG_FILE} == kept


def test_a_copy_with_other_content_is_not_overwritten(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    saved(storage, 50)
    storage.create(kept_path(1), catalog_bytes(example()))
    before = files_in(storage)
    with pytest.raises(DamagedError, match=r"^catalogs/000001\.json should be a copy of catalog\.json"):
        saved(storage, 51)
    assert files_in(storage) == before


def test_a_missing_catalog_is_damage_if_earlier_ones_are_kept(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    saved(storage, 50, 51)
    storage.remove(CATALOG_FILE)
    for work in (lambda: load_catalog(storage), lambda: saved(storage, 52)):
        with pytest.raises(DamagedError, match=r"is missing; .* is kept as catalogs/000001\.json$"):
            work()


def test_a_missing_first_catalog_is_damage_if_a_run_record_names_it(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    saved(storage, 50)
    at = datetime(2026, 11, 30, 0, 5, tzinfo=UTC)
    counts = Counts(change=1)
    write_record(storage, RunRecord("nightly", Outcome.DONE, at, at, 7, counts, 1, "0.1.0", None))
    storage.remove(CATALOG_FILE)
    with pytest.raises(DamagedError, match=r"missing, but the run 20261130T000500Z-7 wrote one"):
        load_catalog(storage)


def test_kept_catalogs_are_distinguished_from_other_files(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    strange = (
        "catalogs/000000.json",
        "catalogs/1.json",
        "catalogs/000002.json.bak",
        "catalogs/x/000003.json",
    )
    for path in (kept_path(1_000_000), kept_path(12), *strange):
        storage.create(path, b"x")
    assert kept_changes(storage) == (12, 1_000_000)


@pytest.mark.parametrize("layout", [1, 2])
def test_a_catalog_of_an_unreleased_layout_is_refused_in_one_sentence(tmp_path: Path, layout: int) -> None:
    storage = LocalStorage(tmp_path)
    storage.create(CATALOG_FILE, json.dumps({"version": layout, "pools": []}).encode())
    for work in (lambda: load_catalog(storage), lambda: saved(storage, 50)):
        with pytest.raises(
            VersionError, match=f"^catalog.json has layout {layout}, .*; make the pools in a new data root$"
        ):
            work()


def test_pools_are_found_by_level_and_their_sizes_add_up() -> None:
    assert example().pool("medium").size == 17
    assert example().pool("hard").size == 0
    assert example().pool("medium").pars == {3: 17}
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
        (lambda document: document.__setitem__("version", True), "version': Input should be a valid integer"),
        (lambda document: document.__setitem__("more", 1), "contains unknown keys"),
        (lambda document: document["pools"].pop(), "levels are 'easy, medium', not easy, medium, hard"),
        (lambda document: document["pools"].reverse(), "levels are 'hard, medium, easy'"),
        (set_in_pool("level", "easy"), "levels are 'easy, easy, hard'"),
        (set_in_pool("level", "\n" * 9), "levels are 'easy, .n"),
        (set_in_pool("generation", 0), "generation 0 is below 1"),
        (set_in_pool("newest_generation", 1), "newest_generation 1 is below generation 2"),
        (set_in_pool("newest_generation", None), r"pools\.1\.newest_generation': Input should be a valid"),
        (lambda document: document.pop("change"), "change': Field required"),
        (lambda document: document.__setitem__("change", 0), "change 0 is below 1"),
        (lambda document: document.pop("sha256"), "its sha256 does not match its content"),
        (lambda document: document.__setitem__("sha256", "0" * 64), "its sha256 does not match"),
        (set_in_pool("next_number", 500), "its sha256 does not match"),
        (set_in_pool("last_night", "9999-12-31"), "its sha256 does not match"),
        (lambda document: document["pools"][1]["parts"].pop(), "its sha256 does not match"),
        (set_in_pool("generation", 3), "path is not that of a part of this level, generation"),
        (set_in_pool("generation", "2"), r"pools\.1\.generation': Input should be a valid integer"),
        (set_in_pool("next_number", 40), "next_number 40 was already sampled"),
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
        (set_in_part("pars", {"3": 6}), "its pars do not add up to its 7 rows"),
        (set_in_part("pars", {"3": 8, "4": -1}), "its pars do not add up to its 7 rows"),
        (set_in_part("pars", {"three": 7}), "pars.three.*': Input should be a valid integer"),
        (set_in_part("pars", {"03": 7}), "unknown keys"),
        (set_in_part("pars", {"3": 7.0}), "pars.3': Input should be a valid integer"),
        (set_in_part("pars", None), "pars': Input should be an object"),
        (set_in_part("pars", {}), "its pars do not add up to its 7 rows"),
        (set_in_part("sha256", "0F" * 32), "sha256 is not 64 hex digits"),
        (set_in_part("sha256", "0f" * 32 + "\n"), "sha256 is not 64 hex digits"),
        (set_in_part("versions", {"schema": "1"}), "versions.schema': Input should be a valid integer"),
        (set_in_part("versions", {"\n": "1"}), r"versions.*valid integer"),
        (lambda document: document["pools"][1]["parts"].reverse(), "begins before"),
        (lambda document: document["pools"][1]["parts"][0].pop("night"), "night': Field required"),
        (lambda document: document["pools"][1]["parts"][0].__setitem__("size", 1), "unknown keys"),
    ],
)
def test_a_wrong_value_in_a_catalog_is_damage(change: Callable[[Any], None], fault: str) -> None:
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
        (b"[]", "does not contain a JSON object"),
        (b"{}", "Field required"),
        (
            b'{"version": 6, "pools": "unheard of"}',
            "has version 6, but this Fairway reads up to 5; upgrade it",
        ),
    ],
)
def test_a_file_that_is_not_a_catalog_is_refused(tmp_path: Path, data: bytes, fault: str) -> None:
    storage = LocalStorage(tmp_path)
    storage.replace(CATALOG_FILE, data)
    with pytest.raises(DamagedError, match=f"^catalog.json .*{fault}"):
        load_catalog(storage)


@given(st.data())
def test_every_flipped_byte_is_detected(data: st.DataObject) -> None:
    text = bytearray(catalog_bytes(example()))
    place = data.draw(st.integers(0, len(text) - 1))
    text[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(DamagedError):
        parse_catalog(bytes(text))


def test_a_catalog_that_contradicts_itself_is_never_written(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    wrong = example().with_pool(dataclasses.replace(example().pool("medium"), next_number=7))
    with pytest.raises(CheckError, match=r"was not replaced: .*next_number 7 was already sampled"):
        save_catalog(storage, wrong)
    assert storage.list("") == ()


@given(
    st.sampled_from(list(LEVELS)),
    st.integers(1, 10**9 - 1),
    st.integers(0, MOST_DEAL_NUMBER),
    st.integers(0, MOST_DEAL_NUMBER),
)
def test_the_path_of_a_part_round_trips(level: str, generation: int, first: int, last: int) -> None:
    name = PartName(level, generation, first, last)
    assert parse_part_path(name.path) == name


@pytest.mark.parametrize(
    "path",
    [
        "",
        "catalog.json",
        "deals/easy/generation-1/part-0-9.parquet",
        "deals/easy/generation-00001/part-0-9.parquet",
        "deals/easy/generation-0001/part-00-9.parquet",
        "deals/easy/generation-0001/part-0-9.parquet\n",
        "deals/easy/generation-0001/part-0-9.parquet.tmp",
        "deals/easy/generation-0001/part-0-\u0669.parquet",
        "deals/../generation-0001/part-0-9.parquet",
        "deals/easy/generation-0001/../part-0-9.parquet",
        "/deals/easy/generation-0001/part-0-9.parquet",
        "./deals/easy/generation-0001/part-0-9.parquet",
        "deals//easy/generation-0001/part-0-9.parquet",
        "deals/easy/generation-0001/part--1-9.parquet",
        f"deals/easy/generation-0001/part-0-{'1' * 5000}.parquet",
    ],
)
def test_any_other_path_is_not_that_of_a_part(path: str) -> None:
    assert parse_part_path(path) is None
