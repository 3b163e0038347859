"""The service works at once and whenever its time has come, tries again, and stops at a signal."""

import logging
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
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


def served(
    sleeper: Sleeper, outcomes: Sequence[BaseException | timedelta | None] = (), times: Times = TIMES
) -> list[str]:
    """When the service worked, until a signal came.

    Args:
        sleeper: clock and alarm.
        outcomes: of one piece of work after the other: an error, or how long it took.
        times: when to wake.
    """
    moments: list[str] = []
    left: Iterator[BaseException | timedelta | None] = iter(outcomes)

    def work(_failures: int) -> bool:
        moments.append(f"{sleeper.now:%d %H:%M}")
        outcome = next(left, None)
        if isinstance(outcome, BaseException):
            raise outcome
        sleeper.now += outcome or timedelta()
        return False

    scheduler.serve(work, times, sleeper.clock, sleeper)
    return moments


def test_it_works_at_once_then_on_the_hour_and_at_the_nightly_time() -> None:
    assert served(Sleeper(at("2026-11-30 22:10"), waits=4)) == [
        "30 22:10",
        "30 23:00",
        "01 00:00",
        "01 00:05",
        "01 01:00",
    ]


def test_settings_say_when() -> None:
    times = Times(time(3, 30), 7 * HOUR, MINUTE, MINUTE)
    moments = served(Sleeper(at("2026-11-30 12:00"), waits=4), times=times)
    assert [moment for moment in moments if "03:30" in moment] == ["01 03:30"]


def test_a_week_of_sleep_is_one_time_to_work() -> None:
    sleeper = Sleeper(at("2026-11-30 00:05"), waits=2, jumps={0: 7 * DAY})
    assert served(sleeper) == ["30 00:05", "07 01:00", "07 02:00"]


def test_a_clock_set_forward_is_one_time_to_work_however_far() -> None:
    sleeper = Sleeper(at("2026-11-30 00:05"), waits=2, jumps={0: 36_500 * DAY})
    assert served(sleeper, times=Times(time(0, 5), MINUTE, MINUTE, MINUTE)) == [
        "30 00:05",
        "06 00:06",
        "06 00:07",
    ]


def test_after_a_clock_was_set_back_it_looks_at_once_and_is_not_silent_until_the_old_time_comes() -> None:
    sleeper = Sleeper(at("2026-11-30 00:05"), waits=2, jumps={0: -300 * DAY})
    assert served(sleeper) == ["30 00:05", "03 01:00", "03 02:00"]


def test_a_clock_set_back_while_it_works_does_no_harm() -> None:
    sleeper = Sleeper(at("2026-11-30 00:05"), waits=2)
    assert served(sleeper, [-300 * DAY]) == ["30 00:05", "03 01:00", "03 02:00"]


def test_times_that_come_while_it_works_are_one_more_time_to_work_right_after() -> None:
    long = 26 * HOUR
    sleeper = Sleeper(at("2026-11-30 00:05"), waits=1)
    assert served(sleeper, [long, long]) == ["30 00:05", "01 02:05", "02 04:05", "02 05:00"]


def test_the_end_of_a_year_and_the_day_that_most_years_lack_come_like_others() -> None:
    assert TIMES.next_night(at("2026-12-31 00:05")) == at("2027-01-01 00:05")
    assert TIMES.next_night(at("2028-02-28 12:00")) == at("2028-02-29 00:05")
    assert TIMES.next_night(at("2028-02-29 00:05")) == at("2028-03-01 00:05")


@given(MOMENTS, st.times(), st.integers(1, 1440))
def test_the_next_time_is_later_and_not_later_than_the_setting_says(
    moment: datetime, nightly: time, minutes: int
) -> None:
    every = timedelta(minutes=minutes)
    times = Times(nightly.replace(second=0, microsecond=0), every, MINUTE, MINUTE)
    assert moment < times.next_look(moment) <= moment + every
    night = times.next_night(moment)
    assert moment < night <= moment + DAY
    assert night.time() == times.nightly_at


def test_a_run_that_fails_is_tried_again_after_pauses_that_grow_up_to_the_longest() -> None:
    fault = StorageError("no space")
    moments = served(Sleeper(at("2026-11-30 02:00"), waits=7), [fault] * 7)
    assert moments == [
        "30 02:00",
        "30 02:05",
        "30 02:15",
        "30 02:35",
        "30 03:15",
        "30 04:35",
        "30 06:35",
        "30 08:35",
    ]


def test_a_success_ends_the_growing_of_pauses() -> None:
    fault = StorageError("no space")
    moments = served(Sleeper(at("2026-11-30 02:00"), waits=4), [fault, fault, None, fault])
    assert moments == ["30 02:00", "30 02:05", "30 02:15", "30 03:00", "30 03:05"]


def test_a_pause_does_not_sleep_over_the_next_night() -> None:
    fault = StorageError("no space")
    assert served(Sleeper(at("2026-11-30 23:59"), waits=2), [None, fault]) == [
        "30 23:59",
        "01 00:00",
        "01 00:05",
    ]


@given(st.integers(1, 10**6), st.integers(1, 1440), st.integers(1, 1440))
def test_no_pause_is_longer_than_the_longest(failures: int, first: int, more: int) -> None:
    most = timedelta(minutes=first + more)
    times = Times(time(0, 5), HOUR, timedelta(minutes=first), most)
    assert times.pause(1) <= times.pause(failures) <= times.pause(failures + 1) <= most
    assert times.pause(21) == most


def test_work_is_told_how_often_it_has_failed_and_what_is_done_about_it_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[int] = []

    def work(failures: int) -> bool:
        told.append(failures)
        if len(told) < 3:
            raise StorageError("no space")
        return False

    sleeper = Sleeper(at("2026-11-30 02:00"), waits=3)
    with caplog.at_level(logging.INFO, "fairway.serve"):
        scheduler.serve(work, TIMES, sleeper.clock, sleeper)
    assert told == [0, 1, 2, 0]
    assert [record.message for record in caplog.records] == [
        "no space; failure 1 in a row, trying again at 2026-11-30 02:05:00 UTC",
        "no space; failure 2 in a row, trying again at 2026-11-30 02:15:00 UTC",
        "stopped by SIGTERM",
    ]


def test_a_data_root_that_another_run_holds_is_no_failure_and_is_looked_at_again_soon() -> None:
    busy = BusyError("another run holds it")
    moments = served(Sleeper(at("2026-11-30 02:00"), waits=4), [busy, busy, busy])
    assert moments == ["30 02:00", "30 02:05", "30 02:10", "30 02:15", "30 03:00"]


def test_a_fault_of_the_program_is_a_failure_like_any_other(caplog: pytest.LogCaptureFixture) -> None:
    moments = served(Sleeper(at("2026-11-30 12:00"), waits=1), [ZeroDivisionError("a fault")])
    assert moments == ["30 12:00", "30 12:05"]
    assert "internal error" in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_of_two_signals_that_come_together_the_second_does_nothing() -> None:
    with scheduler.stopping() as stop:
        take = signal.getsignal(signal.SIGINT)
        assert callable(take)
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            take(signal.SIGINT, None)  # Python may have noted it before it could be ignored
    assert stop.signal == "SIGTERM"


def test_more_work_is_done_right_after_in_another_second() -> None:
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
def test_a_signal_stops_the_service_in_the_middle_of_a_run(number: int) -> None:
    reached: list[str] = []

    def work(_failures: int) -> bool:
        reached.append("begun")
        try:
            stop(number)
            reached.append("ended")
        finally:
            stop(number)  # a second one does not break the tidying up
            reached.append("tidied")
        return False

    serve_until_stopped(work)
    assert reached == ["begun", "tidied"]


def test_a_stop_that_got_lost_in_the_work_still_stops_the_service() -> None:
    runs: list[int] = []

    def work(_failures: int) -> bool:
        runs.append(1)
        with suppress(SystemExit):  # as Python does itself, in what it calls when it clears objects away
            stop()
        return False

    scheduler.serve(work, TIMES, lambda: at("2026-11-30 02:00"), AlarmClock())  # which is not even started
    assert runs == [1]


def test_the_handlers_of_before_are_back_afterwards() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    serve_until_stopped(lambda _failures: False)
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before


class Rung(threading.Event):
    """Waits for its ring as long as it takes, so that a slow machine makes no difference."""

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout == 60
        return super().wait(600)


def test_the_alarm_rings_at_its_moment_and_one_that_is_long_past_rings_at_once() -> None:
    alarm = AlarmClock()
    alarm._wake = Rung()
    with alarm:
        for ahead in (timedelta(seconds=0.2), -3000 * DAY):
            until = datetime.now(UTC) + ahead
            alarm.wait(until)
            assert alarm._wake.is_set()
            assert datetime.now(UTC) >= until
    assert not alarm._scheduler.running


def test_the_alarm_has_unlimited_grace_and_one_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    alarm = AlarmClock()
    monkeypatch.setattr(alarm._wake, "wait", lambda _seconds: False)
    alarm._scheduler.start(paused=True)
    for _ in range(2):  # a second one takes the place of the first
        alarm.wait(at("2931-01-01 00:05"))
    (job,) = alarm._scheduler.get_jobs()
    assert isinstance(alarm._scheduler, BackgroundScheduler)
    assert (job.misfire_grace_time, job.coalesce, job.max_instances) == (None, True, 1)
    assert job.next_run_time == at("2931-01-01 00:05")
    alarm._scheduler.shutdown()
