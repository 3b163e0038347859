"""What a level's pool has been, and who made it so: the kept catalogs and the run records put together."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobs.runs.run import runs_by_change
from pipeline.errors import DamagedError
from pipeline.pools.catalog import Part, Pool, load_catalog
from pipeline.pools.history import State, generations, state_of_generation, states
from pipeline.store.storage import Storage
from pipeline.work.records import RunRecord


@dataclass(frozen=True, slots=True)
class Entry:
    """One state of a pool, as it is told.

    Attributes:
        state: the pool, and the change of the catalog that made it.
        made: who made it and when; None where no run record says so.
        pars: how many of its deals have each par; None where a part of it is damaged or missing.
    """

    state: State
    made: RunRecord | None
    pars: dict[int, int] | None


@dataclass(frozen=True, slots=True)
class History:
    """What is known of a level's pool.

    Attributes:
        level: its name.
        total: how many of its changes are known.
        changes: the latest of them, ascending.
        generations: the state to go back to of each generation that is known, ascending in their numbers.
    """

    level: str
    total: int
    changes: tuple[Entry, ...]
    generations: tuple[Entry, ...]


def level_history(storage: Storage, level: str, limit: int) -> History:
    """The history of a level's pool; it is only read.

    Args:
        storage: the data root.
        level: its name.
        limit: how many changes to tell, at least 1.

    Raises:
        DamagedError: the catalog is damaged, or a kept one.
    """
    known = states(storage, load_catalog(storage), level)
    latest, ends = known[-limit:], tuple(generations(known).values())
    told = {state.change: state for state in (*latest, *ends)}
    mixes = dict(zip(told, par_mixes(storage, [state.pool for state in told.values()]), strict=True))
    made = runs_by_change(storage)

    def entry(state: State) -> Entry:
        return Entry(state, made.get(state.change), mixes[state.change])

    return History(level, len(known), tuple(map(entry, latest)), tuple(map(entry, ends)))


def two_generations(storage: Storage, level: str, first: int, second: int) -> tuple[Pool, Pool]:
    """A level's pool in each of two generations.

    Raises:
        UsageError: nothing is known of one of them.
        DamagedError: the catalog is damaged, or a kept one.
    """
    known = states(storage, load_catalog(storage), level)
    one, other = (state_of_generation(known, level, number) for number in (first, second))
    return one.pool, other.pool


def par_mixes(storage: Storage, pools: Sequence[Pool]) -> list[dict[int, int] | None]:
    """For each pool how many of its deals have each par, ascending in par.

    Catalogs say so themselves, but for parts that were named before they did: those are read.

    Args:
        storage: the data root; it is only read.
        pools: as catalogs have them.

    Returns:
        One mix a pool; None where a part that must be read is damaged or missing.
    """
    unknown = {part.path: part for pool in pools for part in pool.parts if part.pars is None}
    read = _read_pars(storage, unknown) if unknown else {}
    return [_par_mix(pool, read) for pool in pools]


def _read_pars(storage: Storage, parts: Mapping[str, Part]) -> dict[str, Counter[int]]:
    """The pars of parts by path; damaged ones are left out."""
    from pipeline.pools.parts import (
        pars_of,  # it reads Parquet, which takes longer to load than all else here
    )

    counts = {}
    for path, part in parts.items():
        try:
            counts[path] = pars_of(storage, part)
        except DamagedError:
            continue
    return counts


def _par_mix(pool: Pool, read: Mapping[str, Counter[int]]) -> dict[int, int] | None:
    total: Counter[int] = Counter()
    for part in pool.parts:
        if part.pars is not None:
            total.update({int(par): count for par, count in part.pars.items()})
        elif part.path in read:
            total.update(read[part.path])
        else:
            return None
    return dict(sorted(total.items()))
