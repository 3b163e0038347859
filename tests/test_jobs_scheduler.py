"""The service works at once and whenever it is woken, outlives a failed run, and stops at a signal."""

import logging
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Event
from typing import Any

import pytest
from apscheduler.schedulers.background import BackgroundScheduler

from jobs import scheduler
from pipeline.errors import StorageError


def stop(number: int = signal.SIGTERM) -> None:
    signal.raise_signal(number)


class Bell:
    """Stands in for the alarm clock: it has rung as often as it was told to, and then a signal comes."""

    def __init__(self, rings: int) -> None:
        self.rings = rings

    def clear(self) -> None:
        pass

    def set(self) -> None:
        pass

    def wait(self) -> None:
        self.rings -= 1
        if self.rings < 0:
            stop()


def serve_with(monkeypatch: pytest.MonkeyPatch, rings: int, work: Callable[[], None]) -> None:
    monkeypatch.setattr(scheduler, "Event", lambda: Bell(rings))
    scheduler.serve(work)


def test_what_is_due_at_the_start_runs_at_once_and_then_at_each_alarm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs: list[int] = []
    serve_with(monkeypatch, 3, lambda: runs.append(1))
    assert len(runs) == 4


def test_a_run_that_fails_is_logged_and_the_next_one_comes(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    runs: list[int] = []

    def work() -> None:
        runs.append(1)
        if len(runs) == 1:
            raise StorageError("no space")

    with caplog.at_level(logging.INFO, "fairway.serve"):
        serve_with(monkeypatch, 1, work)
    assert len(runs) == 2
    assert [record.message for record in caplog.records] == ["the run failed: no space", "stopped by SIGTERM"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_service_in_the_middle_of_a_run(number: int) -> None:
    reached: list[str] = []

    def work() -> None:
        reached.append("begun")
        try:
            stop(number)
            reached.append("ended")
        finally:
            stop(number)  # a second one does not break the tidying up
            reached.append("tidied")

    scheduler.serve(work)
    assert reached == ["begun", "tidied"]


def test_the_handlers_of_before_are_back_afterwards() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    scheduler.serve(stop)
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before


def test_the_alarm_rings_at_five_past_midnight_in_utc_and_loses_no_ring(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Any] = []
    real = BackgroundScheduler

    def noted(**options: Any) -> Any:
        made.append(real(**options))
        return made[0]

    monkeypatch.setattr(scheduler, "BackgroundScheduler", noted)
    wake = Event()
    with scheduler._alarm(wake):
        (job,) = made[0].get_jobs()
        assert (job.misfire_grace_time, job.coalesce, job.max_instances) == (None, True, 1)
        moment = datetime(2026, 11, 30, 0, 5, 1, tzinfo=UTC)
        assert job.trigger.get_next_fire_time(None, moment) == datetime(2026, 12, 1, 0, 5, tzinfo=UTC)
        job.modify(next_run_time=datetime(2020, 1, 1, tzinfo=UTC))  # long missed
        assert wake.wait(timeout=60)
    assert not made[0].running
