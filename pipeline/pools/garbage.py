"""Files that no catalog names: what killed runs leave behind, and what an old history is made of.

Kept catalogs are removed first, the oldest first, then the parts that only they named. If that is stopped,
the history is complete from some change on, and the next run finds and removes the unnamed files.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from pipeline.errors import DamagedError
from pipeline.pools.catalog import (
    DEALS_PREFIX,
    FIRST_GENERATION,
    Catalog,
    PartName,
    Pool,
    kept_changes,
    kept_path,
    parse_part_path,
)
from pipeline.pools.history import kept_parts, parts_in, read_kept
from pipeline.pools.unfinished import next_generation, record_path
from pipeline.store.storage import Storage


@dataclass(frozen=True, slots=True)
class Garbage:
    """Files that may be removed.

    Attributes:
        catalogs: paths of kept catalogs, the oldest first.
        parts: paths of parts that nothing names without those catalogs, sorted.
        young: how many kept catalogs beyond the wanted number stay, because they were replaced too recently
            or at an unknown time.
    """

    catalogs: tuple[str, ...]
    parts: tuple[str, ...]
    young: int

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths, in the order in which they must be removed."""
        return self.catalogs + self.parts


def replaced_by(changes: Collection[int], made: Mapping[int, datetime], now: datetime) -> dict[int, datetime]:
    """Return, for each change, a time by which another catalog had replaced it.

    This is the time of the next change whose time run records give (`made`); `now` if there is none.
    """
    known = sorted(made)
    following = {change: bisect_right(known, change) for change in changes}
    return {change: made[known[place]] if place < len(known) else now for change, place in following.items()}


def find_garbage(
    storage: Storage,
    catalog: Catalog,
    made: Mapping[int, datetime],
    keep: int,
    before: datetime,
    now: datetime,
) -> Garbage:
    """Return the files that may be removed; nothing is changed.

    Args:
        storage: the data root.
        catalog: the catalog in force; everything it names stays.
        made: the times of changes, as far as run records give them.
        keep: how many of the newest kept catalogs stay, whatever their age.
        before: only catalogs that had been replaced by this time may be removed.
        now: the current time, aware.

    Raises:
        DamagedError: a kept catalog that stays is damaged, so the files that it names are unknown.
    """
    kept = [change for change in kept_changes(storage) if change != catalog.change]
    beyond = kept[: max(len(kept) - keep, 0)]
    replaced = replaced_by(beyond, made, now)
    going = [change for change in beyond if replaced[change] <= before]
    staying = [change for change in kept if change not in set(going)]
    return Garbage(
        tuple(kept_path(change) for change in going),
        _unnamed(storage, catalog, staying),
        len(beyond) - len(going),
    )


def remove_garbage(storage: Storage, garbage: Garbage) -> None:
    """Remove garbage in its order; the caller holds the lock."""
    for path in garbage.paths:
        storage.remove(path)


def clear_unreferenced(storage: Storage, catalog: Catalog) -> tuple[str, ...]:
    """Remove what killed runs left in the generations in force; the caller holds the lock.

    Other generations stay: they belong to the history or to an unfinished regeneration. Parts that a kept
    catalog names stay too; if a kept catalog is damaged, all parts stay. The record of a regeneration is
    removed if its generation has been in force, because only the last step of that run was missing; but if
    the pool is still as that run made it, the record stays, so that the same request finds its work done.

    Returns:
        The removed paths, sorted.
    """
    removed = tuple(sorted((*_strays(storage, catalog), *_left_records(storage, catalog))))
    for path in removed:
        storage.remove(path)
    return removed


def _strays(storage: Storage, catalog: Catalog) -> list[str]:
    named = parts_in([catalog])
    in_force = {(pool.level, pool.generation) for pool in catalog.pools}
    unnamed = []
    for path in storage.list(DEALS_PREFIX):
        name = parse_part_path(path)
        if name is not None and path not in named and (name.level, name.generation) in in_force:
            unnamed.append(path)
    if not unnamed:
        return []
    try:
        kept = kept_parts(storage)
    except DamagedError:
        return []
    return [path for path in unnamed if path not in kept]


def _left_records(storage: Storage, catalog: Catalog) -> Iterator[str]:
    were_in_force = {
        record_path(pool.level, generation)
        for pool in catalog.pools
        for generation in range(FIRST_GENERATION, pool.newest_generation + 1)
        if not (generation == pool.generation and _is_as_regenerated(pool))
    }
    return (path for path in storage.list(DEALS_PREFIX) if path in were_in_force)


def _is_as_regenerated(pool: Pool) -> bool:
    return bool(pool.parts) and all(part.night is None for part in pool.parts)


def _unnamed(storage: Storage, catalog: Catalog, staying: Collection[int]) -> tuple[str, ...]:
    """Return the parts of generations once in force that no catalog names, of those that stay."""
    paths = [path for path in storage.list(DEALS_PREFIX) if _was_in_force(catalog, parse_part_path(path))]
    named = parts_in((catalog, *read_kept(storage, staying)))
    return tuple(path for path in paths if path not in named)


def _was_in_force(catalog: Catalog, name: PartName | None) -> bool:
    """Return whether a part may have belonged to a pool; a later generation may be in the making."""
    pools = {pool.level: pool for pool in catalog.pools}
    if name is None or name.level not in pools:
        return False
    return name.generation < next_generation(pools[name.level])
