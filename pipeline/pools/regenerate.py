"""A level's pool made anew, as a generation beside the old one, with a switch in one step at the end.

A run that was stopped is resumed by the same request, and finished parts are not made again. Another request
is refused until the unfinished one is dropped.
"""

import dataclasses
from contextlib import closing, suppress
from typing import Final

from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.errors import DamagedError, MissingError
from pipeline.pools.catalog import Catalog, PartName, Pool, generation_prefix, save_catalog
from pipeline.pools.nights import make_parts, write_counted
from pipeline.pools.parts import PART_ROWS, clear_unreferenced, puzzles_of
from pipeline.pools.puzzles import PuzzleIds
from pipeline.pools.unfinished import (
    Record,
    Regeneration,
    new_record,
    next_generation,
    read_record,
    record_path,
    was_just_made,
    write_record,
)
from pipeline.store.storage import Storage
from pipeline.versions import PART_VERSIONS
from pipeline.work.executors import Work
from solver.errors import UsageError

MOST_DEALS: Final = 10_000_000


def plan_regeneration(pool: Pool, size: int | None, first: int | None) -> Regeneration:
    """What a request means for a pool.

    Args:
        pool: the pool as it is.
        size: deals wanted; None for as many as now.
        first: the deal number to begin with; None for that of the pool as it is.

    Raises:
        UsageError: a number is out of range, or the pool is empty and no size was given.
    """
    if size is None:
        if not pool.size:
            raise UsageError(f"the pool of level {pool.level} is empty; say how many deals with --size N")
        size = pool.size
    if first is None:
        first = pool.parts[0].first if pool.parts else 0
    if not 1 <= size <= MOST_DEALS:
        raise UsageError(f"size {size} is out of range; it must be one of 1 .. {MOST_DEALS}")
    if not 0 <= first <= MOST_DEAL_NUMBER + 1 - size:
        raise UsageError(
            f"{size} deals from number {first} on are out of range; the numbers are 0 .. {MOST_DEAL_NUMBER}"
        )
    return Regeneration(pool.level, next_generation(pool), first, size, dict(PART_VERSIONS))


def regenerate(storage: Storage, catalog: Catalog, wanted: Regeneration, work: Work) -> Catalog:
    """Make a generation, or what is missing of it, and switch the level to it.

    The record of it stays, for `forget_request`.

    Args:
        storage: the data root; the caller holds its lock.
        catalog: the catalog as it is.
        wanted: from `plan_regeneration`.
        work: runs `certify_batch`; each deal of this run is counted and reported, with the level as the task.

    Returns:
        The catalog that has been swapped in; by the run before, where only its last step was missing.

    Raises:
        UsageError: another regeneration of this level is unfinished.
        CheckError: the deal numbers have run out, or a line fails its replay.
        DamagedError: the record of the unfinished one is damaged, or there are parts without a record.
    """
    pool = catalog.pool(wanted.level)
    is_there = was_just_made(storage, pool, wanted)
    clear_unreferenced(storage, catalog)
    if is_there:
        return catalog
    record, known = _begun(storage, pool, wanted)
    sizes = _part_sizes(record.missing)
    with closing(make_parts(wanted.level, record.next_number, sizes, known, work)) as made:
        for part in made:
            name = PartName(wanted.level, wanted.generation, part.first, part.last)
            record = record.with_part(write_counted(storage, name, None, part.rows, work.counts))
            write_record(storage, record)
    return save_catalog(storage, catalog.with_pool(record.pool(pool.last_night)))


def forget_request(storage: Storage, pool: Pool) -> None:
    """Remove the record of the regeneration that made a pool: the last step of its run.

    As long as it is there, the same request finds its work done. Without it, it is a new one.
    """
    with suppress(MissingError):
        storage.remove(record_path(pool.level, pool.generation))


def drop_unfinished(storage: Storage, pool: Pool) -> tuple[str, ...]:
    """Remove the unfinished generation beside a pool, its record last; only for the holder of the lock.

    Returns:
        The paths that were removed; none when nothing was unfinished.
    """
    record = record_path(pool.level, next_generation(pool))
    paths = storage.list(generation_prefix(pool.level, next_generation(pool)))
    if record not in paths:
        return ()
    removed = (*(path for path in paths if path != record), record)
    for path in removed:
        storage.remove(path)
    return removed


def _begun(storage: Storage, pool: Pool, wanted: Regeneration) -> tuple[Record, PuzzleIds]:
    """The record to go on from, and the puzzle ids of its parts; what it does not name is cleared away."""
    found = read_record(storage, pool)
    if found is None:
        _check_unused(storage, wanted)
        record = new_record(wanted)
        write_record(storage, record)
        return record, PuzzleIds(expected=wanted.size)
    if found.wanted != wanted:
        raise UsageError(_refusal(found.wanted, wanted))
    record, known = _intact(storage, found)
    _clear_others(storage, record)
    return record, known


def _check_unused(storage: Storage, wanted: Regeneration) -> None:
    strangers = storage.list(wanted.folder)
    if strangers:
        raise DamagedError(
            f"{strangers[0]} lies where generation {wanted.generation} of {wanted.level} is to be made, "
            "and nothing names it; move it away"
        )


def _refusal(found: Regeneration, wanted: Regeneration) -> str:
    if dataclasses.replace(found, versions=wanted.versions) == wanted:
        how = "it was begun by another version of Fairway"
    else:
        how = f"resume it with `{found.command}`"
    return (
        f"a regeneration of {found.level}, {found.size} deals from number {found.first} on, is unfinished; "
        f"{how}, or drop it by adding --restart"
    )


def _intact(storage: Storage, record: Record) -> tuple[Record, PuzzleIds]:
    """The record up to its first damaged part, and the puzzle ids up to there."""
    intact = new_record(record.wanted)
    known = PuzzleIds(expected=record.wanted.size)
    for part in record.parts:
        try:
            known.update(puzzles_of(storage, part))
        except DamagedError:
            break  # it is made again, and what follows it too: to the same bytes
        intact = intact.with_part(part)
    return intact, known


def _clear_others(storage: Storage, record: Record) -> None:
    kept = {part.path for part in record.parts} | {record_path(record.wanted.level, record.wanted.generation)}
    for path in storage.list(record.wanted.folder):
        if path not in kept:
            storage.remove(path)


def _part_sizes(deals: int) -> list[int]:
    whole, rest = divmod(deals, PART_ROWS)
    return [PART_ROWS] * whole + [rest] * (rest > 0)
