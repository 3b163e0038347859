"""Repair: what follows from numbers, dates and cards comes back byte for byte; nothing else is changed."""

import dataclasses
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.daily.key import DailyKey
from pipeline.daily.ledger import INDEX_PATH, daily_path, private_solution_path, solution_path
from pipeline.daily.publish import make_daily, publish, rebuild_index
from pipeline.integrity import repair_pools as repair_parts
from pipeline.integrity.dry_run import Mending, Rehearsal
from pipeline.integrity.repair import repair
from pipeline.pools.catalog import CATALOG_FILE, Part, kept_path, load_catalog, save_catalog
from pipeline.pools.parquet import part_bytes
from pipeline.query.views import SQL_FILE, write_views
from pipeline.store.storage import LocalStorage, Storage
from pipeline.store.text import sha256_of
from pipeline.work.progress import SILENT
from solver.errors import FairwayError
from tests.support.doubles import FailingStorage, Killed, MemoryStorage
from tests.support.sound_root import DAYS, EXECUTOR, NOW, edit, parts_of, problems, sound_root, verified

KEY = DailyKey(range(32))
OTHER_KEY = DailyKey(32)

Files = dict[str, bytes]
Damage = Callable[[LocalStorage], str]


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return sound_root(tmp_path / "root")


def mended(storage: Storage, key: DailyKey | None = None) -> Mending:
    mending = Mending()
    repair(storage, mending, key, NOW, EXECUTOR, SILENT)
    return mending


def files_of(storage: Storage) -> Files:
    return {path: storage.read(path) for path in storage.list("")}


def paths(found: Mending) -> tuple[list[str], list[str]]:
    return [each.file for each in found.mended], [each.file for each in found.refused]


def part(storage: Storage, place: int = 1) -> Part:
    return parts_of(load_catalog(storage))[place]


def change(storage: LocalStorage, path: str, make: Callable[[bytes], bytes] | None) -> str:
    """Change a file by hand, or remove it."""
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


# What can be made again

MENDABLE: dict[str, Damage] = {
    "a part with a flipped bit": lambda s: change(s, part(s).path, flipped),
    "a part cut short": lambda s: change(s, part(s).path, lambda data: data[:-100]),
    "an empty part": lambda s: change(s, part(s, 3).path, lambda _: b""),
    "a missing part": lambda s: change(s, part(s, 5).path, None),
    "another part in its place": lambda s: change(s, part(s).path, lambda _: s.read(part(s, 0).path)),
    "a daily with another par": edited(daily_path(DAYS[0]), par=5),
    "a daily with another attempt": edited(daily_path(DAYS[1]), attempt=99),
    "a daily with other cards": edited(daily_path(DAYS[1]), deal="nonsense"),
    "a daily that is none": lambda s: change(s, daily_path(DAYS[2]), lambda _: b"{"),
    "a missing daily": lambda s: change(s, daily_path(DAYS[3]), None),
    "a missing index": lambda s: change(s, INDEX_PATH, None),
    "an index that is none": lambda s: change(s, INDEX_PATH, lambda data: data[:-9]),
    "an index with another hole": lambda s: change(s, INDEX_PATH, lambda d: d.replace(b":331,", b":332,")),
    "a missing solution": lambda s: change(s, solution_path(DAYS[0]), None),
    "a wrong solution": lambda s: change(s, solution_path(DAYS[1]), flipped),
    "a missing private solution": lambda s: change(s, private_solution_path(DAYS[2]), None),
    "a wrong private solution": lambda s: change(s, private_solution_path(DAYS[3]), lambda _: b"\xff"),
    "missing views": lambda s: change(s, SQL_FILE, None),
    "other views": lambda s: change(s, SQL_FILE, lambda data: data + b"drop table deals;"),
}


@pytest.mark.parametrize("damage", MENDABLE.values(), ids=MENDABLE)
def test_damage_is_found_and_mended_to_the_same_bytes(storage: LocalStorage, damage: Damage) -> None:
    before = files_of(storage)
    path = damage(storage)
    damaged = files_of(storage)
    # Of a solution that is missing, verification names the daily.
    places = {path, path.replace("private/solutions/", "daily/").replace("daily/solutions/", "daily/")}
    assert places & {found.file for result in verified(storage).values() for found in result.problems}
    rehearsal = mended(Rehearsal(storage))
    assert files_of(storage) == damaged
    found = mended(storage)
    assert paths(found) == ([path], [])
    assert (found.mended, found.refused) == (rehearsal.mended, rehearsal.refused)
    assert files_of(storage) == before
    assert problems(verified(storage)) == {}


def test_everything_but_the_catalog_and_the_index_comes_back_at_once(storage: LocalStorage) -> None:
    before = files_of(storage)
    for path in before.keys() - {CATALOG_FILE, INDEX_PATH}:
        storage.remove(path)
    assert paths(mended(storage))[1] == []
    assert files_of(storage) == before


def test_nothing_is_written_where_nothing_is_wrong(storage: LocalStorage, tmp_path: Path) -> None:
    for root in (storage, LocalStorage(tmp_path / "empty")):
        recorder = FailingStorage(root, -1, Killed())
        assert paths(mended(recorder)) == ([], [])
        assert recorder.changes == []


def test_a_repair_that_is_killed_is_finished_by_the_next(storage: LocalStorage) -> None:
    before = files_of(storage)
    gone = (part(storage).path, daily_path(DAYS[0]), solution_path(DAYS[1]), SQL_FILE)
    for at in count():
        for path in gone:
            storage.remove(path)
        try:
            mended(FailingStorage(storage, at, Killed(), after=bool(at % 2)))
        except Killed:
            mended(storage)
            assert files_of(storage) == before
        else:
            break
    assert at == len(gone)


def test_a_solution_that_was_put_out_early_comes_back_where_it_was(storage: LocalStorage) -> None:
    publish(storage, DAYS, None, NOW, EXECUTOR, SILENT, early=DAYS[3:])
    before = files_of(storage)
    storage.remove(solution_path(DAYS[3]))
    assert paths(mended(storage)) == ([solution_path(DAYS[3])], [])
    assert files_of(storage) == before


def test_a_daily_that_a_killed_run_left_out_of_the_index_is_listed(storage: LocalStorage) -> None:
    before = files_of(storage)
    index = storage.read(INDEX_PATH)
    for path in (daily_path(DAYS[3]), INDEX_PATH):
        storage.remove(path)
    rebuild_index(storage)
    storage.create(daily_path(DAYS[3]), before[daily_path(DAYS[3])])
    found = mended(storage)
    assert paths(found) == ([INDEX_PATH], [])
    assert storage.read(INDEX_PATH) == index


# What cannot be known


def refused(storage: LocalStorage, path: str, words: str, key: DailyKey | None = None) -> None:
    """The damage to a file is refused with these words, and everything stays as it is."""
    before = files_of(storage)
    found = mended(storage, key)
    assert paths(found) == ([], [path])
    assert words in str(found.refused[0]), found.refused
    assert files_of(storage) == before


@pytest.fixture
def keyed(tmp_path: Path) -> LocalStorage:
    """A data root with two dailies of a key."""
    root = LocalStorage(tmp_path / "keyed")
    publish(root, DAYS[:2], KEY, NOW, EXECUTOR, SILENT)
    write_views(root, load_catalog(root))
    return root


def test_a_hole_of_another_key_is_not_invented_and_comes_back_with_its_own(keyed: LocalStorage) -> None:
    before = files_of(keyed)
    path = change(keyed, daily_path(DAYS[0]), None)
    refused(keyed, path, "missing; without a key its date does not give the one that was published")
    refused(keyed, path, "neither with the key in force nor without one; restore a copy", OTHER_KEY)
    assert paths(mended(keyed, KEY)) == ([path], [])
    assert files_of(keyed) == before


def test_what_follows_from_the_cards_of_a_hole_needs_no_key(keyed: LocalStorage) -> None:
    before = files_of(keyed)
    edit(keyed, daily_path(DAYS[0]), par=5, best_score=-16)
    keyed.remove(solution_path(DAYS[0]))
    keyed.replace(solution_path(DAYS[1]), b"")
    mended(keyed, OTHER_KEY)
    assert files_of(keyed) == before


def test_a_hole_in_the_place_of_another_is_left_alone_and_so_is_the_solution_of_that(
    keyed: LocalStorage,
) -> None:
    path = change(keyed, daily_path(DAYS[0]), lambda _: make_daily(DAYS[0], None).daily)
    refused(keyed, path, "it is sound by itself, so it took the place of another, or daily/index.json")


def test_a_hash_that_was_changed_in_the_index_is_not_fitted_to_the_file(storage: LocalStorage) -> None:
    text = storage.read(INDEX_PATH).decode()
    place = text.index('"sha256":"') + len('"sha256":"')
    digit = "0" if text[place] != "0" else "1"
    storage.replace(INDEX_PATH, f"{text[:place]}{digit}{text[place + 1 :]}".encode())
    refused(storage, daily_path(DAYS[0]), "if it is the right one, remove daily/index.json and repair again")
    storage.remove(INDEX_PATH)
    assert paths(mended(storage)) == ([INDEX_PATH], [])
    assert storage.read(INDEX_PATH).decode() == text


def test_a_daily_that_was_changed_with_its_hash_is_not_taken_into_the_index(storage: LocalStorage) -> None:
    path = daily_path(DAYS[0])
    before = sha256_of(storage.read(path))
    edit(storage, path, par=5)
    index = storage.read(INDEX_PATH).decode().replace(before, sha256_of(storage.read(path)))
    storage.replace(INDEX_PATH, index.encode())
    refused(storage, path, "so both were changed: restore copies of both")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"attempt": 99}, "its date gives these cards at attempt"),
        ({"key_id": "00000000", "keyed": True, "solution_sha256": "0" * 64}, "its cards give something else"),
        ({"par": 5}, "$.par: 5 does not follow"),
    ],
    ids=str,
)
def test_without_an_index_no_daily_is_changed_and_each_that_was_is_told(
    storage: LocalStorage, fields: dict[str, object], words: str
) -> None:
    edit(storage, daily_path(DAYS[0]), **fields)
    storage.remove(INDEX_PATH)
    before = files_of(storage)
    found = mended(storage)
    assert paths(found)[0] == [INDEX_PATH]
    assert found.refused[0].file == daily_path(DAYS[0])
    assert words in found.refused[0].what
    assert files_of(storage).items() >= before.items()


def test_an_index_of_a_newer_version_is_left_to_that(storage: LocalStorage) -> None:
    path = change(storage, INDEX_PATH, lambda data: data.replace(b"fairway-index/1.0", b"fairway-index/1.1"))
    refused(storage, path, "it is left to the Fairway that wrote it")


def with_part(storage: LocalStorage, **fields: object) -> str:
    """Change by hand what the catalog says of a part."""
    catalog = load_catalog(storage)
    wrong = part(storage)
    changed = dataclasses.replace(wrong, **fields)  # type: ignore[arg-type]  # each of its own type
    pools = [
        dataclasses.replace(pool, parts=tuple(changed if one == wrong else one for one in pool.parts))
        for pool in catalog.pools
    ]
    save_catalog(storage, dataclasses.replace(catalog, pools=tuple(pools)))
    storage.remove(kept_path(1))
    return wrong.path


def test_a_part_whose_hash_was_changed_in_the_catalog_is_left_alone(storage: LocalStorage) -> None:
    path = with_part(storage, sha256="0" * 64)
    refused(storage, path, "it holds the very rows that its numbers give, so no deal is lost")
    storage.remove(path)
    refused(storage, path, "or make the pool anew with `fairway pool regenerate easy`")


def test_a_part_of_which_the_catalog_says_too_much_is_left_alone(storage: LocalStorage) -> None:
    path = with_part(storage, rows=part(storage).rows - 1, pars=None, sha256="0" * 64)
    refused(storage, path, "its numbers give 12 deals, and the catalog says 11")


def test_a_part_of_other_definitions_is_left_alone(storage: LocalStorage) -> None:
    path = with_part(storage, versions={**part(storage).versions, "par": 99})
    storage.remove(path)
    refused(storage, path, "other versions of Fairway's definitions made it")


def test_a_part_that_another_pyarrow_wrote_is_told_as_such(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = change(storage, part(storage).path, lambda data: data[:-1])
    monkeypatch.setattr(repair_parts, "part_bytes", lambda rows: part_bytes(rows) + b" of another version")
    monkeypatch.setattr(repair_parts, "pyarrow_version", lambda: "99.0")
    refused(storage, path, "it has another one: either another pyarrow than 99.0 wrote it")


# The catalog


@pytest.fixture
def changed(storage: LocalStorage) -> LocalStorage:
    """A data root whose catalog has changed once more, so that the one before is kept."""
    catalog = load_catalog(storage)
    pool = catalog.pool("easy")
    assert pool.last_night is not None
    later = dataclasses.replace(pool, last_night=pool.last_night + timedelta(1))
    save_catalog(storage, catalog.with_pool(later))
    return storage


CATALOGS: dict[str, Callable[[bytes], bytes] | None] = {
    "missing": None,
    "cut": lambda data: data[:-20],
    "a path outside": lambda data: data.replace(b"deals/level=easy/", b"../../outside/", 1),
}


@pytest.mark.parametrize("make", CATALOGS.values(), ids=CATALOGS)
def test_a_damaged_catalog_gives_way_to_the_one_before_and_is_kept(
    changed: LocalStorage, make: Callable[[bytes], bytes] | None
) -> None:
    change(changed, CATALOG_FILE, make)
    before = files_of(changed)
    found = mended(changed)
    assert paths(found) == ([CATALOG_FILE], [])
    assert "the next night makes up for nights" in found.mended[0].what
    after = files_of(changed)
    assert after.pop(CATALOG_FILE) == before[kept_path(1)]
    aside = after.keys() - before.keys()
    assert {after[path] for path in aside} == ({before[CATALOG_FILE]} if make else set())
    assert problems(verified(changed)) == {}


def test_a_damaged_catalog_without_an_earlier_one_is_refused(storage: LocalStorage) -> None:
    path = change(storage, CATALOG_FILE, lambda _: b"{")
    refused(storage, path, "no earlier one is kept that could take its place: restore a copy")


def test_a_catalog_of_a_newer_version_is_no_damage(changed: LocalStorage) -> None:
    path = change(changed, CATALOG_FILE, lambda data: data.replace(b'"version": 3', b'"version": 99', 1))
    refused(changed, path, "has version 99, but this Fairway reads up to 3; upgrade it")


def test_a_damaged_earlier_catalog_is_refused(changed: LocalStorage) -> None:
    path = change(changed, kept_path(1), lambda _: b"[]")
    refused(changed, path, "restore a copy, or move it away")


def test_a_part_that_only_an_earlier_catalog_names_comes_back(changed: LocalStorage) -> None:
    catalog = load_catalog(changed)
    pool = catalog.pool("hard")
    save_catalog(changed, catalog.with_pool(dataclasses.replace(pool, parts=pool.parts[:1])))
    write_views(changed, load_catalog(changed))
    before = files_of(changed)
    path = change(changed, pool.parts[1].path, None)
    assert paths(mended(changed)) == ([path], [])
    assert files_of(changed) == before


def test_a_run_record_that_is_none_is_refused(storage: LocalStorage) -> None:
    storage.create("runs/a.json", b"{")
    write_views(storage, load_catalog(storage))
    refused(storage, "runs/a.json", "nobody can tell what it was: restore a copy, or move it away")


# The rehearsal

OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["create", "replace", "remove"]), st.sampled_from("abc"), st.binary(max_size=2)
    ),
    max_size=12,
)


@given(st.dictionaries(st.sampled_from("abc"), st.binary(max_size=2)), OPERATIONS)
def test_a_rehearsal_is_a_storage_that_leaves_the_other_as_it_is(
    there: Files, operations: list[tuple[str, str, bytes]]
) -> None:
    real, below = MemoryStorage(), MemoryStorage()
    real.files, below.files = dict(there), dict(there)
    rehearsal = Rehearsal(below)
    for operation, path, data in operations:
        arguments = (path,) if operation == "remove" else (path, data)
        outcomes = []
        for each in (real, rehearsal):
            try:
                outcomes.append(getattr(each, operation)(*arguments))
            except FairwayError as error:
                outcomes.append(type(error))
        assert outcomes[0] == outcomes[1]
    assert files_of(rehearsal) == real.files
    assert [rehearsal.list(prefix) for prefix in "abc"] == [real.list(prefix) for prefix in "abc"]
    assert below.files == there
