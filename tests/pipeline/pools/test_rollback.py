"""A rollback is one change of the catalog; it loses nothing, and no generation number is used twice."""

import dataclasses
from functools import partial

import pytest

from pipeline.deals.levels import LEVELS
from pipeline.errors import DamagedError
from pipeline.pools.catalog import (
    CATALOG_FILE,
    Catalog,
    kept_path,
    load_catalog,
    parse_part_path,
    save_catalog,
)
from pipeline.pools.garbage import clear_unreferenced
from pipeline.pools.parts import write_part_file
from pipeline.pools.regenerate import plan_regeneration
from pipeline.pools.rollback import roll_back
from pipeline.pools.unfinished import new_record, read_record, record_path, write_record
from pipeline.store.storage import Storage
from pipeline.versions import PART_VERSIONS
from solver.errors import UsageError
from tests.support.doubles import MemoryStorage, changes_of, stopped_at_each_change
from tests.support.pools import LEVEL, regenerated, rows_of, with_nights


@pytest.fixture
def storage() -> MemoryStorage:
    return with_generations()


def with_generations() -> MemoryStorage:
    """Three generations; the first has two nights, the second one of its own."""
    root = MemoryStorage()
    with_nights(root, (4, 3))
    regenerated(root, 6)
    with_nights(root, (2,))
    regenerated(root, 5, first=40)
    return root


def back(storage: Storage, generation: int | None = None) -> Catalog:
    return roll_back(storage, load_catalog(storage), LEVEL, generation)


def test_the_pool_becomes_what_it_last_was(storage: MemoryStorage) -> None:
    second = load_catalog(storage)
    before = dict(storage.files)
    after = back(storage).pool(LEVEL)
    assert (after.generation, after.size, len(after.parts)) == (2, 8, 2)
    assert load_catalog(storage).pool(LEVEL) == after
    assert len(rows_of(storage, after.parts)) == 8
    assert before.items() - storage.files.items() == {(CATALOG_FILE, before[CATALOG_FILE])}
    assert storage.files[kept_path(second.change)] == before[CATALOG_FILE]


def test_it_goes_back_one_generation_by_default_and_forward_with_a_number(storage: MemoryStorage) -> None:
    start = load_catalog(storage).pool(LEVEL)
    assert [back(storage).pool(LEVEL).generation for _ in range(2)] == [2, 1]
    with pytest.raises(UsageError, match="level medium has no generation before 1; `fairway pool history"):
        back(storage)
    assert back(storage, 3).pool(LEVEL) == start


def test_an_unknown_generation_is_refused(storage: MemoryStorage) -> None:
    before = dict(storage.files)
    with pytest.raises(UsageError, match="has no generation 7; known generations: 1, 2, 3"):
        back(storage, 7)
    assert storage.files == before


def test_the_generation_in_force_is_nothing_to_do(storage: MemoryStorage) -> None:
    before = dict(storage.files)
    assert back(storage, 3) == load_catalog(storage)
    assert storage.files == before


def test_later_nights_are_as_if_the_pool_had_never_been_regenerated(storage: MemoryStorage) -> None:
    plain = MemoryStorage()
    with_nights(plain, (4, 3))
    back(storage, 1)
    with_nights(storage, (5, 1))
    with_nights(plain, (5, 1))
    rolled, never = load_catalog(storage).pool(LEVEL), load_catalog(plain).pool(LEVEL)
    assert dataclasses.replace(rolled, newest_generation=1) == never
    assert all(storage.files[part.path] == plain.files[part.path] for part in never.parts)


def test_a_new_generation_takes_a_number_that_was_never_used(storage: MemoryStorage) -> None:
    back(storage, 1)
    assert plan_regeneration(load_catalog(storage).pool(LEVEL), LEVELS[LEVEL].policy, 5, 0).generation == 4
    assert regenerated(storage, 3).pool(LEVEL).generation == 4


def test_an_unfinished_regeneration_can_still_be_resumed(storage: MemoryStorage) -> None:
    wanted = plan_regeneration(load_catalog(storage).pool(LEVEL), LEVELS[LEVEL].policy, 5, 0)
    write_record(storage, new_record(wanted))
    pool = back(storage, 1).pool(LEVEL)
    assert read_record(storage, pool) == new_record(wanted)
    assert plan_regeneration(pool, pool.policy, 5, 0) == wanted


def test_a_generation_with_a_damaged_part_is_refused(storage: MemoryStorage) -> None:
    before = load_catalog(storage)
    part = next(path for path in storage.list("deals/") if "generation-0002" in path)
    for damage in (b"PAR1", None):
        storage.remove(part)
        if damage is not None:
            storage.create(part, damage)
        with pytest.raises(DamagedError, match=f"^{part} is (damaged|missing)"):
            back(storage)
        assert load_catalog(storage) == before


def test_the_next_run_completes_what_was_stopped_at_any_change() -> None:
    work = partial(back, generation=1)
    whole = with_generations()
    before = load_catalog(whole)
    swap = ("replace", CATALOG_FILE)
    assert changes_of(whole, work) == [("create", kept_path(before.change)), swap]
    for storage, change, is_made in stopped_at_each_change(with_generations, work):
        assert load_catalog(storage) == (load_catalog(whole) if is_made and change == swap else before)
        work(storage)
        assert storage.files == whole.files


def test_parts_that_only_the_history_names_are_never_removed(storage: MemoryStorage) -> None:
    back(storage, 1)
    with_nights(storage, (5,))
    back(storage, 3)
    stray = "deals/medium/generation-0003/part-900-999.parquet"
    storage.create(stray, b"left by a killed run")
    storage.create(record_path(LEVEL, 2), b"left by a killed run, of a generation that is not in force now")
    before = dict(storage.files)
    clear_unreferenced(storage, load_catalog(storage))
    assert before.keys() - storage.files.keys() == {stray, record_path(LEVEL, 2)}


def dropped_from_the_pool(storage: MemoryStorage) -> str:
    """A part in the generation in force that only a kept catalog names."""
    with_nights(storage, (2,))
    catalog = load_catalog(storage)
    pool = catalog.pool(LEVEL)
    save_catalog(storage, catalog.with_pool(dataclasses.replace(pool, parts=pool.parts[:-1])))
    return pool.parts[-1].path


def test_an_unnamed_part_stays_if_a_damaged_catalog_may_name_it(storage: MemoryStorage) -> None:
    path = dropped_from_the_pool(storage)
    assert clear_unreferenced(storage, load_catalog(storage)) == ()
    storage.replace(kept_path(1), b"{")
    assert clear_unreferenced(storage, load_catalog(storage)) == ()
    assert path in storage.files


def test_a_part_that_the_history_names_is_never_overwritten(storage: MemoryStorage) -> None:
    path = dropped_from_the_pool(storage)
    pool = load_catalog(storage).pool(LEVEL)
    name = parse_part_path(path)
    assert name is not None
    before = dict(storage.files)
    with pytest.raises(DamagedError, match=f"^{path} would have other content today, and an earlier catalog"):
        write_part_file(storage, name, PART_VERSIONS, None, {3: 2}, b"what another version of pyarrow writes")
    assert storage.files == before
    assert pool == load_catalog(storage).pool(LEVEL)
    storage.replace(path, b"damaged since")
    write_part_file(storage, name, PART_VERSIONS, None, {3: 2}, before[path])
    assert storage.files == before
