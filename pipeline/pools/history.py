"""What the pools were before: the kept catalogs, and the generations in them.

A kept catalog is the whole file as it once was `catalog.json` (`pipeline.pools.catalog.save_catalog` keeps
it), so that going back (`pipeline.pools.rollback`) is a swap like any other. Nothing here is ever edited;
`pipeline.pools.garbage` removes the oldest.
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
        change: the change, as the catalogs count them.
        pool: the pool from then on, until the next state.
        in_force: whether it still is the pool.
    """

    change: int
    pool: Pool
    in_force: bool


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
        pool, is_now = each.pool(level), each.change == catalog.change
        if found and _is_same(found[-1].pool, pool):
            found[-1] = dataclasses.replace(found[-1], in_force=found[-1].in_force or is_now)
        elif pool.parts:
            found.append(State(each.change, pool, is_now))
    return tuple(found)


def generations(known: Sequence[State]) -> dict[int, State]:
    """For each generation of a level the state to go back to, ascending in their numbers.

    That is the last one; of the generation in force it is the one in force.

    Args:
        known: from `states`.
    """
    found: dict[int, State] = {}
    for state in known:
        number = state.pool.generation
        if number not in found or not found[number].in_force:
            found[number] = state
    return dict(sorted(found.items()))


def state_of_generation(known: Sequence[State], level: str, generation: int) -> State:
    """The state of a level in a generation, as `generations` has it.

    Args:
        known: from `states`.
        level: its name.
        generation: its number.

    Raises:
        UsageError: nothing is known of such a generation.
    """
    found = generations(known)
    if generation not in found:
        there = ", ".join(map(str, found)) or "none"
        raise UsageError(f"level {level} has no generation {generation}; those that are known: {there}")
    return found[generation]


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
