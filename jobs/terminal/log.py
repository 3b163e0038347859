"""Where the log goes: standard error, from when a command knows its settings until it has ended.

With JSON lines everything goes there that way, notes and errors too: whatever reads them can read all of it.
"""

import logging
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from jobs.watch.logs import formatter_of, log

if TYPE_CHECKING:
    from jobs.watch.logs import LogFormat


class _StandardError(logging.Handler):
    """Writes lines to what standard error is at the moment: a display may stand before it."""

    def __init__(self, kind: "LogFormat") -> None:
        super().__init__()
        self.kind: Final = kind
        self.setFormatter(formatter_of(kind))

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):  # a full disk below the log, or nobody who reads it, ends no run
            sys.stderr.write(f"{self.format(record)}\n")
            sys.stderr.flush()


def start_log(kind: "LogFormat", *, least: int = logging.INFO) -> None:
    """Write the log from now on, until `stop_log`.

    Args:
        kind: the shape of its lines.
        least: the level of `logging` from which lines are written; JSON lines are from INFO on.
    """
    stop_log()
    root = logging.getLogger()
    handler = _StandardError(kind)
    handler.setLevel(logging.INFO if kind == "json" else least)
    root.addHandler(handler)
    log.setLevel(logging.INFO)  # other libraries' from WARNING on


def stop_log() -> None:
    """Write the log no longer."""
    for handler in _handlers():
        logging.getLogger().removeHandler(handler)
    log.setLevel(logging.NOTSET)


def is_started() -> bool:
    """Whether the log is written."""
    return bool(_handlers())


def is_json() -> bool:
    """Whether the log is written as JSON lines."""
    return any(handler.kind == "json" for handler in _handlers())


def _handlers() -> list[_StandardError]:
    return [each for each in logging.getLogger().handlers if isinstance(each, _StandardError)]
