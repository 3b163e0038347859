"""A run record is read back as written; a damaged one is distinguished from one of another version."""

import dataclasses
import json
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.deals.levels import LEVELS
from pipeline.errors import DamagedError
from pipeline.pools.catalog import empty_catalog
from pipeline.query.engine import run_query
from pipeline.query.views import RUN_COLUMNS
from pipeline.store.documents import render
from pipeline.store.storage import LocalStorage
from pipeline.work.counts import Counts, LevelCounts, Stages
from pipeline.work.records import (
    Outcome,
    RunRecord,
    attempt_of,
    forget_nothing_done,
    latest_records,
    old_records,
    parse_record,
    record_document,
    record_path,
    run_paths,
    write_record,
)
from tests.support.run_records import A_RECORD, SINCE_1_2, document_1_1, run_at

COUNTS = st.integers(0, 10**12)
MOMENTS = st.integers(0, 10**14).map(lambda n: datetime(1970, 1, 2, tzinfo=UTC) + timedelta(milliseconds=n))
RECORDS = st.builds(
    RunRecord,
    job=st.text(),
    outcome=st.sampled_from(Outcome),
    started=MOMENTS,
    ended=MOMENTS,
    process=st.integers(0, 2**22),
    counts=st.builds(
        Counts,
        clock=st.just(A_RECORD.counts.clock),
        stages=st.builds(Stages, *4 * [COUNTS.map(lambda n: n / 1000)]),
        levels=st.dictionaries(st.sampled_from(list(LEVELS)), st.builds(LevelCounts, *4 * [COUNTS])),
        change=st.none() | COUNTS,
        **dict.fromkeys(("nights", "sampled", "deals", "dailies", "missed", "attempt"), COUNTS),
    ),
    workers=COUNTS,
    version=st.text(),
    error=st.none() | st.text(),
)


def written(document: dict[str, Any]) -> bytes:
    return render(document)


@given(RECORDS)
def test_a_record_is_read_back_as_it_was_written(record: RunRecord) -> None:
    read = parse_record(written(record_document(record)), record_path(record))
    assert read == record
    assert read.counts.stages == record.counts.stages


def test_a_record_holds_every_column_of_the_view() -> None:
    document = record_document(A_RECORD)
    assert {column.path[0] for column in RUN_COLUMNS} == set(document) - {"schema"}
    stages = {column.path[1] for column in RUN_COLUMNS if column.path[0] == "stages"}
    assert stages == set(document["stages"])
    assert record_path(A_RECORD) == "runs/20261130T000500Z-7.json"


def test_a_record_of_the_minor_version_before_is_read() -> None:
    read = parse_record(written(document_1_1()), record_path(A_RECORD))
    old = dataclasses.replace(A_RECORD.counts, levels={}, missed=0, attempt=1)
    assert read == dataclasses.replace(A_RECORD, counts=old)


def test_a_record_of_a_later_minor_version_is_read_and_of_a_later_major_one_refused() -> None:
    document = record_document(A_RECORD) | {"schema": "fairway-run/1.9", "host": "unknown yet"}
    assert parse_record(written(document), record_path(A_RECORD)) == A_RECORD
    with pytest.raises(DamagedError, match=r"reads: its schema is 'fairway-run/2\.0'"):
        parse_record(written(document | {"schema": "fairway-run/2.0"}), record_path(A_RECORD))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"schema": None}, "its schema is None"),
        ({"run_id": "x"}, "run_id is 'x', which does not name a run"),
        ({"run_id": "20261130T000501Z-7"}, "run_id is 20261130T000501Z-7, but started gives"),
        ({"started": "yesterday"}, "started"),
        ({"started": "0001-01-01T00:00:00+05:00"}, "out of range"),
        ({"ended": "2026-11-30T00:05:00"}, "ended has no time zone"),
        ({"ended": 5}, "ended"),
        ({"outcome": "fine"}, "outcome"),
        ({"deals": -1}, "negative count"),
        ({"nights": True}, "nights"),
        ({"nights": "1"}, "nights"),
        ({"change": 1.5}, "change"),
        ({"error": ["x"]}, "error"),
        ({"levels": {"easy": 1}}, "levels"),
        ({"levels": ["easy"]}, "levels.0"),
        ({"levels": [{"level": "easy"}]}, "levels.0.sampled': Field required"),
        ({"stages": {"sampling": None}}, "stages.sampling"),
    ],
    ids=str,
)
def test_a_damaged_record_is_reported_with_what_is_wrong(changed: dict[str, Any], words: str) -> None:
    data = written(record_document(A_RECORD) | changed)
    with pytest.raises(DamagedError, match=r"^runs/20261130T000500Z-7\.json") as caught:
        parse_record(data, record_path(A_RECORD))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", sorted(set(record_document(A_RECORD)) - {"seconds"} - set(SINCE_1_2)))
def test_a_record_that_lacks_a_field_is_damaged(name: str) -> None:
    document = record_document(A_RECORD)
    del document[name]
    with pytest.raises(DamagedError, match=name):
        parse_record(written(document), record_path(A_RECORD))


def test_a_record_under_another_name_is_damaged() -> None:
    with pytest.raises(DamagedError, match="it is the record of the run 20261130T000500Z-7"):
        parse_record(written(record_document(A_RECORD)), "runs/20261130T000500Z-8.json")


def test_the_newest_come_first_and_only_as_many_are_read_as_are_asked_for(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    records = [run_at(A_RECORD.started + timedelta(days=day)) for day in range(4)]
    for record in records:
        write_record(storage, record)
    storage.replace(record_path(records[0]), b"{")
    storage.replace(record_path(records[2]), b"{")
    newest = list(islice(latest_records(storage), 3))
    assert [newest[0], newest[2]] == [records[3], records[1]]
    assert isinstance(newest[1], DamagedError)
    assert len(list(latest_records(storage))) == len(run_paths(storage)) == 4


def test_an_attempt_is_counted_from_the_last_run_of_the_job_that_went_well(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    assert attempt_of(latest_records(storage), "nightly") == 1
    failed, stopped = Outcome.FAILED, Outcome.STOPPED
    for hour, outcome in enumerate([failed, Outcome.NOTHING, failed, stopped, failed]):
        write_record(storage, run_at(A_RECORD.started + timedelta(hours=hour), outcome))
    write_record(storage, run_at(A_RECORD.started + timedelta(hours=9), Outcome.DONE, job="gc"))
    storage.create("runs/z.json", b"{")
    assert attempt_of(latest_records(storage), "nightly") == 3
    assert attempt_of(latest_records(storage), "gc") == 1
    ahead = A_RECORD.started + timedelta(days=400)
    write_record(storage, dataclasses.replace(A_RECORD, started=ahead, ended=ahead, outcome=Outcome.DONE))
    assert attempt_of(latest_records(storage), "nightly") == 1
    assert attempt_of(latest_records(storage), "nightly", ahead - timedelta(days=1)) == 3


def test_the_counts_of_records_of_both_versions_can_be_queried(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    write_record(storage, A_RECORD)
    earlier = run_at(A_RECORD.started - timedelta(days=1))
    storage.create(record_path(earlier), written(document_1_1(earlier)))
    statement = (
        "select missed, attempt, solving_seconds, level.level, level.cleared"
        " from runs, unnest(levels) as each(level) order by all"
    )
    assert rows_of(storage, statement) == [(2, 3, 5.25, "easy", 30), (2, 3, 5.25, "hard", 13)]
    assert rows_of(storage, "select levels is null, solving_seconds from runs order by started") == [
        (True, None),
        (False, 5.25),
    ]


def rows_of(storage: LocalStorage, statement: str) -> list[tuple[Any, ...]]:
    with run_query(storage, empty_catalog(), statement, workers=1) as answer:
        assert answer is not None
        return [tuple(row) for row in answer.rows()]


def test_a_document_is_one_line_of_json() -> None:
    data = written(record_document(A_RECORD))
    assert data.count(b"\n") == 1
    assert json.loads(data)["levels"][0] == {
        "level": "easy",
        "sampled": 40,
        "cleared": 30,
        "admitted": 13,
        "written": 12,
    }


def hourly(storage: LocalStorage, *outcomes: Outcome, **fields: Any) -> list[RunRecord]:
    """Write the records of runs an hour apart."""
    start = A_RECORD.started
    made = [run_at(start + timedelta(hours=n), outcome, **fields) for n, outcome in enumerate(outcomes)]
    for record in made:
        write_record(storage, record)
    return made


def test_of_runs_with_nothing_to_do_only_the_last_record_stays(tmp_path: Path) -> None:
    done, nothing, failed = Outcome.DONE, Outcome.NOTHING, Outcome.FAILED
    storage = LocalStorage(tmp_path)
    made = hourly(storage, nothing, done, nothing, nothing, failed, nothing, failed, nothing)
    other = run_at(made[-1].started - timedelta(minutes=1), nothing, job="gc")
    write_record(storage, other)
    before = attempt_of(latest_records(storage), "nightly")
    forget_nothing_done(storage, made[-1])
    stay = [made[0], made[1], made[4], made[6], other, made[7]]
    assert run_paths(storage) == tuple(map(record_path, stay))
    assert attempt_of(latest_records(storage), "nightly") == before


def test_records_are_old_before_a_time_unless_a_change_that_stays_needs_them(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    made = hourly(storage, *[Outcome.DONE] * 4)  # all of change 5
    before = made[2].started
    assert old_records(storage, before, 6) == tuple(map(record_path, made[:2]))
    assert old_records(storage, before, 5) == ()
    (tmp_path / record_path(made[0])).write_bytes(b"{")
    assert old_records(storage, before, 6) == (record_path(made[1]),)
