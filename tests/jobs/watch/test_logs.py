"""The log has one line per event, as text or JSON, with the run id; JSON fills all of standard error."""

import json
import logging
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jobs.runs.exclusive import job_run
from jobs.runs.lock import root_lock
from jobs.settings.model import Settings
from jobs.terminal import clock
from jobs.terminal.log import is_json, is_started, start_log, stop_log
from jobs.watch.logs import LogFormat, details, formatter_of, log, named_run, one_line
from pipeline.errors import CheckError
from pipeline.store.root import open_root
from pipeline.store.storage import LocalStorage
from pipeline.work.records import parse_record, record_document
from tests.support.command import fairway
from tests.support.jobs import context_at

pytestmark = pytest.mark.system

NOW = datetime(2026, 11, 30, 0, 5, tzinfo=UTC)
CONTEXT = context_at(NOW)


@pytest.fixture(autouse=True)
def _stopped() -> Iterator[None]:
    yield
    stop_log()


def line(kind: LogFormat, message: str, *arguments: object, **extra: object) -> str:
    record = logging.LogRecord("fairway", logging.WARNING, "", 0, message, arguments, None)
    record.created = NOW.timestamp() + 0.25
    record.__dict__.update(extra)
    return formatter_of(kind).format(record)


def test_text_line_has_time_level_and_run() -> None:
    assert line("text", "%d holes", 3) == "2026-11-30T00:05:00.250Z WARNING 3 holes"
    with named_run("20261130T000500Z-7"):
        assert (
            line("text", "out of\nspace\x1b[31m")
            == "2026-11-30T00:05:00.250Z WARNING 20261130T000500Z-7 out of space\\x1b[31m"
        )


def test_json_line_has_them_too_and_the_details() -> None:
    assert json.loads(line("json", "x")) == {
        "time": "2026-11-30T00:05:00.250Z",
        "level": "warning",
        "run": None,
        "message": "x",
    }
    with named_run("a"):
        text = line("json", "out of\nspace", **details(event="end", deals=5))
    assert "\n" not in text
    document = json.loads(text)
    assert (document["run"], document["message"]) == ("a", "out of\nspace")
    assert (document["event"], document["deals"]) == ("end", 5)


@pytest.mark.parametrize("kind", ["text", "json"])
def test_overlong_message_loses_its_middle(kind: LogFormat) -> None:
    text = line(kind, "broken: " + "; ".join(["much of it"] * 30_000) + "; do this")
    assert len(text) < 3200
    assert "do this" in text


@pytest.mark.parametrize("kind", ["text", "json"])
def test_traceback_is_logged(kind: LogFormat) -> None:
    try:
        raise ZeroDivisionError("by nothing")
    except ZeroDivisionError:
        text = line(kind, "a fault", exc_info=sys.exc_info())
    assert "ZeroDivisionError: by nothing" in text
    assert kind == "text" or "ZeroDivisionError" in json.loads(text)["exception"]


def test_run_id_is_reset_after_the_block() -> None:
    def fail() -> None:
        with named_run("a"):
            raise CheckError("x")

    with pytest.raises(CheckError):
        fail()
    assert json.loads(line("json", "x"))["run"] is None


def test_nothing_is_written_before_the_log_is_started(capsys: pytest.CaptureFixture[str]) -> None:
    log.error("ignored")
    assert capsys.readouterr().err == ""
    assert not is_started()


def test_log_started_twice_writes_once(capsys: pytest.CaptureFixture[str]) -> None:
    start_log("json")
    start_log("text", least=logging.WARNING)
    assert not is_json()
    log.info("too little")
    log.warning("once")
    logging.getLogger("apscheduler").warning("of a library")
    logging.getLogger("apscheduler").info("too much")
    stop_log()
    log.warning("ignored")
    assert [text.split(" ", 1)[1] for text in capsys.readouterr().err.splitlines()] == [
        "WARNING once",
        "WARNING of a library",
    ]


def test_run_logs_its_start_and_its_end_with_the_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    storage = LocalStorage(tmp_path)
    start_log("json")
    with job_run(storage, "nightly", Settings(), CONTEXT) as counts:
        counts.deals = 1500
        log.info("within")
    lines = [json.loads(each) for each in capsys.readouterr().err.splitlines()]
    assert [each["message"] for each in lines] == [
        "nightly started",
        "within",
        "nightly done in 0.0 s: 1,500 deals, 0 Daily holes",
    ]
    (path,) = storage.list("runs/")
    record = parse_record(storage.read(path), path)
    assert {each["run"] for each in lines} == {record.run_id}
    assert lines[-1]["record"] == record_document(record)


def test_failed_run_logs_its_error_and_a_locked_root_logs_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        with job_run(LocalStorage(tmp_path), "gc", Settings(), CONTEXT):
            raise CheckError("too bad")

    start_log("text")
    with pytest.raises(CheckError):
        fail()
    assert " gc failed after 0.0 s: too bad\n" in capsys.readouterr().err
    with root_lock(tmp_path, NOW), pytest.raises(Exception, match="another run holds"):
        fail()
    assert capsys.readouterr().err == ""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRWAY_DEALS_PER_NIGHT", "2")
    monkeypatch.setenv("FAIRWAY_DAILY_FROM", "2026-11-30")
    monkeypatch.setattr(clock, "now", lambda: NOW)


@pytest.mark.usefixtures("small")
def test_all_of_standard_error_is_json_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("nightly", "--data", tmp_path / "root", "--log-format", "json")
    outcome = fairway(*arguments)
    assert outcome.code == 0
    lines = [json.loads(text) for text in outcome.err.splitlines()]
    messages = [each["message"] for each in lines]
    assert "nightly started" in messages
    assert any(text.startswith("easy: ") for text in messages)
    assert any("without a secret key" in text for text in messages)
    assert any(text.startswith("nightly done in 0.0 s: 6 deals, 3 Daily holes") for text in messages)
    with root_lock(tmp_path / "root", NOW):
        outcome = fairway(*arguments)
    assert outcome.code == 75
    assert json.loads(outcome.err)["level"] == "error"
    monkeypatch.setenv("FAIRWAY_LOG_FORMAT", "json")
    (tmp_path / "root" / "catalog.json").write_bytes(b"{")
    outcome = fairway("nightly", "--data", tmp_path / "root")
    assert outcome.code == 1
    levels = [json.loads(text)["level"] for text in outcome.err.splitlines()]
    assert levels[-2:] == ["error", "error"]
    assert not is_started()


@pytest.mark.usefixtures("small")
def test_text_lines_of_a_night_have_its_run_id(tmp_path: Path) -> None:
    outcome = fairway("nightly", "--data", tmp_path / "root")
    (path,) = open_root(tmp_path / "root", create=False).list("runs/")
    run = path.removeprefix("runs/").removesuffix(".json")
    lines = [text for text in outcome.err.splitlines() if " INFO " in text]
    assert any(f" INFO {run} easy: " in text for text in lines)
    assert f" INFO {run} nightly done in 0.0 s: 6 deals, 3 Daily holes" in lines[-1]


def test_unknown_format_is_refused(tmp_path: Path) -> None:
    outcome = fairway("nightly", "--data", tmp_path, "--log-format", "xml")
    assert outcome.code == 2
    assert "'xml' is not one of text, json" in outcome.complaint


def test_unprintable_characters_are_escaped() -> None:
    assert one_line("a\nb\x1b[31m\u2028c\udcff") == "a b\\x1b[31m c\\udcff"
