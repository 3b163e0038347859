"""Where matplotlib is at work: as a guest that leaves nothing behind and says nothing.

By itself it makes a folder of settings and one of fonts in the user's home, looks for settings and fonts all
over the machine, and tells on standard error where that fails.
"""

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from jobs.terminal.output import NAME
from pipeline.errors import StorageError


@contextmanager
def plotting() -> Iterator[None]:
    """A block in which a plot can be drawn.

    Raises:
        StorageError: there is no room for temporary files.
    """
    from jobs.settings.model import environment_with

    logging.getLogger("matplotlib").setLevel(logging.CRITICAL)
    try:
        room = tempfile.TemporaryDirectory(prefix=f"{NAME}-")
    except OSError as error:
        raise StorageError(f"no folder for temporary files: {error.strerror}; set TMPDIR to one") from error
    with room as folder, environment_with(_variables(folder)):
        yield


def _variables(folder: str) -> dict[str, str]:
    """What sends matplotlib to a folder for all that it keeps, and nowhere for anything else."""
    return {
        "MPLCONFIGDIR": folder,
        "MATPLOTLIBRC": folder,
        "MPLBACKEND": "agg",
        "MPL_IGNORE_SYSTEM_FONTS": "1",
    }
