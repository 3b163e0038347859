"""Metrics are written after every run, atomically, in a valid format, and never make a run fail."""

import dataclasses
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from jobs.runs.exclusive import job_run, repair_run
from jobs.settings.model import METRICS_FILE, Settings
from jobs.watch.metrics import metrics_text, published_through
from jobs.watch.status import PROBLEMS, Found, Problem, status_of
from pipeline.daily.files import daily_path
from pipeline.errors import CheckError, StorageError
from pipeline.pools.catalog import empty_catalog
from pipeline.store.storage import LocalStorage
from pipeline.work.records import Outcome, RunRecord, write_record
from tests.support.jobs import context_at
from tests.support.run_records import A_RECORD, run_at

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TODAY = NOW.date()
CONTEXT = context_at(NOW)
SETTINGS = Settings(daily_from=date(2026, 11, 29))
OUT = (date(2026, 11, 29), date(2026, 11, 30), date(2026, 12, 1), date(2026, 12, 2))

Values = dict[tuple[str, ...], float]


def values_of(text: bytes) -> Values:
    """Each value by its name, without the prefix, and its labels."""
    found: Values = {}
    for family in text_string_to_metric_families(text.decode()):
        assert family.type == "gauge"
        assert family.name.startswith("fairway_")
        assert family.documentation
        for sample in family.samples:
            key = (sample.name.removeprefix("fairway_"), *sample.labels.values())
            assert key not in found
            found[key] = sample.value
    return found


def text_of(found: Found, settings: Settings = SETTINGS, now: datetime = NOW) -> bytes:
    return metrics_text(status_of(now, settings, found), found, settings, "0.1.0")


def test_missed_nights_are_reported_for_a_day_even_if_later_runs_found_none() -> None:
    def missed(now: datetime, *records: RunRecord) -> float:
        return values_of(text_of(Found(empty_catalog(), None, OUT, records, ()), now=now))["missed_nights",]

    three, none = (dataclasses.replace(A_RECORD.counts, missed=missed) for missed in (3, 0))
    first = run_at(NOW, counts=three)
    second = run_at(NOW + timedelta(minutes=1), counts=none)
    failed = run_at(NOW - timedelta(minutes=1), Outcome.FAILED, counts=three)
    assert missed(NOW, failed) == 3
    assert missed(NOW + timedelta(hours=1), second, first, failed) == 3
    assert missed(NOW + timedelta(days=2), second, first, failed) == 0


def test_metrics_hold_the_state_of_a_root() -> None:
    found = values_of(text_of(Found(empty_catalog(), None, OUT, (A_RECORD, run_at(NOW, job="gc")), ())))
    assert found["last_success_timestamp_seconds",] == pytest.approx(A_RECORD.ended.timestamp())
    assert found["published_through_timestamp_seconds",] == datetime(2026, 12, 2, tzinfo=UTC).timestamp()
    assert found["next_run_timestamp_seconds",] == datetime(2026, 12, 1, 0, 5, tzinfo=UTC).timestamp()
    assert found["last_run_outcome", "done"] == 1
    assert sum(found["last_run_outcome", each.value] for each in Outcome) == 1
    assert found["last_run_seconds",] == A_RECORD.seconds
    assert found["last_run_stage_seconds", "solving"] == 5.25
    assert (found["last_run_deals", "easy", "sampled"], found["last_run_deals", "hard", "cleared"]) == (
        40,
        13,
    )
    assert (found["missed_nights",], found["last_run_attempt",]) == (2, 3)
    assert found["pool_cap_deals", "medium"] == 20_000
    assert found["pool_deals", "medium"] == found["pool_last_night_timestamp_seconds", "medium"] == 0
    assert found["pool_grown_deals", "easy"] == 12
    assert (found["job_last_run_good", "gc"], found["job_last_run_good", "nightly"]) == (1, 1)
    assert found["build_info", "0.1.0"] == 1
    assert found["problem", "night"] == 1
    assert sum(found["problem", each] for each in PROBLEMS) == 1


def test_without_any_files_the_timestamps_are_zero() -> None:
    found = values_of(text_of(Found(None, None, (), (), ())))
    assert found["last_success_timestamp_seconds",] == 0
    assert found["published_through_timestamp_seconds",] == 0
    assert not any(name.startswith(("pool_", "last_run_", "job_")) for name, *_ in found)


def test_every_kind_of_problem_has_its_series() -> None:
    records = (run_at(NOW + timedelta(days=1)), run_at(NOW - timedelta(days=1), Outcome.FAILED))
    problem = Problem("catalog", "damaged", "fix it")
    nothing = status_of(NOW, SETTINGS, Found(empty_catalog(), problem, (), records, ("damaged",), "full"))
    assert {each.name for each in nothing.problems} == set(PROBLEMS)


@pytest.mark.parametrize(
    ("published", "through"),
    [
        ((), None),
        (OUT, OUT[-1]),
        ((date(2026, 1, 1), *OUT), OUT[-1]),
        (OUT[1:], None),
        ((OUT[0], OUT[2]), OUT[0]),
    ],
)
def test_holes_are_published_through_the_last_date_before_a_gap(
    published: tuple[date, ...], through: date | None
) -> None:
    assert published_through(OUT[0], published) == through


def run(storage: LocalStorage, error: BaseException | None = None, **settings: Any) -> None:
    storage.root.mkdir(exist_ok=True)
    with job_run(storage, "nightly", Settings(**settings), CONTEXT) as counts:
        counts.dailies = 5
        if error is not None:
            raise error


def values_in(root: Path, name: str = METRICS_FILE) -> Values:
    return values_of((root / name).read_bytes())


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(None, "done"), (CheckError("x"), "failed"), (SystemExit(143), "stopped"), (ValueError("x"), "failed")],
)
def test_metrics_are_written_whatever_the_outcome_of_a_run(
    tmp_path: Path, error: BaseException | None, outcome: str
) -> None:
    with suppress(CheckError, SystemExit, ValueError):
        run(LocalStorage(tmp_path), error)
    found = values_in(tmp_path)
    assert found["last_run_outcome", outcome] == 1
    assert found["last_run_dailies",] == 5
    assert found["job_last_run_good", "nightly"] == (outcome == "done")


def test_another_job_does_not_change_the_nightly_metrics(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    run(storage, None)
    later = dataclasses.replace(CONTEXT, clock=lambda: NOW + timedelta(hours=1))
    with repair_run(storage, "repair", Settings(), later):
        pass
    found = values_in(tmp_path)
    assert found["last_success_timestamp_seconds",] == NOW.timestamp()
    assert found["job_last_run_timestamp_seconds", "repair"] == NOW.timestamp() + 3600


def test_metrics_are_written_atomically_to_the_file_in_the_settings(tmp_path: Path) -> None:
    place = tmp_path / "collected" / "fairway.prom"
    run(LocalStorage(tmp_path / "root"), None, metrics_file=place)
    assert values_in(place.parent, place.name)["last_run_dailies",] == 5
    assert [path.name for path in place.parent.iterdir()] == ["fairway.prom"]
    assert not (tmp_path / "root" / METRICS_FILE).exists()


@pytest.mark.parametrize("blocked", ["a file is in the way", "a folder has that name"])
def test_a_run_succeeds_even_if_its_metrics_cannot_be_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, blocked: str
) -> None:
    place = tmp_path / "blocked" / "fairway.prom"
    if blocked.startswith("a file"):
        place.parent.write_text("")
    else:
        place.mkdir(parents=True)
    run(LocalStorage(tmp_path / "root"), None, metrics_file=place)
    (record,) = (tmp_path / "root" / "runs").iterdir()
    assert b'"outcome":"done"' in record.read_bytes()
    assert ["metrics were not written" in each.message for each in caplog.records].count(True) == 1


def test_the_error_of_a_run_is_raised_even_if_its_metrics_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_handles(*_: object) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("jobs.runs.exclusive.write_metrics", no_handles)
    with pytest.raises(CheckError, match="too bad"):
        run(LocalStorage(tmp_path), CheckError("too bad"))


def test_a_run_whose_record_cannot_be_written_is_still_in_the_metrics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: object) -> None:
        raise StorageError("no space")

    storage = LocalStorage(tmp_path)
    write_record(storage, run_at(NOW - timedelta(hours=12)))
    monkeypatch.setattr("jobs.runs.run.write_record", no_space)
    with pytest.raises(StorageError, match="no space"):
        run(storage)
    found = values_in(tmp_path)
    assert found["last_run_outcome", "failed"] == 1
    assert found["problem", "failure"] == 1
    assert found["last_success_timestamp_seconds",] == (NOW - timedelta(hours=12, seconds=-10)).timestamp()


def test_metrics_are_written_for_a_damaged_root(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    storage.create(daily_path(TODAY), b"{")
    storage.create("runs/x.json", b"{")
    storage.create("catalog.json", b"{")
    with repair_run(storage, "repair", Settings(), CONTEXT):
        pass
    found = values_in(tmp_path)
    assert (found["problem", "catalog"], found["problem", "records"]) == (1, 1)
    assert ("pool_deals", "easy") not in found
