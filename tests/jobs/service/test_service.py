"""The service does what is due at its time, whatever the clock does, and nothing else.

Deals are fakes, so that a simulated week takes no time; everything else is real.
"""

import dataclasses
import json
import logging
import re
import shutil
from collections.abc import Callable
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs.cli.serve import times_of
from jobs.runs import nightly
from jobs.runs.lock import root_lock
from jobs.runs.nightly import root_state, run_night
from jobs.service import scheduler
from jobs.service.service import Service, SettingsWatch
from jobs.settings.model import METRICS_FILE, Settings
from jobs.terminal import clock
from pipeline.daily import publish
from pipeline.daily.files import SOLUTION_FOLDER, daily_path, days_in
from pipeline.deals.levels import LEVELS
from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.errors import StorageError
from pipeline.pools.catalog import CATALOG_FILE, load_catalog, save_catalog
from pipeline.store.root import open_root
from pipeline.store.storage import LocalStorage
from solver.errors import FairwayError
from tests.support.command import done, fairway
from tests.support.jobs import context_at
from tests.support.pools import make_fake_deals
from tests.support.publishing import made_before
from tests.support.sleeper import Sleeper, at

pytestmark = pytest.mark.system

DAY = timedelta(days=1)
SETTINGS = Settings(deals_per_night=2, daily_from=date(2026, 11, 29))
START = at("2026-11-30 00:05")


@pytest.fixture(autouse=True)
def _fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    make_fake_deals(monkeypatch)
    monkeypatch.setattr(publish, "warm_up", lambda: None)
    monkeypatch.setattr(publish, "make_daily", made_before)


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return open_root(tmp_path / "root", create=True)


def serve(storage: LocalStorage, sleeper: Sleeper, settings: Settings = SETTINGS) -> None:
    """Run the service until the sleeper has no more waits."""
    service = Service(storage, settings, context_at(sleeper.clock), SettingsWatch(None))
    scheduler.serve(service.work, times_of(settings), sleeper.clock, sleeper)


def records(storage: LocalStorage) -> list[dict[str, Any]]:
    """Return the records of all runs, oldest first."""
    return [json.loads(storage.read(path)) for path in storage.list("runs/")]


def rows(storage: LocalStorage, *fields: str) -> list[tuple[Any, ...]]:
    """Return some fields of all records; the start to the minute."""
    found = [record | {"started": record["started"][5:16]} for record in records(storage)]
    return [tuple(row[field] for field in fields) for row in found]


def nights_of(storage: LocalStorage) -> set[date | None]:
    return {pool.last_night for pool in load_catalog(storage).pools}


def test_nights_are_made_on_time_and_solutions_released_when_their_dates_are_over(
    storage: LocalStorage,
) -> None:
    serve(storage, Sleeper(START, waits=38))
    assert rows(storage, "started", "outcome", "nights", "dailies", "solutions") == [
        ("11-30T00:05", "done", 1, 4, 0),
        ("11-30T12:00", "done", 0, 0, 1),
        ("12-01T00:05", "done", 1, 1, 0),
        ("12-01T12:00", "done", 0, 0, 1),
    ]
    assert days_in(storage, SOLUTION_FOLDER) == (date(2026, 11, 29), date(2026, 11, 30))


def test_nightly_at_sets_the_time_of_the_night(storage: LocalStorage) -> None:
    settings = SETTINGS.model_copy(update={"nightly_at": time(3, 30)})
    serve(storage, Sleeper(START, waits=29), settings)
    assert rows(storage, "started", "nights", "solutions") == [
        ("11-30T00:05", 1, 0),  # of the 29th, which was due
        ("11-30T03:30", 1, 0),
        ("11-30T12:00", 0, 1),
        ("12-01T03:30", 1, 0),
    ]


def test_missed_nights_are_made_one_by_one_holes_first_and_logged(
    storage: LocalStorage, caplog: pytest.LogCaptureFixture
) -> None:
    serve(storage, Sleeper(START, waits=7, jumps={0: 7 * DAY}))
    assert rows(storage, "started", "nights", "dailies", "solutions", "missed") == [
        ("11-30T00:05", 1, 4, 0, 0),
        ("12-07T01:00", 1, 7, 4, 6),  # three more dates were over when their holes were published
        *[("12-07T01:00", 1, 0, 0, 0)] * 6,
    ]
    assert nights_of(storage) == {date(2026, 12, 7)}
    assert "nights missed: 6, 2026-12-01 to 2026-12-06" in caplog.messages


def test_nothing_is_made_again_after_the_clock_is_set_back(storage: LocalStorage) -> None:
    serve(storage, Sleeper(START, waits=3, jumps={0: -200 * DAY}))
    assert len(records(storage)) == 1


def test_nothing_is_published_while_the_clock_is_a_century_ahead(
    storage: LocalStorage, caplog: pytest.LogCaptureFixture
) -> None:
    century = 36_525 * DAY
    known: list[str] = []

    def look(wait: int) -> None:
        if wait == 2:
            known.append(storage.read(METRICS_FILE).decode())

    serve(storage, Sleeper(START, waits=5, jumps={0: century, 2: -century}, before=look))
    assert rows(storage, "started") == [("11-30T00:05",)]
    assert daily_path(date(2126, 11, 30)) not in storage.list("daily/")
    (why, *others) = [line for line in caplog.messages if "nothing was done" in line]
    assert others == [why]
    assert "the clock says 2126-12-01, which is after 2026-12-30, the last trusted date" in why
    assert "run `fairway nightly --date 2126-12-01 --allow-many` once" in why
    assert 'fairway_problem{problem="clock"} 1.0' in known[0]
    assert 'fairway_problem{problem="clock"} 0.0' in storage.read(METRICS_FILE).decode()


@pytest.mark.parametrize("start", ["1970-01-01 00:00", "2126-01-01 00:00"])
def test_nothing_is_made_if_the_clock_is_wrong_from_the_start(storage: LocalStorage, start: str) -> None:
    serve(storage, Sleeper(at(start), waits=3))
    assert records(storage) == []
    assert storage.list("daily/") == ()


def test_nights_go_on_at_the_end_of_a_year(storage: LocalStorage) -> None:
    settings = SETTINGS.model_copy(update={"daily_from": date(2026, 12, 31)})
    serve(storage, Sleeper(at("2026-12-30 23:30"), waits=30), settings)
    made = [moment for (moment,) in rows(storage, "started") if moment.endswith("00:05")]
    assert made == ["12-31T00:05", "01-01T00:05"]
    assert nights_of(storage) == {date(2027, 1, 1)}


def test_leap_day_has_a_night_and_a_hole(storage: LocalStorage) -> None:
    settings = SETTINGS.model_copy(update={"daily_from": date(2028, 2, 28), "clock_bound_days": 2000})
    serve(storage, Sleeper(at("2028-02-28 00:05"), waits=60), settings)
    assert nights_of(storage) == {date(2028, 3, 1)}
    assert daily_path(date(2028, 2, 29)) in storage.list("daily/")
    assert {missed for (missed,) in rows(storage, "missed")} == {0}


def test_long_run_is_followed_by_what_became_due_meanwhile(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeper = Sleeper(START, waits=0)
    real = nightly._add_nights

    def slowly(*arguments: Any) -> Any:
        if sleeper.now == START:
            sleeper.now += 26 * timedelta(hours=1)
        return real(*arguments)

    monkeypatch.setattr(nightly, "_add_nights", slowly)
    serve(storage, sleeper)
    assert rows(storage, "started", "nights", "missed") == [("11-30T00:05", 1, 0), ("12-01T02:05", 1, 0)]


def failing(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, times: int, fault: Callable[[], Exception]
) -> None:
    """Make a function fail a number of times before it works."""
    real, left = getattr(module, name), iter(range(times))

    def fail(*arguments: Any, **options: Any) -> Any:
        if next(left, None) is not None:
            raise fault()
        return real(*arguments, **options)

    monkeypatch.setattr(module, name, fail)


def test_failure_is_reported_until_a_run_succeeds(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "fairway.serve")
    failing(monkeypatch, nightly, "_add_nights", 3, lambda: StorageError("no space"))
    problems: list[bool] = []

    def look(_wait: int) -> None:
        problems.append('fairway_problem{problem="failure"} 1.0' in storage.read(METRICS_FILE).decode())

    serve(storage, Sleeper(START, waits=4, before=look))
    assert rows(storage, "started", "outcome", "attempt") == [
        ("11-30T00:05", "failed", 1),
        ("11-30T00:10", "failed", 2),
        ("11-30T00:20", "failed", 3),
        ("11-30T00:40", "done", 4),
    ]
    assert problems == [True, True, True, False]
    assert "recovered after 3 failures" in caplog.messages


def test_failed_run_is_retried_even_if_nothing_seems_due(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, nightly, "job_run", 1, lambda: StorageError("no space for a record either"))
    serve(storage, Sleeper(START, waits=0))
    assert records(storage) == []
    serve(storage, Sleeper(START, waits=1))
    failing(monkeypatch, nightly, "job_run", 1, lambda: StorageError("no space for a record either"))
    serve(storage, Sleeper(START + DAY, waits=1))
    assert rows(storage, "started") == [("11-30T00:05",), ("12-01T00:10",)]


def test_failed_run_is_retried_right_after_a_restart(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(storage, Sleeper(START, waits=0))
    storage.replace(daily_path(date(2026, 11, 29)), b"{")
    serve(storage, Sleeper(START + DAY, waits=2))
    assert rows(storage, "started", "outcome", "nights", "dailies")[1:] == [
        ("12-01T00:05", "failed", 1, 1),  # everything but the damaged hole was done
        ("12-01T00:10", "failed", 0, 0),
        ("12-01T00:20", "failed", 0, 0),
    ]
    storage.replace(daily_path(date(2026, 11, 29)), made_before(date(2026, 11, 29), None).daily)
    assert root_state(storage, Settings()).has_failed
    serve(storage, Sleeper(START + DAY + timedelta(minutes=30), waits=1))
    assert rows(storage, "started", "outcome", "attempt")[-1] == ("12-01T00:35", "done", 4)
    assert not root_state(storage, Settings()).has_failed


def test_damaged_catalog_is_recorded_as_a_failure(storage: LocalStorage) -> None:
    storage.create(CATALOG_FILE, b"{")
    serve(storage, Sleeper(START, waits=1))
    assert rows(storage, "started", "outcome") == [("11-30T00:05", "failed"), ("11-30T00:10", "failed")]


def test_locked_root_is_tried_again_without_a_record(
    storage: LocalStorage, caplog: pytest.LogCaptureFixture
) -> None:
    with root_lock(storage.root, START):
        serve(storage, Sleeper(START, waits=1))
    assert records(storage) == []
    assert [line for line in caplog.messages if "trying again at 2026-11-30 00:10:00 UTC" in line]
    serve(storage, Sleeper(START, waits=1))
    assert rows(storage, "outcome") == [("done",)]


def test_nothing_due_is_logged_once_per_night(
    storage: LocalStorage, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "fairway.serve"):
        serve(storage, Sleeper(START, waits=9))
    logged = [line for line in caplog.messages if line.startswith("nothing is due")]
    assert logged == ["nothing is due for the night 2026-11-30"]


def with_pool(storage: LocalStorage, level: str, **fields: Any) -> None:
    """Change fields of a pool in the catalog."""
    catalog = load_catalog(storage)
    pool = next(pool for pool in catalog.pools if pool.level == level)
    save_catalog(storage, catalog.with_pool(dataclasses.replace(pool, **fields)))


def check_the_rest_is_done_anyway(storage: LocalStorage, broken: str, error: str) -> None:
    before = load_catalog(storage)
    with pytest.raises(FairwayError, match=error):
        run_night(storage, date(2026, 12, 1), SETTINGS, context_at(START + DAY))
    assert daily_path(date(2026, 12, 3)) in storage.list("daily/")
    after = load_catalog(storage)
    assert after.pool(broken) == before.pool(broken)
    others = [name for name in LEVELS if name != broken]
    assert all(after.pool(name).last_night == date(2026, 12, 1) for name in others)
    assert all(after.pool(name).size > before.pool(name).size for name in others)
    ((outcome, message, dailies),) = rows(storage, "outcome", "error", "dailies")[-1:]
    assert (outcome, dailies) == ("failed", 1)
    assert re.search(error, message)


def test_level_without_further_numbers_holds_up_nothing_else(
    storage: LocalStorage,
) -> None:
    serve(storage, Sleeper(START, waits=0))
    with_pool(storage, "easy", next_number=MOST_DEAL_NUMBER - 1)
    message = "level easy: the deal numbers ended at .* after . of 2 deals"
    check_the_rest_is_done_anyway(storage, "easy", message)


def test_damaged_part_holds_up_nothing_else(storage: LocalStorage) -> None:
    serve(storage, Sleeper(START, waits=0))
    (part,) = storage.list("deals/medium/")
    storage.replace(part, b"damaged")
    check_the_rest_is_done_anyway(storage, "medium", re.escape(part))


@pytest.mark.parametrize("empty", [False, True], ids=["removed", "replaced by an empty folder"])
def test_data_root_that_was_removed_is_not_created_again(
    storage: LocalStorage, empty: bool, caplog: pytest.LogCaptureFixture
) -> None:
    def vanish() -> None:
        shutil.rmtree(storage.root)
        if empty:
            storage.root.mkdir()

    sleeper = Sleeper(START, waits=3)
    service = Service(storage, SETTINGS, context_at(sleeper.clock), SettingsWatch(None))
    worked: list[int] = []

    def work(failures: int) -> bool:
        if len(worked) == 1:
            vanish()
        worked.append(failures)
        return service.work(failures)

    scheduler.serve(work, times_of(SETTINGS), sleeper.clock, sleeper)
    assert worked[-1] > 0
    assert "is not a data root any more" in caplog.text
    assert not storage.root.exists() or not any(storage.root.iterdir())


def test_commands_without_a_date_do_not_trust_such_a_clock_either(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(storage, Sleeper(START, waits=0))
    monkeypatch.setattr(clock, "now", lambda: at("2126-12-01 00:05"))
    for command in (("nightly",), ("daily", "publish")):
        refused = fairway(*command, "--data", storage.root)
        assert refused.code == 1
        assert "nothing was done: the clock says 2126-12-01, which is after 2026-12-30" in refused.complaint
        assert len(records(storage)) == 1
    monkeypatch.setenv("FAIRWAY_DAILY_FROM", "2126-12-01")
    monkeypatch.setenv("FAIRWAY_DEALS_CAP", "1")  # a century of nights would not fit on the disk
    done("nightly", "--data", storage.root, "--date", "2126-12-01")  # the user confirms the date
    done("nightly", "--data", storage.root)


def test_a_settings_file_that_changes_is_reported_once_per_change(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "fairway.toml"
    file.write_text("workers = 1\n")
    watch = SettingsWatch(file)
    watch.look()
    assert caplog.messages == []
    file.write_text("workers = 2\n")
    watch.look()
    watch.look()
    kept = f"{file} has changed; the service keeps the settings it started with until it is restarted"
    assert caplog.messages == [kept]
    file.unlink()
    watch.look()
    assert caplog.messages == [kept, kept]
    SettingsWatch(None).look()
    SettingsWatch(tmp_path / "nowhere.toml").look()
    assert len(caplog.messages) == 2
