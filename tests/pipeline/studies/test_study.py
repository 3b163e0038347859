"""A study gives the same counts however it was stopped and continued; damaged blocks are counted again."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet
import pytest

from pipeline.errors import StorageError
from pipeline.store.storage import INCOMING, LocalStorage
from pipeline.studies import study as study_module
from pipeline.studies.study import block_path, carry_out
from pipeline.studies.study_schema import BLOCKS_SCHEMA, blocks_bytes
from pipeline.studies.winnability import SCORES, Block, Study, joined
from pipeline.work.executors import Work, local_work
from solver.search import exact
from solver.table.score import CLEARED_SCORES
from tests.support.command import files_of
from tests.support.doubles import FailingStorage, Killed, Recorder

STUDY = Study("golf", True, 95, 330)  # 5 numbers, three full blocks of 100, and 25 more
FULL_BLOCKS = tuple(Study("golf", True, first, 100) for first in (100, 200, 300))


def fake_count(piece: Study) -> Block:
    """Replaces `count_numbers`."""
    counts = [0] * len(SCORES)
    for number in range(piece.first, piece.last + 1):
        counts[number * number % len(SCORES)] += 1
    return Block(piece, sum(counts[:CLEARED_SCORES]), tuple(counts))


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small blocks, and no deals to solve."""
    monkeypatch.setattr(study_module, "BLOCK_NUMBERS", 100)
    monkeypatch.setattr(study_module, "BATCH_NUMBERS", 7)
    monkeypatch.setattr(study_module, "count_numbers", fake_count)
    monkeypatch.setattr(exact, "warm_up", lambda: None)


@pytest.fixture
def work() -> Iterator[Work]:
    with local_work(2) as threads:
        yield threads


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path / "root")


def finished(root: Path) -> dict[str, bytes]:
    return {path: data for path, data in files_of(root).items() if INCOMING not in path}


def undisturbed(tmp_path: Path, work: Work) -> dict[str, bytes]:
    """The files of a study that nothing interrupts."""
    root = tmp_path / "undisturbed"
    carry_out(LocalStorage(root), STUDY, work)
    return files_of(root)


def test_full_blocks_are_stored_and_all_numbers_are_counted(storage: LocalStorage, work: Work) -> None:
    result = carry_out(storage, STUDY, work)
    assert [block.study.first for block in result.blocks] == [95, 100, 200, 300, 400]
    assert joined(result.blocks) == fake_count(STUDY)
    folder = "studies/winnability/rules=golf/fewest=true"
    names = ("block-100-199", "block-200-299", "block-300-399")
    assert storage.list("") == tuple(f"{folder}/{name}.parquet" for name in names)
    assert (result.reused, result.remade) == (0, ())


def test_stored_blocks_are_not_counted_again(
    storage: LocalStorage, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: set[int] = set()

    def recorded(piece: Study) -> Block:
        counted.update(range(piece.first, piece.last + 1))
        return fake_count(piece)

    monkeypatch.setattr(study_module, "count_numbers", recorded)
    carry_out(storage, Study("golf", True, 100, 250), work)
    counted.clear()
    result = carry_out(storage, STUDY, work)
    assert result.reused == 200
    assert joined(result.blocks) == fake_count(STUDY)
    assert counted == {*range(95, 100), *range(300, 425)}
    counted.clear()
    assert carry_out(storage, STUDY, work).reused == 300
    assert counted == {*range(95, 100), *range(400, 425)}


@pytest.mark.parametrize("other", [Study("relaxed", True, 100, 100), Study("golf", False, 100, 100)])
def test_blocks_of_other_studies_are_not_used(other: Study, storage: LocalStorage, work: Work) -> None:
    storage.create(block_path(other), b"not read")
    assert carry_out(storage, STUDY, work).reused == 0


def test_the_bytes_do_not_depend_on_the_workers(tmp_path: Path) -> None:
    found = []
    for workers, ahead in ((1, 1), (1, 32), (4, 9)):
        root = tmp_path / f"{workers}-{ahead}"
        with ThreadPoolExecutor(workers) as threads:
            carry_out(LocalStorage(root), STUDY, Work(threads, ahead=ahead))
        found.append(files_of(root))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(3))
def test_a_killed_study_continues_from_its_finished_blocks(
    at: int, after: bool, tmp_path: Path, storage: LocalStorage, work: Work
) -> None:
    with pytest.raises(Killed):
        carry_out(FailingStorage(storage, at, Killed(), after=after), STUDY, work)
    expected = undisturbed(tmp_path, work)
    kept = finished(storage.root)
    assert len(kept) == at + after
    assert kept.items() <= expected.items()
    assert carry_out(storage, STUDY, work).reused == 100 * (at + after)
    assert finished(storage.root) == expected


@pytest.mark.parametrize("stop", [Killed, KeyboardInterrupt, SystemExit])
def test_a_study_stopped_within_a_block_leaves_the_finished_ones(
    stop: type[BaseException],
    tmp_path: Path,
    storage: LocalStorage,
    work: Work,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stopped(piece: Study) -> Block:
        if piece.first > 250:
            raise stop
        return fake_count(piece)

    expected = undisturbed(tmp_path, work)
    monkeypatch.setattr(study_module, "count_numbers", stopped)
    with pytest.raises(stop):
        carry_out(storage, STUDY, work)
    (path,) = files_of(storage.root)
    assert path == block_path(FULL_BLOCKS[0])
    monkeypatch.setattr(study_module, "count_numbers", fake_count)
    assert joined(carry_out(storage, STUDY, work).blocks) == fake_count(STUDY)
    assert files_of(storage.root) == expected


def test_a_folder_in_place_of_a_block_is_reported(storage: LocalStorage, work: Work) -> None:
    (storage.root / block_path(FULL_BLOCKS[1])).mkdir(parents=True)
    with pytest.raises(StorageError, match=r"cannot replace .*block-200-299"):
        carry_out(storage, STUDY, work)


def test_a_full_disk_is_reported_and_finished_blocks_stay(storage: LocalStorage, work: Work) -> None:
    with pytest.raises(StorageError, match="no space left"):
        carry_out(FailingStorage(storage, 2, StorageError("no space left")), STUDY, work)
    assert len(files_of(storage.root)) == 2


def test_two_studies_at_once_may_write_the_same_blocks(
    tmp_path: Path, storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other study finishes while this one counts its first batch."""

    def overtaken(piece: Study) -> Block:
        for path, data in expected.items():
            if path not in storage.list(""):
                storage.create(path, data)
        return fake_count(piece)

    with local_work(1) as work:
        expected = undisturbed(tmp_path, work)
        monkeypatch.setattr(study_module, "count_numbers", overtaken)
        result = carry_out(storage, STUDY, work)
    assert joined(result.blocks) == fake_count(STUDY)
    assert files_of(storage.root) == expected


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]


def damages(whole: bytes) -> dict[str, bytes]:
    other = Study("golf", True, 200, 100)
    table = pyarrow.parquet.read_table(pyarrow.BufferReader(whole))
    sink = pyarrow.BufferOutputStream()
    newer = {**BLOCKS_SCHEMA.metadata, b"fairway.shuffle": b"2"}
    pyarrow.parquet.write_table(table.replace_schema_metadata(newer), sink)
    return {
        "empty": b"",
        "cut short": whole[:-20],
        "a flipped bit": flipped(whole, whole.index(b"golf")),
        "another block": blocks_bytes([fake_count(other)]),
        "two blocks": blocks_bytes([fake_count(Study("golf", True, 100, 100)), fake_count(other)]),
        "no block": blocks_bytes([]),
        "another shuffle": sink.getvalue().to_pybytes(),
    }


@pytest.mark.parametrize("kind", damages(blocks_bytes([fake_count(Study("golf", True, 100, 100))])))
def test_a_damaged_block_is_counted_again_and_reported(
    kind: str, tmp_path: Path, storage: LocalStorage, work: Work
) -> None:
    expected = undisturbed(tmp_path, work)
    carry_out(storage, STUDY, work)
    path = block_path(Study("golf", True, 100, 100))
    storage.replace(path, damages(expected[path])[kind])
    result = carry_out(storage, STUDY, work)
    assert (result.reused, result.remade) == (200, (path,))
    assert files_of(storage.root) == expected


@pytest.mark.parametrize("name", ["block-0100-199", "block-95-99", "block-100-199.parquet", "notes"])
def test_a_file_with_another_name_is_not_a_block(
    name: str, tmp_path: Path, storage: LocalStorage, work: Work
) -> None:
    path = f"studies/winnability/rules=golf/fewest=true/{name}.parquet"
    storage.create(path, b"mine")
    assert carry_out(storage, STUDY, work).reused == 0
    assert storage.read(path) == b"mine"
    assert len(storage.list("")) == 4


def test_progress_starts_with_the_stored_blocks_and_counts_every_batch(
    storage: LocalStorage, work: Work
) -> None:
    recorder = Recorder()
    carry_out(storage, Study("golf", True, 100, 200), work)
    carry_out(storage, STUDY, Work(work.executor, recorder))
    dones = [done for _, done, _ in recorder.updates]
    assert dones == sorted(dones)
    assert (dones[0], dones[-1]) == (200, STUDY.count)
    assert max(after - before for before, after in pairwise(dones)) <= 7
    assert {(task, total) for task, _, total in recorder.updates} == {("golf", STUDY.count)}
