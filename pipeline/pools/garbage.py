"""What may go: kept catalogs beyond those that are wanted, and the files that nothing names any more.

Catalogs go first, the oldest first, then the files that only they named. Whatever stops that leaves a history
that is whole from some change on, and files without a name, which the next run finds and removes.
"""

from bisect import bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from pipeline.pools.catalog import (
    DEALS_PREFIX,
    Catalog,
    PartName,
    kept_changes,
    kept_path,
    parse_part_path,
)
from pipeline.pools.history import parts_in, read_kept
from pipeline.pools.unfinished import next_generation
from pipeline.store.storage import Storage


@dataclass(frozen=True, slots=True)
class Garbage:
    """What may be removed.

    Attributes:
        catalogs: paths of kept catalogs, the oldest first.
        parts: paths of parts that nothing names once those are gone, sorted.
        young: kept catalogs beyond the number wanted that stay, as they were replaced too late or at a
            moment that nobody knows.
    """

    catalogs: tuple[str, ...]
    parts: tuple[str, ...]
    young: int

    @property
    def paths(self) -> tuple[str, ...]:
        """All of them, in the order in which they are to go."""
        return self.catalogs + self.parts


def replaced_by(changes: Collection[int], made: Mapping[int, datetime], now: datetime) -> dict[int, datetime]:
    """For each change the moment by which another catalog had taken its place.

    That is when the next change was made. Where nobody knows, as the run left no record, it is the moment of
    the first known change after it; after the last of these it is now.

    Args:
        changes: of kept catalogs.
        made: when changes were made, as far as it is known.
        now: an aware moment.
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
    """Find what may go; nothing is changed.

    Args:
        storage: the data root.
        catalog: the one in force; what it names stays.
        made: when changes were made, as far as it is known.
        keep: how many of the kept catalogs stay whatever their age: the newest.
        before: only a catalog that was replaced by then may go.
        now: an aware moment.

    Raises:
        DamagedError: a kept catalog that stays is damaged, so that nobody can tell what it names.
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
    """Remove it, in its order; only for the holder of the lock."""
    for path in garbage.paths:
        storage.remove(path)


def _unnamed(storage: Storage, catalog: Catalog, staying: Collection[int]) -> tuple[str, ...]:
    """Parts in generations that were once in force which neither the catalog nor those that stay name."""
    paths = [path for path in storage.list(DEALS_PREFIX) if _was_in_force(catalog, parse_part_path(path))]
    named = parts_in((catalog, *read_kept(storage, staying)))
    return tuple(path for path in paths if path not in named)


def _was_in_force(catalog: Catalog, name: PartName | None) -> bool:
    """Whether a part may have belonged to a pool; a generation above may be one that is being made."""
    pools = {pool.level: pool for pool in catalog.pools}
    if name is None or name.level not in pools:
        return False
    return name.generation < next_generation(pools[name.level])
