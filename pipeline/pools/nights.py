"""Nights: workers certify batches of numbers, and parts are cut from their rows in number order.

A part depends on its level, its first number, its size and the pool before it. It does not depend on how
numbers were cut into batches, on the number of workers, or on the order in which they finished.
"""

import dataclasses
from bisect import bisect_left
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Final

from pipeline.deals.batches import Batch, certify_batch
from pipeline.deals.certify import warm_up
from pipeline.deals.columns import Row
from pipeline.deals.levels import Level, Policy
from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.errors import CheckError
from pipeline.pools.catalog import Catalog, Part, PartName, Pool
from pipeline.pools.parts import puzzles_of, write_part
from pipeline.pools.puzzles import PuzzleIds
from pipeline.store.storage import Storage
from pipeline.work.counts import Clock, Counts, Stopwatch
from pipeline.work.executors import Work

MOST_IN_VAIN: Final = 50_000  # shuffles in a row of which none is admitted, before a level is given up
BATCH_SIZE: Final = 20  # deal numbers, some 10 ms; batches in progress when a part is full are discarded


@dataclass(frozen=True, slots=True)
class MadePart:
    """The rows of a part that is not written yet, ascending; sampling began at the number `first`."""

    first: int
    rows: tuple[Row, ...]

    @property
    def last(self) -> int:
        """The last deal number sampled: that of the last row."""
        return self.rows[-1].deal_number


def add_nights(
    storage: Storage,
    catalog: Catalog,
    levels: Iterable[Level],
    nights: Sequence[date],
    deals_per_night: Mapping[str, int],
    caps: Mapping[str, int],
    work: Work,
) -> Catalog:
    """Make the parts of these nights for these levels; a pool that has parts grows by its own policy.

    A level without a last night gets only the last of these nights. A pool grows up to its cap; a night for
    which there is no room adds no part, but counts as made.

    Args:
        storage: where the parts are written; the caller holds the lock of the data root.
        catalog: the catalog in force.
        levels: the levels that nights make; the pool of any other stays as it is.
        nights: dates, ascending; those that a level already has are skipped.
        deals_per_night: for each level, the number of deals per part.
        caps: for each level, the size of the pool at which nights add no more deals.
        work: runs `certify_batch`; each deal is counted and reported, with the level as the task.

    Returns:
        The catalog that names the new parts. The caller saves it; until then nothing points to them.

    Raises:
        CheckError: the deal numbers have run out, or a line fails its replay.
        DamagedError: a part of a pool that grows is not as in the catalog.
    """
    for level in levels:
        pool = catalog.pool_of(level)
        due = _due(pool, nights)
        sizes = _sizes(pool, due, deals_per_night[pool.level], caps[pool.level])
        grown = _grown(storage, pool, sizes, work) if sizes else pool
        if due:
            catalog = catalog.with_pool(dataclasses.replace(grown, last_night=due[-1]))
    return catalog


def _due(pool: Pool, nights: Sequence[date]) -> Sequence[date]:
    if pool.last_night is None:
        return nights[-1:]
    return [night for night in nights if night > pool.last_night]


def _sizes(pool: Pool, nights: Sequence[date], deals_per_night: int, cap: int) -> dict[date, int]:
    """Return the number of deals to add in each night for which there is room."""
    sizes: dict[date, int] = {}
    room = cap - pool.size
    for night in nights:
        size = min(deals_per_night, room)
        if size > 0:
            sizes[night] = size
            room -= size
    return sizes


def _grown(storage: Storage, pool: Pool, sizes: Mapping[date, int], work: Work) -> Pool:
    """Write a part for each night and return the pool with them."""
    known = PuzzleIds(expected=pool.size + sum(sizes.values()))
    for part in pool.parts:
        known.update(puzzles_of(storage, part))
    parts = list(pool.parts)
    with closing(make_parts(pool.level_row, pool.next_number, list(sizes.values()), known, work)) as all_made:
        for night, made in zip(sizes, all_made, strict=True):
            name = PartName(pool.level, pool.generation, made.first, made.last)
            parts.append(write_counted(storage, name, pool.policy, night, made.rows, work.counts))
    return dataclasses.replace(pool, parts=tuple(parts), next_number=parts[-1].last + 1)


def make_parts(
    level: Level, first: int, sizes: Sequence[int], known: PuzzleIds, work: Work
) -> Generator[MadePart, None, None]:
    """Cut parts of these sizes from the deals that a level admits, in number order.

    Args:
        level: the level whose policy admits deals.
        first: the first deal number to sample.
        sizes: the number of deals of each part, each at least 1.
        known: the puzzle ids that the pool has; deals with one of them are skipped. The new ones are added.
        work: runs `certify_batch`; each deal is counted and reported, with the level as the task.

    Raises:
        CheckError: the deal numbers have run out, too many in a row were in vain, or a line fails its replay.
    """
    if not sizes:
        return
    total, done = sum(sizes), 0
    with closing(certified_batches(level, first, MOST_DEAL_NUMBER, work)) as batches:
        admitted = _counted(batches, level.name, work.counts)
        for size in sizes:
            rows: list[Row] = []
            for row in new_rows(admitted, known):
                rows.append(row)
                done += 1
                work.progress.update(level.name, done, total)
                if len(rows) == size:
                    break
            if len(rows) < size:
                raise CheckError(
                    f"level {level.name}: the deal numbers ended at {MOST_DEAL_NUMBER} after {done} of "
                    f"{total} deals; begin lower, with fairway pool regenerate {level.name} --from-number N"
                )
            part = MadePart(first, tuple(rows))
            yield part
            first = part.last + 1


def certified_batches(level: Level, first: int, last: int, work: Work) -> Generator[Batch, None, None]:
    """Certify the deals of consecutive numbers, both ends included, in batches in number order."""
    warm_up()
    spans = (
        (level, start, min(BATCH_SIZE, last + 1 - start)) for start in range(first, last + 1, BATCH_SIZE)
    )
    return work.in_order(partial(_certified, clock=work.counts.clock), spans)


def _certified(span: tuple[Level, int, int], clock: Clock) -> Batch:
    return certify_batch(*span, clock)


def _counted(batches: Iterable[Batch], level: str, counts: Counts) -> Iterator[Row]:
    """Yield the rows of batches, and count up to the last row that was taken.

    Numbers sampled beyond that row are not counted, because how many there are depends on the workers.
    """
    counted = counts.level(level)

    def count(batch: Batch, begin: int, end: int) -> None:
        counted.sampled += end - begin
        counted.cleared += bisect_left(batch.cleared, end) - bisect_left(batch.cleared, begin)

    vain = 0
    for batch in batches:
        counts.stages.add(batch.stages)
        begin = batch.first
        vain = 0 if batch.rows else vain + batch.count
        if vain > MOST_IN_VAIN:
            raise CheckError(
                f"level {level}: its policy admitted none of {vain:,} shuffles in a row, up to number "
                f"{batch.first + batch.count - 1}; see `fairway pool preview {level}`, and change the policy"
            )
        for row in batch.rows:
            count(batch, begin, row.deal_number + 1)
            begin = row.deal_number + 1
            counted.admitted += 1
            yield row
        count(batch, begin, batch.first + batch.count)


def new_rows(rows: Iterable[Row], known: PuzzleIds) -> Iterator[Row]:
    """Yield the rows whose puzzle is not known yet; of two with the same puzzle the lower number stays."""
    for row in rows:
        if row.puzzle_id not in known:
            known.add(row.puzzle_id)
            yield row


def write_counted(
    storage: Storage,
    name: PartName,
    policy: Policy,
    night: date | None,
    rows: Sequence[Row],
    counts: Counts,
) -> Part:
    """Write a part with `write_part`, and count its deals and the time."""
    watch = Stopwatch(counts.clock)
    part = write_part(storage, name, policy, night, rows)
    watch.lap("writing")
    counts.stages.add(watch.stages)
    counts.level(name.level).written += part.rows
    return part
