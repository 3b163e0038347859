"""`fairway serve`: the nightly job on the built-in scheduler."""

from jobs.cli import clock
from jobs.cli.context import read_settings, storage_at, tools_with, warn_without_key
from jobs.cli.logs import start_log
from jobs.cli.options import Config, Data, LogFormat, Workers
from jobs.cli.progress import LineProgress


def serve(
    data: Data = None, config: Config = None, workers: Workers = None, log_format: LogFormat = None
) -> None:
    """Run the nightly job each day at 00:05 UTC.

    Whatever is due at the start runs at once. SIGTERM or Ctrl-C ends it.

    Example: fairway serve --data /srv/fairway
    """
    from jobs.due import night_of
    from jobs.nightly import run_night, what_is_due
    from jobs.scheduler import log
    from jobs.scheduler import serve as serve_work

    settings = read_settings(config, data=data, workers=workers, log_format=log_format)
    storage = storage_at(settings, create=True)
    start_log(settings.log_format)
    warn_without_key(settings)
    tools = tools_with(settings, LineProgress(log.info))

    def work() -> None:
        night = night_of(clock.now())
        if not what_is_due(storage, night, settings):
            log.info("nothing is due for the night %s", night)
            return
        report = run_night(storage, night, settings, tools)
        added = sum(level.added for level in report.levels)
        log.info("night %s: %d deals, %d Daily holes", night, added, len(report.dailies))

    log.info("serving %s", storage.root)
    serve_work(work)
