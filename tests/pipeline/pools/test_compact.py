"""Compaction keeps every row, cuts parts as in a regeneration, and switches in one step."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.deals.levels import LEVELS
from pipeline.errors import DamagedError
from pipeline.pools import compact as compaction
from pipeline.pools.catalog import CATALOG_FILE, Catalog, load_catalog, save_catalog
from pipeline.pools.garbage import clear_unreferenced
from pipeline.pools.parquet import part_bytes, part_schema
from pipeline.store.storage import Storage
from pipeline.versions import PART_VERSIONS
from pipeline.work.progress import SILENT
from tests.support.doubles import (
    FailingStorage,
    Killed,
    MemoryStorage,
    Recorder,
    changes_of,
    files_in,
    stopped_at_each_change,
)
from tests.support.pools import LEVEL, admitted, logical_hash, rows_of, with_nights

SCHEMA = part_schema(PART_VERSIONS, LEVELS[LEVEL].policy)

ROWS = 10
SIZES = (4, 3, 9, 10, 1)


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "PART_ROWS", ROWS)


def compact(storage: Storage) -> Catalog:
    return compaction.compact(storage, load_catalog(storage), LEVEL, SILENT)


@settings(max_examples=15)
@given(st.lists(st.integers(1, 25), min_size=1, max_size=6))
def test_the_rows_are_kept_and_cut_as_in_a_regeneration(sizes: list[int]) -> None:
    storage = MemoryStorage()
    before = with_nights(storage, sizes)
    after = compact(storage)
    old, new = before.pool(LEVEL), after.pool(LEVEL)
    assert load_catalog(storage) == after
    assert logical_hash(rows_of(storage, new.parts)) == logical_hash(rows_of(storage, old.parts))
    assert dataclasses.replace(new, parts=old.parts) == old
    rows = admitted(LEVEL, 0, sum(sizes))
    pieces = [rows[place : place + ROWS] for place in range(0, len(rows), ROWS)]
    assert [storage.files[part.path] for part in new.parts] == [part_bytes(piece, SCHEMA) for piece in pieces]
    assert new.parts[0].first == 0
    assert all(part.first == before.last + 1 for before, part in zip(new.parts, new.parts[1:], strict=False))


@settings(max_examples=10)
@given(st.lists(st.integers(1, 25), min_size=1, max_size=4), st.lists(st.integers(1, 25), max_size=4))
def test_compacting_repeatedly_equals_compacting_once(first: list[int], second: list[int]) -> None:
    often, once = MemoryStorage(), MemoryStorage()
    with_nights(often, first)
    compact(often)
    with_nights(often, second)
    with_nights(once, first + second)
    again, at_once = compact(often).pool(LEVEL), compact(once).pool(LEVEL)
    nights = [dataclasses.replace(part, night=None) for part in again.parts]
    assert nights == [dataclasses.replace(part, night=None) for part in at_once.parts]
    assert compact(often) == load_catalog(often)


def test_the_old_parts_stay_and_the_kept_catalog_names_them() -> None:
    storage = MemoryStorage()
    before = with_nights(storage, SIZES)
    files = files_in(storage, "deals/")
    after = compact(storage)
    assert (before.change, after.change) == (1, 2)
    assert {path: data for path, data in files_in(storage, "deals/").items() if path in files} == files
    clear_unreferenced(storage, after)
    assert files.items() <= files_in(storage, "deals/").items()


def test_parts_that_would_stay_the_same_are_not_touched() -> None:
    storage = MemoryStorage()
    parts = with_nights(storage, (ROWS, ROWS, 4)).pool(LEVEL).parts
    files = dict(storage.files)
    assert compact(storage).pool(LEVEL).parts == parts
    assert storage.files == files


def test_the_next_night_continues_at_the_end_of_the_pool() -> None:
    plain, compacted = MemoryStorage(), MemoryStorage()
    with_nights(plain, SIZES)
    with_nights(compacted, SIZES)
    compact(compacted)
    assert (
        with_nights(compacted, (3,)).pool(LEVEL).parts[-1] == with_nights(plain, (3,)).pool(LEVEL).parts[-1]
    )


def test_parts_of_other_versions_and_those_across_a_gap_stay_apart() -> None:
    storage = MemoryStorage()
    parts = with_nights(storage, (2, 2, 2, 2, 2, 2)).pool(LEVEL).parts
    old = [dataclasses.replace(part, versions=part.versions | {"policy": 0}) for part in parts[2:4]]
    catalog = load_catalog(storage)
    pool = dataclasses.replace(catalog.pool(LEVEL), parts=(*parts[:2], *old, parts[5]))
    save_catalog(storage, catalog.with_pool(pool))
    first, *rest = compact(storage).pool(LEVEL).parts
    assert (first.first, first.last, first.rows) == (parts[0].first, parts[1].last, 4)
    assert rest == [*old, parts[5]]


def test_progress_is_reported_in_deals_up_to_the_total() -> None:
    storage, recorder = MemoryStorage(), Recorder()
    catalog = with_nights(storage, SIZES)
    compaction.compact(storage, catalog, LEVEL, recorder)
    assert recorder.updates == [(LEVEL, 10, 27), (LEVEL, 20, 27), (LEVEL, 27, 27)]


def test_an_empty_pool_has_nothing_to_compact() -> None:
    storage = MemoryStorage()
    assert compact(storage) == load_catalog(storage)
    assert storage.files == {}


@pytest.mark.parametrize("damage", [b"PAR1", None])
def test_a_damaged_part_stops_compaction_and_the_catalog_stays(damage: bytes | None) -> None:
    storage = MemoryStorage()
    before = with_nights(storage, SIZES)
    path = before.pool(LEVEL).parts[2].path
    if damage is None:
        del storage.files[path]
    else:
        storage.files[path] = damage
    with pytest.raises(DamagedError, match=f"^{path} is (damaged|missing)"):
        compact(storage)
    assert load_catalog(storage) == before


def test_the_next_run_completes_what_was_stopped_at_any_change() -> None:
    def start() -> MemoryStorage:
        storage = MemoryStorage()
        with_nights(storage, SIZES)
        return storage

    whole = start()
    before = load_catalog(whole)
    changes = changes_of(whole, compact)
    assert [operation for operation, _ in changes] == ["create"] * 4 + ["replace"]
    assert changes[-2:] == [("create", "catalogs/000001.json"), ("replace", CATALOG_FILE)]
    for storage, change, is_made in stopped_at_each_change(start, compact):
        swapped = is_made and change == changes[-1]
        assert load_catalog(storage) == (load_catalog(whole) if swapped else before)
        assert len(rows_of(storage, load_catalog(storage).pool(LEVEL).parts)) == sum(SIZES)
        compact(storage)
        assert storage.files == whole.files, change


def test_any_run_removes_the_leftovers_of_a_stopped_compaction() -> None:
    storage = MemoryStorage()
    before = with_nights(storage, SIZES)
    files = files_in(storage, "deals/")
    with pytest.raises(Killed):
        compact(FailingStorage(storage, 2, Killed(), after=True))
    assert len(files_in(storage, "deals/")) == len(files) + 3
    clear_unreferenced(storage, before)
    assert files_in(storage, "deals/") == files
