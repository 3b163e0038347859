"""Rollback: switch a level's pool to an earlier generation, or forward again, in one change of the catalog.

The pool becomes what it last was in that generation, with its next number and its last night, so the next
nightly run adds the nights since then. The generation that was left stays, because a kept catalog names it.
New generations still get numbers that were never used.
"""

import dataclasses
from collections.abc import Sequence

from pipeline.pools.catalog import Catalog, Pool, save_catalog
from pipeline.pools.garbage import clear_unreferenced
from pipeline.pools.history import State, generations, state_of_generation, states
from pipeline.pools.parts import check_named_part
from pipeline.store.storage import Storage
from solver.errors import UsageError


def roll_back(storage: Storage, catalog: Catalog, level: str, generation: int | None) -> Catalog:
    """Switch a level to another of its generations, None for the one below that in force.

    The caller holds the lock of the data root.

    Returns:
        The catalog now in force; the same one if that generation was already in force.

    Raises:
        UsageError: the generation is not known.
        DamagedError: a part of it is missing or damaged, or a kept catalog is damaged; nothing was changed.
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
            f"`fairway pool history {pool.level}` lists the known ones"
        )
    return max(earlier)
