"""What the service does each time it wakes: whatever is due, a night at a time, and nothing else."""

from datetime import date, datetime
from typing import Final

from jobs.plan.clock_bound import ClockDoubt
from jobs.plan.due import Due, night_of
from jobs.runs.context import JobContext
from jobs.runs.exclusive import refresh_metrics
from jobs.runs.nightly import doubt_about, root_state, run_night, what_is_due
from jobs.service.scheduler import log
from jobs.settings.model import Settings
from jobs.watch.logs import details
from pipeline.errors import DamagedError
from pipeline.store.root import check_root
from pipeline.store.storage import LocalStorage

_RETRY: Final = Due(is_retry=True)


class Service:
    """Does what is due in a data root.

    Args:
        storage: the data root.
        settings: in force.
        context: dependencies of the jobs.
    """

    def __init__(self, storage: LocalStorage, settings: Settings, context: JobContext) -> None:
        self._storage = storage
        self._settings = settings
        self._context = context
        self._said: str | None = None

    def work(self, failures: int) -> bool:
        """Do what is due, of several nights the first one.

        Each night is a run of its own, so that a stop in the middle of many loses little; all Daily holes
        come out with the first one.

        Args:
            failures: how many runs in a row have failed just before; after one a run is due in any case,
                because the data root may have been unable to take its record.

        Returns:
            Whether there is another night to be made.

        Raises:
            BusyError: another run holds the data root.
            FairwayError: whatever stopped a run; the record says so, too.
        """
        check_root(self._storage)
        now = self._context.clock()
        tonight = night_of(now, self._settings.nightly_at)
        todo = self._what_is_due(now, tonight)
        if isinstance(todo, ClockDoubt):
            extra = details(event="clock", night=str(tonight))
            log.error("nothing is done: %s; %s", todo.what, todo.remedy, extra=extra)
            refresh_metrics(self._storage, None, self._settings, self._context)
        elif todo or failures:
            self._said = None
            night = todo.nights[0] if todo.nights else tonight
            run_night(self._storage, night, self._settings, self._context, last=tonight)
            if failures:
                log.info("well again after %d failures", failures, extra=details(event="well"))
            return len(todo.nights) > 1
        else:
            self._say_nothing_is_due(tonight)
            refresh_metrics(self._storage, None, self._settings, self._context)
        return False

    def _what_is_due(self, now: datetime, tonight: date) -> Due | ClockDoubt:
        try:
            standing = root_state(self._storage)
        except DamagedError:
            return _RETRY  # the run meets it too, and leaves a record of that
        doubt = doubt_about(tonight, standing, self._settings)
        return doubt or what_is_due(tonight, tonight, now, standing, self._settings)

    def _say_nothing_is_due(self, tonight: date) -> None:
        """Once a night, and once after each run."""
        words = f"nothing is due for the night {tonight}"
        if words != self._said:
            log.info(words, extra=details(event="nothing", night=str(tonight)))
        self._said = words
