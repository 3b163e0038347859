"""Making one level's pool anew, on request."""

from dataclasses import dataclass

from jobs.runs.context import Tools
from jobs.runs.exclusive import exclusive_run
from jobs.settings.model import Settings
from pipeline.pools.catalog import load_catalog
from pipeline.store.storage import LocalStorage
from pipeline.work.executors import local_work
from solver.errors import UsageError


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for.

    Attributes:
        level: whose pool.
        size: deals wanted; None for as many as there are.
        first: deal number to begin with; None for that of the pool as it is.
        fresh: begin with the first number that the pool has not sampled yet.
        restart: drop an unfinished regeneration instead of resuming it.

    Raises:
        UsageError: both a first number and a fresh start.
    """

    level: str
    size: int | None
    first: int | None
    fresh: bool
    restart: bool

    def __post_init__(self) -> None:
        if self.fresh and self.first is not None:
            raise UsageError("--fresh and --from-number exclude each other; give one of them")


@dataclass(frozen=True, slots=True)
class RegenerationReport:
    """What a regeneration made.

    Attributes:
        level: whose pool.
        generation: the one in force now.
        first: first deal number sampled.
        last: last deal number sampled.
        size: deals in the pool now.
        seconds: how long this run took.
    """

    level: str
    generation: int
    first: int
    last: int
    size: int
    seconds: float


def run_regeneration(
    storage: LocalStorage, request: Request, settings: Settings, tools: Tools
) -> RegenerationReport:
    """Make a new generation, or go on with an unfinished one of the same request, and switch to it.

    Args:
        storage: the data root.
        request: what is wanted.
        settings: in force.
        tools: the outside world.

    Raises:
        BusyError: another run holds the data root.
        FairwayError: see `pipeline.pools.regenerate`.
    """
    started = tools.clock()

    def forget() -> None:
        from pipeline.pools.regenerate import forget_request

        forget_request(storage, load_catalog(storage).pool(request.level))

    with exclusive_run(storage, "pool regenerate", settings, tools, forget) as tally:
        from pipeline.pools.regenerate import drop_unfinished, plan_regeneration, regenerate

        catalog = load_catalog(storage)
        pool = catalog.pool(request.level)
        first = pool.next_number if request.fresh else request.first
        wanted = plan_regeneration(pool, request.size, first)
        if request.restart:
            drop_unfinished(storage, pool)
        with local_work(settings.workers, tools.progress, tally) as work:
            after = regenerate(storage, catalog, wanted, work)
        made = after.pool(request.level)
        last = made.parts[-1].last
        tally.deals, tally.sampled = made.size, last - wanted.first + 1
        tally.change = after.change
    seconds = (tools.clock() - started).total_seconds()
    return RegenerationReport(made.level, made.generation, wanted.first, last, made.size, seconds)
