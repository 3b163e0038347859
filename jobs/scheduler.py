"""The built-in scheduler: it wakes the service at 00:05 UTC; what is due then is worked out from the files.

APScheduler is no more than the alarm clock. The work is done in the main thread, where a signal reaches it at
once, whether it waits, compiles, samples or publishes.
"""

import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC
from threading import Event
from types import FrameType
from typing import Final

from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger

from jobs.due import NIGHTLY_AT
from solver.errors import FairwayError

log: Final = logging.getLogger("fairway.serve")
_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class Stopped(SystemExit):
    """A signal asked the service to stop."""


def serve(work: Callable[[], None]) -> None:
    """Do what is due now and then at 00:05 UTC of each day, until SIGTERM or SIGINT.

    Args:
        work: does whatever is due; a `FairwayError` of it is logged, and the next time comes all the same.
    """
    wake = Event()
    with _stop_on_signal(), _alarm(wake):
        try:
            while True:
                wake.clear()
                _work_once(work)
                wake.wait()
        except Stopped as stop:
            log.info("stopped by %s", stop)


def _work_once(work: Callable[[], None]) -> None:
    try:
        work()
    except FairwayError as error:
        log.error("the run failed: %s", error)


@contextmanager
def _alarm(wake: Event) -> Iterator[None]:
    # Its defaults lose runs: a grace of one second, and local time, in which a day may have no midnight.
    scheduler = BackgroundScheduler(timezone=UTC)
    trigger = CronTrigger(hour=NIGHTLY_AT.hour, minute=NIGHTLY_AT.minute, timezone=UTC)
    scheduler.add_job(wake.set, trigger, misfire_grace_time=None, coalesce=True, max_instances=1)
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown(wait=False)


@contextmanager
def _stop_on_signal() -> Iterator[None]:
    def stop(number: int, _frame: FrameType | None) -> None:
        for each in _STOP_SIGNALS:
            signal.signal(each, signal.SIG_IGN)  # one is enough; a second must not break the tidying up
        raise Stopped(signal.Signals(number).name)

    before = {each: signal.signal(each, stop) for each in _STOP_SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
