"""Repair restores files byte for byte from numbers, dates and cards, and changes nothing else."""

import dataclasses
from collections.abc import Callable
from datetime import date, timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.daily.files import INDEX_PATH, daily_path, private_solution_path, solution_path
from pipeline.daily.key import DailyKey
from pipeline.daily.publish import make_daily, publish
from pipeline.deals import levels
from pipeline.integrity import repair_pools
from pipeline.integrity.dry_run import DryRunStorage, RepairLog
from pipeline.integrity.repair import repair
from pipeline.pools.catalog import CATALOG_FILE, KEPT_PREFIX, Part, kept_path, load_catalog, save_catalog
from pipeline.pools.parquet import part_bytes
from pipeline.query.views import SQL_FILE, write_views
from pipeline.store.storage import LocalStorage, Storage
from pipeline.store.text import sha256_of
from solver.errors import FairwayError
from tests.support import checks
from tests.support.doubles import FailingStorage, Killed, MemoryStorage, files_in
from tests.support.sound_root import (
    DAYS,
    NOW,
    WORK,
    edit,
    notes,
    parts_of,
    problems,
    rebuild_index,
    verified,
)

pytestmark = pytest.mark.system

KEY = DailyKey(range(32))
OTHER_KEY = DailyKey(32)

Files = dict[str, bytes]
Damage = Callable[[LocalStorage], str]


@pytest.fixture
def keyed(tmp_path: Path) -> LocalStorage:
    """A data root with two dailies of a key."""
    root = LocalStorage(tmp_path / "keyed")
    publish(root, DAYS[:2], KEY, NOW, WORK)
    write_views(root, load_catalog(root))
    return root


def run_repair(storage: Storage, key: DailyKey | None = None) -> RepairLog:
    log = RepairLog()
    repair(storage, log, key, NOW, WORK)
    return log


def paths(log: RepairLog) -> tuple[list[str], list[str]]:
    return [each.file for each in log.repaired], [each.file for each in log.refused]


def part(storage: Storage, place: int = 1) -> Part:
    return parts_of(load_catalog(storage))[place]


def change(storage: LocalStorage, path: str, make: Callable[[bytes], bytes] | None) -> str:
    """Change a file, or remove it."""
    data = storage.read(path)
    storage.remove(path)
    if make is not None:
        storage.create(path, make(data))
    return path


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


def edited(path: str, **fields: object) -> Damage:
    def damage(storage: LocalStorage) -> str:
        edit(storage, path, **fields)
        return path

    return damage


# What can be restored

REPAIRABLE: dict[str, Damage] = {
    "a part with a flipped bit": lambda s: change(s, part(s).path, flipped),
    "an empty part": lambda s: change(s, part(s, 3).path, lambda _: b""),
    "a missing part": lambda s: change(s, part(s, 5).path, None),
    "another part in its place": lambda s: change(s, part(s).path, lambda _: s.read(part(s, 0).path)),
    "a daily with another par": edited(daily_path(DAYS[0]), par=5),
    "a daily with another attempt": edited(daily_path(DAYS[1]), attempt=99),
    "a daily with other cards": edited(daily_path(DAYS[1]), deal="nonsense"),
    "a daily with other spaces": lambda s: change(s, daily_path(DAYS[1]), lambda d: d.replace(b",", b", ")),
    "a daily that is not a document": lambda s: change(s, daily_path(DAYS[2]), lambda _: b"{"),
    "a missing daily": lambda s: change(s, daily_path(DAYS[3]), None),
    "a missing index": lambda s: change(s, INDEX_PATH, None),
    "an index that is cut": lambda s: change(s, INDEX_PATH, lambda data: data[:-9]),
    "an index with another hole": lambda s: change(s, INDEX_PATH, lambda d: d.replace(b":331,", b":332,")),
    "a missing solution": lambda s: change(s, solution_path(DAYS[0]), None),
    "a wrong solution": lambda s: change(s, solution_path(DAYS[1]), flipped),
    "a missing private solution": lambda s: change(s, private_solution_path(DAYS[2]), None),
    "a wrong private solution": lambda s: change(s, private_solution_path(DAYS[3]), lambda _: b"\xff"),
    "missing views": lambda s: change(s, SQL_FILE, None),
    "other views": lambda s: change(s, SQL_FILE, lambda data: data + b"drop table deals;"),
}


@pytest.mark.parametrize("damage", REPAIRABLE.values(), ids=REPAIRABLE)
def test_damage_is_found_and_repaired_to_the_same_bytes(storage: LocalStorage, damage: Damage) -> None:
    before = files_in(storage)
    path = damage(storage)
    damaged = files_in(storage)
    # Verification reports a missing solution under its daily.
    places = {path, path.replace("private/solutions/", "daily/").replace("daily/solutions/", "daily/")}
    assert places & {found.file for result in verified(storage).values() for found in result.problems}
    dry_log = run_repair(DryRunStorage(storage))
    assert files_in(storage) == damaged
    log = run_repair(storage)
    assert paths(log) == ([path], [])
    assert log == dry_log
    assert files_in(storage) == before
    assert problems(verified(storage)) == {}


def test_everything_but_the_catalog_and_the_index_is_restored_at_once(storage: LocalStorage) -> None:
    before = files_in(storage)
    for path in before.keys() - {CATALOG_FILE, INDEX_PATH}:
        storage.remove(path)
    assert paths(run_repair(storage))[1] == []
    assert files_in(storage) == before


def test_nothing_is_written_if_nothing_is_wrong(storage: LocalStorage, tmp_path: Path) -> None:
    for root in (storage, LocalStorage(tmp_path / "empty")):
        recorder = FailingStorage(root, -1, Killed())
        assert paths(run_repair(recorder)) == ([], [])
        assert recorder.changes == []


def test_a_killed_repair_is_completed_by_the_next(storage: LocalStorage) -> None:
    before = files_in(storage)
    lost = (part(storage).path, daily_path(DAYS[0]), solution_path(DAYS[1]), SQL_FILE)
    for at in count():
        for path in lost:
            storage.remove(path)
        try:
            run_repair(FailingStorage(storage, at, Killed(), after=bool(at % 2)))
        except Killed:
            run_repair(storage)
            assert files_in(storage) == before
        else:
            break
    assert at == len(lost)


def test_a_solution_that_was_released_early_is_restored_in_the_same_place(storage: LocalStorage) -> None:
    publish(storage, DAYS, None, NOW, WORK, early=DAYS[3:])
    before = files_in(storage)
    storage.remove(solution_path(DAYS[3]))
    assert paths(run_repair(storage)) == ([solution_path(DAYS[3])], [])
    assert files_in(storage) == before


def test_a_daily_that_a_killed_run_did_not_list_is_listed(storage: LocalStorage) -> None:
    before = files_in(storage)
    storage.remove(daily_path(DAYS[3]))
    rebuild_index(storage)
    storage.create(daily_path(DAYS[3]), before[daily_path(DAYS[3])])
    assert paths(run_repair(storage)) == ([INDEX_PATH], [])
    assert files_in(storage) == before


def test_the_cards_of_a_daily_are_enough_to_restore_it_without_its_key(keyed: LocalStorage) -> None:
    before = files_in(keyed)
    edit(keyed, daily_path(DAYS[0]), par=5, best_score=-16)
    keyed.remove(solution_path(DAYS[0]))
    keyed.replace(solution_path(DAYS[1]), b"")
    run_repair(keyed, OTHER_KEY)
    assert files_in(keyed) == before


# What is refused


def assert_refused(storage: LocalStorage, path: str, words: str, key: DailyKey | None = None) -> None:
    """Assert that repair refuses a file with these words and changes nothing."""
    before = files_in(storage)
    log = run_repair(storage, key)
    assert paths(log) == ([], [path])
    assert words in str(log.refused[0]), log.refused
    assert files_in(storage) == before


def test_a_missing_hole_of_another_key_is_restored_only_with_that_key(keyed: LocalStorage) -> None:
    before = files_in(keyed)
    path = change(keyed, daily_path(DAYS[0]), None)
    assert paths(run_repair(keyed)) == ([SQL_FILE], [path])  # it must not name a file that is missing
    for key in (None, OTHER_KEY):
        assert_refused(keyed, path, "reproduces the published hole: restore a copy", key)
    assert paths(run_repair(keyed, KEY)) == ([path, SQL_FILE], [])
    assert files_in(keyed) == before


def test_a_hole_in_place_of_another_is_refused_and_so_is_the_solution_of_that(keyed: LocalStorage) -> None:
    path = change(keyed, daily_path(DAYS[0]), lambda _: make_daily(DAYS[0], None).daily)
    assert_refused(keyed, path, "or remove daily/index.json if the daily is right")


def test_a_daily_is_not_changed_to_match_another_hash_in_the_index(storage: LocalStorage) -> None:
    before = files_in(storage)
    text = storage.read(INDEX_PATH)
    sha256 = sha256_of(storage.read(daily_path(DAYS[0]))).encode()
    storage.replace(INDEX_PATH, text.replace(sha256, sha256[::-1]))
    assert_refused(storage, daily_path(DAYS[0]), "or remove daily/index.json if the daily is right")
    storage.remove(INDEX_PATH)
    assert paths(run_repair(storage)) == ([INDEX_PATH], [])
    assert files_in(storage) == before


def test_a_daily_that_was_changed_with_its_hash_is_refused(storage: LocalStorage) -> None:
    path = daily_path(DAYS[0])
    before = sha256_of(storage.read(path))
    edit(storage, path, par=5)
    index = storage.read(INDEX_PATH).decode().replace(before, sha256_of(storage.read(path)))
    storage.replace(INDEX_PATH, index.encode())
    assert_refused(storage, path, "$.par: 5 does not match")


def test_without_an_index_a_damaged_daily_is_refused_and_the_others_are_listed(storage: LocalStorage) -> None:
    path = daily_path(DAYS[0])
    edit(storage, path, par=5)
    storage.remove(INDEX_PATH)
    before = files_in(storage)
    log = run_repair(storage)
    assert paths(log) == ([INDEX_PATH], [path])
    assert "$.par: 5 does not match" in log.refused[0].what
    assert files_in(storage).items() >= before.items()


def test_an_index_of_a_newer_version_is_refused(storage: LocalStorage) -> None:
    path = change(storage, INDEX_PATH, lambda data: data.replace(b"fairway-index/1.0", b"fairway-index/1.1"))
    assert_refused(storage, path, "use the version of Fairway that wrote it")


def with_part(storage: LocalStorage, **fields: object) -> str:
    """Change the entry of a part in the catalog, and return its path."""
    catalog = load_catalog(storage)
    wrong = part(storage)
    changed = dataclasses.replace(wrong, **fields)  # type: ignore[arg-type]  # each of its own type
    pools = [
        dataclasses.replace(pool, parts=tuple(changed if one == wrong else one for one in pool.parts))
        for pool in catalog.pools
    ]
    save_catalog(storage, dataclasses.replace(catalog, pools=tuple(pools)))
    for path in storage.list(KEPT_PREFIX):
        storage.remove(path)
    return wrong.path


def test_a_part_that_does_not_follow_from_the_catalog_is_refused(storage: LocalStorage) -> None:
    path = with_part(storage, sha256="0" * 64)
    assert_refused(storage, path, "or make the pool again with `fairway pool regenerate easy`")
    with_part(storage, rows=11, pars={3: 11})
    assert_refused(storage, path, "it has another hash: restore a copy")
    with_part(storage, versions={**part(storage).versions, "par": 99})
    assert_refused(storage, path, "it was made by other versions: restore a copy")


def test_a_part_of_another_pyarrow_is_refused(storage: LocalStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    path = change(storage, part(storage).path, lambda data: data[:-1])
    monkeypatch.setattr(
        repair_pools, "part_bytes", lambda rows, schema: part_bytes(rows, schema) + b" of another version"
    )
    monkeypatch.setattr(repair_pools, "pyarrow_version", lambda: "99.0")
    assert_refused(storage, path, "made again with pyarrow 99.0 it has another hash")


def test_a_damaged_run_record_is_refused(storage: LocalStorage) -> None:
    storage.create("runs/a.json", b"{")
    write_views(storage, load_catalog(storage))
    assert_refused(storage, "runs/a.json", "restore a copy or move it away")


# The catalog


@pytest.fixture
def changed(storage: LocalStorage) -> LocalStorage:
    """A data root whose catalog has changed again, so that the one before is kept."""
    catalog = load_catalog(storage)
    pool = catalog.pool("easy")
    assert pool.last_night is not None
    later = dataclasses.replace(pool, last_night=pool.last_night + timedelta(1))
    save_catalog(storage, catalog.with_pool(later))
    return storage


CATALOGS: dict[str, Callable[[bytes], bytes] | None] = {
    "missing": None,
    "cut": lambda data: data[:-20],
    "a path outside": lambda data: data.replace(b"deals/easy/", b"../../outside/", 1),
}


@pytest.mark.parametrize("make", CATALOGS.values(), ids=CATALOGS)
def test_a_damaged_catalog_is_saved_and_replaced_by_the_one_before(
    changed: LocalStorage, make: Callable[[bytes], bytes] | None
) -> None:
    change(changed, CATALOG_FILE, make)
    before = files_in(changed)
    log = run_repair(changed)
    assert paths(log) == ([CATALOG_FILE], [])
    assert "the next night adds the missing nights" in log.repaired[0].what
    after = files_in(changed)
    assert after.pop(CATALOG_FILE) == before[kept_path(1)]
    saved = after.keys() - before.keys()
    assert {after[path] for path in saved} == ({before[CATALOG_FILE]} if make else set())
    assert problems(verified(changed)) == {}


def test_a_damaged_catalog_without_an_earlier_one_is_refused(storage: LocalStorage) -> None:
    path = change(storage, CATALOG_FILE, lambda _: b"{")
    assert_refused(storage, path, "there is no earlier catalog to replace it: restore a copy")


def test_a_catalog_of_a_newer_version_is_refused(changed: LocalStorage) -> None:
    path = change(changed, CATALOG_FILE, lambda data: data.replace(b'"version": 5', b'"version": 99', 1))
    assert_refused(changed, path, "version 99")


def test_a_damaged_earlier_catalog_is_refused(changed: LocalStorage) -> None:
    path = change(changed, kept_path(1), lambda _: b"[]")
    assert_refused(changed, path, "restore a copy or move it away")


def test_a_part_that_only_an_earlier_catalog_names_is_restored(changed: LocalStorage) -> None:
    catalog = load_catalog(changed)
    pool = catalog.pool("hard")
    save_catalog(changed, catalog.with_pool(dataclasses.replace(pool, parts=pool.parts[:1])))
    write_views(changed, load_catalog(changed))
    before = files_in(changed)
    path = change(changed, pool.parts[1].path, None)
    assert paths(run_repair(changed)) == ([path], [])
    assert files_in(changed) == before


# The storage of a dry run

OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["create", "replace", "remove"]), st.sampled_from("abc"), st.binary(max_size=2)
    ),
    max_size=12,
)


@given(st.dictionaries(st.sampled_from("abc"), st.binary(max_size=2)), OPERATIONS)
def test_a_dry_run_storage_acts_like_a_storage_and_leaves_the_other_unchanged(
    files: Files, operations: list[tuple[str, str, bytes]]
) -> None:
    real, below = MemoryStorage(), MemoryStorage()
    real.files, below.files = dict(files), dict(files)
    dry_run = DryRunStorage(below)
    for operation, path, data in operations:
        arguments = (path,) if operation == "remove" else (path, data)
        outcomes = []
        for each in (real, dry_run):
            try:
                outcomes.append(getattr(each, operation)(*arguments))
            except FairwayError as error:
                outcomes.append(type(error))
        assert outcomes[0] == outcomes[1]
    assert files_in(dry_run) == real.files
    assert [dry_run.list(prefix) for prefix in "abc"] == [real.list(prefix) for prefix in "abc"]
    assert below.files == files


@pytest.mark.parametrize("kind", ["the daily", "its solution", "a letter of the daily"])
def test_a_hole_of_2027_that_an_earlier_fairway_published_is_verified_and_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    storage, day = LocalStorage(tmp_path), date(2027, 1, 2)
    monkeypatch.setattr(levels, "DAILY_V2_FROM", date.max)
    publish(storage, [day], None, NOW, WORK)
    monkeypatch.undo()
    write_views(storage, load_catalog(storage))
    assert checks.CHOSEN not in {**notes(verified(storage)), **problems(verified(storage))}
    path = private_solution_path(day) if kind == "its solution" else daily_path(day)
    data = storage.read(path)
    if kind == "a letter of the daily":
        storage.replace(path, data.replace(b"cleared", b"Cleared", 1))
    else:
        storage.remove(path)
    assert paths(run_repair(storage)) == ([path], [])
    assert storage.read(path) == data
