"""Verification also checks the kept catalogs and the parts that only they name."""

import dataclasses

import pytest

from pipeline.integrity.pools import KEPT_CATALOGS, KEPT_PARTS, kept_part_paths, verify_history
from pipeline.integrity.report import Report
from pipeline.pools.catalog import CATALOG_FILE, catalog_bytes, empty_catalog, kept_path, load_catalog
from pipeline.pools.compact import compact
from pipeline.work.progress import SILENT
from tests.support.doubles import MemoryStorage
from tests.support.pools import LEVEL, regenerated, with_nights


@pytest.fixture
def storage() -> MemoryStorage:
    """A night, a second generation of two parts, and their compaction."""
    root = MemoryStorage()
    with_nights(root, (4,))
    regenerated(root, 6)
    with_nights(root, (2,))
    compact(root, load_catalog(root), LEVEL, SILENT)
    return root


def verified(storage: MemoryStorage) -> dict[str, tuple[int, list[str]]]:
    report = Report(lambda: 0.0)
    verify_history(storage, report, load_catalog(storage))
    return {each.name: (each.checked, list(map(str, each.problems))) for each in report.results()}


def test_a_catalog_that_was_replaced_by_hand_by_an_older_one_is_found(
    storage: MemoryStorage,
) -> None:
    storage.replace(CATALOG_FILE, storage.read(kept_path(1)))
    assert verified(storage)[KEPT_CATALOGS] == (
        3,
        [
            f"catalog.json: older than {kept_path(change)}, so it was replaced by hand; compare the two"
            for change in (2, 3)
        ],
    )


def test_a_kept_catalog_that_is_missing_is_noted(storage: MemoryStorage) -> None:
    for lost in (2, 3):
        data = storage.files.pop(kept_path(lost))
        report = Report(lambda: 0.0)
        verify_history(storage, report, load_catalog(storage))
        (result,) = (each for each in report.results() if each.name == KEPT_CATALOGS)
        assert [str(note) for note in result.notes] == [
            f"{kept_path(lost)}: missing; no rollback to it is possible"
        ]
        storage.files[kept_path(lost)] = data


def test_a_sound_history_has_no_problems(storage: MemoryStorage) -> None:
    assert verified(storage) == {KEPT_CATALOGS: (3, []), KEPT_PARTS: (3, [])}
    assert kept_part_paths(storage) == set(storage.list("deals/")) - {
        part.path for part in load_catalog(storage).pool(LEVEL).parts
    }


def test_a_root_without_a_history_has_nothing_to_check() -> None:
    root = MemoryStorage()
    with_nights(root, (4,))
    assert verified(root) == {}


@pytest.mark.parametrize("damage", [b"{", b"", b"{}"])
def test_a_damaged_kept_catalog_is_found_and_the_others_are_checked(
    storage: MemoryStorage, damage: bytes
) -> None:
    storage.files[kept_path(2)] = damage
    checked, problems = verified(storage)[KEPT_CATALOGS]
    assert checked == 3
    assert [problem.split()[0].rstrip(":") for problem in problems] == [kept_path(2)]
    assert kept_part_paths(storage)


@pytest.mark.parametrize("damage", [b"PAR1", None])
def test_damage_to_a_part_of_a_kept_catalog_is_found(storage: MemoryStorage, damage: bytes | None) -> None:
    path = next(path for path in storage.files if "generation-0001" in path)
    if damage is None:
        del storage.files[path]
    else:
        storage.files[path] = damage
    checked, problems = verified(storage)[KEPT_PARTS]
    assert checked == 3
    assert [problem.split()[0] for problem in problems] == [path]


def test_a_kept_copy_of_the_catalog_in_force_must_equal_it(storage: MemoryStorage) -> None:
    change = load_catalog(storage).change
    storage.create(kept_path(change), storage.read(CATALOG_FILE))  # killed before the catalog was replaced
    assert verified(storage)[KEPT_CATALOGS] == (4, [])
    other = dataclasses.replace(load_catalog(storage), pools=empty_catalog().pools)
    storage.replace(kept_path(change), catalog_bytes(other))
    assert verified(storage)[KEPT_CATALOGS] == (
        4, [f"{kept_path(change)}: differs from catalog.json, of which it should be a copy"]
    )  # fmt: skip
