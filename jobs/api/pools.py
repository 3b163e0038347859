"""A pool as a document, and its history: the kept catalogs combined with the records of runs."""

from dataclasses import dataclass
from datetime import UTC
from typing import Any, Final

from jobs.runs.run import runs_by_change
from pipeline.deals.levels import HIGHEST_PAR, LOWEST_PAR, Policy
from pipeline.pools.catalog import Pool, load_catalog
from pipeline.pools.history import State, generations, state_of_generation, states
from pipeline.store.storage import Storage
from pipeline.work.records import RunRecord

PARS: Final = range(LOWEST_PAR, HIGHEST_PAR + 1)


@dataclass(frozen=True, slots=True)
class Entry:
    """One state of a pool.

    Attributes:
        state: the pool, and the change of the catalog that made it.
        made: the run that made it; None if no run record names the change.
    """

    state: State
    made: RunRecord | None


@dataclass(frozen=True, slots=True)
class History:
    """The known states of a level's pool.

    Attributes:
        level: the name of the level.
        total: the number of known states.
        changes: the latest of them, ascending.
        generations: for each known generation the state that a rollback restores, ascending.
    """

    level: str
    total: int
    changes: tuple[Entry, ...]
    generations: tuple[Entry, ...]


def level_history(storage: Storage, level: str, limit: int) -> History:
    """Return the history of a level's pool.

    Args:
        storage: the data root; it is only read.
        level: the name of the level.
        limit: the number of changes to return, at least 1.

    Raises:
        DamagedError: the catalog or a kept one is damaged.
    """
    known = states(storage, load_catalog(storage), level)
    made = runs_by_change(storage)

    def entry(state: State) -> Entry:
        return Entry(state, made.get(state.change))

    ends = generations(known).values()
    return History(level, len(known), tuple(map(entry, known[-limit:])), tuple(map(entry, ends)))


def two_generations(storage: Storage, level: str, first: int, second: int) -> tuple[Pool, Pool]:
    """Return a level's pool in each of two generations.

    Raises:
        UsageError: one of them does not exist.
        DamagedError: the catalog or a kept one is damaged.
    """
    known = states(storage, load_catalog(storage), level)
    one, other = (state_of_generation(known, level, number) for number in (first, second))
    return one.pool, other.pool


def pool_document(pool: Pool) -> dict[str, Any]:
    """Return a pool without its deals as a document with a fixed order of keys."""
    return {
        "level": pool.level,
        "generation": pool.generation,
        "deals": pool.size,
        "parts": len(pool.parts),
        "next_number": pool.next_number,
        "last_night": pool.last_night.isoformat() if pool.last_night else None,
        "policy": policy_document(pool.policy),
        "note": pool.note,
    }


def policy_text(pool: Pool) -> str:
    """Return what the policy of a pool admits, with the note of its generation."""
    return f"{pool.policy.admits_text}{f' -- {pool.note}' if pool.note else ''}"


def policy_document(policy: Policy) -> dict[str, Any]:
    """Return a policy with its hash as a document."""
    return {**policy.document, "sha256": policy.sha256}


def history_document(found: History) -> dict[str, Any]:
    """Return a history as a document; null means unknown."""
    return {
        "level": found.level,
        "known_changes": found.total,
        "generations": [_entry_document(entry) for entry in found.generations],
        "changes": [_entry_document(entry) for entry in found.changes],
    }


def _entry_document(entry: Entry) -> dict[str, Any]:
    return {
        "change": entry.state.change,
        "made": None if entry.made is None else entry.made.ended.astimezone(UTC).isoformat(),
        "job": None if entry.made is None else entry.made.job,
        "in_force": entry.state.in_force,
        **pool_document(entry.state.pool),
        "pars": {str(par): entry.state.pool.pars.get(par, 0) for par in PARS},
    }
