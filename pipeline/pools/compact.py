"""Compaction: join the many small parts of a pool into few large ones with the same rows.

The new parts are cut as in a regeneration. The old ones stay, named by the kept catalog, until
`pipeline.pools.garbage` removes them. Memory is bounded: a few parts, whatever the size of the pool.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from pipeline.errors import CheckError
from pipeline.pools.catalog import Catalog, Part, PartName, Pool, save_catalog
from pipeline.pools.garbage import clear_unreferenced
from pipeline.pools.parquet import joined, part_schema, read_part, table_bytes
from pipeline.pools.parts import PART_ROWS, read_named_part, write_part_file
from pipeline.store.storage import Storage
from pipeline.versions import is_reproducible
from pipeline.work.progress import Progress


def compact(storage: Storage, catalog: Catalog, level: str, progress: Progress) -> Catalog:
    """Join the parts of a level's pool, and switch to the new parts in one step; the caller holds the lock.

    Single parts, and parts made by other versions of Fairway's definitions, stay as they are.

    Returns:
        The catalog now in force; the same one if there was nothing to join.

    Raises:
        DamagedError: a part is not as in the catalog; nothing was changed.
    """
    clear_unreferenced(storage, catalog)
    pool = catalog.pool(level)
    parts: list[Part] = []
    done = 0
    for part in _compacted(storage, pool):
        parts.append(part)
        done += part.rows
        progress.update(level, done, pool.size)
    return save_catalog(storage, catalog.with_pool(dataclasses.replace(pool, parts=tuple(parts))))


def _compacted(storage: Storage, pool: Pool) -> Iterator[Part]:
    """Yield the parts of the compacted pool, and write those that do not exist yet."""
    for stretch in _stretches(pool.parts):
        if is_reproducible(stretch[0].versions, pool.policy.version):
            yield from _cut(storage, pool, stretch)
        else:
            yield from stretch


def _stretches(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """Yield runs of parts with the same versions and no number between them."""
    stretch: list[Part] = []
    for part in parts:
        if stretch and (part.first != stretch[-1].last + 1 or part.versions != stretch[-1].versions):
            yield stretch
            stretch = []
        stretch.append(part)
    if stretch:
        yield stretch


def _cut(storage: Storage, pool: Pool, parts: Sequence[Part]) -> Iterator[Part]:
    """Cut the rows of parts into parts of `PART_ROWS`; a part that would stay the same is not touched."""
    existing, schema = {part.first: part for part in parts}, part_schema(parts[0].versions, pool.policy)
    first, waiting = parts[0].first, None
    for part in parts:
        if waiting is None and part.rows == PART_ROWS:
            yield part
            first = part.last + 1
            continue
        table = read_named_part(storage, part)
        waiting = table if waiting is None else joined([waiting, table], schema)
        while waiting is not None and len(waiting) >= PART_ROWS:
            made = _placed(storage, pool, existing, first, waiting.slice(0, PART_ROWS))
            yield made
            first = made.last + 1
            waiting = waiting.slice(PART_ROWS) if len(waiting) > PART_ROWS else None
    if waiting is not None:
        yield _placed(storage, pool, existing, first, waiting)


def _placed(storage: Storage, pool: Pool, existing: dict[int, Part], first: int, table: Any) -> Part:
    """Return the part with these rows, whose sampling began at `first`; write it if it does not exist."""
    last: int = table["deal_number"][-1].as_py()
    part = existing.get(first)
    if part is not None and part.last == last:
        return part
    versions = next(iter(existing.values())).versions
    data = table_bytes(joined([table], part_schema(versions, pool.policy)))
    name = PartName(pool.level, pool.generation, first, last)
    if not read_part(data, name.path).equals(table):
        raise CheckError(f"{name.path} does not contain the rows written to it; nothing was changed")
    return write_part_file(storage, name, versions, None, Counter(table["par"].to_pylist()), data)
