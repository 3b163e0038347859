"""A study is the same bytes however it was stopped, taken up again or shared out; damage is made good."""

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet
import pytest

from pipeline.errors import MissingError, StorageError
from pipeline.store.storage import INCOMING, LocalStorage
from pipeline.studies import study as study_module
from pipeline.studies import winnability
from pipeline.studies.study import block_path, carry_out
from pipeline.studies.study_schema import BLOCKS_SCHEMA, blocks_bytes
from pipeline.studies.winnability import SCORES, Block, Study, aligned, joined
from pipeline.work.executors import local_executor
from pipeline.work.progress import SILENT
from solver.search import exact as search
from tests.support.command import files_of
from tests.support.doubles import FailingStorage, Killed

STUDY = Study("golf", True, 95, 330)  # 5 numbers, three whole blocks of 100, and 25 more


def fake_count(piece: Study) -> Block:
    """Stands in for `count_numbers`."""
    counts = dict.fromkeys(SCORES, 0)
    for number in range(piece.first, piece.last + 1):
        counts[SCORES[number * number % len(SCORES)]] += 1
    return Block(piece, tuple(counts.values()))


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small blocks that nothing is solved for."""
    monkeypatch.setattr(winnability, "BLOCK_NUMBERS", 100)
    monkeypatch.setattr(study_module, "BATCH_NUMBERS", 7)
    monkeypatch.setattr(study_module, "count_numbers", fake_count)
    monkeypatch.setattr(search, "warm_up", lambda: None)


@pytest.fixture
def executor() -> Iterator[Executor]:
    with local_executor(2) as threads:
        yield threads


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path / "root")


def finished(root: Path) -> dict[str, bytes]:
    return {path: data for path, data in files_of(root).items() if INCOMING not in path}


def made(tmp_path: Path, study: Study, executor: Executor) -> dict[str, bytes]:
    """What a study leaves that nothing has stopped."""
    root = tmp_path / "undisturbed"
    carry_out(LocalStorage(root), study, executor, SILENT)
    return files_of(root)


def test_a_study_counts_all_its_numbers_in_blocks(storage: LocalStorage, executor: Executor) -> None:
    result = carry_out(storage, STUDY, executor, SILENT)
    assert joined(result.blocks) == fake_count(STUDY)
    folder = "studies/winnability/rules=golf/fewest=true"
    names = ("block-100-199", "block-200-299", "block-300-399", "block-400-424", "block-95-99")
    assert storage.list("") == tuple(f"{folder}/{name}.parquet" for name in names)
    assert (result.reused, result.remade) == (0, ())


def test_what_is_counted_already_is_not_counted_again(
    storage: LocalStorage, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    carry_out(storage, Study("golf", True, 100, 200), executor, SILENT)
    asked: list[Study] = []

    def noted(piece: Study) -> Block:
        asked.append(piece)
        return fake_count(piece)

    monkeypatch.setattr(study_module, "count_numbers", noted)
    result = carry_out(storage, STUDY, executor, SILENT)
    assert result.reused == 200
    assert joined(result.blocks) == fake_count(STUDY)
    assert {number for piece in asked for number in range(piece.first, piece.last + 1)} == {
        *range(95, 100),
        *range(300, 425),
    }
    asked.clear()
    assert carry_out(storage, STUDY, executor, SILENT).reused == STUDY.count
    assert asked == []


def test_the_bytes_do_not_depend_on_the_workers(tmp_path: Path) -> None:
    found = []
    for workers, ahead in ((1, 1), (1, 32), (4, 9)):
        root = tmp_path / f"{workers}-{ahead}"
        with ThreadPoolExecutor(workers) as threads:
            carry_out(LocalStorage(root), STUDY, threads, SILENT, ahead=ahead)
        found.append(files_of(root))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(5))
def test_a_study_killed_at_any_block_is_taken_up_again(
    at: int, after: bool, tmp_path: Path, storage: LocalStorage, executor: Executor
) -> None:
    failing = FailingStorage(storage, at, Killed(), after=after)
    with pytest.raises(Killed):
        carry_out(failing, STUDY, executor, SILENT)
    expected = made(tmp_path, STUDY, executor)
    kept = finished(storage.root)
    assert len(kept) == at + after
    assert kept.items() <= expected.items()
    result = carry_out(storage, STUDY, executor, SILENT)
    assert finished(storage.root) == expected
    assert result.reused == sum(block.study.count for block in result.blocks[: at + after])


def test_a_study_stopped_within_a_block_leaves_what_was_whole(
    tmp_path: Path, storage: LocalStorage, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(piece: Study) -> Block:
        if piece.first > 250:
            raise Killed
        return fake_count(piece)

    monkeypatch.setattr(study_module, "count_numbers", stopped)
    with pytest.raises(Killed):
        carry_out(storage, STUDY, executor, SILENT)
    assert len(files_of(storage.root)) == 2
    monkeypatch.setattr(study_module, "count_numbers", fake_count)
    carry_out(storage, STUDY, executor, SILENT)
    assert files_of(storage.root) == made(tmp_path, STUDY, executor)


def test_a_signal_loses_nothing_that_was_counted(
    tmp_path: Path, storage: LocalStorage, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(piece: Study) -> Block:
        if piece.first > 250:
            raise KeyboardInterrupt
        return fake_count(piece)

    monkeypatch.setattr(study_module, "count_numbers", stopped)
    with pytest.raises(KeyboardInterrupt):
        carry_out(storage, STUDY, executor, SILENT)
    whole_blocks = 2
    assert len(files_of(storage.root)) == whole_blocks + 1
    monkeypatch.setattr(study_module, "count_numbers", fake_count)
    result = carry_out(storage, STUDY, executor, SILENT)
    assert result.reused > sum(block.study.count for block in result.blocks[:whole_blocks])
    whole = carry_out(LocalStorage(tmp_path / "whole"), STUDY, executor, SILENT)
    assert aligned(result.blocks) == aligned(whole.blocks)


def test_what_stands_in_the_place_of_a_block_is_told(storage: LocalStorage, executor: Executor) -> None:
    place = storage.root / block_path(Study("golf", True, 95, 5))
    place.mkdir(parents=True)
    with pytest.raises(StorageError, match="is in the way, and is no file; move it away"):
        carry_out(storage, Study("golf", True, 95, 5), executor, SILENT)


def test_a_full_disk_is_told_and_what_was_whole_stays(storage: LocalStorage, executor: Executor) -> None:
    failing = FailingStorage(storage, 2, StorageError("no space left"))
    with pytest.raises(StorageError, match="no space left"):
        carry_out(failing, STUDY, executor, SILENT)
    assert len(files_of(storage.root)) == 2


def test_a_night_that_clears_away_a_half_written_block_stops_nothing(
    tmp_path: Path, storage: LocalStorage, executor: Executor
) -> None:
    failing = FailingStorage(storage, 1, MissingError("cleared away"))
    carry_out(failing, STUDY, executor, SILENT)
    assert files_of(storage.root) == made(tmp_path, STUDY, executor)


def test_two_studies_at_once_share_their_blocks(
    tmp_path: Path, storage: LocalStorage, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other finishes them all while this one counts its first."""
    expected = made(tmp_path, STUDY, executor)

    def overtaken(piece: Study) -> Block:
        for path, data in expected.items():
            if path not in storage.list(""):
                storage.create(path, data)
        return fake_count(piece)

    monkeypatch.setattr(study_module, "count_numbers", overtaken)
    with local_executor(1) as alone:
        result = carry_out(storage, STUDY, alone, SILENT)
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
def test_a_damaged_block_is_made_again_and_told(
    kind: str, tmp_path: Path, storage: LocalStorage, executor: Executor
) -> None:
    expected = made(tmp_path, STUDY, executor)
    carry_out(storage, STUDY, executor, SILENT)
    path = block_path(Study("golf", True, 100, 100))
    storage.replace(path, damages(expected[path])[kind])
    result = carry_out(storage, STUDY, executor, SILENT)
    assert (result.reused, result.remade) == (STUDY.count - 100, (path,))
    assert files_of(storage.root) == expected


@pytest.mark.parametrize("name", ["block-0100-199", "block-100-199.parquet", "block-199-100", "notes"])
def test_a_file_with_another_name_is_no_block(
    name: str, tmp_path: Path, storage: LocalStorage, executor: Executor
) -> None:
    path = f"studies/winnability/rules=golf/fewest=true/{name}.parquet"
    storage.create(path, b"mine")
    assert carry_out(storage, STUDY, executor, SILENT).reused == 0
    assert storage.read(path) == b"mine"
    assert len(storage.list("")) == 6


def test_progress_tells_first_what_is_there_and_then_every_batch(
    storage: LocalStorage, executor: Executor
) -> None:
    told: list[tuple[str, int, int]] = []

    class Listener:
        def update(self, task: str, done: int, total: int) -> None:
            told.append((task, done, total))

    carry_out(storage, Study("golf", True, 100, 200), executor, SILENT)
    carry_out(storage, STUDY, executor, Listener())
    dones = [done for _, done, _ in told]
    assert dones == sorted(dones)
    assert (dones[0], dones[-1]) == (200, STUDY.count)
    assert max(after - before for before, after in pairwise(dones)) <= 7
    assert {(task, total) for task, _, total in told} == {("golf", STUDY.count)}
