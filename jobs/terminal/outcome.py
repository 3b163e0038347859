"""How a command ends: an exit code for every kind of outcome, and one line on standard error for an error.

The codes are those that operators and cron expect (BSD's sysexits for 73, 75 and 78).
"""

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Final

import typer

from jobs.terminal.log import is_json
from jobs.terminal.output import note
from jobs.watch.logs import log, one_line
from pipeline.errors import (
    BusyError,
    ConfigurationError,
    MissingError,
    OverdueError,
    QueryError,
    StorageError,
)
from solver.errors import FairwayError, UsageError

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
CANNOT_WRITE: Final = 73
TRY_LATER: Final = 75
CONFIGURATION: Final = 78
_PYDANTIC_WORDS: Final = "Value error, "
_BY_SIGNAL: Final = 128  # plus the signal's number, as shells have it

_CODES: Final = (  # the first that fits
    (UsageError, USAGE),
    (MissingError, FAILED),
    (StorageError, CANNOT_WRITE),
    (BusyError, TRY_LATER),
    (OverdueError, TRY_LATER),
    (ConfigurationError, CONFIGURATION),
    (FairwayError, FAILED),
)


def exit_code(error: FairwayError) -> int:
    """The exit code for an error that Fairway raises on purpose."""
    return next(code for kind, code in _CODES if isinstance(error, kind))


def ended(command: Callable[[], object]) -> int:
    """Run a command to its end, whatever that is.

    Args:
        command: returns an exit code, or anything else where all went well.

    Returns:
        The exit code of the process.
    """
    try:
        code = command()
        sys.stdout.flush()
    except FairwayError as error:
        complain(str(error) if isinstance(error, QueryError) else one_line(str(error)))
        return exit_code(error)
    except typer.TyperException as error:
        words = one_line(error.format_message()).rstrip(".").replace(_PYDANTIC_WORDS, "")
        complain(words + _where_to_look(error))
        return USAGE
    except typer.Exit as end:
        return end.exit_code
    except KeyboardInterrupt:
        return _BY_SIGNAL + signal.SIGINT
    except BrokenPipeError:  # whoever read the output has seen enough
        _drop_output()
        return _BY_SIGNAL + signal.SIGPIPE
    except OSError as error:
        _drop_output()
        what = f"cannot use {error.filename}" if error.filename else "cannot write the output"
        complain(one_line(f"{what}: {error.strerror or error}"))
        return CANNOT_WRITE
    return code if isinstance(code, int) else DONE


def complain(text: str) -> None:
    """Write an error on standard error."""
    if is_json():
        log.error(text)
    else:
        note(f"fairway: error: {text}")


def stop_on_sigterm() -> None:
    """Let SIGTERM unwind the main thread, so that locks are released and nothing is left half-published."""
    stopped: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        if not stopped:  # one is enough; a second must not break the tidying up
            stopped.append(number)
            raise SystemExit(_BY_SIGNAL + number)

    signal.signal(signal.SIGTERM, stop)


def _where_to_look(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    return f"; see `{context.command_path} --help`" if context is not None else ""


def _drop_output() -> None:
    """Let what is still buffered go nowhere, or Python would complain once more when it exits."""
    with contextlib.suppress(OSError, ValueError):  # where it is no file of the system, nothing is flushed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
