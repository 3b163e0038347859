"""A study of many deals, carried out or gone on with.

It changes nothing that another run works on and creates each of its files once, so it neither holds the
root's lock, which would keep a night waiting, nor leaves a record in `runs/`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobs.runs.context import Tools
from jobs.settings.model import Settings
from pipeline.store.storage import LocalStorage
from pipeline.studies.winnability import Study

if TYPE_CHECKING:  # it has kernels, whose cache must be found first
    from pipeline.studies.study import Result


@dataclass(frozen=True, slots=True)
class StudyReport:
    """A study that is done.

    Attributes:
        result: its counts.
        seconds: how long this run took.
    """

    result: "Result"
    seconds: float


def run_study(storage: LocalStorage, study: Study, settings: Settings, tools: Tools) -> StudyReport:
    """Make what is missing of a study.

    Args:
        storage: the data root.
        study: what is asked.
        settings: in force.
        tools: the outside world.

    Raises:
        FairwayError: see `pipeline.studies.study`.
    """
    from pipeline.studies.study import carry_out
    from pipeline.work.executors import local_work

    started = tools.clock()
    with local_work(settings.workers, tools.progress) as work:
        result = carry_out(storage, study, work)
    return StudyReport(result, (tools.clock() - started).total_seconds())
