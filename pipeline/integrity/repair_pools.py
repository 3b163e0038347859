"""Repair of parts: one that is missing or damaged is made anew from its numbers, and put back if it is that.

The hash in the catalog decides. Deals follow from numbers alone, but bytes from the version of pyarrow too: a
part that another version wrote may come out otherwise. Then it is left alone, and that is said.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from contextlib import closing, suppress

from pipeline.deals.certify import CertifiedDeal, warm_up
from pipeline.errors import DamagedError, MissingError
from pipeline.integrity.dry_run import Mending, put
from pipeline.pools.catalog import Catalog, Part, Pool
from pipeline.pools.nights import certified_span, new_deals, spans
from pipeline.pools.parquet import part_bytes, pyarrow_version, read_part
from pipeline.pools.parts import check_named_part, puzzles_of
from pipeline.pools.puzzles import PuzzleIds
from pipeline.store.storage import Storage
from pipeline.store.text import sha256_of
from pipeline.versions import PART_VERSIONS
from pipeline.work.ordered import in_order
from pipeline.work.progress import Progress


def mend_parts(
    storage: Storage, catalogs: Iterable[Catalog], mending: Mending, executor: Executor, progress: Progress
) -> None:
    """Make every part anew that one of these catalogs names and that is not as it was named.

    Args:
        storage: the data root.
        catalogs: the one in force first, then those that are kept.
        mending: takes what is done and what cannot be.
        executor: works deals out.
        progress: told of the deals of each part, with the level as the task.
    """
    seen: set[str] = set()
    for pool in (pool for catalog in catalogs for pool in catalog.pools):
        wrong = dict(_wrong_parts(storage, pool, seen))
        if wrong:
            warm_up()
            _mend_pool(storage, pool, wrong, mending, executor, progress)


def _wrong_parts(storage: Storage, pool: Pool, seen: set[str]) -> Iterator[tuple[str, str]]:
    """Path of each part that was not looked at before and is wrong, with what is wrong."""
    for part in pool.parts:
        if part.path not in seen:
            seen.add(part.path)
            try:
                check_named_part(storage, part)
            except DamagedError as fault:
                yield part.path, str(fault)


def _mend_pool(
    storage: Storage,
    pool: Pool,
    wrong: dict[str, str],
    mending: Mending,
    executor: Executor,
    progress: Progress,
) -> None:
    known = PuzzleIds(expected=pool.size)
    for part in pool.parts:
        if part.path in wrong:
            _mend_part(storage, pool.level, part, wrong[part.path], known, mending, executor, progress)
        with suppress(DamagedError):  # what it has taken from later parts shows in their hashes
            known.update(puzzles_of(storage, part))


def _mend_part(
    storage: Storage,
    level: str,
    part: Part,
    fault: str,
    known: PuzzleIds,
    mending: Mending,
    executor: Executor,
    progress: Progress,
) -> None:
    if part.versions != PART_VERSIONS:
        mending.refuse(part.path, f"{fault}; other versions of Fairway's definitions made it: restore a copy")
        return
    rows = _made_anew(level, part, known, executor, progress)
    if len(rows) != part.rows:
        mending.refuse(
            part.path,
            f"{fault}; its numbers give {len(rows)} deals, and the catalog says {part.rows}, so it is the "
            "catalog that is wrong: restore a copy of that",
        )
        return
    data = part_bytes(rows)
    if sha256_of(data) == part.sha256:
        put(storage, part.path, data)
        mending.mend(part.path, f"{fault}; made anew from its numbers, to that hash")
    else:
        mending.refuse(part.path, f"{fault}; {_otherwise(storage, level, part, data)}")


def _made_anew(
    level: str, part: Part, known: PuzzleIds, executor: Executor, progress: Progress
) -> list[CertifiedDeal]:
    """The deals that the numbers of a part give, without those whose puzzle the pool has already."""
    rows: list[CertifiedDeal] = []
    work = spans(level, part.first, part.last)
    with closing(in_order(executor, certified_span, work)) as batches:
        for batch in batches:
            rows += new_deals(batch.deals, known)
            progress.update(level, min(len(rows), part.rows), part.rows)
    return rows


def _otherwise(storage: Storage, level: str, part: Part, data: bytes) -> str:
    """Why a part with the right number of deals may not be what the catalog names."""
    cause = f"either another pyarrow than {pyarrow_version()} wrote it, or that hash was changed"
    remedy = f"restore a copy, or make the pool anew with `fairway pool regenerate {level}`"
    if _has_rows(storage, part, data):
        return f"it holds the very rows that its numbers give, so no deal is lost: {cause}; {remedy}"
    return f"made anew from its numbers, it has another one: {cause}; {remedy}"


def _has_rows(storage: Storage, part: Part, data: bytes) -> bool:
    """Whether the file that is there can be read and holds the rows of this one."""
    try:
        found = read_part(storage.read(part.path), part.path)
    except (MissingError, DamagedError):
        return False
    return bool(found.equals(read_part(data, part.path)))
