"""The job that regenerates a level's pool. Run again after an interruption, it completes."""

from dataclasses import dataclass

from jobs.runs.context import JobContext
from jobs.runs.exclusive import job_run
from jobs.settings.model import Settings
from pipeline.deals.levels import Level
from pipeline.pools.catalog import Pool, load_catalog
from pipeline.pools.regenerate import drop_unfinished, forget_request, plan_regeneration, regenerate
from pipeline.pools.unfinished import just_made
from pipeline.store.storage import LocalStorage
from pipeline.work.executors import local_work


@dataclass(frozen=True, slots=True)
class RegenerationRequest:
    """What `pool regenerate` was asked for.

    Attributes:
        level: the level, with the policy wanted.
        size: number of deals wanted, or None for the current size.
        first: first deal number to sample, or None for that of the current generation.
        fresh: start with the first number that the pool has not sampled yet.
        restart: discard an unfinished regeneration instead of resuming it.
        note: what the history says of the generation.
    """

    level: Level
    size: int | None
    first: int | None
    fresh: bool
    restart: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class RegenerationReport:
    """What a regeneration made: the new generation, the deal numbers sampled, and the size of the pool.

    `was_done` is whether an earlier run of the same request had made it and was stopped at its end.
    """

    level: str
    generation: int
    first: int
    last: int
    size: int
    seconds: float
    was_done: bool


def run_regeneration(
    storage: LocalStorage, request: RegenerationRequest, settings: Settings, context: JobContext
) -> RegenerationReport:
    """Make a new generation of a pool, or resume an unfinished one of the same request, and switch to it.

    Raises:
        BusyError: if another run holds the lock.
        FairwayError: see `pipeline.pools.regenerate`.
    """
    started = context.clock()

    def forget() -> None:
        forget_request(storage, load_catalog(storage).pool_of(request.level))

    with job_run(storage, "pool regenerate", settings, context, forget) as counts:
        catalog = load_catalog(storage)
        pool = catalog.pool_of(request.level)
        first = _first_number(storage, pool, request)
        plan = plan_regeneration(pool, request.level.policy, request.size, first, request.note)
        if request.restart:
            drop_unfinished(storage, pool)
        with local_work(settings.workers, context.progress, counts) as work:
            base = settings.level(plan.level).policy if plan.level in settings.level_names else None
            after = regenerate(storage, catalog, plan, work, base)
        made = after.pool(request.level.name)
        last = made.parts[-1].last
        counts.deals, counts.sampled = made.size, last - plan.first + 1
        counts.change = after.change
    seconds = (context.clock() - started).total_seconds()
    was_done = after == catalog
    return RegenerationReport(made.level, made.generation, plan.first, last, made.size, seconds, was_done)


def _first_number(storage: LocalStorage, pool: Pool, request: RegenerationRequest) -> int | None:
    """Return the first number to sample; with `fresh`, also that of a run that was stopped at its end."""
    if not request.fresh:
        return request.first
    made = just_made(storage, pool)
    return pool.next_number if made is None else made.first
