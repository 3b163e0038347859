"""What follows a run once it has ended, however it ended: the log, the metrics, the operator's own commands.

None of it can make a run fail, or undo one.
"""

from jobs.runs.context import Tools
from jobs.settings.model import Settings
from jobs.watch.hooks import run_hooks
from jobs.watch.logs import details, log
from jobs.watch.metrics import write_metrics
from pipeline.store.storage import LocalStorage
from pipeline.work.records import Outcome, RunRecord, record_document
from solver.errors import FairwayError


def tell(storage: LocalStorage, record: RunRecord, settings: Settings, tools: Tools) -> None:
    """Tell of a run that has ended.

    Args:
        storage: the data root, whose lock is free again.
        record: of the run.
        settings: in force.
        tools: the outside world.
    """
    _log_end(record)
    renew_metrics(storage, record, settings, tools)
    run_hooks(record, storage.root, settings.hooks, tools.variables)


def renew_metrics(storage: LocalStorage, record: RunRecord | None, settings: Settings, tools: Tools) -> None:
    """Write the metrics as things are now; what goes wrong is logged.

    Args:
        storage: the data root.
        record: of a run that has just ended; None where none has.
        settings: in force.
        tools: the outside world.
    """
    if not storage.root.is_dir():
        log.warning("the metrics were not written: %s is gone", storage.root, extra=details(event="metrics"))
        return  # writing them would make it again
    try:
        write_metrics(storage, record, settings, tools.clock(), tools.version)
    except (FairwayError, OSError, ImportError) as error:
        # Who has no file handle left cannot even load the library.
        log.warning("the metrics were not written: %s", error, extra=details(event="metrics"))


def _log_end(record: RunRecord) -> None:
    extra = details(event="end", record=record_document(record))
    if record.outcome is Outcome.FAILED:
        log.error("%s failed after %.1f s: %s", record.job, record.seconds, record.error, extra=extra)
    elif record.outcome is Outcome.DONE:
        made = f"{record.tally.deals:,} deals, {record.tally.dailies:,} Daily holes"
        log.info("%s done in %.1f s: %s", record.job, record.seconds, made, extra=extra)
    else:
        log.info("%s: %s, after %.1f s", record.job, record.outcome.value, record.seconds, extra=extra)
