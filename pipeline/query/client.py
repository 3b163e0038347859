"""A question asked in a process of its own, which can outlive neither its time nor whoever asked.

SQL from others is not trusted: `pipeline.query.engine` keeps it from everything but the views, and the
process bounds what DuckDB cannot bound itself. It ends by force when its time is over, whatever it is doing;
the system holds its memory, its processor time and what it writes within limits (`pipeline.query.worker`);
and nothing of this process's environment is in it, so no secret either.
"""

import contextlib
import dataclasses
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pipeline
from pipeline.errors import DamagedError, MissingError, OverdueError, QueryError, StorageError
from solver.errors import FairwayError, UsageError

if TYPE_CHECKING:  # pyarrow is loaded while the other process starts
    from pipeline.query.rows import Answer

DEFAULT_SECONDS: Final = 30
MOST_SECONDS: Final = 86_400

# Modules are looked for where this process finds its own; nothing comes from the environment or from site.
# Arrow and DuckDB do without numpy where there is none; loading it would be a quarter of the start.
_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); sys.modules['numpy'] = None;"
    "from pipeline.query.worker import main; main()"
)
_FLAGS: Final = ("-I", "-S", "-X", "utf8")
_KEPT: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # Python itself may not start without them
_ERRORS: Final = {
    error.__name__: error for error in (QueryError, UsageError, DamagedError, MissingError, StorageError)
}
_MOST_LETTERS: Final = 500  # of the last words of a process that ended without a report


@dataclass(frozen=True, slots=True)
class Question:
    """What the other process is told.

    Attributes:
        root: the data root.
        statement: one SQL statement.
        workers: threads that it may compute with.
        seconds: how long the answer may take, to its last row.
    """

    root: str
    statement: str
    workers: int
    seconds: int

    def to_line(self) -> bytes:
        """The question as a line of ASCII."""
        return json.dumps(dataclasses.asdict(self)).encode("ascii") + b"\n"


@contextlib.contextmanager
def asked_apart(question: Question, variables: Mapping[str, str]) -> Iterator["Answer | None"]:
    """Run one statement on the guarded ground, in a process of its own that ends with the block.

    Args:
        question: what is asked.
        variables: of this process; only what the system needs to load Python is passed on.

    Yields:
        Its result, to be read within the block; None where there is none.

    Raises:
        OverdueError: the answer was not there in time.
        QueryError: DuckDB refuses the statement; the message is DuckDB's own.
        DamagedError: a part or a document is missing or not what it must be.
    """
    with _started(question, variables) as process:
        apart = _Apart(process, question)
        timer = threading.Timer(question.seconds, apart.end_overdue)
        timer.daemon = True
        timer.start()
        try:
            yield apart.answer()
        finally:
            timer.cancel()
            apart.end()


def _started(question: Question, variables: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    top = str(Path(pipeline.__file__).resolve().parent.parent)
    path = [top, *(entry for entry in sys.path if entry not in ("", top))]
    return subprocess.Popen(  # noqa: S603 - it is Python, with a program of ours
        [sys.executable, *_FLAGS, "-c", _PROGRAM, json.dumps(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env=_environment(question.workers, variables),
        start_new_session=True,  # Ctrl-C at a terminal is for this process, which ends the other
    )


def _environment(workers: int, variables: Mapping[str, str]) -> dict[str, str]:
    """What keeps the libraries to their threads, and to memory that a limit on addresses can measure."""
    return {name: value for name, value in variables.items() if name in _KEPT} | {
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "ARROW_IO_THREADS": str(workers),
        "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": str(workers),  # Arrow goes by it, too
        "OPENBLAS_NUM_THREADS": "1",
    }


class _Apart:
    """The other process, seen from this one."""

    def __init__(self, process: "subprocess.Popen[bytes]", question: Question) -> None:
        self._process: Any = process  # its three streams are pipes, which its type does not say
        self._question = question
        self._is_overdue = False

    def answer(self) -> "Answer | None":
        with contextlib.suppress(BrokenPipeError):  # it has ended already, and its report says why
            self._process.stdin.write(self._question.to_line())
            self._process.stdin.flush()
        from pipeline.query.rows import received

        return received(self._process.stdout, self._check_end)

    def end_overdue(self) -> None:
        self._is_overdue = True
        self._process.kill()

    def end(self) -> None:
        self._process.kill()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def _check_end(self) -> None:
        """Wait for the end of the process, which has sent everything, and see that it was a good one.

        Raises:
            FairwayError: the one that ended it.
        """
        words = self._process.stderr.read().decode("utf-8", "replace").strip()
        code = self._process.wait()
        report = _report_in(words) if code == 0 else None
        if report is None:
            raise self._lost(words, code)
        if "error" in report:
            raise _ERRORS.get(report["error"], FairwayError)(report["message"])

    def _lost(self, words: str, code: int) -> FairwayError:
        """Why a process ended without a report."""
        if self._is_overdue or code == -signal.SIGXCPU:
            seconds = self._question.seconds
            return OverdueError(f"no answer within {seconds} s; ask for less, or allow more with --timeout")
        last = words.splitlines()[-1][-_MOST_LETTERS:] if words else f"exit code {code}"
        return QueryError(
            f"the query broke off ({last}); if it needs more memory than it can have, ask for less"
        )


def _report_in(words: str) -> dict[str, str] | None:
    """The report in what the process wrote on standard error, its last line; None where there is none."""
    try:
        report = json.loads(words.splitlines()[-1])
    except (IndexError, ValueError):
        return None
    return report if isinstance(report, dict) else None
