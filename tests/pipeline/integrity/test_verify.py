"""Verification passes a sound data root, finds any damage, is stopped by none, and changes nothing."""

import os
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import count, cycle, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.daily.files import INDEX_PATH, daily_path
from pipeline.daily.publish import publish
from pipeline.deals.levels import LEVELS
from pipeline.integrity.pools import spread
from pipeline.integrity.report import NOT_A_FILE
from pipeline.integrity.verify import verify
from pipeline.pools.catalog import CATALOG_FILE, load_catalog
from pipeline.query.views import EARLIER_HEADS, SQL_FILE, catalog_sql, daily_paths, part_paths, write_views
from pipeline.store.storage import LocalStorage
from pipeline.store.text import sha256_of
from pipeline.work.executors import Work
from pipeline.work.records import write_record
from tests.support import checks
from tests.support.doubles import FailingStorage, Killed, Recorder
from tests.support.run_records import A_RECORD
from tests.support.sound_root import (
    DAYS,
    DEALS_PER_NIGHT,
    NIGHTS,
    NOW,
    SAMPLE,
    WORK,
    notes,
    parts_of,
    problems,
    sound_files,
    verified,
)

pytestmark = pytest.mark.system


def test_a_sound_root_passes_every_check_with_the_right_counts(storage: LocalStorage) -> None:
    results = verified(storage, SAMPLE)
    parts = len(LEVELS) * len(NIGHTS)
    deals = parts * DEALS_PER_NIGHT
    assert (problems(results), notes(results)) == ({}, {})
    assert {name: result.checked for name, result in results.items()} == {
        checks.FILES: len(sound_files()),
        checks.CATALOG: 1,
        **dict.fromkeys((checks.GAPS, checks.PARTS, checks.SCHEMA), parts),
        **dict.fromkeys(
            (
                checks.NUMBERS,
                checks.NAMES,
                checks.CARDS,
                checks.PUZZLES,
                checks.LINES,
                checks.SCORES,
                checks.DIFFICULTIES,
                checks.ADMITTED,
                checks.TWICE,
            ),
            deals,
        ),
        checks.SAMPLED: len(LEVELS) * SAMPLE,
        **dict.fromkeys(
            (checks.DAILIES, checks.DATES, checks.SOLUTIONS, checks.INDEX, checks.CHOSEN), len(DAYS)
        ),
        checks.VIEWS: 1,
    }
    assert all(result.is_passed and result.seconds >= 1 for result in results.values())


def test_all_deals_are_solved_again_on_request(storage: LocalStorage) -> None:
    results = verified(storage, None)
    assert problems(results) == {}
    assert results[checks.SAMPLED].checked == len(LEVELS) * len(NIGHTS) * DEALS_PER_NIGHT


def test_without_a_sample_nothing_is_solved(storage: LocalStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.search.exact.solve_position", None)
    results = verified(storage, 0)
    assert problems(results) == {}
    assert checks.CHOSEN not in results


def test_nothing_is_changed(storage: LocalStorage) -> None:
    storage.remove(INDEX_PATH)
    storage.replace(daily_path(DAYS[0]), b"damaged")
    recorder = FailingStorage(storage, -1, Killed())
    verified(recorder, SAMPLE)
    assert recorder.changes == []


def test_an_empty_root_is_sound(tmp_path: Path) -> None:
    results = verified(LocalStorage(tmp_path), SAMPLE)
    assert (problems(results), notes(results)) == ({}, {})


def test_progress_reaches_its_total(storage: LocalStorage) -> None:
    recorder = Recorder()
    with ThreadPoolExecutor(2) as executor:
        verify(storage, None, SAMPLE, Work(executor, recorder), lambda: 0.0)
    pools = len(LEVELS) * (len(NIGHTS) + SAMPLE)
    assert recorder.updates == [
        (task, done, total)
        for task, total in (("pools", pools), ("dailies", len(DAYS)))
        for done in range(1, total + 1)
    ]


@given(st.integers(0, 500), st.integers(0, 500))
def test_a_sample_is_spread_evenly_over_the_pool(size: int, wanted: int) -> None:
    places = spread(size, wanted)
    assert len(places) == min(size, wanted)
    assert all(0 <= place < size for place in places)
    gaps = {after - before for before, after in pairwise(places)}
    assert max(gaps, default=1) - min(gaps, default=1) <= 1
    assert min(gaps, default=1) >= 1
    assert len(spread(size, None)) == size


@pytest.mark.parametrize("fault_after", [False, True])
@pytest.mark.parametrize(("published", "changes"), [(1, 5), (0, 4)], ids=["later", "first"])
def test_what_a_killed_run_leaves_is_not_a_problem(
    tmp_path: Path, published: int, changes: int, fault_after: bool
) -> None:
    before = datetime(2026, 11, 27, tzinfo=UTC)
    for at in count():
        root = LocalStorage(tmp_path / str(at))
        if published:
            publish(root, DAYS[:published], None, before, WORK)
        write_views(root, load_catalog(root))
        stopping = FailingStorage(root, at, Killed(), after=fault_after)
        try:
            publish(stopping, DAYS[: published + 1], None, NOW, WORK)
        except Killed:
            assert problems(verified(root)) == {}
        else:
            break
    assert at == changes


def views_of_missing_parts() -> bytes:
    return catalog_sql(["deals/easy/generation-0009/part-0-9.parquet"], [], runs=False).encode()


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        lambda data: data + b"\xff",
        lambda data: data + b"drop table deals;",
        lambda data: views_of_missing_parts(),
    ],
    ids=["empty", "not text", "another statement", "missing parts"],
)
def test_other_views_are_found(storage: LocalStorage, change: Callable[[bytes], bytes]) -> None:
    storage.replace(SQL_FILE, change(storage.read(SQL_FILE)))
    assert problems(verified(storage)) == {
        checks.VIEWS: ["catalog.sql: not the text that Fairway writes; the next run rewrites it"]
    }


def test_views_of_an_earlier_catalog_are_a_note(storage: LocalStorage) -> None:
    earlier = part_paths(load_catalog(storage))[:2]
    storage.replace(SQL_FILE, catalog_sql(earlier, daily_paths(storage)[:1], runs=False).encode())
    assert notes(verified(storage)) == {checks.VIEWS: ["catalog.sql: out of date; the next run rewrites it"]}
    storage.replace(SQL_FILE, f"{EARLIER_HEADS[0]} and macros".encode())
    assert notes(verified(storage)) == {checks.VIEWS: ["catalog.sql: out of date; the next run rewrites it"]}


def test_missing_views_are_found(storage: LocalStorage) -> None:
    storage.remove(SQL_FILE)
    assert problems(verified(storage)) == {checks.VIEWS: ["catalog.sql: missing; the next run writes it"]}


def flipped(data: bytes, dice: random.Random) -> bytes:
    """Flip a random bit."""
    damaged = bytearray(data)
    damaged[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return bytes(damaged)


def test_a_flipped_bit_in_any_file_is_found(storage: LocalStorage) -> None:
    dice = random.Random(1)
    for path in (*storage.list(""), *[CATALOG_FILE] * 15):
        data = storage.read(path)
        storage.replace(path, flipped(data, dice))
        assert problems(verified(storage)), path
        storage.replace(path, data)
    assert problems(verified(storage)) == {}


def test_a_flipped_bit_in_a_part_with_a_matching_hash_does_not_stop_the_verification(
    storage: LocalStorage,
) -> None:
    dice = random.Random(3)
    part = parts_of(load_catalog(storage))[0]
    data, text = storage.read(part.path), storage.read(CATALOG_FILE)
    for _ in range(25):
        damaged = flipped(data, dice)
        storage.replace(part.path, damaged)
        storage.replace(CATALOG_FILE, text.replace(part.sha256.encode(), sha256_of(damaged).encode()))
        verified(storage)


def test_a_damaged_run_record_is_found(storage: LocalStorage) -> None:
    write_record(storage, A_RECORD)
    storage.create("runs/a.json", b"{}\n")
    storage.create("runs/b.json", b"{")
    results = verified(storage)
    assert [found.file for found in results[checks.RUNS].problems] == ["runs/a.json", "runs/b.json"]
    assert results[checks.RUNS].checked == 3


def a_pipe(place: Path) -> None:
    os.mkfifo(place)


def a_link(place: Path) -> None:
    place.symlink_to(place.with_name("elsewhere"))


MAKERS: tuple[Callable[[Path], None], ...] = (a_pipe, a_link, Path.mkdir)


@pytest.mark.parametrize("is_extra", [False, True])
def test_what_is_not_a_regular_file_is_found_everywhere(is_extra: bool, storage: LocalStorage) -> None:
    for path, make in zip(sound_files(), cycle(MAKERS), strict=False):
        place = storage.root / path
        aside = place.with_name(f".{place.name}")
        if is_extra:
            place = place.with_name(f"1{place.name}")
        else:
            place.rename(aside)
        make(place)
        irregular = place.relative_to(storage.root).as_posix()
        assert problems(verified(storage))[checks.FILES] == [f"{irregular}: {NOT_A_FILE}"]
        place.rmdir() if place.is_dir() else place.unlink()
        if not is_extra:
            aside.rename(place)
    assert problems(verified(storage)) == {}
