"""The history of the pools: the kept catalogs and the generations that they name.

A kept catalog is an unchanged copy of what was once `catalog.json`, written by
`pipeline.pools.catalog.save_catalog`. So going back (`pipeline.pools.rollback`) is an ordinary change of the
catalog. Kept catalogs are never edited; `pipeline.pools.garbage` removes the oldest.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.errors import DamagedError, MissingError
from pipeline.pools.catalog import Catalog, Pool, kept_changes, kept_path, parse_catalog
from pipeline.store.storage import Storage
from solver.errors import UsageError


@dataclass(frozen=True, slots=True)
class State:
    """A level's pool as one change of the catalog left it.

    Attributes:
        change: the number of the change.
        pool: the pool from this change until the next state.
        in_force: whether it is the pool now.
    """

    change: int
    pool: Pool
    in_force: bool


def read_kept(storage: Storage, changes: Iterable[int]) -> Iterator[Catalog]:
    """Yield the kept catalogs of these changes, without those that have been removed in the meantime.

    Raises:
        DamagedError: a kept catalog is damaged.
    """
    for change in changes:
        path = kept_path(change)
        try:
            catalog = parse_catalog(storage.read(path), path)
        except MissingError:
            continue
        if catalog.change != change:
            raise DamagedError(f"{path} is damaged: it contains change {catalog.change}")
        yield catalog


def states(storage: Storage, catalog: Catalog, level: str) -> tuple[State, ...]:
    """Return every known state of a level's pool, ascending; the one in force is among them.

    A change that left this level as it was adds no state. An empty pool is not a state.

    Raises:
        DamagedError: a kept catalog is damaged.
        UsageError: the level has no pool.
    """
    earlier = read_kept(storage, (change for change in kept_changes(storage) if change != catalog.change))
    catalogs = sorted((*earlier, catalog), key=lambda each: each.change)
    catalog.pool(level)  # refuses a level without a pool
    known: list[State] = []
    for each in catalogs:
        if all(pool.level != level for pool in each.pools):
            continue  # the level was added later
        pool, is_now = each.pool(level), each.change == catalog.change
        if known and _is_same(known[-1].pool, pool):
            known[-1] = dataclasses.replace(known[-1], in_force=known[-1].in_force or is_now)
        elif pool.parts:
            known.append(State(each.change, pool, is_now))
    return tuple(known)


def _is_same(before: Pool, after: Pool) -> bool:
    return dataclasses.replace(before, newest_generation=after.newest_generation) == after


def generations(known: Sequence[State]) -> dict[int, State]:
    """Return, of `states`, the one that a rollback to each generation restores, ascending.

    This is the last state of the generation, or the state in force for the generation in force.
    """
    last: dict[int, State] = {}
    for state in known:
        number = state.pool.generation
        if number not in last or not last[number].in_force:
            last[number] = state
    return dict(sorted(last.items()))


def state_of_generation(known: Sequence[State], level: str, generation: int) -> State:
    """Return the state of a level in a generation, as in `generations`.

    Raises:
        UsageError: the generation is not known.
    """
    last = generations(known)
    if generation not in last:
        numbers = ", ".join(map(str, last)) or "none"
        raise UsageError(f"level {level} has no generation {generation}; known generations: {numbers}")
    return last[generation]


def kept_parts(storage: Storage) -> dict[str, set[str]]:
    """Return every part that a kept catalog names; see `parts_in`.

    Raises:
        DamagedError: a kept catalog is damaged, so the parts that it names are unknown.
    """
    return parts_in(read_kept(storage, kept_changes(storage)))


def parts_in(catalogs: Iterable[Catalog]) -> dict[str, set[str]]:
    """Return the paths of all parts that catalogs name, with the hashes they give; normally one per path."""
    named: dict[str, set[str]] = {}
    for catalog in catalogs:
        for part in (part for pool in catalog.pools for part in pool.parts):
            named.setdefault(part.path, set()).add(part.sha256)
    return named
