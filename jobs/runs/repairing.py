"""Making anew what damage has taken, or only saying what could be."""

from jobs.runs.context import Tools
from jobs.runs.exclusive import mending_run
from jobs.settings.model import Settings
from pipeline.integrity.dry_run import Mending, Rehearsal
from pipeline.store.storage import LocalStorage, Storage


def run_repair(storage: LocalStorage, settings: Settings, tools: Tools) -> Mending:
    """Mend what can be mended, and leave a record in `runs/`.

    Args:
        storage: the data root.
        settings: in force; the key is one of them.
        tools: the outside world.

    Raises:
        BusyError: another run holds the data root.
        StorageError: it cannot be written; what was mended by then stays.
    """
    mending = Mending()
    with mending_run(storage, "repair", settings, tools) as tally:
        try:
            _mend(storage, storage, mending, settings, tools)
        finally:  # so that the record holds whatever stopped it
            tally.mended, tally.refused = len(mending.mended), len(mending.refused)
    return mending


def rehearse_repair(storage: LocalStorage, settings: Settings, tools: Tools) -> Mending:
    """Find out what `run_repair` would do; nothing is changed, and no lock is needed.

    Args:
        storage: the data root.
        settings: in force.
        tools: the outside world.
    """
    mending = Mending()
    _mend(storage, Rehearsal(storage), mending, settings, tools)
    return mending


def _mend(root: LocalStorage, storage: Storage, mending: Mending, settings: Settings, tools: Tools) -> None:
    from pipeline.integrity.repair import repair
    from pipeline.work.executors import local_executor

    with local_executor(settings.workers) as executor:
        now = tools.clock()
        repair(storage, mending, settings.daily_key, now, executor, tools.progress, root.odd_paths)
