"""A pool's many small parts put together into few large ones: the same rows, cut as a regeneration cuts them.

The parts of before stay where they are, named by the catalog that is kept, until `pipeline.pools.garbage`
removes them. At most a few parts are held in memory, whatever the size of the pool.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from pipeline.errors import CheckError
from pipeline.pools.catalog import Catalog, Part, PartName, Pool, save_catalog
from pipeline.pools.parquet import joined, read_part, table_bytes
from pipeline.pools.parts import PART_ROWS, clear_unreferenced, read_named_part, write_part_file
from pipeline.store.storage import Storage
from pipeline.versions import PART_VERSIONS
from pipeline.work.progress import Progress


def compact(storage: Storage, catalog: Catalog, level: str, progress: Progress) -> Catalog:
    """Put the parts of a level's pool together, and switch to them in one step.

    A part by itself and parts made by other versions of Fairway's definitions stay as they are.

    Args:
        storage: the data root; the caller holds its lock.
        catalog: the one in force.
        level: whose pool.
        progress: is told of the deals that have been put into place.

    Returns:
        The catalog in force now; the same one where there was nothing to put together.

    Raises:
        DamagedError: a part is not what the catalog says; nothing has changed then.
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
    """The parts that shall take the place of a pool's; those that are not there yet are written."""
    for stretch in _stretches(pool.parts):
        if stretch[0].versions == PART_VERSIONS:
            yield from _cut(storage, pool, stretch)
        else:
            yield from stretch


def _stretches(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """Parts of one version that follow one another without a number between them."""
    stretch: list[Part] = []
    for part in parts:
        if stretch and (part.first != stretch[-1].last + 1 or part.versions != stretch[-1].versions):
            yield stretch
            stretch = []
        stretch.append(part)
    if stretch:
        yield stretch


def _cut(storage: Storage, pool: Pool, parts: Sequence[Part]) -> Iterator[Part]:
    """The rows of parts, `PART_ROWS` to a part; a part that would come out as it is, is not touched."""
    there = {part.first: part for part in parts}
    first, waiting = parts[0].first, None
    for part in parts:
        if waiting is None and part.rows == PART_ROWS:
            yield part
            first = part.last + 1
            continue
        table = read_named_part(storage, part)
        waiting = table if waiting is None else joined([waiting, table])
        while waiting is not None and len(waiting) >= PART_ROWS:
            made = _placed(storage, pool, there, first, waiting.slice(0, PART_ROWS))
            yield made
            first = made.last + 1
            waiting = waiting.slice(PART_ROWS) if len(waiting) > PART_ROWS else None
    if waiting is not None:
        yield _placed(storage, pool, there, first, waiting)


def _placed(storage: Storage, pool: Pool, there: dict[int, Part], first: int, table: Any) -> Part:
    """The part that holds these rows, the first of which was sampled from `first` on."""
    last: int = table["deal_number"][-1].as_py()
    part = there.get(first)
    if part is not None and part.last == last:
        return part
    data = table_bytes(joined([table]))
    name = PartName(pool.level, pool.generation, first, last)
    if not read_part(data, name.path).equals(table):
        raise CheckError(f"{name.path} does not hold the rows that were put into it; nothing was changed")
    return write_part_file(storage, name, None, Counter(table["par"].to_pylist()), data)
