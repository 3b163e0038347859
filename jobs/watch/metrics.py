"""Metrics for Prometheus: a text file for its node exporter, written at the end of each run and by `serve`.

A run begins and ends between two scrapes, so there are no counters. Each metric is a gauge of the current
state, and its timestamps come from the files, so that an alert can detect silence.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from jobs.settings.model import METRICS_FILE, Settings
from jobs.watch.status import NIGHTLY, PROBLEMS, Found, PoolState, Status, look, status_of, with_run
from pipeline.errors import StorageError
from pipeline.store.storage import LocalStorage, Storage
from pipeline.work.records import Outcome, RunRecord

_DAY: Final = timedelta(days=1)
_NEVER: Final = 0.0  # a timestamp so old that every alert on silence fires


def write_metrics(
    storage: Storage, record: RunRecord | None, settings: Settings, now: datetime, version: str
) -> None:
    """Write the metrics of a data root atomically, to the file that the settings name.

    The record is of the run that has just ended, if there is one: it may be missing from the root if the disk
    was full.

    Raises:
        StorageError: if the file cannot be written or the data root cannot be read.
    """
    found = look(storage, now) if record is None else with_run(look(storage, now), record)
    data = metrics_text(status_of(now, settings, found), found, settings, version)
    file = settings.metrics_file
    if file is None:
        storage.replace(METRICS_FILE, data)
    elif file.is_dir():
        raise StorageError(f"{file} is a folder; set metrics_file to a file in it")
    else:
        place = file.absolute()
        LocalStorage(place.parent).replace(place.name, data)


def metrics_text(status: Status, found: Found, settings: Settings, version: str) -> bytes:
    """Return the metrics in the text format of Prometheus; a pure function."""
    registry = CollectorRegistry()
    _add_status(registry, status, published_through(settings.daily_from, found.published))
    _add_pools(registry, status)
    text = "Missed nights that runs of the last day have found."
    _add(registry, "missed_nights", text, missed_lately(status, found.records))
    if status.last_run is not None:
        _add_night(registry, status.last_run)
    _add_jobs(registry, found.records)
    _add_each(registry, "build_info", "Version of Fairway.", ("version",), {(version,): 1})
    return generate_latest(registry)


def published_through(first: date, published: Sequence[date]) -> date | None:
    """Return the last of these ascending dates without a gap from the first; None if it is missing."""
    through = None
    for n, day in enumerate(day for day in published if day >= first):
        if (day - first).days != n:
            break
        through = day
    return through


def missed_lately(status: Status, records: Sequence[RunRecord]) -> int:
    """Return how many missed nights were found by the last day's successful runs and by a failed last run.

    The last run alone is not enough: the service makes missed nights one by one, and only the first run
    counts all of them.
    """
    last = status.last_run
    good = [
        record.counts.missed
        for record in records
        if record.job == NIGHTLY
        and record.outcome.is_good
        and timedelta() <= status.now - record.ended <= _DAY
    ]
    return sum(good) + (last.counts.missed if last is not None and not last.outcome.is_good else 0)


def _add(registry: CollectorRegistry, name: str, text: str, value: float) -> None:
    Gauge(f"fairway_{name}", text, registry=registry).set(value)


def _add_each(
    registry: CollectorRegistry, name: str, text: str, labels: Sequence[str], values: Mapping[Any, float]
) -> None:
    """Add a metric with one value per tuple of label values."""
    gauge = Gauge(f"fairway_{name}", text, labels, registry=registry)
    for key, value in values.items():
        gauge.labels(*key).set(value)


def _add_status(registry: CollectorRegistry, status: Status, through: date | None) -> None:
    success = _NEVER if status.last_success is None else status.last_success.ended.timestamp()
    text = "When the last successful nightly run ended; 0 if there is none."
    _add(registry, "last_success_timestamp_seconds", text, success)
    text = "00:00 UTC of the last date up to which every Daily hole is published; 0 if none is."
    _add(registry, "published_through_timestamp_seconds", text, _midnight(through))
    text = "When the next nightly run is due."
    _add(registry, "next_run_timestamp_seconds", text, status.next_run.timestamp())
    present = {problem.name for problem in status.problems}
    text = "Whether `fairway status` reports a problem of this kind."
    _add_each(registry, "problem", text, ("problem",), {(name,): name in present for name in PROBLEMS})


def _add_pools(registry: CollectorRegistry, status: Status) -> None:
    for name, text, value_of in _POOL_METRICS:
        _add_each(registry, name, text, ("level",), {(pool.level,): value_of(pool) for pool in status.pools})


def _add_night(registry: CollectorRegistry, record: RunRecord) -> None:
    """Add the last nightly run, whatever its outcome."""
    counts = record.counts
    text = "Outcome of the last nightly run."
    outcomes = {(each.value,): each is record.outcome for each in Outcome}
    _add_each(registry, "last_run_outcome", text, ("outcome",), outcomes)
    text = "When the last nightly run ended."
    _add(registry, "last_run_timestamp_seconds", text, record.ended.timestamp())
    _add(registry, "last_run_seconds", "Duration of the last nightly run.", record.seconds)
    text = "Daily holes that the last nightly run published."
    _add(registry, "last_run_dailies", text, counts.dailies)
    text = "Number of the last nightly run among consecutive attempts, from 1."
    _add(registry, "last_run_attempt", text, counts.attempt)
    text = "Time that the threads of the last nightly run spent on each stage."
    stages = {(stage,): seconds for stage, seconds in asdict(counts.stages).items()}
    _add_each(registry, "last_run_stage_seconds", text, ("stage",), stages)
    text = "Deals of the last nightly run, by level and result."
    deals = {
        (level, what): count
        for level, level_counts in counts.levels.items()
        for what, count in asdict(level_counts).items()
    }
    _add_each(registry, "last_run_deals", text, ("level", "what"), deals)


def _add_jobs(registry: CollectorRegistry, records: Sequence[RunRecord]) -> None:
    """Add the last known run of each job."""
    last = {(record.job,): record for record in reversed(records)}
    text = "When the last run of the job ended."
    ended = {job: record.ended.timestamp() for job, record in last.items()}
    _add_each(registry, "job_last_run_timestamp_seconds", text, ("job",), ended)
    text = "Whether the last run of the job succeeded."
    good = {job: record.outcome.is_good for job, record in last.items()}
    _add_each(registry, "job_last_run_good", text, ("job",), good)


def _midnight(day: date | None) -> float:
    return _NEVER if day is None else datetime.combine(day, time(), UTC).timestamp()


_POOL_METRICS: Final[Sequence[tuple[str, str, Callable[[PoolState], float]]]] = (
    ("pool_deals", "Deals in the pool.", lambda pool: pool.deals),
    ("pool_cap_deals", "Deals at which nights stop adding to the pool.", lambda pool: pool.cap),
    ("pool_grown_deals", "Deals that nights added in the last seven days.", lambda pool: pool.grown),
    (
        "pool_last_night_timestamp_seconds",
        "00:00 UTC of the date of the last night made; 0 before the first.",
        lambda pool: _midnight(pool.last_night),
    ),
)
