"""A study carried out: block by block, each kept as soon as it is whole, none of them made twice.

A signal keeps what there is of the block at hand, as a smaller one; only a kill loses it.

The blocks lie in the data root under `studies/winnability/rules=<rules>/fewest=<true or false>/`, one file
`block-<first>-<last>.parquet` each, both ends included. A block is a pure function of rules, `fewest` and its
numbers, and is created once; so a study needs no lock, and two at once may share their blocks.
"""

import re
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from pipeline.deals.shuffle import deal_numbered
from pipeline.errors import AlreadyThereError, DamagedError, MissingError, StorageError
from pipeline.store.storage import Storage
from pipeline.studies.study_schema import blocks_bytes, read_blocks
from pipeline.studies.winnability import SCORES, Block, Study, joined, pieces
from pipeline.work.ordered import AHEAD, in_order
from pipeline.work.progress import Progress
from solver.search import exact as search
from solver.table.rules import rules_named

BATCH_NUMBERS: Final = 50  # deal numbers; well under half a second, so that a stop is seen soon
STUDIES_PREFIX: Final = "studies/winnability/"

_BLOCK_NAME: Final = re.compile(r"block-([0-9]{1,19})-([0-9]{1,19})\.parquet")


@dataclass(frozen=True, slots=True)
class Result:
    """A study that is done.

    Attributes:
        blocks: its counts, in number order.
        reused: how many of its deals were there before.
        remade: paths of blocks that were there, but damaged, and were made again.
    """

    blocks: tuple[Block, ...]
    reused: int
    remade: tuple[str, ...]


def count_numbers(study: Study) -> Block:
    """Solve the deals of a study, all in one call of the kernel, and count their best scores."""
    deals = [deal_numbered(number) for number in range(study.first, study.last + 1)]
    counts = dict.fromkeys(SCORES, 0)
    for solution in search.solve_each(deals, rules_named(study.rules), fewest=study.fewest):
        if solution.best_score is not None:
            counts[solution.best_score] += 1
    return Block(study, tuple(counts.values()))


def carry_out(
    storage: Storage, study: Study, executor: Executor, progress: Progress, *, ahead: int = AHEAD
) -> Result:
    """Make what is missing of a study.

    Args:
        storage: the data root.
        study: what is asked.
        executor: runs `count_numbers` over small batches.
        progress: is told how many of the study's deals are counted, with the rules as the task.
        ahead: how many batches at most are in flight.

    Raises:
        StorageError: a block cannot be read or written; those that were finished stay.
    """
    search.warm_up()
    plan = list(pieces(study, _finished(storage, study)))
    found = {piece: _read(storage, piece) for piece, is_there in plan if is_there}
    blocks = {piece: block for piece, block in found.items() if block is not None}
    counter = _Counter(progress, study)
    reused = sum(piece.count for piece in blocks)
    counter.add(reused)  # first of all, so that whoever listens can tell how fast the rest goes
    for piece, is_there in plan:
        if piece not in blocks:
            batches: list[Block] = []
            try:
                for batch in _made(piece, executor, counter, ahead):
                    batches.append(batch)
            except (KeyboardInterrupt, SystemExit):
                if batches and not is_there:
                    _keep(storage, joined(batches), replaced=False)
                raise
            blocks[piece] = joined(batches)
            _keep(storage, blocks[piece], replaced=is_there)
    remade = tuple(block_path(piece) for piece, block in found.items() if block is None)
    return Result(tuple(blocks[piece] for piece, _ in plan), reused, remade)


def block_path(piece: Study) -> str:
    """Where the block of these numbers lies in the data root."""
    return f"{_folder(piece)}block-{piece.first}-{piece.last}.parquet"


class _Counter:
    """How far a study is, told to whoever listens."""

    def __init__(self, progress: Progress, study: Study) -> None:
        self._progress = progress
        self._study = study
        self._done = 0

    def add(self, count: int) -> None:
        self._done += count
        self._progress.update(self._study.rules, self._done, self._study.count)


def _made(piece: Study, executor: Executor, counter: _Counter, ahead: int) -> Iterator[Block]:
    with closing(in_order(executor, count_numbers, _batches(piece), ahead)) as counted:
        for batch in counted:
            counter.add(batch.study.count)
            yield batch


def _batches(piece: Study) -> Iterator[Study]:
    for first in range(piece.first, piece.last + 1, BATCH_NUMBERS):
        yield Study(piece.rules, piece.fewest, first, min(BATCH_NUMBERS, piece.last + 1 - first))


def _folder(study: Study) -> str:
    return f"{STUDIES_PREFIX}rules={study.rules}/fewest={str(study.fewest).lower()}/"


def _finished(storage: Storage, study: Study) -> list[Study]:
    """What the names of the finished blocks say; a file with any other name is none."""
    folder = _folder(study)
    found: list[Study] = []
    for path in storage.list(folder):
        name = _BLOCK_NAME.fullmatch(path.removeprefix(folder))
        first, last = (int(name[1]), int(name[2])) if name else (0, -1)
        if study.first <= first <= last <= study.last:
            piece = Study(study.rules, study.fewest, first, last - first + 1)
            if block_path(piece) == path:  # the numbers could be written otherwise, with zeros before them
                found.append(piece)
    return found


def _read(storage: Storage, piece: Study) -> Block | None:
    """A finished block; None where it is damaged, or other definitions made it."""
    path = block_path(piece)
    try:
        blocks = read_blocks(storage.read(path), path)
    except DamagedError:
        return None
    return blocks[0] if [block.study for block in blocks] == [piece] else None


def _keep(storage: Storage, block: Block, *, replaced: bool) -> None:
    path, data = block_path(block.study), blocks_bytes([block])
    if replaced:
        storage.replace(path, data)
        return
    try:
        try:
            storage.create(path, data)
        except MissingError:  # a night that begins clears away whatever is only half written
            storage.create(path, data)
    except AlreadyThereError as taken:  # another study has just made the same
        if path not in storage.list(path):
            raise StorageError(f"{path} is in the way, and is no file; move it away") from taken
