"""The built-in scheduler: when the service wakes; what is due then is worked out from the files.

APScheduler is no more than the alarm clock. The work is done in the main thread, where a signal reaches it at
once, whether it waits, compiles, samples or publishes. The alarm is set for one moment at a time, worked out
anew from the clock: a schedule that APScheduler kept itself would wait for a moment that the clock has been
set back from, and would count every ring of a century that it was set forward by.
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
from apscheduler.triggers.interval import IntervalTrigger

from jobs.watch.logs import details
from pipeline.errors import BusyError
from solver.errors import FairwayError

log: Final = logging.getLogger("fairway.serve")
_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)  # what looks are counted from, so that they are on the hour
_INSTANT: Final = timedelta(microseconds=1)
_COARSE_INSTANT: Final = timedelta(milliseconds=1)
_CLOCK_LOOKED_AT_EVERY: Final = 60.0  # seconds; the machine may have slept, or its clock been set
_BETWEEN: Final = timedelta(seconds=1)  # the begins of two runs: their names tell the second
_MOST_DOUBLINGS: Final = 20  # of a pause: more than any longest pause allows


class Stopped(SystemExit):
    """A signal asked the service to stop."""


class Alarm(Protocol):
    """What the service waits with."""

    def wait(self, until: datetime) -> None:
        """Wait until a moment, or less long."""
        ...


@dataclass(frozen=True, slots=True)
class Times:
    """When the service wakes.

    Attributes:
        nightly_at: when a date's night is made, in UTC.
        publish_every: between two looks for something to publish.
        retry_first: after a run that failed; it doubles with each that fails after it.
        retry_most: the longest such pause.
    """

    nightly_at: time
    publish_every: timedelta
    retry_first: timedelta
    retry_most: timedelta

    def next_night(self, after: datetime) -> datetime:
        """The first nightly time later than a moment."""
        at = self.nightly_at
        return _next(CronTrigger(hour=at.hour, minute=at.minute, second=0, timezone=UTC), after)

    def next_look(self, after: datetime) -> datetime:
        """The first nightly time or look for something to publish that is later than a moment."""
        every = self.publish_every // timedelta(seconds=1)
        lighter = IntervalTrigger(seconds=every, start_date=_EPOCH, timezone=UTC)
        return min(self.next_night(after), _next(lighter, after))

    def pause(self, failures: int) -> timedelta:
        """How long to wait after so many runs in a row that have failed, at least 1."""
        doublings = min(failures - 1, _MOST_DOUBLINGS)
        return min(self.retry_first * (1 << doublings), self.retry_most)

    def next_try(self, began: datetime, ended: datetime, failures: int) -> datetime:
        """When to work again after a run that failed: after the pause, at the next night at the latest."""
        return min(ended + self.pause(failures), self.next_night(min(began, ended)))


def _next(trigger: CronTrigger | IntervalTrigger, after: datetime) -> datetime:
    """The first moment of a trigger that is later than another moment."""
    moment: datetime = trigger.get_next_fire_time(None, after + _INSTANT)
    if moment <= after:  # an interval is counted in floating point, which is too coarse some centuries ahead
        moment = trigger.get_next_fire_time(None, after + _COARSE_INSTANT)
    return moment


def serve(work: Callable[[int], bool], times: Times, clock: Callable[[], datetime], alarm: Alarm) -> None:
    """Do what is due now, and whenever the time for it has come, until SIGTERM or SIGINT.

    A time that comes while work goes on is not lost: the next work follows at once, one for all such times.

    Args:
        work: does what is due, or the first piece of it, and says whether there is more, which is done right
            after; it is told how many runs in a row have failed just before. A `FairwayError` of it is
            logged, and it is done again after a pause.
        times: when to wake.
        clock: tells the moment, aware.
        alarm: to wait with.
    """
    failures = 0
    with stopping() as stop:
        while not stop.is_set():
            began = clock()
            failures, until = _work_once(work, failures, times, began, clock)
            _wait(until, clock, alarm, stop)


def _work_once(
    work: Callable[[int], bool],
    failures: int,
    times: Times,
    began: datetime,
    clock: Callable[[], datetime],
) -> tuple[int, datetime]:
    """Work once; how many times in a row that has failed now, and when to work again."""
    try:
        is_more = work(failures)
    except BusyError as error:
        again = clock() + times.retry_first
        log.warning("%s; looking again at %s", error, _text(again), extra=details(event="busy"))
        return failures, again
    except (
        Exception
    ) as error:  # a fault of the program, too, must not keep the nights to come from being made
        if not isinstance(error, FairwayError):
            log.exception("internal error", extra=details(event="fault"))
        failures += 1
        again = times.next_try(began, clock(), failures)
        extra = details(event="retry", failures=failures, again=_text(again))
        log.error("%s; failure %d in a row, trying again at %s", error, failures, _text(again), extra=extra)
        return failures, again
    began = min(began, clock())  # it may have been set back in the meantime
    return 0, began + _BETWEEN if is_more else times.next_look(began)


def _wait(until: datetime, clock: Callable[[], datetime], alarm: Alarm, stop: "_Stop") -> None:
    """Wait until a moment, or until the clock has been set back, which makes the moment meaningless."""
    before = clock()
    while before <= (now := clock()) < until and not stop.is_set():
        alarm.wait(until)
        before = now


def _text(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


class AlarmClock:
    """The alarm of the real service, to be used by `with`."""

    def __init__(self) -> None:
        self._wake = Event()
        self._scheduler = BackgroundScheduler(timezone=UTC)

    def __enter__(self) -> Self:
        self._scheduler.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._scheduler.shutdown(wait=False)

    def wait(self, until: datetime) -> None:
        """See `Alarm.wait`; it comes back every minute, so that the caller looks at the clock."""
        self._wake.clear()
        # APScheduler's defaults lose rings: a grace of one second.
        self._scheduler.add_job(
            self._wake.set,
            DateTrigger(until, timezone=UTC),
            id="alarm",
            replace_existing=True,
            misfire_grace_time=None,
            coalesce=True,
            max_instances=1,
        )
        self._wake.wait(_CLOCK_LOOKED_AT_EVERY)


class _Stop:
    """The signal that has come; until one has, None."""

    def __init__(self) -> None:
        self.signal: str | None = None

    def is_set(self) -> bool:
        """Whether one has come; what it raised may have got lost where Python lets nothing be raised."""
        return self.signal is not None


@contextmanager
def stopping() -> Iterator[_Stop]:
    """Let SIGTERM and SIGINT end the block, whatever it is doing, and nothing more than that."""
    stop = _Stop()

    def take(number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            return  # one is enough; a second must not break the tidying up
        stop.signal = signal.Signals(number).name
        raise Stopped(stop.signal)

    before = {each: signal.signal(each, take) for each in _STOP_SIGNALS}
    try:
        with suppress(Stopped):
            yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    if stop.is_set():
        log.info("stopped by %s", stop.signal, extra=details(event="stopped"))
