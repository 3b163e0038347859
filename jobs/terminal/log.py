"""Writes the log to standard error, from when a command knows its settings until it ends.

If the log is in JSON, notes and errors are log lines too, so that a program can read all of standard error.
"""

import logging
import sys
from contextlib import suppress
from typing import Final

from jobs.watch.logs import LogFormat, formatter_of, log


class _StandardError(logging.Handler):
    """Writes lines to the current `sys.stderr`, which a progress display may replace for a while."""

    def __init__(self, kind: LogFormat) -> None:
        super().__init__()
        self.kind: Final = kind
        self.setFormatter(formatter_of(kind))

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):  # a log that cannot be written does not stop a run
            sys.stderr.write(f"{self.format(record)}\n")
            sys.stderr.flush()


def start_log(kind: LogFormat, *, least: int = logging.INFO) -> None:
    """Write the log from now until `stop_log`.

    Args:
        kind: the format of its lines.
        least: the lowest level of `logging` to write as text; JSON begins at INFO.
    """
    stop_log()
    handler = _StandardError(kind)
    handler.setLevel(logging.INFO if kind == "json" else least)
    logging.getLogger().addHandler(handler)
    log.setLevel(logging.INFO)  # the loggers of other libraries stay at WARNING


def stop_log() -> None:
    """Stop writing the log."""
    for handler in _handlers():
        logging.getLogger().removeHandler(handler)
    log.setLevel(logging.NOTSET)


def is_started() -> bool:
    """Whether the log is being written."""
    return bool(_handlers())


def is_json() -> bool:
    """Whether the log is being written as JSON."""
    return any(handler.kind == "json" for handler in _handlers())


def _handlers() -> list[_StandardError]:
    return [each for each in logging.getLogger().handlers if isinstance(each, _StandardError)]
