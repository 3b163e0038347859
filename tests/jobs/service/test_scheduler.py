"""The service works at once and at each time to wake, retries after failures, and stops on a signal."""

import logging
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta

import pytest
from apscheduler.schedulers.background import BackgroundScheduler
from hypothesis import given
from hypothesis import strategies as st

from jobs.service import scheduler
from jobs.service.scheduler import AlarmClock, Times
from pipeline.errors import BusyError, StorageError
from tests.support.sleeper import Sleeper, at

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
TIMES = Times(time(0, 5), HOUR, 5 * MINUTE, 120 * MINUTE)
MOMENTS = st.integers(0, 900 * 365 * 86_400 * 10**6).map(
    lambda us: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us)
)


def stop(number: int = signal.SIGTERM) -> None:
    signal.raise_signal(number)


Outcomes = Sequence[BaseException | timedelta | None]


def served(sleeper: Sleeper, outcomes: Outcomes = (), times: Times = TIMES) -> str:
    """Return the times at which the service worked, until a signal arrived.

    Args:
        sleeper: clock and alarm.
        outcomes: of each call of the work in turn: an error, or a duration.
        times: when to wake.
    """
    moments: list[str] = []
    left = iter(outcomes)

    def work(_failures: int) -> bool:
        moments.append(f"{sleeper.now:%d %H:%M}")
        outcome = next(left, None)
        if isinstance(outcome, BaseException):
            raise outcome
        sleeper.now += outcome or timedelta()
        return False

    scheduler.serve(work, times, sleeper.clock, sleeper)
    return ", ".join(moments)


def test_the_service_works_at_once_on_the_hour_and_at_the_nightly_time() -> None:
    expected = "30 22:10, 30 23:00, 01 00:00, 01 00:05, 01 01:00"
    assert served(Sleeper(at("2026-11-30 22:10"), waits=4)) == expected


def test_the_nightly_time_can_be_set() -> None:
    times = Times(time(3, 30), 7 * HOUR, MINUTE, MINUTE)
    assert ", 01 03:30, " in served(Sleeper(at("2026-11-30 12:00"), waits=4), times=times)


@pytest.mark.parametrize(
    ("jump", "interval", "expected"),
    [
        (7 * DAY, HOUR, "30 00:05, 07 01:00, 07 02:00"),
        (36_500 * DAY, MINUTE, "30 00:05, 06 00:06, 06 00:07"),
        (-300 * DAY, HOUR, "30 00:05, 03 01:00, 03 02:00"),
    ],
    ids=["a week of sleep", "a century ahead", "set back"],
)
def test_a_jump_of_the_clock_causes_one_wake(jump: timedelta, interval: timedelta, expected: str) -> None:
    sleeper = Sleeper(at("2026-11-30 00:05"), waits=2, jumps={0: jump})
    assert served(sleeper, times=Times(time(0, 5), interval, 5 * MINUTE, 120 * MINUTE)) == expected


FAULT = StorageError("no space")
BUSY = BusyError("another run holds it")


@pytest.mark.parametrize(
    ("start", "waits", "outcomes", "expected"),
    [
        ("00:05", 2, [-300 * DAY], "30 00:05, 03 01:00, 03 02:00"),
        ("00:05", 1, [26 * HOUR, 26 * HOUR], "30 00:05, 01 02:05, 02 04:05, 02 05:00"),
        (
            "02:00",
            7,
            [FAULT] * 7,
            "30 02:00, 30 02:05, 30 02:15, 30 02:35, 30 03:15, 30 04:35, 30 06:35, 30 08:35",
        ),
        ("02:00", 4, [FAULT, FAULT, None, FAULT], "30 02:00, 30 02:05, 30 02:15, 30 03:00, 30 03:05"),
        ("23:59", 2, [None, FAULT], "30 23:59, 01 00:00, 01 00:05"),
        ("02:00", 4, [BUSY, BUSY, BUSY], "30 02:00, 30 02:05, 30 02:10, 30 02:15, 30 03:00"),
    ],
    ids=[
        "the clock may be set back during work",
        "times that pass during work cause one wake right after it",
        "a failed run is retried after growing pauses",
        "success resets the pause",
        "a pause ends at the next night",
        "a locked root is tried again soon, without growing pauses",
    ],
)
def test_the_next_wake_depends_on_how_the_work_ended(
    start: str, waits: int, outcomes: Outcomes, expected: str
) -> None:
    assert served(Sleeper(at(f"2026-11-30 {start}"), waits=waits), outcomes) == expected


def test_the_next_night_comes_at_the_end_of_a_year_and_on_a_leap_day() -> None:
    assert TIMES.next_night(at("2026-12-31 00:05")) == at("2027-01-01 00:05")
    assert TIMES.next_night(at("2028-02-28 12:00")) == at("2028-02-29 00:05")
    assert TIMES.next_night(at("2028-02-29 00:05")) == at("2028-03-01 00:05")


@given(MOMENTS, st.times(), st.integers(1, 1440))
def test_the_next_wake_is_later_but_within_the_interval(
    moment: datetime, nightly: time, minutes: int
) -> None:
    every = timedelta(minutes=minutes)
    times = Times(nightly.replace(second=0, microsecond=0), every, MINUTE, MINUTE)
    assert moment < times.next_look(moment) <= moment + every
    night = times.next_night(moment)
    assert moment < night <= moment + DAY
    assert night.time() == times.nightly_at


@given(st.integers(1, 10**6), st.integers(1, 1440), st.integers(1, 1440))
def test_a_pause_is_limited(failures: int, first: int, more: int) -> None:
    most = timedelta(minutes=first + more)
    times = Times(time(0, 5), HOUR, timedelta(minutes=first), most)
    assert times.pause(1) <= times.pause(failures) <= times.pause(failures + 1) <= most
    assert times.pause(21) == most


def test_the_work_gets_the_number_of_failures_and_retries_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: list[int] = []

    def work(failures: int) -> bool:
        seen.append(failures)
        if len(seen) < 3:
            raise StorageError("no space")
        return False

    sleeper = Sleeper(at("2026-11-30 02:00"), waits=3)
    with caplog.at_level(logging.INFO, "fairway.serve"):
        scheduler.serve(work, TIMES, sleeper.clock, sleeper)
    assert seen == [0, 1, 2, 0]
    assert [record.message for record in caplog.records] == [
        "no space; failure 1 in a row, trying again at 2026-11-30 02:05:00 UTC",
        "no space; failure 2 in a row, trying again at 2026-11-30 02:15:00 UTC",
        "stopped by SIGTERM",
    ]


def test_an_internal_error_is_a_failure_like_others(caplog: pytest.LogCaptureFixture) -> None:
    moments = served(Sleeper(at("2026-11-30 12:00"), waits=1), [ZeroDivisionError("a fault")])
    assert moments == "30 12:00, 30 12:05"
    assert "internal error" in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_the_second_of_two_simultaneous_signals_is_ignored() -> None:
    with scheduler.stopping() as stop:
        take = signal.getsignal(signal.SIGINT)
        assert callable(take)
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            take(signal.SIGINT, None)  # Python may have queued it already
    assert stop.signal == "SIGTERM"


def test_more_work_starts_right_after_in_another_second() -> None:
    begun: list[str] = []
    sleeper = Sleeper(at("2026-11-30 02:00"), waits=3)

    def work(_failures: int) -> bool:
        begun.append(f"{sleeper.now:%H:%M:%S}")
        sleeper.now += timedelta(seconds=2.5) if len(begun) == 2 else timedelta()
        return len(begun) < 4

    scheduler.serve(work, TIMES, sleeper.clock, sleeper)
    assert begun == ["02:00:00", "02:00:01", "02:00:03", "02:00:04", "03:00:00"]


def serve_until_stopped(work: Callable[[int], bool]) -> None:
    sleeper = Sleeper(at("2026-11-30 02:00"), waits=0)
    scheduler.serve(work, TIMES, sleeper.clock, sleeper)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_service_during_work(number: int) -> None:
    reached: list[str] = []

    def work(_failures: int) -> bool:
        reached.append("begun")
        try:
            stop(number)
            reached.append("ended")
        finally:
            stop(number)  # a second one does not interrupt the cleanup
            reached.append("cleaned up")
        return False

    serve_until_stopped(work)
    assert reached == ["begun", "cleaned up"]


def test_the_service_stops_even_if_the_exception_of_the_signal_gets_lost() -> None:
    runs: list[int] = []

    def work(_failures: int) -> bool:
        runs.append(1)
        with suppress(SystemExit):  # as Python does in destructors
            stop()
        return False

    scheduler.serve(work, TIMES, lambda: at("2026-11-30 02:00"), AlarmClock())  # not even started
    assert runs == [1]


def test_the_signal_handlers_are_restored() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    serve_until_stopped(lambda _failures: False)
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before


class Rung(threading.Event):
    """Waits as long as needed, so that the speed of the machine does not matter."""

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout == 60
        return super().wait(600)


def test_the_alarm_goes_off_at_its_time_and_at_once_if_that_is_past() -> None:
    alarm = AlarmClock()
    alarm._wake = Rung()
    with alarm:
        for ahead in (timedelta(seconds=0.2), -3000 * DAY):
            until = datetime.now(UTC) + ahead
            alarm.wait(until)
            assert alarm._wake.is_set()
            assert datetime.now(UTC) >= until
    assert not alarm._scheduler.running


def test_a_late_alarm_is_not_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    alarm = AlarmClock()
    monkeypatch.setattr(alarm._wake, "wait", lambda _seconds: False)
    alarm._scheduler.start(paused=True)
    for _ in range(2):  # the second replaces the first
        alarm.wait(at("2931-01-01 00:05"))
    (job,) = alarm._scheduler.get_jobs()
    assert isinstance(alarm._scheduler, BackgroundScheduler)
    assert (job.misfire_grace_time, job.coalesce, job.max_instances) == (None, True, 1)
    assert job.next_run_time == at("2931-01-01 00:05")
    alarm._scheduler.shutdown()
