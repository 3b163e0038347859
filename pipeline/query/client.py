"""Run one SQL query in a subprocess that is killed on timeout or when its caller exits.

SQL from users is not trusted. `pipeline.query.engine` gives it access to nothing but the views, and the
subprocess limits what DuckDB itself cannot limit: it is killed when its time is over, the operating system
limits its memory, CPU time and writes (`pipeline.query.worker`), and it inherits no secrets from the
environment.
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

if TYPE_CHECKING:  # pyarrow is loaded while the subprocess starts
    from pipeline.query.rows import QueryResult

DEFAULT_SECONDS: Final = 30
MAX_SECONDS: Final = 86_400

# The subprocess has the module path of this process; nothing comes from the environment or from site.
# Arrow and DuckDB work without numpy, and loading it would take a quarter of the start-up time.
_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); sys.modules['numpy'] = None;"
    "from pipeline.query.worker import main; main()"
)
_FLAGS: Final = ("-I", "-S", "-X", "utf8")
_INHERITED: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # Python itself may not start without them
_ERRORS: Final = {
    error.__name__: error for error in (QueryError, UsageError, DamagedError, MissingError, StorageError)
}
_MAX_REASON: Final = 500  # characters of the last line of a process that ended without a report


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A query for the subprocess: path of the data root, SQL statement, threads, time limit in seconds."""

    root: str
    statement: str
    workers: int
    seconds: int

    def to_line(self) -> bytes:
        """Return the request as one line of ASCII JSON."""
        return json.dumps(dataclasses.asdict(self)).encode("ascii") + b"\n"


@contextlib.contextmanager
def run_query_isolated(
    request: QueryRequest, environment: Mapping[str, str]
) -> Iterator["QueryResult | None"]:
    """Context manager that runs one statement in a subprocess, which ends with the block.

    Args:
        request: the query.
        environment: of this process; only variables that the system needs to load Python are passed on.

    Yields:
        The result, to be read within the block; None if the statement has no result.

    Raises:
        OverdueError: the query took longer than its time limit.
        QueryError: DuckDB refuses the statement; the message is DuckDB's.
        DamagedError: a part or a document is missing or damaged.
    """
    with _started(request, environment) as process:
        child = _Subprocess(process, request)
        timer = threading.Timer(request.seconds, child.time_out)
        timer.daemon = True
        timer.start()
        try:
            yield child.result()
        finally:
            timer.cancel()
            child.kill()


def _started(request: QueryRequest, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    top = str(Path(pipeline.__file__).resolve().parent.parent)
    path = [top, *(entry for entry in sys.path if entry not in ("", top))]
    return subprocess.Popen(  # noqa: S603 - Python and a fixed program
        [sys.executable, *_FLAGS, "-c", _PROGRAM, json.dumps(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env=_environment(request.workers, environment),
        start_new_session=True,  # Ctrl-C at a terminal stops this process, which kills the subprocess
    )


def _environment(workers: int, environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that limit the threads of libraries and make an address limit effective."""
    return {name: value for name, value in environment.items() if name in _INHERITED} | {
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "ARROW_IO_THREADS": str(workers),
        "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": str(workers),  # also used by Arrow
        "OPENBLAS_NUM_THREADS": "1",
    }


class _Subprocess:
    """The subprocess as this process sees it."""

    def __init__(self, process: "subprocess.Popen[bytes]", request: QueryRequest) -> None:
        self._process: Any = process  # the type does not say that its three streams are pipes
        self._request = request
        self._timed_out = False

    def result(self) -> "QueryResult | None":
        with contextlib.suppress(BrokenPipeError):  # it has ended already, and its report says why
            self._process.stdin.write(self._request.to_line())
            self._process.stdin.flush()
        from pipeline.query.rows import receive_result

        return receive_result(self._process.stdout, self._check_end)

    def time_out(self) -> None:
        self._timed_out = True
        self._process.kill()

    def kill(self) -> None:
        self._process.kill()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def _check_end(self) -> None:
        """Wait for the process, which has sent everything, and check that it succeeded.

        Raises:
            FairwayError: the error that it reported.
        """
        errors = self._process.stderr.read().decode("utf-8", "replace").strip()
        code = self._process.wait()
        report = _report_in(errors) if code == 0 else None
        if report is None:
            raise self._failure(errors, code)
        if "error" in report:
            raise _ERRORS.get(report["error"], FairwayError)(report["message"])

    def _failure(self, errors: str, code: int) -> FairwayError:
        """Error for a process that ended without a report."""
        if self._timed_out or code == -signal.SIGXCPU:
            seconds = self._request.seconds
            return OverdueError(
                f"no result within {seconds} s; narrow the query, or raise the limit with --timeout"
            )
        last = errors.splitlines()[-1][-_MAX_REASON:] if errors else f"exit code {code}"
        return QueryError(f"the query process failed ({last}); if the query needs too much memory, narrow it")


def _report_in(errors: str) -> dict[str, str] | None:
    """The report of the process, which is the last line of its standard error; None if there is none."""
    try:
        report = json.loads(errors.splitlines()[-1])
    except (IndexError, ValueError):
        return None
    return report if isinstance(report, dict) else None
