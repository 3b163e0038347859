"""The log: what runs say while they go on, as lines for people or as a JSON object a line, with the run's id.

Only the shape of a line is decided here. Where lines go, and whether any are wanted, is up to whoever starts
the program: nothing is set up when a module is loaded.
"""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

LogFormat: TypeAlias = Literal["text", "json"]

log: Final = logging.getLogger("fairway")
log.addHandler(logging.NullHandler())  # where nobody has set a log up, nothing is written on standard error

_run_id: ContextVar[str | None] = ContextVar("run_id", default=None)


@contextmanager
def named_run(run_id: str) -> Iterator[None]:
    """Have every line of the block, as far as this thread writes it, carry the id of a run."""
    token = _run_id.set(run_id)
    try:
        yield
    finally:
        _run_id.reset(token)


def details(**values: Any) -> dict[str, Any]:
    """What a line of JSON tells beside its message, to be handed to the logger as `extra`.

    Args:
        values: of JSON, by the names that they have in the line.
    """
    return {"details": values}


def formatter_of(kind: LogFormat) -> logging.Formatter:
    """The shape of a line: `text` or `json`."""
    return _Json() if kind == "json" else _Text()


def one_line(text: str) -> str:
    """A text on one line; what is not printable is escaped as Python escapes it."""
    line = " ".join(text.splitlines())
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in line)


class _Text(logging.Formatter):
    """`2026-11-30T00:05:00.123Z INFO 20261130T000500Z-7 the message`."""

    def format(self, record: logging.LogRecord) -> str:
        run = _run_id.get()
        head = (_moment(record), record.levelname, *(() if run is None else (run,)))
        line = f"{' '.join(head)} {one_line(record.getMessage())}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class _Json(logging.Formatter):
    """An object with `time`, `level`, `run` (null outside of one), `message`, and what `details` added."""

    def format(self, record: logging.LogRecord) -> str:
        document = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "run": _run_id.get(),
            "message": record.getMessage(),
            **getattr(record, "details", {}),
        }
        if record.exc_info:
            document["exception"] = self.formatException(record.exc_info)
        return json.dumps(document, separators=(",", ":"), default=str)


def _moment(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
