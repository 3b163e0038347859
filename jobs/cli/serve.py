"""`fairway serve`: the nightly job on the built-in scheduler."""

from datetime import timedelta
from typing import TYPE_CHECKING

from jobs.terminal import clock
from jobs.terminal.context import job_context, read_settings, storage_at, warn_without_key
from jobs.terminal.log import start_log
from jobs.terminal.options import Config, Data, LogFormat, Workers
from jobs.terminal.progress import LineProgress
from pipeline.store.storage import LocalStorage

if TYPE_CHECKING:  # both take longer to load than help takes to print
    from jobs.service.scheduler import Times
    from jobs.settings.model import Settings


def serve(
    data: Data = None, config: Config = None, workers: Workers = None, log_format: LogFormat = None
) -> None:
    """Run every night on schedule until stopped.

    Nights are made at the setting nightly_at, in UTC; every publish_every_minutes it looks whether anything
    else is due. Whatever is due at the start runs at once. A run that fails is tried again after a pause.
    SIGTERM or Ctrl-C ends it.

    Example: fairway serve --data /srv/fairway
    """
    from jobs.service.scheduler import stopping

    with stopping():
        settings = read_settings(config, data=data, workers=workers, log_format=log_format)
        storage = storage_at(settings, create=True)
        start_log(settings.log_format)
        warn_without_key(settings)
        _serve(storage, settings)


def _serve(storage: LocalStorage, settings: "Settings") -> None:
    from jobs.service.scheduler import AlarmClock, log
    from jobs.service.scheduler import serve as serve_work
    from jobs.service.service import Service

    service = Service(storage, settings, job_context(settings, LineProgress(log.info)))
    at, minutes = f"{settings.nightly_at:%H:%M}", settings.publish_every_minutes
    log.info("serving %s: nights at %s UTC, a look every %d min", storage.root, at, minutes)
    with AlarmClock() as alarm:
        serve_work(service.work, times_of(settings), clock.now, alarm)


def times_of(settings: "Settings") -> "Times":
    """When the service wakes, by its settings."""
    from jobs.service.scheduler import Times

    return Times(
        settings.nightly_at,
        timedelta(minutes=settings.publish_every_minutes),
        timedelta(minutes=settings.retry_first_minutes),
        timedelta(minutes=settings.retry_most_minutes),
    )
