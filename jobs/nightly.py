"""A night: the pools grow, the Daily holes that are due come out, and what is derived is brought up to date.

Whatever stops a night leaves a complete earlier state and files that nothing points to; the next run clears
those away and makes the same bytes.
"""

from dataclasses import dataclass
from datetime import date

from jobs.due import Due, due
from jobs.exclusive import exclusive_run
from jobs.settings import Settings
from jobs.tools import Tools
from pipeline.catalog import Catalog, load_catalog, save_catalog
from pipeline.ledger import published_days
from pipeline.levels import LEVELS
from pipeline.records import Tally
from pipeline.storage import LocalStorage


@dataclass(frozen=True, slots=True)
class LevelReport:
    """What a night did for one level.

    Attributes:
        level: its name.
        sampled: deal numbers looked at.
        added: deals added.
        size: deals in the pool now.
    """

    level: str
    sampled: int
    added: int
    size: int


@dataclass(frozen=True, slots=True)
class NightReport:
    """What a run of the nightly job did.

    Attributes:
        night: the night it was asked for.
        nights: the nights it added, ascending.
        levels: one report a level.
        dailies: dates whose Daily hole it published, ascending.
        solutions: solutions it put out because their date is over.
        published: how many Daily holes are out now.
        seconds: how long it took.
    """

    night: date
    nights: tuple[date, ...]
    levels: tuple[LevelReport, ...]
    dailies: tuple[date, ...]
    solutions: int
    published: int
    seconds: float

    @property
    def is_nothing(self) -> bool:
        """Whether everything was there already."""
        return not (self.nights or self.dailies or self.solutions)


def what_is_due(storage: LocalStorage, night: date, settings: Settings) -> Due:
    """What a data root lacks up to a night.

    Raises:
        DamagedError: the catalog is damaged.
        StorageError: the data root cannot be read.
    """
    last_nights = [pool.last_night for pool in load_catalog(storage).pools]
    published = published_days(storage)
    return due(night, last_nights, published, settings.daily_from, settings.publish_ahead_days)


def run_night(storage: LocalStorage, night: date, settings: Settings, tools: Tools) -> NightReport:
    """Add the nights up to `night`, publish what is due, and leave a record in `runs/`.

    Args:
        storage: the data root.
        night: the night to reach; nights that are there are passed over.
        settings: how much to make.
        tools: the outside world.

    Raises:
        BusyError: another run holds the data root.
        FairwayError: whatever stopped it; what was complete by then stays.
    """
    started = tools.clock()
    with exclusive_run(storage, "nightly", settings, tools) as tally:
        todo, levels = _make(storage, night, settings, tools, tally)
    return NightReport(
        night=night,
        nights=todo.nights,
        levels=levels,
        dailies=todo.dailies,
        solutions=tally.solutions,
        published=len(published_days(storage)),
        seconds=(tools.clock() - started).total_seconds(),
    )


def _make(
    storage: LocalStorage, night: date, settings: Settings, tools: Tools, tally: Tally
) -> tuple[Due, tuple[LevelReport, ...]]:
    tools.load_kernels()
    # Only now: these modules define kernels.
    from pipeline.executors import batches_ahead, local_executor
    from pipeline.generate import add_nights
    from pipeline.parts import clear_unreferenced
    from pipeline.publish import publish

    before = after = load_catalog(storage)
    clear_unreferenced(storage, before)
    todo = what_is_due(storage, night, settings)
    with local_executor(settings.workers) as executor:
        if todo.nights:
            after = add_nights(
                storage,
                before,
                todo.nights,
                {level: settings.deals_of(level) for level in LEVELS},
                {level: settings.cap_of(level) for level in LEVELS},
                executor,
                tools.progress,
                ahead=batches_ahead(settings.workers),
                counts=tally,
            )
            after = save_catalog(storage, after)
            tally.change = after.change
        levels = _level_reports(before, after)
        tally.nights = len(todo.nights)
        tally.sampled = sum(level.sampled for level in levels)
        tally.deals = sum(level.added for level in levels)
        publish(
            storage,
            todo.dailies,
            settings.daily_key,
            tools.clock(),
            executor,
            tools.progress,
            counts=tally,
        )
    return todo, levels


def _level_reports(before: Catalog, after: Catalog) -> tuple[LevelReport, ...]:
    return tuple(
        LevelReport(new.level, new.next_number - old.next_number, new.size - old.size, new.size)
        for old, new in zip(before.pools, after.pools, strict=True)
    )
