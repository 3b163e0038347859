"""What is counted and timed does not depend on how the work was cut, and holds whatever stops it."""

from collections.abc import Iterator
from concurrent.futures import Executor
from datetime import UTC, date, datetime
from itertools import count

import pytest

from pipeline.daily.publish import publish
from pipeline.deals.batches import certify_batch
from pipeline.deals.levels import LEVELS
from pipeline.errors import StorageError
from pipeline.pools import nights as generate
from pipeline.pools.catalog import Catalog, empty_catalog
from pipeline.pools.nights import add_nights
from pipeline.store.storage import Storage
from pipeline.work.counts import Counts, LevelCounts, Stages, Stopwatch
from pipeline.work.executors import Work, local_work
from pipeline.work.progress import SILENT
from tests.support.doubles import FailingStorage, MemoryStorage, fake_admitted, fake_batch, fake_cleared

pytestmark = pytest.mark.system

NIGHT = date(2026, 11, 30)
PER_NIGHT = {"easy": 20, "medium": 70, "hard": 5}


class Ticking:
    """A clock that goes on by a second each time it is asked."""

    def __init__(self) -> None:
        self._seconds = count()

    def __call__(self) -> float:
        return float(next(self._seconds))


@pytest.fixture(params=[1, 3])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with local_work(request.param) as work:
        yield work.executor


def night(storage: Storage, counts: Counts, executor: Executor) -> Catalog:
    caps = dict.fromkeys(LEVELS, 1000)
    work = Work(executor, counts=counts, ahead=7)
    return add_nights(storage, empty_catalog(), LEVELS.values(), [NIGHT], PER_NIGHT, caps, work)


@pytest.fixture
def _fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "certify_batch", fake_batch)
    monkeypatch.setattr(generate, "warm_up", lambda: None)


@pytest.mark.usefixtures("_fakes")
def test_the_counts_of_a_night_are_those_of_its_numbers_however_far_the_workers_had_come(
    executor: Executor,
) -> None:
    counts = Counts()
    catalog = night(MemoryStorage(), counts, executor)
    for pool in catalog.pools:
        numbers = range(pool.next_number)
        assert counts.levels[pool.level] == LevelCounts(
            sampled=len(numbers),
            cleared=sum(fake_cleared(pool.level, number) for number in numbers),
            admitted=sum(fake_admitted(pool.level, number) for number in numbers),
            written=PER_NIGHT[pool.level],
        )


@pytest.mark.usefixtures("_fakes")
def test_a_night_that_is_stopped_has_counted_what_it_did_until_then(executor: Executor) -> None:
    counts = Counts()
    with pytest.raises(StorageError, match="no space"):
        night(FailingStorage(MemoryStorage(), 1, StorageError("no space")), counts, executor)
    easy, medium = counts.levels["easy"], counts.levels["medium"]
    assert (easy.written, medium.written, medium.admitted) == (20, 0, 70)
    assert "hard" not in counts.levels


def test_deals_of_known_puzzles_are_admitted_and_not_written(
    monkeypatch: pytest.MonkeyPatch, executor: Executor
) -> None:
    from tests.pipeline.pools.test_nights import twin_batch

    monkeypatch.setattr(generate, "certify_batch", twin_batch)
    monkeypatch.setattr(generate, "warm_up", lambda: None)
    counts = Counts()
    night(MemoryStorage(), counts, executor)
    assert counts.levels["easy"] == LevelCounts(39, 39, 39, 20)


def test_a_batch_counts_what_can_be_cleared_and_shares_out_its_time() -> None:
    batch = certify_batch(LEVELS["hard"], 0, 30, Ticking())
    assert set(batch.cleared) >= {row.deal_number for row in batch.rows}
    assert all(0 <= number < 30 for number in batch.cleared)
    assert sorted(batch.cleared) == list(batch.cleared)
    assert len(batch.cleared) > len(batch.rows) > 0
    # A second between two looks at the clock: all are sampled, solved, rated, replayed, made rows of in turn.
    assert batch.stages == Stages(sampling=1.0, solving=2.0, rating=2.0, writing=0.0)
    assert batch == certify_batch(LEVELS["hard"], 0, 30)


def test_all_batches_of_a_run_and_its_files_are_timed(executor: Executor) -> None:
    counts = Counts(clock=Ticking())
    storage = MemoryStorage()
    night(storage, counts, executor)
    stages = counts.stages
    assert min(stages.sampling, stages.solving, stages.rating) > 0
    assert stages.writing >= len(storage.files) == 3
    before = Stages(stages.sampling, stages.solving, stages.rating, stages.writing)
    now = datetime(2026, 11, 30, tzinfo=UTC)
    publish(storage, [NIGHT], None, now, Work(executor, SILENT, counts))
    assert stages.sampling > before.sampling
    assert stages.solving > before.solving
    assert stages.rating > before.rating
    assert stages.writing > before.writing
    assert counts.dailies == 1


def test_no_byte_depends_on_the_clock(executor: Executor) -> None:
    timed, untimed = MemoryStorage(), MemoryStorage()
    assert night(timed, Counts(clock=Ticking()), executor) == night(untimed, Counts(), executor)
    assert timed.files == untimed.files


def test_laps_add_up_to_the_time_since_the_start() -> None:
    watch = Stopwatch(Ticking())
    for stage in ("solving", "rating", "solving"):
        watch.lap(stage)
    assert watch.stages == Stages(0.0, 2.0, 1.0, 0.0)
    total = Stages(1.0, 1.0, 1.0, 1.0)
    total.add(watch.stages)
    assert total == Stages(1.0, 3.0, 2.0, 1.0)
