"""The health of a root: what counts as a problem and when; damage, silence and wrong clocks are reported."""

import dataclasses
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Any

import pytest

from jobs.settings.model import LevelSettings, Settings
from jobs.watch.status import Found, Status, look, next_nightly, status_of
from pipeline.daily.files import daily_path
from pipeline.pools.catalog import CATALOG_FILE, Catalog, empty_catalog
from pipeline.work.counts import Counts, LevelCounts
from pipeline.work.records import Outcome, RunRecord, record_path, write_record
from tests.support.doubles import MemoryStorage
from tests.support.run_records import run_at

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TODAY = NOW.date()
LAST = datetime(2026, 11, 30, 0, 5, tzinfo=UTC)
FROM = date(2026, 11, 20)
SETTINGS = Settings(daily_from=FROM)
OUT = tuple(FROM + timedelta(days=n) for n in range(13))  # to 2026-12-02


def catalog_of(night: date | None, levels: Sequence[str] = ("easy", "medium", "hard")) -> Catalog:
    catalog = empty_catalog()
    pools = (
        dataclasses.replace(pool, last_night=night) if pool.level in levels else pool
        for pool in catalog.pools
    )
    return dataclasses.replace(catalog, change=1, pools=tuple(pools))


WELL = Found(catalog_of(TODAY), None, OUT, (run_at(LAST),), ())


def status_at(found: Found, now: datetime = NOW, settings: Settings = SETTINGS) -> Status:
    return status_of(now, settings, found)


def names(status: Status) -> list[str]:
    return [problem.name for problem in status.problems]


def with_records(*records: RunRecord) -> Found:
    return dataclasses.replace(WELL, records=records)


def test_a_healthy_root_has_no_problems() -> None:
    status = status_at(WELL)
    assert status.problems == ()
    assert status.is_well
    assert (status.is_today_out, status.is_tomorrow_out) == (True, True)
    assert status.last_published == date(2026, 12, 2)
    assert status.last_success == status.last_run == run_at(LAST)
    assert status.success_age == NOW - run_at(LAST).ended
    assert status.next_run == datetime(2026, 12, 1, 0, 5, tzinfo=UTC)


def test_a_root_without_runs_has_problems_and_no_success() -> None:
    status = status_at(Found(empty_catalog(), None, (), (), ()))
    assert names(status) == ["today", "tomorrow", "holes", "success", "night"]
    assert (status.last_success, status.last_run, status.success_age) == (None, None, None)
    assert status.last_published is None


def test_after_a_failed_run_the_advice_is_not_to_run_it_again_first() -> None:
    failed = run_at(NOW - timedelta(hours=1), Outcome.FAILED, error="daily/2026-11-29.json is missing")
    found = dataclasses.replace(WELL, published=OUT[:-5], records=(failed, run_at(LAST)))
    advice = {problem.name: problem.remedy for problem in status_at(found).problems}
    assert advice.keys() == {"today", "tomorrow", "holes", "failure"}
    assert all("fix the cause" in remedy for remedy in advice.values())


def test_a_disk_that_cannot_be_written_is_a_problem() -> None:
    status = status_at(dataclasses.replace(WELL, disk_problem="/srv has room for 0.1 MB more"))
    assert names(status) == ["disk"]
    assert "0.1 MB" in status.problems[0].what


def test_every_problem_has_a_remedy() -> None:
    empty = Found(None, problem_without_catalog(), (), (), ("runs/a.json is damaged",))
    problems = status_at(empty).problems
    assert {problem.name for problem in problems} >= {"today", "success", "catalog", "records"}
    assert all(problem.what and problem.remedy for problem in problems)


def problem_without_catalog() -> Any:
    storage = MemoryStorage()
    storage.create(CATALOG_FILE, b"{")
    return look(storage, NOW).catalog_problem


@pytest.mark.parametrize(
    ("missing", "problem"),
    [(TODAY, "today"), (TODAY + timedelta(1), "tomorrow"), (TODAY - timedelta(3), "holes")],
)
def test_an_unpublished_hole_is_a_problem(missing: date, problem: str) -> None:
    status = status_at(dataclasses.replace(WELL, published=tuple(day for day in OUT if day != missing)))
    assert names(status) == [problem]
    assert str(missing) in status.problems[0].what
    assert (status.is_today_out, status.is_tomorrow_out) == (problem != "today", problem != "tomorrow")


def test_an_unpublished_hole_is_a_problem_only_once_it_is_due() -> None:
    published = tuple(day for day in OUT if day <= TODAY)
    just_before = datetime(2026, 11, 30, 0, 4, tzinfo=UTC)
    found = dataclasses.replace(WELL, published=published)
    ahead_by_one = Settings(daily_from=FROM, publish_ahead_days=1)
    assert "tomorrow" not in names(status_at(found, just_before, ahead_by_one))
    assert "tomorrow" in names(status_at(found, just_before + timedelta(minutes=1), ahead_by_one))
    assert "tomorrow" in names(status_at(found, just_before, SETTINGS))


def test_no_hole_is_expected_before_the_first_date() -> None:
    later = Settings(daily_from=date(2026, 12, 5))
    assert names(status_at(dataclasses.replace(WELL, published=()), settings=later)) == []


def test_silence_is_a_problem_after_26_hours() -> None:
    ended = run_at(LAST).ended
    assert "success" not in names(status_at(WELL, ended + timedelta(hours=26)))
    late = status_at(WELL, ended + timedelta(hours=27))
    assert "success" in names(late)
    assert "ended 27 hours ago" in next(each.what for each in late.problems if each.name == "success")


def test_a_failure_stays_a_problem_until_a_run_succeeds() -> None:
    first = run_at(LAST, Outcome.FAILED, error="the disk is full")
    second = run_at(LAST + timedelta(minutes=5), Outcome.FAILED, error="the disk is still full")
    stopped = run_at(LAST + timedelta(minutes=10), Outcome.STOPPED)
    before = run_at(LAST - timedelta(days=1))
    soon = LAST + timedelta(hours=1)
    failing = status_at(with_records(stopped, second, first, before), soon)
    assert names(failing) == ["failure"]
    assert "the last 2 nightly runs failed" in failing.problems[0].what
    assert "the disk is still full" in failing.problems[0].what
    good = run_at(LAST + timedelta(minutes=15), Outcome.NOTHING)
    fixed = status_at(with_records(good, stopped, second, first, before), soon)
    assert fixed.is_well
    assert fixed.last_success == good


def test_other_jobs_count_neither_as_success_nor_as_failure() -> None:
    other = run_at(LAST + timedelta(hours=1), Outcome.FAILED, job="gc")
    assert status_at(with_records(other, run_at(LAST))).is_well
    done = run_at(LAST + timedelta(hours=1), job="gc")
    assert names(status_at(with_records(done))) == ["success"]


def test_a_missing_night_is_a_problem_once_no_run_can_be_in_progress() -> None:
    found = dataclasses.replace(WELL, catalog=catalog_of(TODAY - timedelta(1)))
    assert "night" not in names(status_at(found, LAST + timedelta(hours=1)))
    assert "night" in names(status_at(found, LAST + timedelta(hours=3)))
    some = dataclasses.replace(WELL, catalog=catalog_of(TODAY, ["easy", "hard"]))
    assert "was not made for medium" in status_at(some).problems[0].what


def test_a_clock_behind_the_records_is_a_problem() -> None:
    ahead = run_at(NOW + timedelta(days=36_500))
    status = status_at(with_records(ahead, run_at(LAST)))
    assert names(status) == ["clock"]
    assert "2126" in status.problems[0].what
    assert status.last_success == run_at(LAST)
    assert status_at(
        with_records(run_at(NOW + timedelta(minutes=2)))
    ).is_well  # clocks of two machines may differ that much


def test_a_clock_that_the_service_does_not_trust_is_a_problem() -> None:
    status = status_at(WELL, NOW + timedelta(days=36_500))
    assert names(status) == ["today", "tomorrow", "holes", "success", "night", "clock"]
    assert "2126-11-06" in status.problems[-1].what
    assert "fairway nightly --date 2126-11-06" in status.problems[-1].remedy


def test_a_run_from_the_future_does_not_hide_silence() -> None:
    ahead, old = run_at(NOW + timedelta(days=36_500)), run_at(LAST - timedelta(days=20))
    status = status_at(with_records(ahead, old))
    assert names(status) == ["success", "clock"]
    assert (status.last_success, status.last_run) == (old, old)
    storage = MemoryStorage()
    for record in (ahead, old):
        write_record(storage, record)
    assert look(storage, NOW).records == (ahead, old)


def test_the_nightly_time_comes_from_the_settings() -> None:
    settings = Settings(daily_from=FROM, nightly_at=time(23, 30))
    status = status_at(dataclasses.replace(WELL, catalog=catalog_of(TODAY - timedelta(1))), settings=settings)
    assert status.is_well
    assert status.next_run == datetime(2026, 11, 30, 23, 30, tzinfo=UTC)


@pytest.mark.parametrize("hours", [-11, 0, 14])
def test_the_next_night_is_never_now(hours: int) -> None:
    at = SETTINGS.nightly_at
    zone = timezone(timedelta(hours=hours))
    assert next_nightly(LAST.astimezone(zone), at) == LAST + timedelta(days=1)
    assert next_nightly(LAST - timedelta(seconds=1), at) == LAST


def test_growth_counts_the_nights_of_the_last_seven_days() -> None:
    def wrote(days: float, easy: int, job: str = "nightly") -> RunRecord:
        counts = Counts(levels={"easy": LevelCounts(written=easy)})
        return run_at(NOW - timedelta(days=days), counts=counts, job=job)

    found = with_records(wrote(0.5, 1), wrote(1, 10, "pool regenerate"), wrote(6.9, 100), wrote(7.1, 1000))
    settings = Settings(daily_from=FROM, deals_cap=50, levels={"hard": LevelSettings(deals_cap=9)})
    easy, medium, hard = status_at(found, settings=settings).pools
    assert (easy.grown, medium.grown) == (101, 0)
    assert (easy.cap, hard.cap) == (50, 9)


def test_records_are_read_back_to_the_last_success_and_seven_days(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    storage = MemoryStorage()
    for days in range(30):
        good = days >= 20
        write_record(storage, run_at(LAST - timedelta(days=days), Outcome.DONE if good else Outcome.FAILED))
    assert len(look(storage, NOW).records) == 21
    write_record(storage, run_at(LAST + timedelta(minutes=5)))
    assert len(look(storage, NOW).records) == 9
    monkeypatch.setattr("jobs.watch.status._MAX_RECORDS", 3)
    assert len(look(storage, NOW).records) == 3


def test_damage_is_reported_and_the_rest_still_read() -> None:
    storage = MemoryStorage()
    storage.create(CATALOG_FILE, b"{")
    for day in OUT:
        storage.create(daily_path(day), b"{}")
    write_record(storage, run_at(LAST))
    storage.create("runs/20261130T000600Z-9.json", b"\xff")
    storage.create("runs/zzz.json", b"[]")
    found = look(storage, NOW)
    status = status_at(found)
    assert names(status) == ["catalog", "records"]
    assert "fairway repair" in status.problems[0].remedy
    assert "and 1 more" in status.problems[1].what
    assert status.last_success == run_at(LAST)
    assert status.pools == ()


def test_a_catalog_of_a_newer_version_is_not_to_be_repaired() -> None:
    storage = MemoryStorage()
    storage.create(CATALOG_FILE, b'{"version": 99}')
    problem = look(storage, NOW).catalog_problem
    assert problem is not None
    assert "repair" not in problem.remedy
    assert record_path(run_at(LAST)) not in storage.files
