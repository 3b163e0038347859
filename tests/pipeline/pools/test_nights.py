"""Nights add what is due, with the same bytes for any executor and after any stop."""

import dataclasses
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from datetime import date, timedelta
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from pipeline.deals.batches import Batch
from pipeline.deals.levels import LEVELS, Level
from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.errors import CheckError, DamagedError
from pipeline.pools import nights as generate
from pipeline.pools.catalog import CATALOG_FILE, Catalog, PartName, empty_catalog, load_catalog, save_catalog
from pipeline.pools.garbage import clear_unreferenced
from pipeline.pools.nights import BATCH_SIZE, add_nights, make_parts
from pipeline.pools.puzzles import PuzzleIds
from pipeline.pools.unfinished import record_path
from pipeline.store.storage import LocalStorage, Storage
from pipeline.work.counts import Clock
from pipeline.work.executors import Work, local_work
from solver.errors import UsageError
from tests.support.doubles import (
    Inline,
    MemoryStorage,
    Recorder,
    changes_of,
    fake_admitted,
    fake_batch,
    files_in,
    row_with_puzzle_of,
    stopped_at_each_change,
)
from tests.support.pools import make_fake_deals, numbers_of

NIGHT = date(2026, 11, 30)
NEXT = NIGHT + timedelta(1)
PER_NIGHT = {"easy": 7, "medium": 60, "hard": 5}
CAP = 1000
CAPS = dict.fromkeys(LEVELS, CAP)


class Shuffled(ThreadPoolExecutor):
    """Finishes batches in random order."""

    def __init__(self, seed: int) -> None:
        super().__init__(3)
        self._random = random.Random(seed)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        pause = self._random.random() / 300

        def late(*arguments: Any) -> Any:
            time.sleep(pause)
            return fn(*arguments)

        return super().submit(late, *args, **kwargs)


@pytest.fixture(autouse=True)
def _fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    make_fake_deals(monkeypatch)


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path / "root")


def add(storage: Storage, *nights: date, executor: Executor | None = None, cap: int = CAP) -> Catalog:
    """Add nights as the job does."""
    catalog = load_catalog(storage)
    clear_unreferenced(storage, catalog)
    work = Work(executor or Inline())
    catalog = add_nights(
        storage, catalog, LEVELS.values(), nights, PER_NIGHT, dict.fromkeys(LEVELS, cap), work
    )
    return save_catalog(storage, catalog)


def admitted_numbers(level: str) -> Iterator[int]:
    number = 0
    while True:
        if fake_admitted(level, number):
            yield number
        number += 1


def test_a_night_takes_the_next_admitted_numbers_and_ends_at_the_last(storage: LocalStorage) -> None:
    catalog = add(storage, NIGHT)
    for pool in catalog.pools:
        expected = list(islice(admitted_numbers(pool.level), PER_NIGHT[pool.level]))
        (part,) = pool.parts
        assert numbers_of(storage, pool) == expected
        assert part.path == PartName(pool.level, 1, 0, expected[-1]).path
        assert (part.night, part.rows, part.first, part.last) == (NIGHT, len(expected), 0, expected[-1])
        assert (pool.next_number, pool.last_night) == (expected[-1] + 1, NIGHT)


def test_the_next_night_goes_on_where_the_last_ended(storage: LocalStorage) -> None:
    first, second = add(storage, NIGHT), add(storage, NEXT)
    for before, after in zip(first.pools, second.pools, strict=True):
        assert after.parts[:-1] == before.parts
        assert after.parts[-1].first == before.next_number
        expected = list(islice(admitted_numbers(after.level), 2 * PER_NIGHT[after.level]))
        assert numbers_of(storage, after) == expected


def test_a_night_that_exists_adds_nothing(storage: LocalStorage) -> None:
    add(storage, NEXT)
    before = files_in(storage)
    assert add(storage, NEXT) == add(storage, NIGHT) == add(storage) == load_catalog(storage)
    assert files_in(storage) == before


def test_an_empty_pool_gets_only_the_last_night(storage: LocalStorage) -> None:
    catalog = add(storage, NIGHT - timedelta(1), NIGHT)
    assert [[part.night for part in pool.parts] for pool in catalog.pools] == [[NIGHT]] * 3


def test_adding_missed_nights_at_once_equals_adding_them_one_by_one(tmp_path: Path) -> None:
    nights = [NIGHT + timedelta(n) for n in range(4)]
    singly, together = LocalStorage(tmp_path / "singly"), LocalStorage(tmp_path / "together")
    for night in nights:
        add(singly, night)
    add(together, nights[0])
    add(together, *nights)
    assert load_catalog(together).pools == load_catalog(singly).pools
    assert files_in(together, "deals/") == files_in(singly, "deals/")
    assert (load_catalog(together).change, load_catalog(singly).change) == (2, 4)  # each run is a change


@pytest.mark.parametrize("size", [1, 7, BATCH_SIZE, 100])
@pytest.mark.parametrize(
    "executor", [Inline(), ThreadPoolExecutor(1), ThreadPoolExecutor(3), *map(Shuffled, range(3))]
)
def test_the_bytes_depend_neither_on_the_workers_nor_on_the_size_of_a_batch(
    monkeypatch: pytest.MonkeyPatch, executor: Executor, size: int
) -> None:
    plain, other = MemoryStorage(), MemoryStorage()
    monkeypatch.setattr(generate, "BATCH_SIZE", size)
    for night in (NIGHT, NEXT):
        add(other, night, executor=executor)
    monkeypatch.undo()
    make_fake_deals(monkeypatch)
    for night in (NIGHT, NEXT):
        add(plain, night)
    assert other.files == plain.files


def test_the_cap_ends_growth_but_not_the_nights(storage: LocalStorage) -> None:
    add(storage, NIGHT, cap=10)
    add(storage, NEXT, cap=10)
    catalog = add(storage, NEXT + timedelta(1), NEXT + timedelta(2), cap=10)
    assert {pool.level: [part.rows for part in pool.parts] for pool in catalog.pools} == {
        "easy": [7, 3],
        "medium": [10],
        "hard": [5, 5],
    }
    assert {pool.last_night for pool in catalog.pools} == {NEXT + timedelta(2)}
    for pool in catalog.pools:
        assert pool.next_number == numbers_of(storage, pool)[-1] + 1


def test_each_level_has_its_own_cap(storage: LocalStorage) -> None:
    caps = {"easy": 3, "medium": 1000, "hard": 1}
    catalog = add_nights(storage, empty_catalog(), LEVELS.values(), [NIGHT], PER_NIGHT, caps, Work(Inline()))
    assert {pool.level: pool.size for pool in catalog.pools} == {**caps, "medium": PER_NIGHT["medium"]}


def test_a_pool_above_the_cap_keeps_its_parts(storage: LocalStorage) -> None:
    before, after = add(storage, NIGHT), add(storage, NEXT, cap=3)
    assert [pool.parts for pool in after.pools] == [pool.parts for pool in before.pools]
    assert {pool.last_night for pool in after.pools} == {NEXT}


def test_all_levels_change_in_one_step_after_their_parts_and_the_kept_catalog_are_written(
    storage: LocalStorage,
) -> None:
    add(storage, NIGHT)
    changes = changes_of(storage, lambda storage: add(storage, NEXT))
    parts = [("create", pool.parts[1].path) for pool in load_catalog(storage).pools]
    assert changes == [*parts, ("create", "catalogs/000001.json"), ("replace", "catalog.json")]


def test_the_next_run_completes_a_night_that_was_stopped_at_any_change() -> None:
    def start() -> MemoryStorage:
        storage = MemoryStorage()
        add(storage, NIGHT)
        return storage

    def work(storage: Storage) -> None:
        add(storage, NEXT)

    whole = start()
    one_night = load_catalog(whole)
    work(whole)
    for storage, change, is_made in stopped_at_each_change(start, work):
        swapped = is_made and change == ("replace", CATALOG_FILE)
        assert load_catalog(storage) == (load_catalog(whole) if swapped else one_night)
        work(storage)
        assert storage.files == whole.files, change


def test_leftovers_of_other_settings_are_replaced_or_removed(storage: LocalStorage, tmp_path: Path) -> None:
    whole = LocalStorage(tmp_path / "whole")
    catalog = add(whole, NIGHT)
    same, shorter, damaged = catalog.pools
    storage.create(same.parts[0].path, whole.read(same.parts[0].path))
    storage.create(PartName(shorter.level, 1, 0, 3).path, b"made with fewer deals a night")
    storage.create(damaged.parts[0].path, b"the same name, other bytes")
    add_nights(storage, empty_catalog(), LEVELS.values(), [NIGHT], PER_NIGHT, CAPS, Work(Inline()))
    assert clear_unreferenced(storage, catalog) == (PartName(shorter.level, 1, 0, 3).path,)
    save_catalog(storage, catalog)
    assert files_in(storage) == files_in(whole)


def test_clearing_leaves_everything_that_is_still_needed(storage: LocalStorage) -> None:
    catalog = add(storage, NIGHT)
    medium = dataclasses.replace(catalog.pool("medium"), generation=2, newest_generation=2, parts=())
    catalog = catalog.with_pool(medium)
    kept = {
        PartName("medium", 1, 900, 901).path,
        record_path("medium", 3),
        PartName("medium", 3, 0, 9).path,
        "deals/medium/generation-0002/notes.txt",
        "deals/README",
        "reference/deals/medium/generation-0002/part-0-9.parquet",
    }
    cleared = {PartName("medium", 2, 0, 9).path, PartName("hard", 1, 900, 901).path, record_path("medium", 2)}
    for path in kept | cleared:
        storage.create(path, b"x")
    before = set(storage.list(""))
    assert set(clear_unreferenced(storage, catalog)) == cleared
    assert set(storage.list("")) == before - cleared
    assert clear_unreferenced(storage, catalog) == ()


def twin_batch(level: Level, first: int, count: int, _clock: Clock) -> Batch:
    """Every number is admitted, and each odd one has the puzzle of the even one before it."""
    numbers = range(first, first + count)
    rows = tuple(row_with_puzzle_of(level.name, number, number - number % 2) for number in numbers)
    return Batch(first, count, rows, tuple(numbers))


def test_of_two_deals_with_one_puzzle_the_lower_number_stays(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generate, "certify_batch", twin_batch)
    catalog = add(storage, NIGHT)
    easy = catalog.pool("easy")
    assert numbers_of(storage, easy) == [0, 2, 4, 6, 8, 10, 12]
    assert easy.next_number == 13
    catalog = add(storage, NEXT)  # begins with 13, whose puzzle is that of 12
    assert catalog.pool("easy").parts[-1].first == 13
    assert numbers_of(storage, catalog.pool("easy"))[7:] == [14, 16, 18, 20, 22, 24, 26]


def test_a_pool_that_grows_must_not_be_damaged(storage: LocalStorage) -> None:
    part = add(storage, NIGHT).pool("hard").parts[0]
    storage.replace(part.path, b"damaged")
    with pytest.raises(DamagedError, match=f"^{part.path} is damaged: its hash"):
        add(storage, NEXT)
    storage.remove(part.path)
    with pytest.raises(DamagedError, match=f"^{part.path} is missing, but the catalog names it"):
        add(storage, NEXT)


def test_running_out_of_deal_numbers_is_an_error(storage: LocalStorage) -> None:
    medium = dataclasses.replace(empty_catalog().pool("medium"), next_number=MOST_DEAL_NUMBER - 20)
    save_catalog(storage, empty_catalog().with_pool(medium))
    with pytest.raises(
        CheckError, match=rf"level medium: .* at {MOST_DEAL_NUMBER} after \d+ of 60 deals; begin lower"
    ):
        add(storage, NIGHT)
    assert load_catalog(storage).pool("medium") == medium


def test_the_last_deal_number_can_be_admitted(storage: LocalStorage) -> None:
    last = next(n for n in range(MOST_DEAL_NUMBER, 0, -1) if fake_admitted("hard", n))
    hard = dataclasses.replace(empty_catalog().pool("hard"), next_number=last)
    made = list(make_parts(LEVELS["hard"], hard.next_number, [1], PuzzleIds(), Work(Inline())))
    assert [(part.first, part.last) for part in made] == [(last, last)]
    with pytest.raises(CheckError, match="begin lower"):
        list(make_parts(LEVELS["hard"], last + 1, [1], PuzzleIds(), Work(Inline())))


def test_progress_is_reported_per_level_up_to_its_end(storage: LocalStorage) -> None:
    recorder = Recorder()
    add_nights(storage, empty_catalog(), LEVELS.values(), [NIGHT], PER_NIGHT, CAPS, Work(Inline(), recorder))
    for level in LEVELS:
        updates = [(done, total) for task, done, total in recorder.updates if task == level]
        assert updates == [(n, PER_NIGHT[level]) for n in range(1, PER_NIGHT[level] + 1)]


class Counting(Inline):
    """Returns futures that run when their result is requested, and counts those in flight."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []
        self.spans: list[tuple[str, int, int]] = []
        self.most = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.futures.append(future)
        self.spans.append(args[0])
        self.most = max(self.most, sum(not other.done() for other in self.futures))
        real = future.result

        def result(timeout: float | None = None) -> Any:
            if not future.done():
                future.set_result(fn(*args))
            return real(timeout)

        future.result = result  # type: ignore[method-assign]  # the point of this double
        return future


def test_few_batches_are_in_flight_and_unneeded_ones_are_cancelled() -> None:
    executor = Counting()
    parts = list(make_parts(LEVELS["easy"], 10, [20, 20], PuzzleIds(), Work(executor, ahead=3)))
    assert executor.most == 3
    needed = -(-(parts[-1].last + 1 - 10) // BATCH_SIZE)
    assert len(executor.spans) <= needed + 2
    assert [future.cancelled() for future in executor.futures[needed:]] == [True] * (
        len(executor.spans) - needed
    )
    starts = [first for _, first, _ in executor.spans]
    assert starts == [10 + BATCH_SIZE * n for n in range(len(starts))]


def test_an_interrupt_cancels_queued_batches(storage: LocalStorage) -> None:
    class Interrupted(Recorder):
        def update(self, task: str, done: int, total: int) -> None:
            if done == 5:
                raise KeyboardInterrupt

    executor = Counting()
    with pytest.raises(KeyboardInterrupt):
        add_nights(
            storage,
            empty_catalog(),
            LEVELS.values(),
            [NIGHT],
            PER_NIGHT,
            CAPS,
            Work(executor, Interrupted(), ahead=8),
        )
    assert all(future.done() for future in executor.futures)
    assert storage.list("") == ()


def test_an_interrupt_is_seen_while_a_worker_is_busy(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()
    begun: list[int] = []

    def busy(level: Level, first: int, count: int, _clock: Clock) -> Batch:
        begun.append(first)
        if first == 0:
            os.kill(os.getpid(), signal.SIGINT)
            released.wait()
        return Batch(first, count, ())

    monkeypatch.setattr(generate, "certify_batch", busy)
    with local_work(1) as work:
        with pytest.raises(KeyboardInterrupt):
            add(storage, NIGHT, executor=work.executor)
        released.set()  # only now: the main thread got out without waiting for this batch
    assert begun == [0]
    assert storage.list("") == ()


def test_a_batch_that_fails_stops_the_night(storage: LocalStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(level: Level, first: int, count: int, _clock: Clock) -> Batch:
        if first >= BATCH_SIZE:
            raise CheckError("the line fails its replay")
        return fake_batch(level, first, count)

    monkeypatch.setattr(generate, "certify_batch", failing)
    with local_work(2) as work, pytest.raises(CheckError, match="fails its replay"):
        add(storage, NIGHT, executor=work.executor)
    assert load_catalog(storage) == empty_catalog()


@pytest.mark.parametrize("workers", [0, -1, 257])
def test_an_impossible_number_of_workers_is_refused(workers: int) -> None:
    with (
        pytest.raises(UsageError, match=f"{workers} workers; give a number from 1 to 256"),
        local_work(workers),
    ):
        pass


@pytest.mark.soak
def test_another_engine_than_threads_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    threads, processes = LocalStorage(tmp_path / "threads"), LocalStorage(tmp_path / "processes")
    with local_work(2) as work:
        add(threads, NIGHT, executor=work.executor)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        add(processes, NIGHT, executor=executor)
    assert files_in(processes) == files_in(threads)
