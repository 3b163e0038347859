"""Verification: right where all is sound, stopped by nothing, blind to no damage, and it changes nothing."""

import os
import random
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.daily.ledger import INDEX_PATH, daily_path
from pipeline.daily.publish import publish
from pipeline.deals.levels import LEVELS
from pipeline.integrity.pools import spread
from pipeline.integrity.report import NO_FILE
from pipeline.integrity.verify import verify
from pipeline.pools.catalog import CATALOG_FILE, load_catalog, save_catalog
from pipeline.pools.nights import add_nights
from pipeline.query.views import SQL_FILE, catalog_sql, part_paths, write_views
from pipeline.store.storage import LocalStorage
from pipeline.store.text import sha256_of
from pipeline.work.executors import Work
from pipeline.work.progress import SILENT
from pipeline.work.records import write_record
from tests.support.doubles import FailingStorage, Killed
from tests.support.run_records import A_RECORD
from tests.support.sound_root import (
    ADMITTED,
    CARDS,
    CATALOG,
    CHOSEN,
    DAILIES,
    DATES,
    DAYS,
    DEALS_PER_NIGHT,
    EXECUTOR,
    INDEX,
    LINES,
    NAMES,
    NIGHTS,
    NOW,
    NUMBERS,
    PARTS,
    PUZZLES,
    RUNS,
    SAMPLE,
    SAMPLED,
    SCHEMA,
    SCORES,
    SOLUTIONS,
    TWICE,
    VIEWS,
    notes,
    parts_of,
    problems,
    sound_files,
    sound_root,
    verified,
)


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return sound_root(tmp_path)


def test_a_sound_root_passes_every_check_with_the_right_counts(storage: LocalStorage) -> None:
    results = verified(storage, SAMPLE)
    deals = len(LEVELS) * len(NIGHTS) * DEALS_PER_NIGHT
    assert (problems(results), notes(results)) == ({}, {})
    assert {name: result.checked for name, result in results.items()} == {
        "nothing but files": len(sound_files()),
        CATALOG: 1,
        "no number left out between parts": len(LEVELS) * len(NIGHTS),
        PARTS: len(LEVELS) * len(NIGHTS),
        SCHEMA: len(LEVELS) * len(NIGHTS),
        **dict.fromkeys((NUMBERS, NAMES, CARDS, PUZZLES, LINES, SCORES, ADMITTED, TWICE), deals),
        SAMPLED: len(LEVELS) * SAMPLE,
        DAILIES: len(DAYS),
        DATES: len(DAYS),
        SOLUTIONS: len(DAYS),
        INDEX: len(DAYS),
        CHOSEN: len(DAYS),
        VIEWS: 1,
    }
    assert all(result.is_passed and result.seconds >= 1 for result in results.values())


def test_all_deals_are_worked_out_anew_on_request(storage: LocalStorage) -> None:
    results = verified(storage, None)
    assert problems(results) == {}
    assert results[SAMPLED].checked == len(LEVELS) * len(NIGHTS) * DEALS_PER_NIGHT


def test_without_a_sample_nothing_is_solved(storage: LocalStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.search.exact.solve_position", None)
    monkeypatch.setattr("pipeline.integrity.pools.warm_up", None)
    results = verified(storage, 0)
    assert problems(results) == {}
    assert CHOSEN not in results


def test_nothing_is_changed(storage: LocalStorage) -> None:
    storage.remove(INDEX_PATH)
    storage.replace(daily_path(DAYS[0]), b"damaged")
    before = {path: storage.read(path) for path in storage.list("")}
    recorder = FailingStorage(storage, -1, Killed())
    verified(recorder, SAMPLE)
    assert recorder.changes == []
    assert {path: storage.read(path) for path in storage.list("")} == before


def test_an_empty_root_is_sound(tmp_path: Path) -> None:
    results = verified(LocalStorage(tmp_path), SAMPLE)
    assert (problems(results), notes(results)) == ({}, {})


def test_progress_goes_up_to_its_total(storage: LocalStorage) -> None:
    told: dict[str, list[tuple[int, int]]] = {}

    class Recorder:
        def update(self, task: str, done: int, total: int) -> None:
            told.setdefault(task, []).append((done, total))

    verify(storage, None, SAMPLE, EXECUTOR, lambda: 0.0, Recorder())
    pools = len(LEVELS) * (len(NIGHTS) + SAMPLE)
    assert told == {
        "pools": [(done, pools) for done in range(1, pools + 1)],
        "dailies": [(done, len(DAYS)) for done in range(1, len(DAYS) + 1)],
    }


@given(st.integers(0, 500), st.integers(0, 500))
def test_a_sample_is_spread_over_the_whole_pool(size: int, wanted: int) -> None:
    places = spread(size, wanted)
    assert len(places) == min(size, wanted)
    assert all(0 <= place < size for place in places)
    gaps = {after - before for before, after in pairwise(places)}
    assert max(gaps, default=1) - min(gaps, default=1) <= 1
    assert min(gaps, default=1) >= 1
    assert len(spread(size, None)) == size


@pytest.mark.parametrize("fault_after", [False, True])
def test_whatever_a_killed_run_leaves_is_no_problem(tmp_path: Path, fault_after: bool) -> None:
    for at in count():
        root = LocalStorage(tmp_path / str(at))
        publish(root, DAYS[:1], None, datetime(2026, 11, 27, tzinfo=UTC), EXECUTOR, SILENT)
        write_views(root, load_catalog(root))
        stopping = FailingStorage(root, at, Killed(), after=fault_after)
        try:
            publish(stopping, DAYS[:2], None, NOW, EXECUTOR, SILENT)
        except Killed:
            assert problems(verified(root)) == {}
        else:
            break
    assert at == 5


@pytest.mark.parametrize("at", range(4))
def test_whatever_the_first_run_leaves_when_killed_is_no_problem(tmp_path: Path, at: int) -> None:
    root = LocalStorage(tmp_path)
    write_views(root, load_catalog(root))
    with pytest.raises(Killed):
        publish(FailingStorage(root, at, Killed()), DAYS[:1], None, NOW, EXECUTOR, SILENT)
    assert problems(verified(root)) == {}


@pytest.mark.parametrize("content", [b"", b"\xff", b"drop table deals;"])
def test_views_that_are_not_ours_are_found(storage: LocalStorage, content: bytes) -> None:
    storage.replace(SQL_FILE, storage.read(SQL_FILE) + content if content else b"")
    results = verified(storage)
    assert list(problems(results)) == [VIEWS]
    assert results[VIEWS].problems[0].file == SQL_FILE


def test_views_of_an_earlier_catalog_are_a_note(storage: LocalStorage) -> None:
    storage.replace(
        SQL_FILE, catalog_sql(part_paths(load_catalog(storage))[:2], dailies=False, runs=False).encode()
    )
    assert notes(verified(storage)) == {
        VIEWS: ["catalog.sql: behind what is there; the next run rewrites it"]
    }


def test_views_that_are_gone_are_found(storage: LocalStorage) -> None:
    storage.remove(SQL_FILE)
    assert problems(verified(storage)) == {VIEWS: ["catalog.sql: missing; the next run writes it"]}


def test_views_of_parts_that_are_gone_are_found(storage: LocalStorage) -> None:
    gone = ["deals/level=easy/generation=0009/part-0-9.parquet"]
    storage.replace(SQL_FILE, catalog_sql(gone, dailies=True, runs=False).encode())
    assert list(problems(verified(storage))) == [VIEWS]


def test_any_flipped_bit_is_found_and_none_stops_the_verification(storage: LocalStorage) -> None:
    dice = random.Random(1)
    paths = [path for path in storage.list("") if path != CATALOG_FILE]
    for path in paths:
        data = storage.read(path)
        damaged = bytearray(data)
        damaged[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        storage.replace(path, bytes(damaged))
        assert problems(verified(storage)), path
        storage.replace(path, data)
    assert problems(verified(storage)) == {}


def test_a_flipped_bit_in_the_catalog_never_stops_the_verification(storage: LocalStorage) -> None:
    dice = random.Random(2)
    data = storage.read(CATALOG_FILE)
    for _ in range(15):
        damaged = bytearray(data)
        damaged[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        storage.replace(CATALOG_FILE, bytes(damaged))
        verified(storage)


def test_any_flipped_bit_in_a_part_whose_hash_was_made_to_fit_never_stops_the_verification(
    storage: LocalStorage,
) -> None:
    dice = random.Random(3)
    catalog = load_catalog(storage)
    part = parts_of(catalog)[0]
    data = storage.read(part.path)
    text = storage.read(CATALOG_FILE)
    for _ in range(25):
        damaged = bytearray(data)
        damaged[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        storage.replace(part.path, bytes(damaged))
        fitting = text.replace(part.sha256.encode(), sha256_of(bytes(damaged)).encode())
        storage.replace(CATALOG_FILE, fitting)
        verified(storage)


def test_a_run_record_that_is_none_is_found(storage: LocalStorage) -> None:
    write_record(storage, A_RECORD)
    storage.create("runs/a.json", b"{}\n")
    storage.create("runs/b.json", b"{")
    results = verified(storage)
    assert [found.file for found in results[RUNS].problems] == ["runs/a.json", "runs/b.json"]
    assert results[RUNS].checked == 3


@pytest.mark.soak
def test_ten_thousand_deals_without_solving_take_less_than_five_seconds(tmp_path: Path) -> None:
    import time

    storage = LocalStorage(tmp_path)
    deals = {"easy": 3400, "medium": 3300, "hard": 3300}
    catalog = add_nights(storage, load_catalog(storage), NIGHTS[:1], deals, deals, Work(EXECUTOR))
    save_catalog(storage, catalog)
    write_views(storage, catalog)
    begun = time.process_time()  # the machine may have other work
    results = verify(storage, None, 0, EXECUTOR, time.process_time, SILENT)
    assert time.process_time() - begun < 5
    assert results[3].checked == 10_000
    assert all(result.is_passed for result in results)


def a_pipe(place: Path) -> None:
    os.mkfifo(place)


def a_link(place: Path) -> None:
    place.symlink_to(place.with_name("elsewhere"))


@pytest.mark.parametrize("make", [a_pipe, a_link, Path.mkdir])
@pytest.mark.parametrize("beside", [False, True])
def test_what_is_no_file_is_named_wherever_it_lies(
    make: Callable[[Path], None], beside: bool, storage: LocalStorage
) -> None:
    for path in list(sound_files()):
        place = storage.root / path
        aside = place.with_name(f".{place.name}")
        if beside:
            aside = place
            place = place.with_name(f"1{place.name}")
        else:
            place.rename(aside)
        make(place)
        odd = place.relative_to(storage.root).as_posix()
        assert problems(verified(storage))["nothing but files"] == [f"{odd}: {NO_FILE}"]
        place.rmdir() if place.is_dir() else place.unlink()
        if not beside:
            aside.rename(place)
    assert problems(verified(storage)) == {}
