"""After thirty nights with many faults, the service's data root equals that of thirty undisturbed nights.

The deals, the holes and the killed process are real; only the clock is simulated.
"""

import os
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from jobs.cli.serve import times_of
from jobs.runs import nightly
from jobs.runs.nightly import run_night
from jobs.service import scheduler
from jobs.service.service import Service, SettingsWatch
from jobs.settings.model import Settings
from jobs.terminal import clock
from jobs.watch.status import look, status_of
from pipeline.daily import publish
from pipeline.deals.batches import certify_batch
from pipeline.errors import StorageError
from pipeline.pools import nights
from pipeline.store.root import open_root
from pipeline.store.storage import LocalStorage
from tests.support.command import done
from tests.support.jobs import context_at
from tests.support.publishing import made_before
from tests.support.scenarios import content, records
from tests.support.sleeper import Sleeper, at
from tests.support.victim import KILLED, Request, Victim

FIRST = date(2026, 12, 1)
NIGHTS = [FIRST + timedelta(days=n) for n in range(30)]
SETTINGS = Settings(deals_per_night=1, daily_from=FIRST, publish_every_minutes=720)
VARIABLES = {"FAIRWAY_DEALS_PER_NIGHT": "1", "FAIRWAY_DAILY_FROM": str(FIRST), "FAIRWAY_WORKERS": "1"}
END = at("2026-12-30 00:10")
WEEKEND = {at("2026-12-11 18:00"): at("2026-12-14 07:30")}  # Friday evening to Monday morning
DISK_IS_FULL = at("2026-12-18 00:00"), at("2026-12-18 02:00")


@pytest.fixture(autouse=True)
def _less_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sample few deals for small levels, and do not repeat for one data root what was made for the other."""
    monkeypatch.setattr(nights, "BATCH_SIZE", 5)
    monkeypatch.setattr(nights, "certify_batch", cache(certify_batch))
    monkeypatch.setattr(publish, "make_daily", made_before)
    for module in (nightly, nights, publish):
        monkeypatch.setattr(module, "warm_up", lambda: None)
    monkeypatch.setattr(os, "fsync", lambda _file: None)  # the process that is killed is another one


def quiet_nights(root: Path) -> LocalStorage:
    """Return a data root after thirty nights, each made at its time."""
    storage = open_root(root, create=True)
    for night in NIGHTS:
        run_night(storage, night, SETTINGS, context_at(at(f"{night} 00:05")))
    return storage


def serve(storage: LocalStorage, start: str, end: str, version: str = "0.1.0") -> None:
    """Run the service from one time to another, when it receives SIGTERM."""
    sleeper = Sleeper(at(start), end=at(end), naps=WEEKEND)
    real = LocalStorage.create

    def create(self: LocalStorage, path: str, data: bytes) -> None:
        if DISK_IS_FULL[0] <= sleeper.now < DISK_IS_FULL[1] and path.startswith("deals/"):
            raise StorageError(f"cannot write {path}: No space left on device")
        real(self, path, data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalStorage, "create", create)
        scheduler.serve(
            Service(storage, SETTINGS, context_at(sleeper.clock, version), SettingsWatch(None)).work,
            times_of(SETTINGS),
            sleeper.clock,
            sleeper,
        )


def eventful_nights(root: Path, victim: Victim) -> LocalStorage:
    """Return a data root after thirty nights of the service with many faults."""
    storage = open_root(root, create=True)
    serve(storage, "2026-12-01 00:05", "2026-12-07 23:59")
    crash = Request(
        ("serve", "--data", str(root)),
        at("2026-12-08 00:05"),
        VARIABLES,
        fault="kill",
        place="deals/hard",
        at=1,
    )
    run = victim.run(crash)
    assert run.code == KILLED, run
    serve(storage, "2026-12-08 00:09", "2026-12-22 10:00")
    serve(storage, "2026-12-22 10:01", f"{END:%Y-%m-%d %H:%M}", "0.2.0")
    return storage


def story(storage: LocalStorage) -> list[tuple[Any, ...]]:
    """Return start, outcome, missed nights, attempt and version of each run that made nights or failed."""
    return [
        (record["started"][5:16], *(record[field] for field in ("outcome", "missed", "attempt", "version")))
        for record in records(storage.root)
        if record["nights"] or record["outcome"] == "failed"
    ]


def quiet(first: int, last: int, version: str = "0.1.0") -> list[tuple[Any, ...]]:
    """Return the story of undisturbed nights in December."""
    return [(f"12-{day:02}T00:05", "done", 0, 1, version) for day in range(first, last + 1)]


def test_thirty_nights_with_faults_leave_the_same_files_as_thirty_undisturbed_ones(
    victim: Victim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = quiet_nights(tmp_path / "quiet")
    storage = eventful_nights(tmp_path / "root", victim)
    assert content(storage.root) == content(expected.root)
    assert story(expected) == quiet(1, 30)
    assert story(storage) == [
        *quiet(1, 7),
        ("12-08T00:09", "done", 0, 1, "0.1.0"),  # the run killed at 00:05 left no record
        *quiet(9, 11),
        ("12-14T07:30", "done", 2, 1, "0.1.0"),  # Saturday's night; Sunday's and Monday's follow
        ("12-14T07:30", "done", 0, 1, "0.1.0"),
        ("12-14T07:30", "done", 0, 1, "0.1.0"),
        *quiet(15, 17),
        ("12-18T00:05", "failed", 0, 1, "0.1.0"),
        ("12-18T00:10", "failed", 0, 2, "0.1.0"),
        ("12-18T00:20", "failed", 0, 3, "0.1.0"),
        ("12-18T00:40", "failed", 0, 4, "0.1.0"),
        ("12-18T01:20", "failed", 0, 5, "0.1.0"),
        ("12-18T02:40", "done", 0, 6, "0.1.0"),
        *quiet(19, 22),
        *quiet(23, 30, "0.2.0"),
    ]
    assert status_of(END, SETTINGS, look(storage, END)).problems == ()
    monkeypatch.setattr(clock, "now", lambda: END)
    done("verify", "--data", storage.root, "--sample", "5")
