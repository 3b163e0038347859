"""Garbage is the oldest catalogs and what only they name; what is in force, recent or wanted stays."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import DamagedError
from pipeline.pools.catalog import kept_changes, kept_path, load_catalog
from pipeline.pools.compact import compact
from pipeline.pools.garbage import Garbage, find_garbage, remove_garbage, replaced_by
from pipeline.pools.history import generations, states
from pipeline.pools.parts import check_named_part
from pipeline.pools.rollback import roll_back
from pipeline.pools.unfinished import record_path
from pipeline.store.storage import Storage
from pipeline.work.progress import SILENT
from tests.support.doubles import MemoryStorage, changes_of, stopped_at_each_change
from tests.support.pools import LEVEL, regenerated, with_nights

NOW = datetime(2026, 12, 31, tzinfo=UTC)
DAY = timedelta(1)


def with_history() -> MemoryStorage:
    """Five changes: two nights, a new generation, a night, and compaction."""
    root = MemoryStorage()
    with_nights(root, (4,))
    with_nights(root, (3,))
    regenerated(root, 6)
    with_nights(root, (2,))
    compact(root, load_catalog(root), LEVEL, SILENT)
    return root


@pytest.fixture
def storage() -> MemoryStorage:
    return with_history()


def found(
    storage: Storage, keep: int = 0, days: int = 0, made: Mapping[int, datetime] | None = None
) -> Garbage:
    known = {} if made is None else made
    return find_garbage(storage, load_catalog(storage), known, keep, NOW - days * DAY, NOW)


def daily(storage: Storage) -> dict[int, datetime]:
    """One change a day, the last of them today."""
    last = load_catalog(storage).change
    return {change: NOW - (last - change) * DAY for change in range(1, last + 1)}


def check_whole(storage: Storage) -> None:
    """Check that every listed state can be restored."""
    for state in states(storage, load_catalog(storage), LEVEL):
        for part in state.pool.parts:
            check_named_part(storage, part)


def test_everything_not_in_force_is_removed_if_nothing_is_kept(storage: MemoryStorage) -> None:
    now = load_catalog(storage)
    garbage = found(storage)
    assert garbage.catalogs == tuple(kept_path(change) for change in (1, 2, 3, 4))
    assert len(garbage.parts) == 4
    remove_garbage(storage, garbage)
    assert storage.list("deals/") == tuple(part.path for part in now.pool(LEVEL).parts)
    assert load_catalog(storage) == now
    assert found(storage).paths == ()


def test_the_latest_catalogs_stay_and_so_does_what_they_name(storage: MemoryStorage) -> None:
    garbage = found(storage, keep=2)
    assert garbage.catalogs == (kept_path(1), kept_path(2))
    assert all("generation-0001" in path for path in garbage.parts)
    assert len(garbage.parts) == 2
    remove_garbage(storage, garbage)
    check_whole(storage)
    assert list(generations(states(storage, load_catalog(storage), LEVEL))) == [2]


@pytest.mark.parametrize(("days", "going"), [(0, 4), (1, 3), (2, 2), (3, 1), (4, 0)])
def test_recently_replaced_catalogs_stay(storage: MemoryStorage, days: int, going: int) -> None:
    made = daily(storage)  # change 4 was replaced today, 3 yesterday, ..
    garbage = found(storage, days=days, made=made)
    assert [path in garbage.catalogs for path in map(kept_path, (1, 2, 3, 4))] == [
        place < going for place in range(4)
    ]
    assert garbage.young == 4 - going


def test_catalogs_replaced_at_an_unknown_time_stay(storage: MemoryStorage) -> None:
    assert found(storage, days=1).paths == ()
    assert found(storage, days=1).young == 4
    made = {3: NOW - 9 * DAY}  # so 1 and 2 were replaced by then, and nobody knows of 3 and 4
    assert found(storage, days=5, made=made).catalogs == (kept_path(1), kept_path(2))
    future = dict.fromkeys(range(1, 6), NOW + DAY)
    assert found(storage, days=0, made=future).catalogs == ()


@given(st.dictionaries(st.integers(1, 12), st.integers(0, 400)), st.sets(st.integers(1, 12)))
def test_a_catalog_is_as_old_as_the_next_known_change(made: dict[int, int], changes: set[int]) -> None:
    moments = {change: NOW - days * DAY for change, days in made.items()}
    for change, moment in replaced_by(changes, moments, NOW).items():
        later = sorted(other for other in made if other > change)
        assert moment == (moments[later[0]] if later else NOW)


def test_a_generation_that_was_left_stays_as_long_as_its_catalog(storage: MemoryStorage) -> None:
    roll_back(storage, load_catalog(storage), LEVEL, 1)
    remove_garbage(storage, found(storage, keep=1))
    check_whole(storage)
    assert roll_back(storage, load_catalog(storage), LEVEL, 2).pool(LEVEL).generation == 2


def test_unnamed_parts_are_removed_but_foreign_and_unfinished_files_stay(storage: MemoryStorage) -> None:
    kept = {
        "deals/medium/generation-0003/part-0-9.parquet",
        record_path(LEVEL, 3),
        "deals/medium/generation-0001/notes.txt",
        "deals/expert/generation-0001/part-0-9.parquet",
        "deals/README",
        "catalogs/notes.txt",
        "daily/2026-11-30.json",
    }
    strays = {
        "deals/medium/generation-0001/part-900-999.parquet",
        "deals/hard/generation-0001/part-0-9.parquet",
    }
    for path in kept | strays:
        storage.create(path, b"x")
    garbage = found(storage, keep=99)
    assert set(garbage.paths) == strays
    remove_garbage(storage, garbage)
    assert kept <= storage.files.keys()


def test_a_damaged_catalog_stops_it_only_if_it_stays(storage: MemoryStorage) -> None:
    storage.replace(kept_path(1), b"{")
    with pytest.raises(DamagedError, match=r"^catalogs/000001\.json is not a JSON document"):
        found(storage, keep=9)
    assert kept_path(1) in found(storage, keep=2).catalogs


def test_stopped_at_any_change_the_history_is_complete_and_the_next_run_finishes() -> None:
    def work(storage: Storage) -> None:
        remove_garbage(storage, found(storage, keep=1))

    whole = with_history()
    paths = [path for _, path in changes_of(whole, work)]
    assert paths[:3] == [kept_path(1), kept_path(2), kept_path(3)]
    assert all(path.startswith("deals/") for path in paths[3:])
    assert len(paths) == 5
    for storage, change, _ in stopped_at_each_change(with_history, work):
        assert load_catalog(storage) == load_catalog(whole)
        check_whole(storage)
        assert kept_changes(storage) == (1, 2, 3, 4)[-len(kept_changes(storage)) :]
        work(storage)
        assert storage.files == whole.files, change
