"""What a command needs before it can begin: settings, the data root, compiled kernels, the tools of a job."""

import logging
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jobs.terminal import clock
from jobs.terminal.log import is_started, start_log
from jobs.terminal.output import note, version
from pipeline.errors import CheckError, DamagedError
from pipeline.store.root import open_root
from pipeline.store.storage import LocalStorage
from pipeline.work.progress import Progress
from solver.kernel_cache import keep_in

if TYPE_CHECKING:  # pydantic takes longer to load than help takes to print
    from jobs.runs.context import JobContext
    from jobs.settings.model import Settings

_WITHOUT_KEY: Final = (
    "note: without a secret key anyone can work out the holes to come. Make one with"
    " `(umask 077; openssl rand -hex 32 > FILE)` and set FAIRWAY_DAILY_KEY_FILE=FILE; holes that are out stay"
)


def read_settings(config: Path | None = None, **options: object) -> "Settings":
    """The settings in force.

    Args:
        config: the option `--config`: the file of settings, instead of that in the data root.
        options: others of the command that go before the file and the environment, by the names of the
            settings, such as `data` and `workers`; None where they were not given.

    Raises:
        ConfigurationError: if any setting is unknown or not accepted.
    """
    from jobs.settings.load import load

    settings = load(config, **options).settings
    if settings.cache is not None:
        keep_in(settings.cache)
    return settings


def storage_at(settings: "Settings", *, create: bool = False) -> LocalStorage:
    """The data root of a command.

    Args:
        settings: in force.
        create: make it where it does not exist.

    Raises:
        ConfigurationError: no place is named, or the folder is no data root.
    """
    from jobs.settings.load import data_root

    return open_root(data_root(settings), create=create)


def check_clock(storage: LocalStorage, night: date, settings: "Settings") -> None:
    """Refuse what only the clock speaks for, and everything else in a data root against.

    Args:
        storage: the data root.
        night: the latest one that has come, by the clock.
        settings: in force.

    Raises:
        CheckError: the clock is not to be believed.
    """
    from jobs.runs.nightly import doubt_about, root_state

    try:
        state = root_state(storage)
    except DamagedError:
        return  # the run meets it too, and leaves a record of that
    doubt = doubt_about(night, state, settings)
    if doubt is not None:
        raise CheckError(f"nothing was done: {doubt.what}; {doubt.remedy}")


def warn_without_key(settings: "Settings") -> None:
    """Say what it means that Daily holes are published without a secret key; to be called once a run."""
    if settings.daily_key is None:
        note(_WITHOUT_KEY)


def job_context(settings: "Settings", progress: Progress) -> "JobContext":
    """What a job is handed; from here on there is a log, of warnings unless the command wants more."""
    from jobs.runs.context import JobContext
    from jobs.settings.load import environment
    from jobs.watch.hooks import without_secrets

    if not is_started():
        start_log(settings.log_format, least=logging.WARNING)
    variables = without_secrets(environment())
    return JobContext(clock.now, progress, version(), variables=variables)
