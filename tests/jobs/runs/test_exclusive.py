"""Every job updates the views first and last, leaves a correct record and raises its own error."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs.runs.exclusive import job_run
from jobs.runs.others import run_publish
from jobs.settings.model import Settings
from pipeline.daily.files import daily_path
from pipeline.daily.publish import publish
from pipeline.errors import CheckError, DamagedError, StorageError
from pipeline.pools.catalog import CATALOG_FILE
from pipeline.query.views import SQL_FILE
from pipeline.store.storage import LocalStorage
from tests.support.jobs import context_at
from tests.support.publishing import DAYS, WORK

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
CONTEXT = context_at(NOW)


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path)


def only_record(storage: LocalStorage) -> dict[str, Any]:
    (path,) = storage.list("runs/")
    document: dict[str, Any] = json.loads(storage.read(path))
    return document


def test_views_are_written_first_and_updated_last(storage: LocalStorage) -> None:
    with job_run(storage, "nightly", Settings(), CONTEXT):
        assert storage.list("") == (".lock", SQL_FILE)
        first = storage.read(SQL_FILE)
    assert storage.read(SQL_FILE) != first  # now it shows the record of the run
    assert b"'/runs/*.json'" in storage.read(SQL_FILE)


def test_record_has_the_attempt_of_the_run(storage: LocalStorage) -> None:
    for hour in range(3):
        context = context_at(NOW + timedelta(hours=hour))
        with pytest.raises(CheckError), job_run(storage, "nightly", Settings(), context):
            raise CheckError("too bad")
    attempts = [json.loads(storage.read(path))["attempt"] for path in storage.list("runs/")]
    assert attempts == [1, 2, 3]


def test_unwritable_views_do_not_hide_the_error_of_the_run(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_arguments: object) -> None:
        raise StorageError("no space")

    def run() -> None:
        with job_run(storage, "nightly", Settings(), CONTEXT):
            monkeypatch.setattr("jobs.runs.exclusive.write_views", no_space)
            raise CheckError("too bad")

    with pytest.raises(CheckError, match="too bad"):
        run()
    assert only_record(storage)["error"] == "too bad"


def test_run_that_does_not_need_the_damaged_catalog_still_reports_it(storage: LocalStorage) -> None:
    storage.create(CATALOG_FILE, b"{")
    with pytest.raises(DamagedError, match=r"catalog\.json"):
        run_publish(storage, DAYS[:1], Settings(), CONTEXT)
    assert storage.list(daily_path(DAYS[0])) == (daily_path(DAYS[0]),)


def test_record_of_a_run_that_found_damage_counts_what_it_published(storage: LocalStorage) -> None:
    publish(storage, DAYS[:1], None, datetime(2026, 11, 27, tzinfo=UTC), WORK)
    storage.create(daily_path(DAYS[1]), b"{")
    with pytest.raises(DamagedError, match=f"{DAYS[1]}"):
        run_publish(storage, DAYS, Settings(), CONTEXT)
    record = only_record(storage)
    assert (record["outcome"], record["dailies"], record["solutions"]) == ("failed", 2, 1)


def test_record_of_a_run_on_a_full_disk_counts_what_it_published(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = LocalStorage.create

    def create(self: LocalStorage, path: str, data: bytes) -> None:
        if path == daily_path(DAYS[2]):
            raise StorageError("no space")
        real(self, path, data)

    monkeypatch.setattr(LocalStorage, "create", create)
    with pytest.raises(StorageError, match="no space"):
        run_publish(storage, DAYS, Settings(), CONTEXT)
    assert only_record(storage)["dailies"] == 2
