"""Jobs that only some users run: publish chosen dates, repair, study."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from jobs.plan.clock_bound import check_hole_count
from jobs.runs.context import JobContext
from jobs.runs.exclusive import job_run, repair_run
from jobs.settings.model import Settings
from pipeline.daily.files import published_days
from pipeline.daily.publish import Published, publish
from pipeline.integrity.dry_run import DryRunStorage, RepairLog
from pipeline.integrity.repair import repair
from pipeline.store.storage import LocalStorage, Storage
from pipeline.studies.players import PlayersFindings, play
from pipeline.studies.study import Result, carry_out
from pipeline.studies.winnability import Study
from pipeline.work.executors import local_work


def run_publish(
    storage: LocalStorage,
    days: Sequence[date],
    settings: Settings,
    context: JobContext,
    *,
    solutions_now: bool = False,
    allow_many: bool = False,
) -> Published:
    """Publish the missing Daily holes of some dates, and leave a run record.

    With `solutions_now`, the solutions of these dates are released even if the dates are not over.

    Raises:
        CheckError: if too many holes would be published at once and `allow_many` is not set.
        BusyError: if another run holds the lock.
        FairwayError: see `pipeline.daily.publish.publish`.
    """
    early = frozenset(days) if solutions_now else frozenset()
    with (
        job_run(storage, "daily publish", settings, context) as counts,
        local_work(settings.workers, context.progress, counts) as work,
    ):
        if not allow_many:
            published = published_days(storage)
            check_hole_count([day for day in days if day not in frozenset(published)], published)
        return publish(storage, days, settings.daily_key, context.clock(), work, early)


def run_repair(storage: LocalStorage, settings: Settings, context: JobContext) -> RepairLog:
    """Repair damaged files, and leave a run record.

    Raises:
        BusyError: if another run holds the lock.
        StorageError: if the data root cannot be written; repairs made before that stay.
    """
    log = RepairLog()
    with repair_run(storage, "repair", settings, context) as counts:
        try:
            _repair(storage, storage, log, settings, context)
        finally:  # the record also counts the repairs made before an error
            counts.mended, counts.refused = len(log.repaired), len(log.refused)
    return log


def dry_run_repair(storage: LocalStorage, settings: Settings, context: JobContext) -> RepairLog:
    """Return what `run_repair` would do. Nothing is changed and no lock is needed."""
    log = RepairLog()
    _repair(storage, DryRunStorage(storage, storage.irregular_paths()), log, settings, context)
    return log


def _repair(
    root: LocalStorage, storage: Storage, log: RepairLog, settings: Settings, context: JobContext
) -> None:
    with local_work(settings.workers, context.progress) as work:
        repair(storage, log, settings.daily_key, context.clock(), work, root.irregular_paths)


@dataclass(frozen=True, slots=True)
class StudyReport:
    """A completed study: its counts, and the duration of this run."""

    result: Result
    seconds: float


def run_study(storage: LocalStorage, study: Study, settings: Settings, context: JobContext) -> StudyReport:
    """Make the missing blocks of a study.

    A study changes no file that another run uses, and creates each of its own files once. So it neither takes
    the lock, which would hold up a night, nor leaves a run record.

    Raises:
        FairwayError: see `pipeline.studies.study`.
    """
    started = context.clock()
    with local_work(settings.workers, context.progress) as work:
        result = carry_out(storage, study, work)
    return StudyReport(result, (context.clock() - started).total_seconds())


@dataclass(frozen=True, slots=True)
class PlayersReport:
    """A completed players' study: what it found, and its duration."""

    found: PlayersFindings
    seconds: float


def run_players_study(study: Study, settings: Settings, context: JobContext) -> PlayersReport:
    """Carry out a players' study, which stores nothing and needs no data root."""
    started = context.clock()
    with local_work(settings.workers, context.progress) as work:
        found = play(study, work)
    return PlayersReport(found, (context.clock() - started).total_seconds())
