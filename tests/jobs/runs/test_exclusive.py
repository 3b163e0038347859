"""What every job has around it: views first and last, a record that holds, and the cause of a failure."""

import dataclasses
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs.runs.context import Tools
from jobs.runs.exclusive import exclusive_run
from jobs.runs.publishing import run_publish
from jobs.settings.model import Settings
from pipeline.daily.files import daily_path
from pipeline.daily.publish import publish
from pipeline.errors import CheckError, DamagedError, StorageError
from pipeline.pools.catalog import CATALOG_FILE
from pipeline.query.views import SQL_FILE
from pipeline.store.storage import LocalStorage
from pipeline.work.progress import SILENT
from tests.support.publishing import DAYS, WORK

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
TOOLS = Tools(lambda: NOW, SILENT, "0.1.0")


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path)


def record(storage: LocalStorage) -> dict[str, Any]:
    (path,) = storage.list("runs/")
    found: dict[str, Any] = json.loads(storage.read(path))
    return found


def test_the_views_are_there_before_anything_else_and_right_at_the_end(storage: LocalStorage) -> None:
    with exclusive_run(storage, "nightly", Settings(), TOOLS):
        assert storage.list("") == (".lock", SQL_FILE)
        first = storage.read(SQL_FILE)
    assert storage.read(SQL_FILE) != first  # the record of the run is shown now
    assert b"FROM read_json('runs/*.json'" in storage.read(SQL_FILE)


def test_the_record_of_a_run_says_which_attempt_it_was(storage: LocalStorage) -> None:
    def fail(hour: int) -> None:
        tools = dataclasses.replace(TOOLS, clock=lambda: NOW + timedelta(hours=hour))
        with exclusive_run(storage, "nightly", Settings(), tools):
            raise CheckError("too bad")

    for hour in range(3):
        with pytest.raises(CheckError):
            fail(hour)
    attempts = [json.loads(storage.read(path))["attempt"] for path in storage.list("runs/")]
    assert attempts == [1, 2, 3]


def test_what_stopped_a_run_is_told_though_the_views_cannot_be_written(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_arguments: object) -> None:
        raise StorageError("no space")

    def run() -> None:
        with exclusive_run(storage, "nightly", Settings(), TOOLS):
            monkeypatch.setattr("jobs.runs.exclusive.write_views", no_space)
            raise CheckError("too bad")

    with pytest.raises(CheckError, match="too bad"):
        run()
    assert record(storage)["error"] == "too bad"


def test_a_run_that_meets_no_catalog_still_tells_that_it_is_damaged(storage: LocalStorage) -> None:
    storage.create(CATALOG_FILE, b"{")
    with pytest.raises(DamagedError, match=r"catalog\.json"):
        run_publish(storage, DAYS[:1], Settings(), TOOLS)
    assert storage.list(daily_path(DAYS[0])) == (daily_path(DAYS[0]),)


def test_the_record_of_a_run_that_found_damage_counts_what_it_published(storage: LocalStorage) -> None:
    publish(storage, DAYS[:1], None, datetime(2026, 11, 27, tzinfo=UTC), WORK)
    storage.create(daily_path(DAYS[1]), b"{")
    with pytest.raises(DamagedError, match=f"{DAYS[1]}"):
        run_publish(storage, DAYS, Settings(), TOOLS)
    found = record(storage)
    assert (found["outcome"], found["dailies"], found["solutions"]) == ("failed", 2, 1)


def test_the_record_of_a_run_without_space_counts_what_it_published(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = LocalStorage.create

    def create(self: LocalStorage, path: str, data: bytes) -> None:
        if path == daily_path(DAYS[2]):
            raise StorageError("no space")
        real(self, path, data)

    monkeypatch.setattr(LocalStorage, "create", create)
    with pytest.raises(StorageError, match="no space"):
        run_publish(storage, DAYS, Settings(), TOOLS)
    assert record(storage)["dailies"] == 2
