"""Carry out a winnability study in blocks of 10,000 deal numbers, which are stored and reused.

The blocks are files `block-<first>-<last>.parquet` in the data root, in the folder
`studies/winnability/rules=<rules>/fewest=<true or false>/`. They lie on a fixed grid: the first number of
each is a multiple of 10,000. If a study begins or ends within a block, that part is counted each time and not
stored. A block depends only on its rules, `fewest` and numbers, so studies need no lock, and two that run at
once may write the same block.
"""

from contextlib import closing
from dataclasses import dataclass
from typing import Final

from pipeline.deals.shuffle import deal_numbered
from pipeline.errors import DamagedError
from pipeline.store.storage import Storage
from pipeline.studies.study_schema import blocks_bytes, read_blocks
from pipeline.studies.winnability import BLOCK_NUMBERS, SCORES, Block, Study, joined
from pipeline.work.executors import Work
from solver.search import exact
from solver.table.rules import rules_named

BATCH_NUMBERS: Final = 50  # well under half a second of work, so that a signal is handled soon
STUDIES_PREFIX: Final = "studies/winnability/"


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a study.

    Attributes:
        blocks: its counts, in number order, split at the multiples of 10,000.
        reused: how many of its deals were in stored blocks.
        remade: paths of stored blocks that were damaged and have been counted again.
    """

    blocks: tuple[Block, ...]
    reused: int
    remade: tuple[str, ...]


def count_numbers(study: Study) -> Block:
    """Solve the deals of a study, in one call of the kernel, and count their best scores."""
    deals = [deal_numbered(number) for number in range(study.first, study.last + 1)]
    cleared, counts = 0, dict.fromkeys(SCORES, 0)
    for solution in exact.solve_each(deals, rules_named(study.rules), fewest=study.fewest):
        cleared += solution.cleared
        if solution.best_score is not None:
            counts[solution.best_score] += 1
    return Block(study, cleared, tuple(counts.values()))


def carry_out(storage: Storage, study: Study, work: Work) -> Result:
    """Carry out a study, using the blocks that are stored; the task in the progress is its rules.

    Raises:
        StorageError: a block cannot be read or written; finished blocks stay.
    """
    exact.warm_up()
    pieces = list(study.split(BLOCK_NUMBERS))
    stored = set(storage.list(_folder(study)))
    found = {
        piece: _read(storage, piece)
        for piece in pieces
        if piece.count == BLOCK_NUMBERS and block_path(piece) in stored
    }
    blocks = {piece: block for piece, block in found.items() if block is not None}
    missing = [piece for piece in pieces if piece not in blocks]
    reused = done = sum(piece.count for piece in blocks)
    # Reported before any work, so that a listener can estimate the time left.
    work.progress.update(study.rules, done, study.count)
    batches = (batch for piece in missing for batch in piece.split(BATCH_NUMBERS))
    with closing(work.in_order(count_numbers, batches)) as counted:
        for piece in missing:
            counts: list[Block] = []
            while sum(block.study.count for block in counts) < piece.count:
                counts.append(next(counted))
                done += counts[-1].study.count
                work.progress.update(study.rules, done, study.count)
            blocks[piece] = joined(counts)
            if piece.count == BLOCK_NUMBERS:
                storage.replace(block_path(piece), blocks_bytes([blocks[piece]]))
    remade = tuple(block_path(piece) for piece, block in found.items() if block is None)
    return Result(tuple(blocks[piece] for piece in pieces), reused, remade)


def block_path(piece: Study) -> str:
    """Path of the block of these numbers in the data root."""
    return f"{_folder(piece)}block-{piece.first}-{piece.last}.parquet"


def _folder(study: Study) -> str:
    return f"{STUDIES_PREFIX}rules={study.rules}/fewest={str(study.fewest).lower()}/"


def _read(storage: Storage, piece: Study) -> Block | None:
    """Read a stored block; None if it is damaged or was made under other definitions."""
    path = block_path(piece)
    try:
        blocks = read_blocks(storage.read(path), path)
    except DamagedError:
        return None
    return blocks[0] if [block.study for block in blocks] == [piece] else None
