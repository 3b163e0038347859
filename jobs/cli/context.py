"""What a command needs before it can begin: settings, the data root, compiled kernels, the tools of a job."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import jobs
from jobs.cli import clock
from jobs.cli.output import note
from pipeline.progress import Progress
from pipeline.root import open_root
from pipeline.storage import LocalStorage

if TYPE_CHECKING:  # pydantic takes longer to load than help takes to print
    from jobs.settings import Settings
    from jobs.tools import Tools

_WITHOUT_KEY: Final = (
    "note: without a secret key anyone can work out the holes to come. Make one with"
    " `(umask 077; openssl rand -hex 32 > FILE)` and set FAIRWAY_DAILY_KEY_FILE=FILE; holes that are out stay"
)


def version() -> str:
    """The version of Fairway that is installed; `unknown` where it runs without having been."""
    from importlib import metadata  # slow to load, and seldom needed

    try:
        return metadata.version("fairway")
    except metadata.PackageNotFoundError:
        return "unknown"


def read_settings(workers: int | None = None) -> "Settings":
    """The settings in force.

    Args:
        workers: the option of that name, which goes before the environment.

    Raises:
        ConfigurationError: a variable is unknown or not what it must be.
    """
    from jobs.settings import environment, processors, settings_from

    settings = settings_from(environment(), processors())
    return settings if workers is None else settings.model_copy(update={"workers": workers})


def storage_at(data: Path | None, settings: "Settings", *, create: bool = False) -> LocalStorage:
    """The data root of a command.

    Args:
        data: the option of that name.
        settings: in force.
        create: make it where it does not exist.

    Raises:
        ConfigurationError: no place is named, or the folder is no data root.
    """
    from jobs.settings import checkout_root, data_root

    checkout = checkout_root(Path(jobs.__file__))
    return open_root(data_root(data, settings, checkout), create=create)


def load_kernels(settings: "Settings") -> None:
    """Find the place for compiled kernels; to be called before a module that has some is imported."""
    from jobs.kernel_cache import find_cache
    from solver import jit

    if any(name.startswith("solver.") and name.endswith("_kernel") for name in sys.modules):
        return  # they are defined already; this is not the first call
    cache = find_cache(settings.cache)
    if cache.folder is not None:
        jit.use_cache(cache.folder)
    if cache.why_not is not None:
        note(f"compiled kernels are not kept: {cache.why_not}")
    if not cache.filled:
        note("compiling the solver (first use, some seconds)")


def warn_without_key(settings: "Settings") -> None:
    """Say what it means that Daily holes are published without a secret key; to be called once a run."""
    if settings.daily_key is None:
        note(_WITHOUT_KEY)


def tools_with(settings: "Settings", progress: Progress) -> "Tools":
    """What a job is handed."""
    from jobs.tools import Tools

    return Tools(clock.now, lambda: load_kernels(settings), progress, version())
