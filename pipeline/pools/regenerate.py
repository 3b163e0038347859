"""Regeneration: make a level's pool again as a new generation, and switch to it in one step at the end.

The same request resumes a run that was stopped, without making finished parts again. Other requests are
refused until the unfinished regeneration is dropped.
"""

import dataclasses
from contextlib import closing, suppress

from pipeline.deals.levels import MAX_DEALS, Policy
from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.errors import DamagedError, MissingError
from pipeline.pools.catalog import Catalog, PartName, Pool, generation_prefix, save_catalog
from pipeline.pools.garbage import clear_unreferenced
from pipeline.pools.nights import make_parts, write_counted
from pipeline.pools.parts import PART_ROWS, puzzles_of
from pipeline.pools.puzzles import PuzzleIds
from pipeline.pools.unfinished import (
    Record,
    Regeneration,
    just_made,
    new_record,
    next_generation,
    read_record,
    record_path,
    write_record,
)
from pipeline.store.storage import Storage
from pipeline.versions import part_versions
from pipeline.work.executors import Work
from solver.errors import UsageError


def plan_regeneration(
    pool: Pool, policy: Policy, size: int | None, first: int | None, note: str = ""
) -> Regeneration:
    """Return the complete request for the next generation; by default size and first number are the pool's.

    Raises:
        UsageError: a number is out of range, or the pool is empty and no size was given.
    """
    if size is None:
        if not pool.size:
            raise UsageError(f"the pool of level {pool.level} is empty; give its new size with --size N")
        size = pool.size
    if first is None:
        first = pool.parts[0].first if pool.parts else 0
    if not 1 <= size <= MAX_DEALS:
        raise UsageError(f"size {size} is out of range; it must be one of 1 .. {MAX_DEALS}")
    if not 0 <= first <= MOST_DEAL_NUMBER + 1 - size:
        raise UsageError(
            f"{size} deals from number {first} are out of range; the numbers are 0 .. {MOST_DEAL_NUMBER}"
        )
    versions = part_versions(policy.version)
    return Regeneration(pool.level, next_generation(pool), first, size, versions, policy, note)


def regenerate(
    storage: Storage, catalog: Catalog, wanted: Regeneration, work: Work, base: Policy | None = None
) -> Catalog:
    """Make a generation, or its missing parts, and switch the level to it.

    The record stays; `forget_request` removes it.

    Args:
        storage: the data root; the caller holds its lock.
        catalog: the catalog in force.
        wanted: from `plan_regeneration`.
        work: runs `certify_batch`; each deal of this run is counted and reported, with the level as the task.
        base: the level's policy in the settings, for the command in a refusal; None for the built-in one.

    Returns:
        The catalog now in force; the same one if the last run lacked only its last step.

    Raises:
        UsageError: another regeneration of this level is unfinished.
        CheckError: the deal numbers have run out, or a line fails its replay.
        DamagedError: the record of the unfinished one is damaged, or there are parts without a record.
    """
    pool = catalog.pool_of(wanted.level_row)
    done = just_made(storage, pool)
    clear_unreferenced(storage, catalog)
    if done is not None and dataclasses.replace(done, generation=wanted.generation) == wanted:
        return catalog
    record, known = _begin(storage, pool, wanted, base)
    sizes = _part_sizes(record.missing)
    with closing(make_parts(wanted.level_row, record.next_number, sizes, known, work)) as made:
        for part in made:
            name = PartName(wanted.level, wanted.generation, part.first, part.last)
            record = record.with_part(
                write_counted(storage, name, wanted.policy, None, part.rows, work.counts)
            )
            write_record(storage, record)
    return save_catalog(storage, catalog.with_pool(record.pool(pool.last_night)))


def forget_request(storage: Storage, pool: Pool) -> None:
    """Remove the record of the regeneration that made a pool; this is the last step of a run.

    While the record exists, the same request finds its work done. Without it, the request is a new one.
    """
    with suppress(MissingError):
        storage.remove(record_path(pool.level, pool.generation))


def drop_unfinished(storage: Storage, pool: Pool) -> tuple[str, ...]:
    """Remove the unfinished generation of a pool, its record last; the caller holds the lock.

    Returns:
        The removed paths; empty if nothing was unfinished.
    """
    record = record_path(pool.level, next_generation(pool))
    paths = storage.list(generation_prefix(pool.level, next_generation(pool)))
    if record not in paths:
        return ()
    removed = (*(path for path in paths if path != record), record)
    for path in removed:
        storage.remove(path)
    return removed


def _begin(
    storage: Storage, pool: Pool, wanted: Regeneration, base: Policy | None
) -> tuple[Record, PuzzleIds]:
    """Return the record to continue from and the puzzle ids of its parts; remove all other files."""
    found = read_record(storage, pool)
    if found is None:
        _check_unused(storage, wanted)
        record = new_record(wanted)
        write_record(storage, record)
        return record, PuzzleIds(expected=wanted.size)
    if found.wanted != wanted:
        raise UsageError(_refusal(found.wanted, wanted, base))
    record, known = _intact(storage, found)
    _clear_others(storage, record)
    return record, known


def _check_unused(storage: Storage, wanted: Regeneration) -> None:
    strangers = storage.list(wanted.folder)
    if strangers:
        raise DamagedError(
            f"{strangers[0]} is in the folder of the next generation of {wanted.level}, "
            "but nothing names it; move it away"
        )


def _refusal(found: Regeneration, wanted: Regeneration, base: Policy | None) -> str:
    if dataclasses.replace(found, versions=wanted.versions) == wanted:
        how = "another version of Fairway began it"
    else:
        how = f"resume it with `{found.command(base)}`"
    if found.policy != wanted.policy:
        fields = wanted.policy.differs_from(found.policy) or "version"
        how = f"it admits {found.policy.admits_text}, not {wanted.policy.admits_text} ({fields}); {how}"
    return (
        f"a regeneration of {found.level}, {found.size} deals from number {found.first}, is unfinished; "
        f"{how}, or add --restart to drop it"
    )


def _intact(storage: Storage, record: Record) -> tuple[Record, PuzzleIds]:
    """Return the record up to its first damaged part, with the puzzle ids of those parts."""
    intact = new_record(record.wanted)
    known = PuzzleIds(expected=record.wanted.size)
    for part in record.parts:
        try:
            known.update(puzzles_of(storage, part))
        except DamagedError:
            break  # this part and all after it are made again, with the same bytes
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
