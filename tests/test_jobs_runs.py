"""Each run leaves one record that says how it ended, also where it did not end well."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jobs.runs import Outcome, RunRecord, Tally, record_bytes, record_path, recorded
from pipeline.errors import CheckError, StorageError
from pipeline.storage import LocalStorage
from pipeline.views import RUN_COLUMNS
from tests.doubles import FailingStorage

START = datetime(2026, 11, 30, 0, 5, tzinfo=UTC)


def clock() -> Callable[[], datetime]:
    """A clock that goes on by a second each time it is asked."""
    moments: Iterator[datetime] = (START + timedelta(seconds=n) for n in range(1000))
    return lambda: next(moments)


def only_record(root: Path) -> dict[str, object]:
    (file,) = (root / "runs").iterdir()
    document: dict[str, object] = json.loads(file.read_bytes())
    assert file.name == f"{document['run_id']}.json"
    return document


def test_a_record_holds_every_column_of_the_view() -> None:
    record = RunRecord("nightly", Outcome.DONE, START, START, 7, Tally(1, 2, 3, 4), 2, "0.1.0", None)
    document = json.loads(record_bytes(record))
    assert {column.path[0] for column in RUN_COLUMNS} == set(document) - {"schema"}
    assert record_path(record) == "runs/20261130T000500Z-7.json"
    assert (document["nights"], document["sampled"], document["deals"], document["dailies"]) == (1, 2, 3, 4)


def test_a_run_that_made_something_is_done(tmp_path: Path) -> None:
    with recorded(LocalStorage(tmp_path), "nightly", 2, "0.1.0", clock()) as tally:
        tally.deals = 5
    record = only_record(tmp_path)
    assert (record["outcome"], record["deals"], record["seconds"], record["error"]) == ("done", 5, 1.0, None)
    assert (record["started"], record["ended"]) == ("2026-11-30T00:05:00.000Z", "2026-11-30T00:05:01.000Z")


def test_a_run_that_made_nothing_says_so(tmp_path: Path) -> None:
    with recorded(LocalStorage(tmp_path), "nightly", 2, "0.1.0", clock()):
        pass
    assert only_record(tmp_path)["outcome"] == "nothing to do"


def test_a_run_that_failed_tells_why_and_what_it_had_made(tmp_path: Path) -> None:
    def fail() -> None:
        with recorded(LocalStorage(tmp_path), "nightly", 2, "0.1.0", clock()) as tally:
            tally.dailies = 3
            raise CheckError("too bad")

    with pytest.raises(CheckError, match="too bad"):
        fail()
    record = only_record(tmp_path)
    assert (record["outcome"], record["error"], record["dailies"]) == ("failed", "too bad", 3)


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(143)])
def test_a_run_that_was_stopped_says_so(tmp_path: Path, stop: BaseException) -> None:
    with (
        pytest.raises(type(stop)),
        recorded(LocalStorage(tmp_path), "nightly", 2, "0.1.0", clock()),
    ):
        raise stop
    assert only_record(tmp_path)["outcome"] == "stopped"


def test_a_record_that_cannot_be_written_does_not_hide_what_stopped_the_run(tmp_path: Path) -> None:
    storage = FailingStorage(LocalStorage(tmp_path), 0, StorageError("no space"))
    with (
        pytest.raises(CheckError, match="too bad"),
        recorded(storage, "nightly", 2, "0.1.0", clock()),
    ):
        raise CheckError("too bad")


def test_a_good_run_without_its_record_is_no_good_run(tmp_path: Path) -> None:
    storage = FailingStorage(LocalStorage(tmp_path), 0, StorageError("no space"))
    with (
        pytest.raises(StorageError, match="no space"),
        recorded(storage, "nightly", 2, "0.1.0", clock()),
    ):
        pass
