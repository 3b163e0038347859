"""Pools of any size are made in bounded memory."""

from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest

from pipeline.deals.batches import Batch
from pipeline.deals.columns import Row
from pipeline.deals.levels import LEVELS, Level
from pipeline.pools import compact as compaction
from pipeline.pools import nights as generate
from pipeline.pools import regenerate
from pipeline.pools.catalog import load_catalog
from pipeline.pools.nights import BATCH_SIZE
from pipeline.pools.parquet import joined
from pipeline.store.storage import LocalStorage, Storage
from pipeline.work.counts import Clock
from pipeline.work.executors import local_work
from pipeline.work.progress import SILENT
from tests.benchmarks import memory_worker, scale
from tests.support.doubles import FailingStorage, Killed, MemoryStorage, fake_batch
from tests.support.pools import LEVEL, with_nights

PART_ROWS = 60
AHEAD = 2


class Tracked(Row):
    """A row that weak references can observe."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Counted:
    """Makes fake deals, and checks at each batch how many of them are still held."""

    def __init__(self) -> None:
        self.held: WeakSet[Row] = WeakSet()
        self.most = 0

    def batch(self, level: Level, first: int, count: int, _clock: Clock) -> Batch:
        self.most = max(self.most, len(self.held))
        made = []
        for row in fake_batch(level, first, count).rows:
            tracked = Tracked(row.deal_number, row.puzzle_id, row.par, row.values)
            self.held.add(tracked)
            made.append(tracked)
        return Batch(first, count, tuple(made))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    found = Counted()
    monkeypatch.setattr(generate, "certify_batch", found.batch)
    monkeypatch.setattr(generate, "warm_up", lambda: None)
    monkeypatch.setattr(regenerate, "PART_ROWS", PART_ROWS)
    return found


def run(storage: Storage, size: int) -> None:
    catalog = load_catalog(storage)
    wanted = regenerate.plan_regeneration(catalog.pool(LEVEL), LEVELS[LEVEL].policy, size, 0)
    with local_work(1) as work:
        regenerate.regenerate(storage, catalog, wanted, work)


@pytest.mark.parametrize("parts", [3, 9])
def test_a_regeneration_holds_the_deals_of_two_parts_at_most(counted: Counted, parts: int) -> None:
    run(MemoryStorage(), parts * PART_ROWS)
    assert 0 < counted.most <= 2 * PART_ROWS + (AHEAD + 2) * BATCH_SIZE


def test_a_resumed_regeneration_holds_no_more_and_makes_no_part_twice(counted: Counted) -> None:
    storage, whole = MemoryStorage(), MemoryStorage()
    with pytest.raises(Killed):
        run(FailingStorage(storage, 2 * 7, Killed(), after=True), 9 * PART_ROWS)
    made = dict(storage.files)
    counted.most = 0
    run(storage, 9 * PART_ROWS)
    assert counted.most <= 2 * PART_ROWS + (AHEAD + 2) * BATCH_SIZE
    run(whole, 9 * PART_ROWS)
    assert storage.files == whole.files
    assert sum(path.endswith(".parquet") for path in made) == 7
    assert all(storage.files[path] == data for path, data in made.items() if path.endswith(".parquet"))


@pytest.mark.parametrize("nights", [10, 40])
def test_compaction_holds_a_part_and_a_night_at_most(monkeypatch: pytest.MonkeyPatch, nights: int) -> None:
    held = []

    def counting(tables: list[Any], schema: Any) -> Any:
        table = joined(tables, schema)
        held.append(len(table))
        return table

    storage = MemoryStorage()
    catalog = with_nights(storage, [7] * nights)
    monkeypatch.setattr(compaction, "PART_ROWS", PART_ROWS)
    monkeypatch.setattr(compaction, "joined", counting)
    after = compaction.compact(storage, catalog, LEVEL, SILENT)
    assert len(after.pool(LEVEL).parts) == -(-7 * nights // PART_ROWS)
    assert max(held) < PART_ROWS + 7


@pytest.mark.soak
@pytest.mark.skipif(
    not memory_worker.can_measure(), reason="this system does not report the peak memory of a process"
)
def test_the_memory_of_a_regeneration_does_not_grow_with_its_size(tmp_path: Path) -> None:
    small = scale.made(tmp_path / "small", 40_000)
    stopped = scale.made(tmp_path / "large", 200_000, parts=12)
    resumed = scale.made(tmp_path / "large", 200_000)
    assert len(load_catalog(LocalStorage(tmp_path / "large")).pool("medium").parts) == 20
    assert max(stopped.peak, resumed.peak) < 1e9
    # 160,000 deals more would take some 600 MB if they were held.
    assert max(stopped.peak, resumed.peak) - small.peak < 60e6
