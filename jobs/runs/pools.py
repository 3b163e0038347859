"""Jobs that certify no deals: roll back or compact a level's pool, and collect garbage.

Each replaces the catalog at most once. Run again after an interruption, it completes.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.runs.context import JobContext
from jobs.runs.exclusive import job_run
from jobs.runs.run import runs_by_change
from jobs.settings.model import Settings
from pipeline.pools.catalog import Catalog, Pool, kept_changes, kept_path, load_catalog
from pipeline.pools.compact import compact
from pipeline.pools.garbage import Garbage, clear_unreferenced, find_garbage, remove_garbage
from pipeline.pools.rollback import roll_back
from pipeline.store.storage import LocalStorage
from pipeline.work.counts import Counts
from pipeline.work.records import old_records


@dataclass(frozen=True, slots=True)
class PoolChange:
    """A level's pool before and after a job; equal if there was nothing to do."""

    before: Pool
    after: Pool


@dataclass(frozen=True, slots=True)
class GcPlan:
    """Files that garbage collection removes: garbage, run records, and the bytes of each path."""

    garbage: Garbage
    records: tuple[str, ...]
    sizes: dict[str, int]

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths, in the order in which they must be removed."""
        return self.garbage.paths + self.records

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
    catalog = load_catalog(storage)
    garbage = find_garbage(storage, catalog, made, settings.keep_catalogs, before, now)
    staying = [change for change in kept_changes(storage) if kept_path(change) not in garbage.catalogs]
    first_change = min(staying, default=catalog.change)
    records = old_records(storage, now - timedelta(days=settings.keep_records), first_change)
    return GcPlan(garbage, records, {path: storage.size(path) for path in garbage.paths + records})


def run_gc(storage: LocalStorage, settings: Settings, context: JobContext) -> GcPlan:
    """Remove old kept catalogs, the files that no remaining catalog refers to, and old run records.

    Raises:
        BusyError: if another run holds the lock.
        FairwayError: see `plan_gc`.
    """
    with job_run(storage, "gc", settings, context) as counts:
        plan = plan_gc(storage, settings, context.clock())
        remove_garbage(storage, plan.garbage)
        for path in plan.records:
            storage.remove(path)
        counts.removed = len(plan.paths)
        clear_unreferenced(storage, load_catalog(storage))
    return plan
