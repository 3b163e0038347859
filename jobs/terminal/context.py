"""What a command needs before it can begin: its settings, its data root, and the context of a job."""

import logging
from pathlib import Path
from typing import Final

from jobs.runs.context import JobContext
from jobs.settings.load import data_root, environment, load
from jobs.settings.model import Settings
from jobs.terminal import clock
from jobs.terminal.log import is_started, start_log
from jobs.terminal.output import note, version
from jobs.watch.hooks import without_secrets
from pipeline.store.root import open_root
from pipeline.store.storage import LocalStorage
from pipeline.work.progress import Progress
from solver.kernel_cache import keep_in

_WITHOUT_KEY: Final = (
    "note: without a secret key anyone can predict future holes. Make one with"
    " `(umask 077; openssl rand -hex 32 > FILE)` and set FAIRWAY_DAILY_KEY_FILE=FILE;"
    " published holes do not change"
)


def read_settings(config: Path | None = None, **options: object) -> Settings:
    """Return the settings in force, and keep compiled kernels where they say.

    Args:
        config: the `--config` option: the settings file to read instead of the one in the data root.
        options: other options of the command that override the file and the environment, by the names of
            the settings, such as `data` and `workers`; None if not given.

    Raises:
        ConfigurationError: a setting is unknown or not valid.
    """
    settings = load(config, **options).settings
    if settings.cache is not None:
        keep_in(settings.cache)
    return settings


def storage_at(settings: Settings, *, create: bool = False) -> LocalStorage:
    """Open the data root of a command.

    Args:
        settings: in force.
        create: create the data root if it does not exist.

    Raises:
        ConfigurationError: no data root is configured, or the directory is not a data root.
    """
    return open_root(data_root(settings), create=create)


def warn_without_key(settings: Settings) -> None:
    """Warn that Daily holes are published without a secret key; to be called once per run."""
    if settings.daily_key is None:
        note(_WITHOUT_KEY)


def job_context(settings: Settings, progress: Progress) -> JobContext:
    """Return the context of a job, and start logging warnings unless the log has been started."""
    if not is_started():
        start_log(settings.log_format, least=logging.WARNING)
    return JobContext(clock.now, progress, version(), variables=without_secrets(environment()))
