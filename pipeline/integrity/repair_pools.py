"""Repair of parts: a missing or damaged part is made again from its numbers, if that gives its hash.

Deals depend on their numbers alone, but the bytes of a part also on the version of pyarrow. So another
version may give another hash; then the part is left alone.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from typing import Final

from pipeline.deals.columns import Row
from pipeline.deals.levels import Level
from pipeline.errors import DamagedError, StorageError
from pipeline.integrity.dry_run import RepairLog, restore
from pipeline.pools.catalog import Catalog, Part, Pool
from pipeline.pools.nights import certified_batches, new_rows
from pipeline.pools.parquet import part_bytes, part_schema, pyarrow_version
from pipeline.pools.parts import check_named_part, puzzles_of
from pipeline.pools.puzzles import PuzzleIds
from pipeline.store.storage import Storage
from pipeline.store.text import sha256_of
from pipeline.versions import is_reproducible
from pipeline.work.executors import Work

TASK: Final = "deals of parts"


def repair_parts(storage: Storage, catalogs: Iterable[Catalog], log: RepairLog, work: Work) -> None:
    """Make every part again that one of these catalogs names and that does not have its hash.

    The catalog in force is the first. The deals of all these parts are one task in the progress of the work.
    """
    seen: set[str] = set()
    pools = [pool for catalog in catalogs for pool in catalog.pools]
    damaged = [(pool, faults) for pool in pools if (faults := dict(_damaged_parts(storage, pool, seen)))]
    steps = _Steps(
        work, sum(part.rows for pool, faults in damaged for part in pool.parts if part.path in faults)
    )
    for pool, faults in damaged:
        _repair_pool(storage, pool, faults, log, steps)


class _Steps:
    """Progress of the deals that are made again, over all parts."""

    def __init__(self, work: Work, total: int) -> None:
        self.work = work
        self._total = total
        self._before = 0

    def update(self, done: int) -> None:
        """Report the deals of the current part that are made."""
        self.work.progress.update(TASK, min(self._before + done, self._total), self._total)

    def next_part(self, part: Part) -> None:
        """Begin to count the part after this one."""
        self._before += part.rows


def _damaged_parts(storage: Storage, pool: Pool, seen: set[str]) -> Iterator[tuple[str, str]]:
    """Yield path and fault of each damaged part that has not been seen before."""
    for part in pool.parts:
        if part.path not in seen:
            seen.add(part.path)
            try:
                check_named_part(storage, part)
            except (DamagedError, StorageError) as fault:
                yield part.path, str(fault)


def _repair_pool(storage: Storage, pool: Pool, faults: dict[str, str], log: RepairLog, steps: _Steps) -> None:
    known = PuzzleIds(expected=pool.size)
    for part in pool.parts:
        if part.path in faults:
            _repair_part(storage, pool, part, faults[part.path], known, log, steps)
        # If its puzzles are missing, later parts that need them get another hash.
        with suppress(DamagedError, StorageError):
            known.update(puzzles_of(storage, part))


def _repair_part(
    storage: Storage, pool: Pool, part: Part, fault: str, known: PuzzleIds, log: RepairLog, steps: _Steps
) -> None:
    if not is_reproducible(part.versions, pool.policy.version):
        log.refuse(part.path, f"{fault}; it was made by other versions: restore a copy")
        return
    rows = _rows_of(pool.level_row, part, known, steps)
    data = part_bytes(rows, part_schema(part.versions, pool.policy))
    steps.next_part(part)
    if sha256_of(data) == part.sha256:
        restore(storage, log, part.path, data, f"{fault}; made again from its numbers, byte for byte")
    else:
        log.refuse(
            part.path,
            f"{fault}; made again with pyarrow {pyarrow_version()} it has another hash: restore a copy, or "
            f"make the pool again with `fairway pool regenerate {pool.level}`",
        )


def _rows_of(level: Level, part: Part, known: PuzzleIds, steps: _Steps) -> list[Row]:
    """Return the deals of a part's numbers, without those whose puzzle is already in the pool."""
    rows: list[Row] = []
    with closing(certified_batches(level, part.first, part.last, steps.work)) as batches:
        for batch in batches:
            rows += new_rows(batch.rows, known)
            steps.update(min(len(rows), part.rows))
    return rows
