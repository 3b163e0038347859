"""Run matplotlib without a trace: nothing is read from or written to the user's home, and nothing is logged.

When it is loaded, matplotlib creates folders for settings and fonts in the user's home, searches the machine
for both, and reports on standard error what it cannot use.
"""

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from jobs.settings.load import environment_with
from jobs.terminal.output import NAME
from pipeline.errors import ConfigurationError, StorageError


def check_plotting() -> None:
    """Check that charts can be drawn, before any long work.

    Raises:
        ConfigurationError: matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise ConfigurationError(
            "charts need matplotlib, which is not installed; run: pip install 'fairway[plot]'"
        )


@contextmanager
def plotting() -> Iterator[None]:
    """Context manager in which `pipeline.studies.charts` can be imported and used.

    Raises:
        StorageError: no temporary folder can be created.
    """
    logging.getLogger("matplotlib").setLevel(logging.CRITICAL)
    try:
        temporary = tempfile.TemporaryDirectory(prefix=f"{NAME}-")
    except OSError as error:
        message = f"cannot create a temporary folder: {error.strerror}; set TMPDIR to a writable folder"
        raise StorageError(message) from error
    with temporary as folder, environment_with(_variables(folder)):
        yield


def _variables(folder: str) -> dict[str, str]:
    return {
        "MPLCONFIGDIR": folder,
        "MATPLOTLIBRC": folder,
        "MPLBACKEND": "agg",
        "MPL_IGNORE_SYSTEM_FONTS": "1",
    }
