"""The built-in scheduler: decides when the service wakes. What is due then is derived from the files.

APScheduler is only the alarm clock. The work is done in the main thread, where a signal interrupts it at
once. The alarm is set for one time, computed from the clock after each wake: if APScheduler kept a
schedule, it would wait too long after the clock was set back, and fire once per interval after a jump
forward.
"""

import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from threading import Event
from types import FrameType
from typing import Final, Protocol, Self

from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.date import DateTrigger

from jobs.watch.logs import details
from pipeline.errors import BusyError
from solver.errors import FairwayError

log: Final = logging.getLogger("fairway.serve")
_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)  # intervals count from here, so they fall on the hour
_CLOCK_CHECK_SECONDS: Final = 60.0  # the machine may have slept, or its clock been set
_BETWEEN: Final = timedelta(seconds=1)  # between the starts of two runs, whose ids have whole seconds
_MAX_DOUBLINGS: Final = 20  # of a pause; enough for the longest pause that can be set


class Stopped(SystemExit):
    """A signal asked the service to stop."""


class Alarm(Protocol):
    """What the service waits with."""

    def wait(self, until: datetime) -> None:
        """Wait until a given time, or return earlier."""
        ...


@dataclass(frozen=True, slots=True)
class Times:
    """When the service wakes.

    Attributes:
        nightly_at: time of day in UTC at which a night is made.
        publish_every: interval between two looks for something to publish.
        retry_first: pause after a failed run; it doubles with each further failure.
        retry_most: longest such pause.
    """

    nightly_at: time
    publish_every: timedelta
    retry_first: timedelta
    retry_most: timedelta

    def next_night(self, after: datetime) -> datetime:
        """Return the first nightly time later than `after`."""
        at = self.nightly_at
        trigger = CronTrigger(hour=at.hour, minute=at.minute, second=0, timezone=UTC)
        night: datetime = trigger.get_next_fire_time(None, after + timedelta.resolution)
        return night

    def next_look(self, after: datetime) -> datetime:
        """Return the next wake-up after `after`: a nightly time, or a look for something to publish."""
        looks = (after - _EPOCH) // self.publish_every + 1
        return min(self.next_night(after), _EPOCH + looks * self.publish_every)

    def pause(self, failures: int) -> timedelta:
        """Return how long to wait after at least one failed run in a row."""
        doublings = min(failures - 1, _MAX_DOUBLINGS)
        return min(self.retry_first * (1 << doublings), self.retry_most)

    def next_try(self, began: datetime, ended: datetime, failures: int) -> datetime:
        """Return when to work again after a failed run: after the pause, or at the next night if earlier."""
        return min(ended + self.pause(failures), self.next_night(min(began, ended)))


def serve(work: Callable[[int], bool], times: Times, clock: Callable[[], datetime], alarm: Alarm) -> None:
    """Work now and at each time to wake, until SIGTERM or SIGINT.

    If times pass while work is being done, it is done once more, right after.

    Args:
        work: does what is due, or the first part of it, and returns whether there is more to do right after.
            Its argument is the number of failed runs in a row. Its errors are logged, and it is called again
            after a pause.
        times: when to wake.
        clock: returns the current time, with a time zone.
        alarm: to wait with.
    """
    failures = 0
    with stopping() as stop:
        while not stop.is_set():
            began = clock()
            failures, until = _work_once(work, failures, times, began, clock, stop)
            _wait(until, clock, alarm, stop)


def _work_once(
    work: Callable[[int], bool],
    failures: int,
    times: Times,
    began: datetime,
    clock: Callable[[], datetime],
    stop: "_Stop",
) -> tuple[int, datetime]:
    """Work once; return the number of failures in a row and when to work again."""
    try:
        is_more = work(failures)
    except BusyError as error:
        again = clock() + times.retry_first
        log.warning("%s; trying again at %s", error, _text(again), extra=details(event="busy"))
        return failures, again
    except Exception as error:  # an internal error must not prevent the nights to come either
        if stop.is_set():  # a library turned the exception of the signal into one of its own
            raise Stopped(stop.signal) from error
        if not isinstance(error, FairwayError):
            log.exception("internal error", extra=details(event="fault"))
        failures += 1
        again = times.next_try(began, clock(), failures)
        extra = details(event="retry", failures=failures, again=_text(again))
        log.error("%s; failure %d in a row, trying again at %s", error, failures, _text(again), extra=extra)
        return failures, again
    began = min(began, clock())  # the clock may have been set back
    return 0, began + _BETWEEN if is_more else times.next_look(began)


def _wait(until: datetime, clock: Callable[[], datetime], alarm: Alarm, stop: "_Stop") -> None:
    """Wait until a given time, or until the clock has been set back, which makes that time meaningless."""
    before = clock()
    while before <= (now := clock()) < until and not stop.is_set():
        alarm.wait(until)
        before = now


def _text(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


class AlarmClock:
    """The alarm of the real service, a context manager."""

    def __init__(self) -> None:
        self._wake = Event()
        self._scheduler = BackgroundScheduler(timezone=UTC)

    def __enter__(self) -> Self:
        self._scheduler.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._scheduler.shutdown(wait=False)

    def wait(self, until: datetime) -> None:
        """See `Alarm.wait`. Returns every minute, so that the caller checks the clock."""
        self._wake.clear()
        self._scheduler.add_job(
            self._wake.set,
            DateTrigger(until, timezone=UTC),
            id="alarm",
            replace_existing=True,
            misfire_grace_time=None,  # the default would drop an alarm that is a second late
            coalesce=True,
            max_instances=1,
        )
        self._wake.wait(_CLOCK_CHECK_SECONDS)


class _Stop:
    """The signal that has arrived, or None."""

    def __init__(self) -> None:
        self.signal: str | None = None

    def is_set(self) -> bool:
        """Return whether a signal has arrived, even if its exception got lost in a destructor or callback."""
        return self.signal is not None


@contextmanager
def stopping() -> Iterator[_Stop]:
    """Let SIGTERM or SIGINT end the block, whatever it is doing, and nothing outside it."""
    stop = _Stop()

    def handle(number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            return  # a second signal must not interrupt the cleanup
        stop.signal = signal.Signals(number).name
        raise Stopped(stop.signal)

    before = {each: signal.signal(each, handle) for each in _STOP_SIGNALS}
    try:
        with suppress(Stopped):
            yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    if stop.is_set():
        log.info("stopped by %s", stop.signal, extra=details(event="stopped"))
