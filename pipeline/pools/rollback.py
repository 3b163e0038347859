"""Going back to an earlier generation of a level's pool, or forward again: one swap of the catalog.

The pool is what it last was in that generation, its next number and its last night included: the nights that
have passed since are made up by the next nightly run. The generation that was left stays, as a kept catalog
names it, and new generations still get numbers that were never used.
"""

import dataclasses
from collections.abc import Sequence

from pipeline.pools.catalog import Catalog, Pool, save_catalog
from pipeline.pools.history import State, generations, state_of_generation, states
from pipeline.pools.parts import check_named_part, clear_unreferenced
from pipeline.store.storage import Storage
from solver.errors import UsageError


def roll_back(storage: Storage, catalog: Catalog, level: str, generation: int | None) -> Catalog:
    """Switch a level to another of its generations.

    Args:
        storage: the data root; the caller holds its lock.
        catalog: the one in force.
        level: whose pool.
        generation: its number; None for the one below that in force.

    Returns:
        The catalog in force now; the same one where that generation was in force already.

    Raises:
        UsageError: nothing is known of such a generation.
        DamagedError: a part of it is missing or damaged, or a kept catalog is; nothing has changed then.
    """
    clear_unreferenced(storage, catalog)
    known, pool = states(storage, catalog, level), catalog.pool(level)
    wanted = _generation_before(known, pool) if generation is None else generation
    state = state_of_generation(known, level, wanted)
    if not state.in_force:
        for part in state.pool.parts:
            check_named_part(storage, part)
    earlier = dataclasses.replace(state.pool, newest_generation=pool.newest_generation)
    return save_catalog(storage, catalog.with_pool(earlier))


def _generation_before(known: Sequence[State], pool: Pool) -> int:
    earlier = [number for number in generations(known) if number < pool.generation]
    if not earlier:
        raise UsageError(
            f"level {pool.level} has no generation before {pool.generation}; "
            f"`fairway pool history {pool.level}` lists those that are known"
        )
    return max(earlier)
