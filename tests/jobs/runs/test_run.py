"""Each run leaves one record of how it ended, even if it did not end well."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from jobs.runs.run import Run
from pipeline.errors import CheckError, StorageError
from pipeline.store.storage import LocalStorage, Storage
from pipeline.work.counts import Counts
from tests.support.doubles import FailingStorage
from tests.support.jobs import context_at

START = datetime(2026, 11, 30, 0, 5, tzinfo=UTC)


@contextmanager
def run_in(storage: Storage) -> Iterator[Counts]:
    """Record a run of the nightly job whose clock advances by one second per call."""
    seconds = count()
    context = context_at(lambda: START + timedelta(seconds=next(seconds)))
    run = Run("nightly", 2, context)
    with run.recorded(storage):
        yield run.counts


def only_record(root: Path) -> dict[str, object]:
    (file,) = (root / "runs").iterdir()
    document: dict[str, object] = json.loads(file.read_bytes())
    assert file.name == f"{document['run_id']}.json"
    return document


def test_run_that_made_something_is_done(tmp_path: Path) -> None:
    with run_in(LocalStorage(tmp_path)) as counts:
        counts.deals = 5
    record = only_record(tmp_path)
    assert (record["outcome"], record["deals"], record["seconds"], record["error"]) == ("done", 5, 1.0, None)
    assert (record["started"], record["ended"]) == ("2026-11-30T00:05:00.000Z", "2026-11-30T00:05:01.000Z")


def test_record_that_cannot_be_removed_does_not_fail_a_good_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with run_in(LocalStorage(tmp_path)):
        pass
    (earlier,) = (tmp_path / "runs").iterdir()
    later = context_at(lambda: START + timedelta(hours=1))
    storage = FailingStorage(LocalStorage(tmp_path), 1, StorageError("not permitted"))
    with Run("nightly", 2, later).recorded(storage):
        pass
    assert "earlier run records were not removed: not permitted" in caplog.messages
    assert earlier.exists()
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_run_that_made_nothing_had_nothing_to_do(tmp_path: Path) -> None:
    with run_in(LocalStorage(tmp_path)):
        pass
    assert only_record(tmp_path)["outcome"] == "nothing to do"


@pytest.mark.parametrize(
    ("error", "outcome", "message"),
    [
        (CheckError("too bad"), "failed", "too bad"),
        (CheckError(f"too {'x' * 999}: wait"), "failed", f"too {'x' * 80}..{'x' * 39}: wait"),
        (ZeroDivisionError("by nothing"), "failed", "internal error: ZeroDivisionError: by nothing"),
        (KeyboardInterrupt(), "stopped", None),
        (SystemExit(143), "stopped", None),
    ],
)
def test_record_of_an_interrupted_run_has_the_reason_and_the_counts(
    tmp_path: Path, error: BaseException, outcome: str, message: str | None
) -> None:
    def run() -> None:
        with run_in(LocalStorage(tmp_path)) as counts:
            counts.dailies = 3
            raise error

    with pytest.raises(type(error)):
        run()
    record = only_record(tmp_path)
    assert (record["outcome"], record["error"], record["dailies"]) == (outcome, message, 3)


def test_unwritable_record_is_logged_and_does_not_hide_the_error_of_the_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    storage = FailingStorage(LocalStorage(tmp_path), 0, StorageError("no space"))
    with pytest.raises(CheckError, match="too bad"), run_in(storage):
        raise CheckError("too bad")
    assert "the run record was not written: no space" in caplog.messages


def test_successful_run_fails_without_its_record(tmp_path: Path) -> None:
    storage = FailingStorage(LocalStorage(tmp_path), 0, StorageError("no space"))
    with pytest.raises(StorageError, match="no space"), run_in(storage):
        pass
