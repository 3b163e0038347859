"""The log: lines of text or JSON objects, one per line, with the id of the run.

Only the format of lines is defined here. The program decides where they go and which are wanted;
importing this module sets nothing up.
"""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

from pipeline.store.text import message_of

LogFormat: TypeAlias = Literal["text", "json"]

log: Final = logging.getLogger("fairway")
log.addHandler(logging.NullHandler())  # without a handler, nothing is written to standard error

_run_id: ContextVar[str | None] = ContextVar("run_id", default=None)


@contextmanager
def named_run(run_id: str) -> Iterator[None]:
    """Put the id of a run on every line that this thread logs in the block."""
    token = _run_id.set(run_id)
    try:
        yield
    finally:
        _run_id.reset(token)


def details(**values: Any) -> dict[str, Any]:
    """Return additional fields of a JSON line, to be passed to the logger as `extra`."""
    return {"details": values}


def formatter_of(kind: LogFormat) -> logging.Formatter:
    """Return the formatter for `text` or `json`."""
    return _Json() if kind == "json" else _Text()


def one_line(text: str) -> str:
    """Return a text on one line, with unprintable characters escaped as Python does."""
    line = " ".join(filter(None, text.splitlines()))
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in line)


def message_line(text: str) -> str:
    """Return a message on one line, escaped, and without its middle if it is overlong."""
    return message_of(one_line(text))


class _Text(logging.Formatter):
    """`2026-11-30T00:05:00.123Z INFO 20261130T000500Z-7 the message`."""

    def format(self, record: logging.LogRecord) -> str:
        run = _run_id.get()
        head = (_moment(record), record.levelname, *(() if run is None else (run,)))
        line = f"{' '.join(head)} {message_line(record.getMessage())}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class _Json(logging.Formatter):
    """An object with `time`, `level`, `run` (null outside a run), `message`, and the `details`."""

    def format(self, record: logging.LogRecord) -> str:
        document = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "run": _run_id.get(),
            "message": message_of(record.getMessage()),
            **getattr(record, "details", {}),
        }
        if record.exc_info:
            document["exception"] = self.formatException(record.exc_info)
        return json.dumps(document, separators=(",", ":"), default=str)


def _moment(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
