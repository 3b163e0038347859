"""How a command ends: an exit code for each kind of outcome, and one line on standard error for an error.

73, 75 and 78 are codes of BSD's sysexits.h, which cron and systemd know too.
"""

import contextlib
import errno
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Final

import typer

from jobs.terminal.log import is_json
from jobs.terminal.output import note
from jobs.watch.logs import log, message_line
from pipeline.errors import (
    BusyError,
    ConfigurationError,
    MissingError,
    OverdueError,
    StorageError,
)
from solver.errors import FairwayError, UsageError

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
CANNOT_WRITE: Final = 73
TRY_LATER: Final = 75
CONFIGURATION: Final = 78
_PYDANTIC_WORDS: Final = "Value error, "  # typer checks enums with pydantic if it is installed
_BY_SIGNAL: Final = 128  # plus the number of the signal, as in shells

_CODES: Final = (  # the first match counts
    (UsageError, USAGE),
    (MissingError, FAILED),
    (StorageError, CANNOT_WRITE),
    (BusyError, TRY_LATER),
    (OverdueError, TRY_LATER),
    (ConfigurationError, CONFIGURATION),
    (FairwayError, FAILED),
)


def exit_code(error: FairwayError) -> int:
    """Return the exit code for an error."""
    return next(code for kind, code in _CODES if isinstance(error, kind))


def ended(command: Callable[[], object]) -> int:
    """Run a command to its end and report any error.

    Args:
        command: returns an exit code; anything else stands for success.

    Returns:
        The exit code of the process.
    """
    try:
        code = command()
        sys.stdout.flush()
    except FairwayError as error:
        complain(str(error))
        return exit_code(error)
    except typer.TyperException as error:
        complain(_usage_text(error))
        return USAGE
    except typer.Exit as end:
        return end.exit_code
    except KeyboardInterrupt:
        return _BY_SIGNAL + signal.SIGINT
    except BrokenPipeError:  # the reader of the output has stopped reading
        _drop_output()
        return _BY_SIGNAL + signal.SIGPIPE
    except OSError as error:
        _drop_output()
        what = f"cannot use {error.filename}" if error.filename else "cannot write the output"
        why = "standard output is closed" if error.errno == errno.EBADF else error.strerror or error
        complain(f"{what}: {why}")
        return CANNOT_WRITE
    return code if isinstance(code, int) else DONE


def complain(text: str) -> None:
    """Print an error as one line on standard error, or log it if the log is in JSON."""
    if is_json():
        log.error(text)
    else:
        note(f"fairway: error: {message_line(text)}")


def stop_on_sigterm() -> None:
    """Make SIGTERM raise SystemExit in the main thread, so that locks are released and files tidied up."""
    stopped: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        if not stopped:  # a second signal must not interrupt the tidying up
            stopped.append(number)
            raise SystemExit(_BY_SIGNAL + number)

    signal.signal(signal.SIGTERM, stop)


def _usage_text(error: typer.TyperException) -> str:
    """Return the message of wrong usage, with the command whose help explains it."""
    message = error.format_message().rstrip(".").replace(_PYDANTIC_WORDS, "")
    context = getattr(error, "ctx", None)
    return message if context is None else f"{message}; see `{context.command_path} --help`"


def _drop_output() -> None:
    """Send buffered output to the null device; otherwise Python fails to flush it at exit and complains."""
    with contextlib.suppress(OSError, ValueError):  # standard output may not be a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
