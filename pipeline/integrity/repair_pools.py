"""Repair of parts: a missing or damaged part is made again from its numbers, if that gives its hash.

Deals depend on their numbers alone, but the bytes of a part also on the version of pyarrow. So another
version may give another hash; then the part is left alone.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing, suppress

from pipeline.deals.columns import Row
from pipeline.errors import DamagedError
from pipeline.integrity.dry_run import RepairLog, put
from pipeline.pools.catalog import Catalog, Part, Pool
from pipeline.pools.nights import certified_batches, new_rows
from pipeline.pools.parquet import part_bytes, pyarrow_version
from pipeline.pools.parts import check_named_part, puzzles_of
from pipeline.pools.puzzles import PuzzleIds
from pipeline.store.storage import Storage
from pipeline.store.text import sha256_of
from pipeline.versions import PART_VERSIONS
from pipeline.work.executors import Work


def repair_parts(storage: Storage, catalogs: Iterable[Catalog], log: RepairLog, work: Work) -> None:
    """Make every part again that one of these catalogs names and that does not have its hash.

    The catalog in force is the first. The level of a part is the task in the progress of the work.
    """
    seen: set[str] = set()
    for pool in (pool for catalog in catalogs for pool in catalog.pools):
        faults = dict(_damaged_parts(storage, pool, seen))
        if faults:
            _repair_pool(storage, pool, faults, log, work)


def _damaged_parts(storage: Storage, pool: Pool, seen: set[str]) -> Iterator[tuple[str, str]]:
    """Yield path and fault of each damaged part that has not been seen before."""
    for part in pool.parts:
        if part.path not in seen:
            seen.add(part.path)
            try:
                check_named_part(storage, part)
            except DamagedError as fault:
                yield part.path, str(fault)


def _repair_pool(storage: Storage, pool: Pool, faults: dict[str, str], log: RepairLog, work: Work) -> None:
    known = PuzzleIds(expected=pool.size)
    for part in pool.parts:
        if part.path in faults:
            _repair_part(storage, pool.level, part, faults[part.path], known, log, work)
        with suppress(
            DamagedError
        ):  # if its puzzles are missing, later parts that need them get another hash
            known.update(puzzles_of(storage, part))


def _repair_part(
    storage: Storage, level: str, part: Part, fault: str, known: PuzzleIds, log: RepairLog, work: Work
) -> None:
    if part.versions != PART_VERSIONS:
        log.refuse(part.path, f"{fault}; it was made by other versions: restore a copy")
        return
    data = part_bytes(_rows_of(level, part, known, work))
    if sha256_of(data) == part.sha256:
        put(storage, part.path, data)
        log.repair(part.path, f"{fault}; made again from its numbers, byte for byte")
    else:
        log.refuse(
            part.path,
            f"{fault}; made again with pyarrow {pyarrow_version()} it has another hash: restore a copy, or "
            f"make the pool again with `fairway pool regenerate {level}`",
        )


def _rows_of(level: str, part: Part, known: PuzzleIds, work: Work) -> list[Row]:
    """Return the deals of a part's numbers, without those whose puzzle is already in the pool."""
    rows: list[Row] = []
    with closing(certified_batches(level, part.first, part.last, work)) as batches:
        for batch in batches:
            rows += new_rows(batch.rows, known)
            work.progress.update(level, min(len(rows), part.rows), part.rows)
    return rows
