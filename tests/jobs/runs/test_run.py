"""Each run leaves one record that says how it ended, also where it did not end well."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jobs.runs.run import Run, recorded
from pipeline.errors import CheckError, StorageError
from pipeline.store.storage import LocalStorage, Storage
from pipeline.work.counts import no_clock
from pipeline.work.records import Tally
from tests.support.doubles import FailingStorage

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


@contextmanager
def run_in(storage: Storage) -> Iterator[Tally]:
    """A run of the night, recorded; each look at the clock is a second."""
    ticking = clock()
    run = Run.begun("nightly", ticking(), 2, "0.1.0", no_clock)
    with recorded(storage, run, ticking):
        yield run.tally


def test_a_run_that_made_something_is_done(tmp_path: Path) -> None:
    with run_in(LocalStorage(tmp_path)) as tally:
        tally.deals = 5
    record = only_record(tmp_path)
    assert (record["outcome"], record["deals"], record["seconds"], record["error"]) == ("done", 5, 1.0, None)
    assert (record["started"], record["ended"]) == ("2026-11-30T00:05:00.000Z", "2026-11-30T00:05:01.000Z")


def test_a_run_that_made_nothing_says_so(tmp_path: Path) -> None:
    with run_in(LocalStorage(tmp_path)):
        pass
    assert only_record(tmp_path)["outcome"] == "nothing to do"


def test_a_run_that_failed_tells_why_and_what_it_had_made(tmp_path: Path) -> None:
    def fail() -> None:
        with run_in(LocalStorage(tmp_path)) as tally:
            tally.dailies = 3
            raise CheckError("too bad")

    with pytest.raises(CheckError, match="too bad"):
        fail()
    record = only_record(tmp_path)
    assert (record["outcome"], record["error"], record["dailies"]) == ("failed", "too bad", 3)


def test_a_fault_of_the_program_is_recorded_as_a_failure_and_told(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), run_in(LocalStorage(tmp_path)):
        raise ZeroDivisionError("by nothing")
    record = only_record(tmp_path)
    assert record["outcome"] == "failed"
    assert record["error"] == "a fault of the program: ZeroDivisionError: by nothing"


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(143)])
def test_a_run_that_was_stopped_says_so(tmp_path: Path, stop: BaseException) -> None:
    with (
        pytest.raises(type(stop)),
        run_in(LocalStorage(tmp_path)),
    ):
        raise stop
    assert only_record(tmp_path)["outcome"] == "stopped"


def test_a_record_that_cannot_be_written_does_not_hide_what_stopped_the_run(tmp_path: Path) -> None:
    storage = FailingStorage(LocalStorage(tmp_path), 0, StorageError("no space"))
    with (
        pytest.raises(CheckError, match="too bad"),
        run_in(storage),
    ):
        raise CheckError("too bad")


def test_a_good_run_without_its_record_is_no_good_run(tmp_path: Path) -> None:
    storage = FailingStorage(LocalStorage(tmp_path), 0, StorageError("no space"))
    with (
        pytest.raises(StorageError, match="no space"),
        run_in(storage),
    ):
        pass
