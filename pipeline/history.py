"""What the pools were before: the kept catalogs, the generations in them, and going back to one.

A kept catalog is the whole file as it once was `catalog.json` (`pipeline.catalog.save_catalog` keeps it), so
that going back is a swap like any other. Nothing here is ever edited; `pipeline.garbage` removes the oldest.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.catalog import Catalog, Pool, kept_changes, kept_path, parse_catalog
from pipeline.errors import DamagedError, MissingError
from pipeline.storage import Storage
from solver.errors import UsageError


@dataclass(frozen=True, slots=True)
class State:
    """A level's pool as one change of the catalog left it.

    Attributes:
        change: the change, as the catalogs count them.
        pool: the pool from then on, until the next state.
    """

    change: int
    pool: Pool


def read_kept(storage: Storage, changes: Iterable[int]) -> Iterator[Catalog]:
    """The kept catalogs of these changes; one that has been removed in the meantime is passed over.

    Raises:
        DamagedError: a file is not what it must be.
    """
    for change in changes:
        path = kept_path(change)
        try:
            catalog = parse_catalog(storage.read(path), path)
        except MissingError:
            continue
        if catalog.change != change:
            raise DamagedError(f"{path} is damaged: it says that it is change {catalog.change}")
        yield catalog


def states(storage: Storage, catalog: Catalog, level: str) -> tuple[State, ...]:
    """Everything that a level's pool has been, as far as it is known; ascending, with the one in force.

    A change that left this level as it was is no state of it, and neither is an empty pool.

    Args:
        storage: the data root.
        catalog: the one in force.
        level: its name.

    Raises:
        DamagedError: a kept catalog is damaged.
        UsageError: there is no such level.
    """
    earlier = read_kept(storage, (change for change in kept_changes(storage) if change != catalog.change))
    catalogs = sorted((*earlier, catalog), key=lambda each: each.change)
    found: list[State] = []
    for each in catalogs:
        pool = each.pool(level)
        if pool.parts and not (found and _is_same(found[-1].pool, pool)):
            found.append(State(each.change, pool))
    return tuple(found)


def pool_of_generation(known: Sequence[State], catalog: Catalog, level: str, generation: int) -> Pool:
    """A level's pool as it last was in a generation.

    Args:
        known: from `states`.
        catalog: the one in force.
        level: its name.
        generation: its number.

    Raises:
        UsageError: nothing is known of such a generation.
    """
    in_force = catalog.pool(level)
    if generation == in_force.generation:
        return in_force
    pools = [state.pool for state in known if state.pool.generation == generation]
    if not pools:
        numbers = sorted({state.pool.generation for state in known})
        there = ", ".join(map(str, numbers)) or "none"
        raise UsageError(f"level {level} has no generation {generation}; those that are known: {there}")
    return pools[-1]


def generation_before(known: Sequence[State], pool: Pool) -> int:
    """The generation below the one in force.

    Args:
        known: from `states`.
        pool: the one in force.

    Raises:
        UsageError: none is known.
    """
    earlier = [state.pool.generation for state in known if state.pool.generation < pool.generation]
    if not earlier:
        raise UsageError(
            f"no generation of level {pool.level} before {pool.generation} is known; "
            f"`fairway pool history {pool.level}` lists those that are"
        )
    return max(earlier)


def rolled_back(catalog: Catalog, earlier: Pool) -> Catalog:
    """The catalog with a level's pool as it was, for the caller to swap in.

    The next night goes on from that pool's own next number and last night; new generations still get numbers
    that were never used.
    """
    newest = catalog.pool(earlier.level).newest_generation
    return catalog.with_pool(dataclasses.replace(earlier, newest_generation=newest))


def kept_parts(storage: Storage) -> dict[str, set[str]]:
    """Every part that kept catalogs name, by path, with the hashes that they give it: one, if all is well.

    Raises:
        DamagedError: a kept catalog is damaged, so that nobody can tell what it names.
    """
    return parts_in(read_kept(storage, kept_changes(storage)))


def parts_in(catalogs: Iterable[Catalog]) -> dict[str, set[str]]:
    """Every part that catalogs name, by path, with the hashes that they give it."""
    named: dict[str, set[str]] = {}
    for catalog in catalogs:
        for part in (part for pool in catalog.pools for part in pool.parts):
            named.setdefault(part.path, set()).add(part.sha256)
    return named


def _is_same(before: Pool, after: Pool) -> bool:
    return dataclasses.replace(before, newest_generation=after.newest_generation) == after
