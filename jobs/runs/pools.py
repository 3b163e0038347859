"""Jobs that certify no deals: roll back or compact a level's pool, and collect garbage.

Each replaces the catalog at most once. Run again after an interruption, it completes.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.runs.context import JobContext
from jobs.runs.exclusive import job_run
from jobs.runs.run import runs_by_change
from jobs.settings.model import Settings
from pipeline.pools.catalog import Catalog, Pool, load_catalog
from pipeline.pools.compact import compact
from pipeline.pools.garbage import Garbage, clear_unreferenced, find_garbage, remove_garbage
from pipeline.pools.rollback import roll_back
from pipeline.store.storage import LocalStorage
from pipeline.work.counts import Counts


@dataclass(frozen=True, slots=True)
class PoolChange:
    """A level's pool before and after a job; equal if there was nothing to do."""

    before: Pool
    after: Pool


@dataclass(frozen=True, slots=True)
class GcPlan:
    """Files that garbage collection removes, with the bytes of each path."""

    garbage: Garbage
    sizes: dict[str, int]

    @property
    def total(self) -> int:
        """Size of all files in bytes."""
        return sum(self.sizes.values())


def run_rollback(
    storage: LocalStorage, level: str, generation: int | None, settings: Settings, context: JobContext
) -> PoolChange:
    """Switch a level to another of its generations; None for the one before the current one.

    Raises:
        BusyError: if another run holds the lock.
        FairwayError: see `pipeline.pools.rollback`.
    """
    with job_run(storage, "pool rollback", settings, context) as counts:
        before = load_catalog(storage)
        after = roll_back(storage, before, level, generation)
        return _pool_change(before, after, level, counts)


def run_compaction(storage: LocalStorage, level: str, settings: Settings, context: JobContext) -> PoolChange:
    """Merge the small parts of a level's pool.

    Raises:
        BusyError: if another run holds the lock.
        FairwayError: see `pipeline.pools.compact`.
    """
    with job_run(storage, "pool compact", settings, context) as counts:
        before = load_catalog(storage)
        after = compact(storage, before, level, context.progress)
        return _pool_change(before, after, level, counts)


def _pool_change(before: Catalog, after: Catalog, level: str, counts: Counts) -> PoolChange:
    if after != before:
        counts.change = after.change
    return PoolChange(before.pool(level), after.pool(level))


def plan_gc(storage: LocalStorage, settings: Settings, now: datetime) -> GcPlan:
    """Find the files that garbage collection would remove. Nothing is changed and no lock is needed.

    Raises:
        DamagedError: if the catalog or a kept catalog is damaged.
    """
    made = {change: record.ended for change, record in runs_by_change(storage).items()}
    before = now - timedelta(days=settings.keep_days)
    garbage = find_garbage(storage, load_catalog(storage), made, settings.keep_catalogs, before, now)
    return GcPlan(garbage, {path: storage.size(path) for path in garbage.paths})


def run_gc(storage: LocalStorage, settings: Settings, context: JobContext) -> GcPlan:
    """Remove old kept catalogs, and the files that no remaining catalog refers to.

    Raises:
        BusyError: if another run holds the lock.
        FairwayError: see `plan_gc`.
    """
    with job_run(storage, "gc", settings, context) as counts:
        plan = plan_gc(storage, settings, context.clock())
        remove_garbage(storage, plan.garbage)
        counts.removed = len(plan.garbage.paths)
        clear_unreferenced(storage, load_catalog(storage))
    return plan
