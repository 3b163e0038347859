"""Changes of the catalog that make no deals: going back to a generation, compaction, and clearing away.

Each is alone on the data root, leaves a record, and is one swap or none. Run again after a stop, it finishes.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.runs.context import Tools
from jobs.runs.exclusive import exclusive_run
from jobs.runs.run import changes_made
from jobs.settings.model import Settings
from pipeline.pools.catalog import Catalog, Pool, load_catalog
from pipeline.pools.garbage import Garbage, find_garbage, remove_garbage
from pipeline.store.storage import LocalStorage
from pipeline.work.records import Tally


@dataclass(frozen=True, slots=True)
class PoolChange:
    """A level's pool before a job and after it; the same one where there was nothing to do."""

    before: Pool
    after: Pool


@dataclass(frozen=True, slots=True)
class Clearance:
    """What is to be cleared away, or was.

    Attributes:
        garbage: which files.
        sizes: bytes of each, by path.
    """

    garbage: Garbage
    sizes: dict[str, int]

    @property
    def total(self) -> int:
        """Bytes of all of them."""
        return sum(self.sizes.values())


@dataclass(frozen=True, slots=True)
class Wanted:
    """What must stay whatever nothing points to.

    Attributes:
        keep: how many kept catalogs.
        days: a catalog that was replaced less than so many days ago stays too.
    """

    keep: int
    days: int


def run_rollback(
    storage: LocalStorage, level: str, generation: int | None, settings: Settings, tools: Tools
) -> PoolChange:
    """Switch a level to another of its generations.

    Args:
        storage: the data root.
        level: whose pool.
        generation: its number; None for the one below that in force.
        settings: in force.
        tools: the outside world.

    Raises:
        BusyError: another run holds the data root.
        FairwayError: see `pipeline.pools.rollback`.
    """
    from pipeline.pools.rollback import roll_back

    with exclusive_run(storage, "pool rollback", settings, tools) as tally:
        before = load_catalog(storage)
        after = roll_back(storage, before, level, generation)
        return _changed(before, after, level, tally)


def run_compaction(storage: LocalStorage, level: str, settings: Settings, tools: Tools) -> PoolChange:
    """Put the parts of a level's pool together.

    Args:
        storage: the data root.
        level: whose pool.
        settings: in force.
        tools: the outside world.

    Raises:
        BusyError: another run holds the data root.
        FairwayError: see `pipeline.pools.compact`.
    """
    from pipeline.pools.compact import compact

    with exclusive_run(storage, "pool compact", settings, tools) as tally:
        before = load_catalog(storage)
        after = compact(storage, before, level, tools.progress)
        return _changed(before, after, level, tally)


def _changed(before: Catalog, after: Catalog, level: str, tally: Tally) -> PoolChange:
    if after != before:
        tally.change = after.change
    return PoolChange(before.pool(level), after.pool(level))


def look_for_garbage(storage: LocalStorage, wanted: Wanted, now: datetime) -> Clearance:
    """Find what may be cleared away; nothing is changed, and no lock is needed.

    Args:
        storage: the data root.
        wanted: what must stay.
        now: an aware moment.

    Raises:
        DamagedError: the catalog is damaged, or a kept one that stays.
    """
    made = {change: by.ended for change, by in changes_made(storage).items()}
    before = now - timedelta(days=wanted.days)
    garbage = find_garbage(storage, load_catalog(storage), made, wanted.keep, before, now)
    return Clearance(garbage, {path: storage.size(path) for path in garbage.paths})


def run_clearance(storage: LocalStorage, wanted: Wanted, settings: Settings, tools: Tools) -> Clearance:
    """Clear away what nothing points to any more.

    Args:
        storage: the data root.
        wanted: what must stay.
        settings: in force.
        tools: the outside world.

    Raises:
        BusyError: another run holds the data root.
        FairwayError: see `look_for_garbage`.
    """
    from pipeline.pools.parts import clear_unreferenced

    with exclusive_run(storage, "gc", settings, tools) as tally:
        clearance = look_for_garbage(storage, wanted, tools.clock())
        remove_garbage(storage, clearance.garbage)
        tally.removed = len(clearance.garbage.paths)
        clear_unreferenced(storage, load_catalog(storage))
    return clearance
