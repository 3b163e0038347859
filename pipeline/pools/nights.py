"""Nights: numbers go out to workers in batches, deals come back in number order, parts are cut from them.

A part depends on its level, its first number, its size and the pool before it: not on how numbers were cut
into batches, how many workers there were, or in which order they finished.
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
from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.errors import CheckError
from pipeline.pools.catalog import Catalog, Part, PartName, Pool
from pipeline.pools.parts import puzzles_of, write_part
from pipeline.pools.puzzles import KnownPuzzles, PuzzleIds
from pipeline.store.storage import Storage
from pipeline.work.counts import Clock, Counts, Stopwatch, no_clock
from pipeline.work.executors import Work

BATCH_SIZE: Final = 20  # deal numbers, some ten milliseconds: what is at work when a part is full is lost


@dataclass(frozen=True, slots=True)
class MadePart:
    """The deals of a part that is not written yet.

    Attributes:
        first: first deal number sampled.
        rows: the deals, ascending in their numbers; at least one.
    """

    first: int
    rows: tuple[Row, ...]

    @property
    def last(self) -> int:
        """Last deal number sampled: that of the last deal."""
        return self.rows[-1].deal_number


def make_parts(
    level: str,
    first: int,
    sizes: Sequence[int],
    known: KnownPuzzles,
    work: Work,
) -> Generator[MadePart, None, None]:
    """Cut parts of these sizes from the deals that a level admits, in number order.

    Args:
        level: its name.
        first: the deal number to begin with.
        sizes: deals of each part, each at least 1.
        known: puzzle ids in the pool already; a deal with one of them is passed over. Grows by the new ones.
        work: runs `certify_batch`; each deal is counted and reported, with the level as the task.

    Raises:
        CheckError: the deal numbers have run out, or a line fails its replay.
    """
    if sizes:
        warm_up()
    total, done = sum(sizes), 0
    certify = partial(certified_span, clock=work.counts.clock)
    with closing(work.in_order(certify, spans(level, first))) as batches:
        found = _counted(batches, level, work.counts)
        for size in sizes:
            rows: list[Row] = []
            for row in new_rows(found, known):
                rows.append(row)
                done += 1
                work.progress.update(level, done, total)
                if len(rows) == size:
                    break
            if len(rows) < size:
                raise CheckError(
                    f"level {level}: {done} of {total} deals were found when the deal numbers ended, at "
                    f"{MOST_DEAL_NUMBER}; begin lower, with fairway pool regenerate {level} --from-number N"
                )
            part = MadePart(first, tuple(rows))
            yield part
            first = part.last + 1


def add_nights(
    storage: Storage,
    catalog: Catalog,
    nights: Sequence[date],
    deals_per_night: Mapping[str, int],
    caps: Mapping[str, int],
    work: Work,
) -> Catalog:
    """Make the parts of nights for all levels.

    A level without a last night gets the last of these nights alone. A pool grows up to its cap; a night
    without room adds no part, but it has been made.

    Args:
        storage: where the parts are written; the caller holds the root's lock.
        catalog: the catalog as it is.
        nights: dates, ascending; those that a level has already are passed over.
        deals_per_night: deals of each level's part.
        caps: deals in each level's pool at which nights add no more.
        work: runs `certify_batch`; each deal is counted and reported, with the level as the task.

    Returns:
        The catalog that names the new parts, for the caller to swap in; nothing points to them before.

    Raises:
        CheckError: the deal numbers have run out, or a line fails its replay.
        DamagedError: a part of a pool that grows is not what the catalog says.
    """
    for pool in catalog.pools:
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
    """Deals to add in each night that finds room."""
    sizes: dict[date, int] = {}
    room = cap - pool.size
    for night in nights:
        size = min(deals_per_night, room)
        if size > 0:
            sizes[night] = size
            room -= size
    return sizes


def _grown(storage: Storage, pool: Pool, sizes: Mapping[date, int], work: Work) -> Pool:
    """The pool with a new part for each night; the parts are written, but nothing points to them yet."""
    known = PuzzleIds(expected=pool.size + sum(sizes.values()))
    for part in pool.parts:
        known.update(puzzles_of(storage, part))
    parts = list(pool.parts)
    with closing(make_parts(pool.level, pool.next_number, list(sizes.values()), known, work)) as all_made:
        for night, made in zip(sizes, all_made, strict=True):
            name = PartName(pool.level, pool.generation, made.first, made.last)
            parts.append(write_counted(storage, name, night, made.rows, work.counts))
    return dataclasses.replace(pool, parts=tuple(parts), next_number=parts[-1].last + 1)


def write_counted(
    storage: Storage, name: PartName, night: date | None, rows: Sequence[Row], counts: Counts
) -> Part:
    """Write a part as `write_part` does, timed and counted."""
    watch = Stopwatch(counts.clock)
    part = write_part(storage, name, night, rows)
    watch.lap("writing")
    counts.stages.add(watch.stages)
    counts.level(name.level).written += part.rows
    return part


def _counted(batches: Iterable[Batch], level: str, counts: Counts) -> Iterator[Row]:
    """The deals of batches, counted up to the last number that was taken.

    What was looked at beyond that counts for nobody: how far that is depends on the workers.
    """
    counted = counts.level(level)

    def look_at(batch: Batch, begin: int, end: int) -> None:
        counted.sampled += end - begin
        counted.cleared += bisect_left(batch.cleared, end) - bisect_left(batch.cleared, begin)

    for batch in batches:
        counts.stages.add(batch.stages)
        begin = batch.first
        for row in batch.rows:
            look_at(batch, begin, row.deal_number + 1)
            begin = row.deal_number + 1
            counted.admitted += 1
            yield row
        look_at(batch, begin, batch.first + batch.count)


def certified_span(span: tuple[str, int, int], clock: Clock = no_clock) -> Batch:
    """A batch, as `spans` names it, certified."""
    return certify_batch(*span, clock)


def spans(level: str, first: int, last: int = MOST_DEAL_NUMBER) -> Iterator[tuple[str, int, int]]:
    """Batches of deal numbers, both ends included, as arguments of `certify_batch`."""
    for start in range(first, last + 1, BATCH_SIZE):
        yield level, start, min(BATCH_SIZE, last + 1 - start)


def new_rows(rows: Iterable[Row], known: KnownPuzzles) -> Iterator[Row]:
    """Rows whose puzzle is not known yet; of two with the same puzzle the lower number stays."""
    for row in rows:
        if row.puzzle_id not in known:
            known.add(row.puzzle_id)
            yield row
