"""The repair job, and its dry run."""

from jobs.runs.context import Tools
from jobs.runs.exclusive import mending_run
from jobs.settings.model import Settings
from pipeline.integrity.dry_run import DryRunStorage, RepairLog
from pipeline.integrity.repair import repair
from pipeline.store.storage import LocalStorage, Storage
from pipeline.work.executors import local_work


def run_repair(storage: LocalStorage, settings: Settings, tools: Tools) -> RepairLog:
    """Repair a data root, and leave a record in `runs/`.

    Args:
        storage: the data root.
        settings: in force, with the secret key.
        tools: the job's dependencies.

    Raises:
        BusyError: if another run holds the data root.
        StorageError: if it cannot be written; what was repaired before stays.
    """
    log = RepairLog()
    with mending_run(storage, "repair", settings, tools) as tally:
        try:
            _repair(storage, storage, log, settings, tools)
        finally:  # so that the record is right whatever stopped the run
            tally.mended, tally.refused = len(log.repaired), len(log.refused)
    return log


def run_repair_dry(storage: LocalStorage, settings: Settings, tools: Tools) -> RepairLog:
    """Return what `run_repair` would do; nothing is changed, and no lock is needed.

    Args:
        storage: the data root.
        settings: in force, with the secret key.
        tools: the job's dependencies.
    """
    log = RepairLog()
    _repair(storage, DryRunStorage(storage), log, settings, tools)
    return log


def _repair(root: LocalStorage, storage: Storage, log: RepairLog, settings: Settings, tools: Tools) -> None:
    with local_work(settings.workers, tools.progress) as work:
        repair(storage, log, settings.daily_key, tools.clock(), work, root.odd_paths)
