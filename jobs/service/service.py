"""What the service does each time it wakes: one night, or whatever else is due."""

from datetime import date, datetime
from pathlib import Path
from typing import Final

from jobs.plan.clock_bound import ClockDoubt, clock_doubt
from jobs.plan.due import Due, due, night_of
from jobs.runs.context import JobContext
from jobs.runs.exclusive import refresh_metrics
from jobs.runs.nightly import root_state, run_night
from jobs.service.scheduler import log
from jobs.settings.model import Settings
from jobs.settings.sources import file_content
from jobs.watch.logs import details
from pipeline.errors import DamagedError
from pipeline.store.root import check_root
from pipeline.store.storage import LocalStorage

_RETRY: Final = Due(is_retry=True)


class SettingsWatch:
    """Says once after each change of the settings file that the service still has the earlier settings.

    Args:
        file: the settings file that was read; None if there was none.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._known = self._content()

    def look(self) -> None:
        """Log a warning if the file has changed since the last look."""
        content = self._content()
        if content != self._known:
            self._known = content
            log.warning(
                "%s has changed; the service keeps the settings it started with until it is restarted",
                self._file,
                extra=details(event="settings"),
            )

    def _content(self) -> bytes | None:
        return None if self._file is None else file_content(self._file)


class Service:
    """Does what is due in a data root.

    Args:
        storage: the data root.
        settings: in force.
        context: dependencies of the jobs.
        watch: notices that the settings file has changed.
    """

    def __init__(
        self, storage: LocalStorage, settings: Settings, context: JobContext, watch: SettingsWatch
    ) -> None:
        self._storage = storage
        self._settings = settings
        self._context = context
        self._watch = watch
        self._last_message: str | None = None

    def work(self, failures: int) -> bool:
        """Do what is due; of several nights only the first.

        Each night is a run of its own, so that little is lost if the service is stopped during many. All
        Daily holes that are due are published by the first run.

        Args:
            failures: runs that have failed in a row. After a failure a run is always due, because its record
                may be missing.

        Returns:
            Whether another night is due.

        Raises:
            BusyError: if another run holds the lock.
            FairwayError: if the run fails; its record has the message.
        """
        check_root(self._storage)
        self._watch.look()
        now = self._context.clock()
        tonight = night_of(now, self._settings.nightly_at)
        todo = self._what_is_due(now, tonight)
        if isinstance(todo, ClockDoubt):
            extra = details(event="clock", night=str(tonight))
            log.error("nothing was done: %s; %s", todo.what, todo.remedy, extra=extra)
            refresh_metrics(self._storage, None, self._settings, self._context)
        elif todo or failures:
            self._last_message = None
            night = todo.nights[0] if todo.nights else tonight
            run_night(self._storage, night, self._settings, self._context, last=tonight)
            if failures:
                log.info("recovered after %d failures", failures, extra=details(event="well"))
            return len(todo.nights) > 1
        else:
            self._log_nothing_due(tonight)
            refresh_metrics(self._storage, None, self._settings, self._context)
        return False

    def _what_is_due(self, now: datetime, tonight: date) -> Due | ClockDoubt:
        try:
            state = root_state(self._storage, self._settings)
        except DamagedError:
            return _RETRY  # the run raises it again and records it
        doubt = clock_doubt(tonight, state.last_nights, state.published, self._settings)
        return doubt or due(tonight, tonight, now, state, self._settings)

    def _log_nothing_due(self, tonight: date) -> None:
        """Log once per night, and once after each run."""
        message = f"nothing is due for the night {tonight}"
        if message != self._last_message:
            log.info(message, extra=details(event="nothing", night=str(tonight)))
        self._last_message = message
