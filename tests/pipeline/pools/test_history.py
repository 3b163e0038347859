"""The history lists every state of a pool once, and the last state of each generation."""

import dataclasses
import json

import pytest

from pipeline.errors import DamagedError
from pipeline.pools.catalog import CATALOG_FILE, catalog_bytes, empty_catalog, kept_path, load_catalog
from pipeline.pools.history import generations, kept_parts, state_of_generation, states
from pipeline.store.storage import Storage
from solver.errors import UsageError
from tests.support.doubles import MemoryStorage
from tests.support.pools import LEVEL, regenerated, with_nights


def listed(storage: Storage, level: str = LEVEL) -> list[tuple[int, int, int, bool]]:
    """Change, generation, deals, and whether it is in force."""
    known = states(storage, load_catalog(storage), level)
    return [(each.change, each.pool.generation, each.pool.size, each.in_force) for each in known]


@pytest.fixture
def storage() -> MemoryStorage:
    """Two nights, another level's night, a second generation with a night."""
    root = MemoryStorage()
    with_nights(root, (4,))
    with_nights(root, (3,))
    with_nights(root, (5,), "hard")
    regenerated(root, 6)
    with_nights(root, (2,))
    return root


def test_each_state_is_listed_once_with_the_change_that_made_it(storage: MemoryStorage) -> None:
    assert listed(storage) == [(1, 1, 4, False), (2, 1, 7, False), (4, 2, 6, False), (5, 2, 8, True)]
    assert listed(storage, "hard") == [(3, 1, 5, True)]


def test_an_empty_pool_has_no_states(storage: MemoryStorage) -> None:
    assert listed(storage, "easy") == []
    assert states(MemoryStorage(), empty_catalog(), LEVEL) == ()
    with pytest.raises(UsageError, match="unknown level 'expert'"):
        listed(storage, "expert")


def test_the_copy_of_the_catalog_in_force_is_not_a_state_of_its_own(storage: MemoryStorage) -> None:
    before = listed(storage)
    storage.create(kept_path(5), storage.read(CATALOG_FILE))  # a run was killed before its swap
    assert listed(storage) == before


def test_a_rollback_restores_the_last_state_of_a_generation(storage: MemoryStorage) -> None:
    known = states(storage, load_catalog(storage), LEVEL)
    assert {number: state.change for number, state in generations(known).items()} == {1: 2, 2: 5}
    assert state_of_generation(known, LEVEL, 1).pool.size == 7
    with pytest.raises(UsageError, match="level medium has no generation 3; known generations: 1, 2"):
        state_of_generation(known, LEVEL, 3)
    with pytest.raises(UsageError, match="known generations: none"):
        state_of_generation((), LEVEL, 1)


def test_of_the_generation_in_force_it_is_the_state_in_force(storage: MemoryStorage) -> None:
    storage.replace(CATALOG_FILE, storage.read(kept_path(1)))  # put back by hand
    known = states(storage, load_catalog(storage), LEVEL)
    assert [state.change for state in known if state.in_force] == [1]
    assert {number: state.change for number, state in generations(known).items()} == {1: 1, 2: 4}


def test_a_catalog_removed_in_the_meantime_is_skipped(storage: MemoryStorage) -> None:
    class Vanishing(MemoryStorage):
        def list(self, prefix: str) -> tuple[str, ...]:
            return tuple(sorted((*super().list(prefix), kept_path(9))))

    vanishing = Vanishing()
    vanishing.files = storage.files
    assert listed(vanishing) == listed(storage)


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (b"{", "is not a JSON document"),
        (catalog_bytes(dataclasses.replace(empty_catalog(), change=9)), "it contains change 9"),
        (json.dumps({"version": 9}).encode(), "has version 9"),
    ],
)
def test_a_damaged_kept_catalog_is_reported(storage: MemoryStorage, damage: bytes, fault: str) -> None:
    storage.replace(kept_path(2), damage)
    for work in (lambda: listed(storage), lambda: kept_parts(storage)):
        with pytest.raises(DamagedError, match=rf"^catalogs/000002\.json .*{fault}"):
            work()


def test_kept_parts_are_listed_with_their_hashes(storage: MemoryStorage) -> None:
    kept = kept_parts(storage)
    now = load_catalog(storage).pool(LEVEL)
    before = states(storage, load_catalog(storage), LEVEL)[1].pool
    assert {part.path: {part.sha256} for part in before.parts}.items() <= kept.items()
    assert now.parts[0].path in kept
    assert now.parts[1].path not in kept
