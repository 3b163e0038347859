"""`fairway serve`: run the nightly job on the built-in scheduler."""

from datetime import timedelta

from jobs.service import scheduler
from jobs.service.scheduler import AlarmClock, Times, stopping
from jobs.service.service import Service, SettingsWatch
from jobs.settings.load import settings_file
from jobs.settings.model import Settings
from jobs.terminal import clock
from jobs.terminal.context import job_context, read_settings, storage_at, warn_without_key
from jobs.terminal.log import start_log
from jobs.terminal.options import Config, Data, LogFormat, Workers
from jobs.terminal.progress import LineProgress
from pipeline.work.records import prepare_reading


def serve(
    data: Data = None, config: Config = None, workers: Workers = None, log_format: LogFormat = None
) -> None:
    """Run every night on schedule until stopped.

    Runs at once if anything is due, then every day at nightly_at (UTC), and checks every
    publish_every_minutes whether anything else is due. Failed runs are retried after a pause. Stop it with
    SIGTERM or Ctrl-C.

    Example: fairway serve --data /srv/fairway
    """
    prepare_reading()
    with stopping():
        settings = read_settings(config, data=data, workers=workers, log_format=log_format)
        storage = storage_at(settings, create=True)
        start_log(settings.log_format)
        warn_without_key(settings)
        log = scheduler.log
        watch = SettingsWatch(settings_file(config, data))
        service = Service(storage, settings, job_context(settings, LineProgress(log.info)), watch)
        at, minutes = f"{settings.nightly_at:%H:%M}", settings.publish_every_minutes
        log.info("serving %s: nights at %s UTC, checks every %d min", storage.root, at, minutes)
        with AlarmClock() as alarm:
            scheduler.serve(service.work, times_of(settings), clock.now, alarm)


def times_of(settings: Settings) -> Times:
    """Return when the service wakes."""
    return Times(
        settings.nightly_at,
        timedelta(minutes=settings.publish_every_minutes),
        timedelta(minutes=settings.retry_first_minutes),
        timedelta(minutes=settings.retry_most_minutes),
    )
