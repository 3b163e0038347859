"""A regeneration switches in one step, resumes after a stop, and never mixes two requests."""

import dataclasses
from datetime import date, timedelta
from pathlib import Path
from typing import TypeVar

import pytest

from pipeline.deals.batches import Batch
from pipeline.deals.levels import LEVELS, MAX_DEALS, Level, changed
from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.errors import CheckError, DamagedError
from pipeline.pools import nights, regenerate
from pipeline.pools.catalog import Catalog, Part, PartName, empty_catalog, load_catalog, save_catalog
from pipeline.pools.garbage import clear_unreferenced
from pipeline.pools.nights import add_nights
from pipeline.pools.regenerate import drop_unfinished, plan_regeneration
from pipeline.pools.unfinished import read_record, record_path
from pipeline.store.storage import LocalStorage, Storage
from pipeline.work.counts import Clock
from pipeline.work.executors import local_work
from solver.errors import UsageError
from tests.support.doubles import (
    FailingStorage,
    Killed,
    MemoryStorage,
    changes_of,
    fake_batch,
    files_in,
    row_with_puzzle_of,
    stopped_at_each_change,
)
from tests.support.pools import LEVEL, make_fake_deals, numbers_of, rows_of

POLICY = LEVELS[LEVEL].policy

pytestmark = pytest.mark.system

NIGHT = date(2026, 11, 30)
RECORD = record_path(LEVEL, 2)

AnyStorage = TypeVar("AnyStorage", bound=Storage)


@pytest.fixture(autouse=True)
def _fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    make_fake_deals(monkeypatch)
    monkeypatch.setattr(regenerate, "PART_ROWS", 10)


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    """A data root with one night of 35 deals a level."""
    return with_a_night(LocalStorage(tmp_path / "root"))


def with_a_night(storage: AnyStorage, night: date = NIGHT) -> AnyStorage:
    catalog = load_catalog(storage)
    per_night = dict.fromkeys([pool.level for pool in catalog.pools], 35)
    with local_work(1) as work:
        caps = dict.fromkeys(per_night, 1000)
        save_catalog(storage, add_nights(storage, catalog, LEVELS.values(), [night], per_night, caps, work))
    return storage


def run(storage: Storage, size: int | None = None, first: int | None = None, workers: int = 1) -> Catalog:
    """Regenerate as the job does."""
    catalog = load_catalog(storage)
    wanted = plan_regeneration(catalog.pool(LEVEL), POLICY, size, first)
    with local_work(workers) as work:
        after = regenerate.regenerate(storage, catalog, wanted, work)
    regenerate.forget_request(storage, after.pool(LEVEL))
    return after


def test_by_default_the_next_generation_has_the_same_numbers_and_size(storage: LocalStorage) -> None:
    before = load_catalog(storage)
    after = run(storage)
    old, new = before.pool(LEVEL), after.pool(LEVEL)
    assert load_catalog(storage) == after
    assert numbers_of(storage, new) == numbers_of(storage, old)
    assert (new.generation, new.size, new.next_number) == (2, old.size, old.next_number)
    assert new.last_night == NIGHT
    assert [(part.night, part.rows) for part in new.parts] == [(None, 10), (None, 10), (None, 10), (None, 5)]
    assert new.parts[0].path.startswith("deals/medium/generation-0002/part-0-")
    assert [pool for pool in after.pools if pool.level != LEVEL] == [
        pool for pool in before.pools if pool.level != LEVEL
    ]
    assert storage.read(old.parts[0].path)
    assert RECORD not in storage.list("")
    assert run(storage).pool(LEVEL).generation == 3


def test_size_and_first_number_are_as_requested(storage: LocalStorage) -> None:
    after = run(storage, size=12, first=1000).pool(LEVEL)
    assert (after.size, after.parts[0].first) == (12, 1000)
    assert after.next_number == after.parts[-1].last + 1


def test_the_next_night_continues_the_new_generation(storage: LocalStorage) -> None:
    regenerated = run(storage, size=12, first=1000).pool(LEVEL)
    with_a_night(storage, NIGHT + timedelta(1))
    grown = load_catalog(storage).pool(LEVEL)
    assert grown.parts[:-1] == regenerated.parts
    assert grown.parts[-1].first == regenerated.next_number
    assert grown.parts[-1].night == NIGHT + timedelta(1)


@pytest.mark.parametrize(
    ("size", "first", "message"),
    [
        (0, None, r"size 0 is out of range; it must be one of 1 \.\. 10000000"),
        (-3, None, "size -3 is out of range"),
        (MAX_DEALS + 1, None, "size 10000001 is out of range"),
        (5, -1, "5 deals from number -1 are out of range"),
        (2, MOST_DEAL_NUMBER, "2 deals from number 9223372036854775807 are out of range"),
    ],
)
def test_numbers_out_of_range_are_refused(
    storage: LocalStorage, size: int, first: int | None, message: str
) -> None:
    before = files_in(storage)
    with pytest.raises(UsageError, match=message):
        run(storage, size, first)
    assert files_in(storage) == before


def test_an_empty_pool_needs_a_size(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    with pytest.raises(
        UsageError, match="the pool of level medium is empty; give its new size with --size N"
    ):
        run(storage)
    pool = run(storage, size=15).pool(LEVEL)
    assert (pool.generation, pool.size, pool.parts[0].first, pool.last_night) == (2, 15, 0, None)


def test_the_record_is_written_first_and_removed_last_and_the_switch_is_one_step(
    storage: LocalStorage,
) -> None:
    changes = [(operation, path.rpartition("/")[2]) for operation, path in changes_of(storage, run)]
    part = [("create", "part"), ("replace", "unfinished.json")]
    assert [(operation, "part" if name.startswith("part-") else name) for operation, name in changes] == [
        ("replace", "unfinished.json"),
        *part * 4,
        ("create", "000001.json"),
        ("replace", "catalog.json"),
        ("remove", "unfinished.json"),
    ]


def test_the_next_run_completes_what_was_stopped_at_any_change() -> None:
    def start() -> MemoryStorage:
        return with_a_night(MemoryStorage())

    whole = start()
    before = load_catalog(whole)
    run(whole)
    for storage, change, is_made in stopped_at_each_change(start, run):
        if change != ("remove", RECORD) and not (change == ("replace", "catalog.json") and is_made):
            assert load_catalog(storage) == before
        if (change, is_made) != (("remove", RECORD), True):  # without the record, it would be a new request
            run(storage)
        assert storage.files == whole.files, change


def stopped_after(storage: LocalStorage, parts: int, **request: int) -> None:
    """Leave an unfinished regeneration with this many parts."""
    with pytest.raises(Killed):
        run(FailingStorage(storage, 2 * parts, Killed(), after=True), **request)


@pytest.mark.parametrize("parts", [1, 3, 4])
def test_finished_parts_are_not_made_again(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch, parts: int
) -> None:
    stopped_after(storage, parts)
    record = read_record(storage, load_catalog(storage).pool(LEVEL))
    assert record is not None
    assert len(record.parts) == parts
    firsts: list[int] = []

    def noted(level: Level, first: int, count: int, _clock: Clock) -> Batch:
        firsts.append(first)
        return fake_batch(level, first, count)

    monkeypatch.setattr(nights, "certify_batch", noted)
    after = run(storage)
    assert after.pool(LEVEL).parts[:parts] == record.parts
    assert min(firsts, default=record.next_number) == record.next_number
    assert bool(firsts) == (parts < 4)


def test_a_resumed_generation_has_no_puzzle_twice(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = fake_batch(LEVELS[LEVEL], 0, 10).rows[0].deal_number

    def repeating(level: Level, first: int, count: int, _clock: Clock) -> Batch:
        batch = fake_batch(level, first, count)
        rows = tuple(
            row_with_puzzle_of(LEVEL, row.deal_number, known) if row.deal_number % 5 == 0 else row
            for row in batch.rows
        )
        return dataclasses.replace(batch, rows=rows)

    monkeypatch.setattr(nights, "certify_batch", repeating)
    stopped_after(storage, 2)
    after = run(storage)
    puzzles = rows_of(storage, after.pool(LEVEL).parts)["puzzle_id"].to_pylist()
    assert len(puzzles) == len(set(puzzles)) == 35


@pytest.mark.parametrize("request_", [{"size": 34}, {"first": 1}, {"size": 35, "first": 7}])
def test_only_the_same_request_resumes_an_unfinished_regeneration(
    storage: LocalStorage, request_: dict[str, int]
) -> None:
    stopped_after(storage, 2, size=35, first=0)
    before = files_in(storage)
    with pytest.raises(UsageError) as caught:
        run(storage, **request_)
    message = str(caught.value)
    assert "`fairway pool regenerate medium --size 35 --from-number 0`" in message
    assert "--restart" in message
    assert "\n" not in message
    assert files_in(storage) == before


def test_a_regeneration_begun_by_another_version_is_not_resumed(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regenerate, "part_versions", lambda _: {"policy": 0})
    stopped_after(storage, 1)
    monkeypatch.undo()
    with pytest.raises(UsageError, match="another version of Fairway began it, or add --restart to drop it"):
        run(storage)


def test_a_night_does_not_touch_an_unfinished_regeneration(storage: LocalStorage, tmp_path: Path) -> None:
    stopped_after(storage, 2, size=35, first=0)
    clear_unreferenced(storage, load_catalog(storage))
    with_a_night(storage, NIGHT + timedelta(1))
    other = with_a_night(LocalStorage(tmp_path / "other"))
    with_a_night(other, NIGHT + timedelta(1))
    run(other, size=35, first=0)
    run(storage, size=35, first=0)
    assert files_in(storage) == files_in(other)


def test_dropping_removes_an_unfinished_regeneration_with_its_record_last(storage: LocalStorage) -> None:
    before = files_in(storage)
    assert drop_unfinished(storage, load_catalog(storage).pool(LEVEL)) == ()
    stopped_after(storage, 2)
    for step in range(2):  # two parts, then the record: killed at each of the first two
        with pytest.raises(Killed):
            drop_unfinished(
                FailingStorage(storage, 0, Killed(), after=True), load_catalog(storage).pool(LEVEL)
            )
        assert RECORD in storage.list(""), step
    assert drop_unfinished(storage, load_catalog(storage).pool(LEVEL)) == (RECORD,)
    assert files_in(storage) == before
    assert run(storage, size=8).pool(LEVEL).size == 8


@pytest.mark.parametrize(
    ("damaged", "data"),
    [
        (0, b"PAR1"),
        (1, b""),
        (1, None),
        (PartName(LEVEL, 2, 777, 778).path, b"not of this regeneration"),
        (f"deals/{LEVEL}/generation-0002/notes.txt", b"not of this regeneration"),
    ],
)
def test_a_damaged_unfinished_regeneration_is_completed_to_the_same_bytes(
    storage: LocalStorage, tmp_path: Path, damaged: int | str, data: bytes | None
) -> None:
    whole = with_a_night(LocalStorage(tmp_path / "whole"))
    run(whole)
    stopped_after(storage, 3)
    record = read_record(storage, load_catalog(storage).pool(LEVEL))
    assert record is not None
    path = damaged if isinstance(damaged, str) else record.parts[damaged].path
    if data is None:
        storage.remove(path)
    else:
        storage.replace(path, data)
    run(storage)
    assert files_in(storage) == files_in(whole)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (b"{", b"", "is not a JSON document"),
        (b'"size": 35', b'"size": "35"', "wanted.size': Input should be a valid integer"),
        (b'"size": 35', b'"size": 19', "more deals than requested"),
        (b'"first": 0,\n  "size"', b'"first": 5,\n  "size"', "are not consecutive"),
        (b'"level": "medium"', b'"level": "easy"', "belongs to another level"),
        (b'"generation": 2', b'"generation": 9', "belongs to another level or generation"),
        (b"generation-0002/part", b"generation-0001/part", "the path is not that of a part"),
        (b"deals/", b"../../", "the path is not that of a part"),
        (b'"version": 3', b'"version": 2', "of an earlier version of Fairway, which began it"),
        (b'"version": 3', b'"version": 4', "has version 4, but this Fairway reads up to 3"),
    ],
)
def test_a_damaged_record_is_reported_and_can_be_dropped(
    storage: LocalStorage, old: bytes, new: bytes, fault: str
) -> None:
    stopped_after(storage, 2)
    storage.replace(RECORD, storage.read(RECORD).replace(old, new, 1))
    before = files_in(storage)
    with pytest.raises(DamagedError, match=f"^{RECORD} .*{fault}.*--restart` drops it$"):
        run(storage)
    assert files_in(storage) == before
    drop_unfinished(storage, load_catalog(storage).pool(LEVEL))
    run(storage)


def test_parts_without_a_record_are_never_overwritten_or_removed(storage: LocalStorage) -> None:
    stranger = PartName(LEVEL, 2, 0, 1).path
    storage.create(stranger, b"somebody's")
    with pytest.raises(DamagedError, match=f"^{stranger} is in the folder of the next generation of medium"):
        run(storage)
    assert drop_unfinished(storage, load_catalog(storage).pool(LEVEL)) == ()
    assert storage.read(stranger) == b"somebody's"


def test_running_out_of_numbers_leaves_the_pool_unchanged(storage: LocalStorage) -> None:
    before = load_catalog(storage)
    with pytest.raises(CheckError, match="begin lower"):
        run(storage, size=20, first=MOST_DEAL_NUMBER - 30)
    assert load_catalog(storage) == before


def test_a_plan_names_its_command() -> None:
    hard = LEVELS["hard"].policy
    plan = plan_regeneration(empty_catalog().pool("hard"), hard, 7, 2**60)
    assert plan.command() == "fairway pool regenerate hard --size 7 --from-number 1152921504606846976"


def test_a_plan_by_another_policy_names_what_differs_from_the_settings() -> None:
    other = changed(LEVELS["easy"].policy, {"mean_below": "2", "course": "none"})
    plan = plan_regeneration(empty_catalog().pool("easy"), other, 7, 0, "for two")
    request = "fairway pool regenerate easy --size 7 --from-number 0"
    assert plan.command() == f"{request} --set mean_below=2 --set course=none --note 'for two'"
    assert plan.command(other) == f"{request} --note 'for two'"


def test_an_unfinished_regeneration_by_another_policy_is_refused_and_both_are_named(
    storage: LocalStorage,
) -> None:
    stopped_after(storage, 1)
    before = files_in(storage)
    pool = load_catalog(storage).pool(LEVEL)
    other = plan_regeneration(pool, changed(POLICY, {"difficulty_to": 2}), 35, 0)
    with local_work(1) as work, pytest.raises(UsageError) as caught:
        regenerate.regenerate(storage, load_catalog(storage), other, work)
    assert "it admits golf, not golf, difficulty 1 to 2 (difficulty_to); resume it with `fairway pool" in str(
        caught.value
    )
    assert files_in(storage) == before


@pytest.mark.parametrize("workers", [2, 3])
def test_the_bytes_do_not_depend_on_the_number_of_workers(
    storage: LocalStorage, tmp_path: Path, workers: int
) -> None:
    other = with_a_night(LocalStorage(tmp_path / "other"))
    run(other)
    run(storage, workers=workers)
    assert files_in(storage) == files_in(other)


def test_the_default_request_has_the_first_number_and_size_of_the_pool() -> None:
    part = Part(PartName(LEVEL, 1, 1000, 1009).path, None, 1000, 1009, 7, "0" * 64, {}, {3: 7})
    pool = dataclasses.replace(empty_catalog().pool(LEVEL), parts=(part,), next_number=1010)
    wanted = plan_regeneration(pool, pool.policy, None, None)
    assert (wanted.first, wanted.size) == (1000, 7)
