"""Run records for tests: of a night, of failed runs, and in the format of an earlier Fairway."""

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any

from pipeline.work.counts import Counts, LevelCounts, Stages
from pipeline.work.records import Outcome, RunRecord, record_document

STARTED = datetime(2026, 11, 30, 0, 5, 0, 123_000, tzinfo=UTC)
A_RECORD = RunRecord(
    job="nightly",
    outcome=Outcome.DONE,
    started=STARTED,
    ended=STARTED + timedelta(seconds=10.5),
    process=7,
    counts=Counts(
        stages=Stages(0.1, 5.25, 3.0, 0.5),
        levels={"easy": LevelCounts(40, 30, 13, 12), "hard": LevelCounts(50, 13, 12, 12)},
        dailies=3,
        solutions=1,
        nights=1,
        sampled=90,
        deals=24,
        change=5,
        missed=2,
        attempt=3,
    ),
    workers=2,
    version="0.1.0",
    error=None,
)
SINCE_1_2 = ("missed", "attempt", "levels", "stages")


def run_at(started: datetime, outcome: Outcome = Outcome.DONE, **fields: Any) -> RunRecord:
    """Return the record of a night that started then and took ten seconds.

    Args:
        started: start time, with a time zone.
        outcome: how it ended.
        fields: values of other fields.
    """
    ended = fields.pop("ended", started + timedelta(seconds=10))
    error = fields.pop("error", "no space" if outcome is Outcome.FAILED else None)
    return dataclasses.replace(A_RECORD, started=started, ended=ended, outcome=outcome, error=error, **fields)


def document_1_1(record: RunRecord = A_RECORD) -> dict[str, Any]:
    """Return a record as a document of schema 1.1."""
    document = {name: value for name, value in record_document(record).items() if name not in SINCE_1_2}
    return document | {"schema": "fairway-run/1.1"}
