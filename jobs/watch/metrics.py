"""Metrics for Prometheus: a text file for its node exporter, written at the end of each run and by `serve`.

A run begins and ends between two looks of Prometheus, so there is nothing to count up over time: each metric
says how things are, and the moments in it are those of the files, so that silence shows by itself.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Final

from jobs.settings.model import METRICS_FILE, Settings
from jobs.watch.status import NIGHTLY, PROBLEMS, Found, Status, look, status_of, with_run
from pipeline.errors import StorageError
from pipeline.store.storage import LocalStorage, Storage
from pipeline.work.records import Outcome, RunRecord

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Gauge

_DAY: Final = timedelta(days=1)
_NEVER: Final = 0.0  # as a moment: so long ago that every alert about silence fires


def write_metrics(
    storage: Storage, record: RunRecord | None, settings: Settings, now: datetime, version: str
) -> None:
    """Write the metrics of a data root, in one step.

    Args:
        storage: the data root.
        record: of the run that has just ended, which the root may not have, if the disk was full; None where
            none has.
        settings: in force; they say where the file lies.
        now: the moment, aware.
        version: of Fairway.

    Raises:
        StorageError: the file cannot be written, or the data root cannot be read.
    """
    found = look(storage, now) if record is None else with_run(look(storage, now), record)
    data = metrics_text(status_of(now, settings, found), found, settings, version)
    file = settings.metrics_file
    if file is None:
        storage.replace(METRICS_FILE, data)
    elif file.is_dir():
        raise StorageError(f"cannot replace {file}: it is a folder; name a file in it with metrics_file")
    else:
        place = file.absolute()
        LocalStorage(place.parent).replace(place.name, data)


def metrics_text(status: Status, found: Found, settings: Settings, version: str) -> bytes:
    """The metrics in the text format of Prometheus; pure.

    Args:
        status: how the data root is doing.
        found: what its files say.
        settings: in force.
        version: of Fairway.
    """
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry()
    _add_status(registry, status, published_through(settings.daily_from, found.published))
    _add_pools(registry, status)
    text = "Nights that runs of the last day found missed."
    _gauge(registry, "missed_nights", text).set(missed_lately(status, found.records))
    if status.last_run is not None:
        _add_night(registry, status.last_run)
    _add_jobs(registry, found.records)
    _gauge(registry, "build_info", "Version of Fairway.", ("version",)).labels(version).set(1)
    return generate_latest(registry)


def published_through(first: date, published: Sequence[date]) -> date | None:
    """The last date up to which every hole is out; None where not even the first one is.

    Args:
        first: the first date that gets a hole.
        published: the dates that have one, ascending.
    """
    through = None
    for n, day in enumerate(day for day in published if day >= first):
        if (day - first).days != n:
            break
        through = day
    return through


def missed_lately(status: Status, records: Sequence[RunRecord]) -> int:
    """Nights that were missed, as the good runs of the last day found, and the last run if it was not good.

    The last run alone does not tell: the service makes them one by one, and the first run counts all.

    Args:
        status: how the data root is doing.
        records: of runs.
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


def _gauge(registry: "CollectorRegistry", name: str, text: str, labels: Sequence[str] = ()) -> "Gauge":
    from prometheus_client import Gauge

    return Gauge(f"fairway_{name}", text, labels, registry=registry)


def _add_status(registry: "CollectorRegistry", status: Status, through: date | None) -> None:
    success = status.last_success
    text = "When the last run of the night that went well ended; 0 where there is none."
    moment = _NEVER if success is None else success.ended.timestamp()
    _gauge(registry, "last_success_timestamp_seconds", text).set(moment)
    text = "00:00 UTC of the last date up to which every Daily hole is out; 0 where none is."
    _gauge(registry, "published_through_timestamp_seconds", text).set(_midnight(through))
    text = "When the next run of the night is due."
    _gauge(registry, "next_run_timestamp_seconds", text).set(status.next_run.timestamp())
    problems = _gauge(registry, "problem", "Whether `fairway status` tells of such a problem.", ("problem",))
    told = {problem.name for problem in status.problems}
    for name in PROBLEMS:
        problems.labels(name).set(name in told)


def _add_pools(registry: "CollectorRegistry", status: Status) -> None:
    deals = _gauge(registry, "pool_deals", "Deals in the pool.", ("level",))
    cap = _gauge(registry, "pool_cap_deals", "Deals at which nights add no more.", ("level",))
    text = "Deals that nights have added in the seven days before the run."
    grown = _gauge(registry, "pool_grown_deals", text, ("level",))
    text = "00:00 UTC of the date of the last night that was made; 0 before the first."
    night = _gauge(registry, "pool_last_night_timestamp_seconds", text, ("level",))
    for pool in status.pools:
        deals.labels(pool.level).set(pool.deals)
        cap.labels(pool.level).set(pool.cap)
        grown.labels(pool.level).set(pool.grown)
        night.labels(pool.level).set(_midnight(pool.last_night))


def _add_night(registry: "CollectorRegistry", record: RunRecord) -> None:
    """The last run of the night, however it ended."""
    outcome = _gauge(registry, "last_run_outcome", "How the last run of the night ended.", ("outcome",))
    for each in Outcome:
        outcome.labels(each.value).set(each is record.outcome)
    counts = record.counts
    values = (
        ("last_run_timestamp_seconds", "When it ended.", record.ended.timestamp()),
        ("last_run_seconds", "How long it took.", record.seconds),
        ("last_run_dailies", "Daily holes that it published.", counts.dailies),
        ("last_run_attempt", "Which attempt in a row it was; 1 is the first.", counts.attempt),
    )
    for name, text, value in values:
        _gauge(registry, name, text).set(value)
    stages = _gauge(registry, "last_run_stage_seconds", "What its threads worked at.", ("stage",))
    for stage, seconds in asdict(counts.stages).items():
        stages.labels(stage).set(seconds)
    deals = _gauge(
        registry, "last_run_deals", "Deals of each level by what became of them.", ("level", "what")
    )
    for level, made in counts.levels.items():
        for what, count in asdict(made).items():
            deals.labels(level, what).set(count)


def _add_jobs(registry: "CollectorRegistry", records: Sequence[RunRecord]) -> None:
    """The last run of each job that is known of, the night among them."""
    ended = _gauge(registry, "job_last_run_timestamp_seconds", "When the job last ended.", ("job",))
    good = _gauge(registry, "job_last_run_good", "Whether that run went well.", ("job",))
    for record in reversed(records):
        ended.labels(record.job).set(record.ended.timestamp())
        good.labels(record.job).set(record.outcome.is_good)


def _midnight(day: date | None) -> float:
    return _NEVER if day is None else datetime.combine(day, time(), UTC).timestamp()
