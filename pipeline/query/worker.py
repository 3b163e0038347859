"""The subprocess that runs one query within limits; started by `pipeline.query.client`.

It reads the request from standard input and sends the rows to standard output as an Arrow stream. At the end
it writes a report to standard error, one line of JSON: `{}`, or the type and the message of an error.
"""

import json
import os
import resource
import select
import sys
import threading
from pathlib import Path
from typing import Final

from pipeline.errors import QueryError
from pipeline.pools.catalog import load_catalog
from pipeline.query.client import QueryRequest
from pipeline.query.engine import run_query
from pipeline.store.storage import LocalStorage
from solver.errors import FairwayError

_ADDRESSES: Final = 3 * 2**30  # for DuckDB within its own limit, reading by Arrow, and the libraries
_ADDRESSES_PER_WORKER: Final = 64 * 2**20
_SPARE_SECONDS: Final = 5  # of CPU time; the caller enforces the time limit
_MAX_MESSAGE: Final = 10_000  # characters; a message can contain a value


def main() -> None:
    """Run the query of standard input, report and exit."""
    request = QueryRequest(**json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=_exit_with_caller, daemon=True).start()
    _limit(request)
    report = _run(request)
    sys.stdout.close()
    sys.stderr.write(json.dumps(report))
    sys.stderr.flush()
    os._exit(0)  # nothing needs cleaning up, and unloading the libraries takes a while


def _run(request: QueryRequest) -> dict[str, str]:
    storage = LocalStorage(Path(request.root))
    try:
        with run_query(storage, load_catalog(storage), request.statement, request.workers) as result:
            if result is not None:
                result.send(sys.stdout.buffer)
                sys.stdout.buffer.flush()
    except FairwayError as error:
        return {"error": type(error).__name__, "message": str(error)[:_MAX_MESSAGE]}
    except MemoryError:
        return {
            "error": QueryError.__name__,
            "message": "Out of Memory Error: the query needs too much memory; narrow it",
        }
    except BrokenPipeError:  # the caller has stopped reading
        pass
    return {}


def _limit(request: QueryRequest) -> None:
    """Set limits of the operating system for this process."""
    addresses = _ADDRESSES + request.workers * _ADDRESSES_PER_WORKER
    _set_limit(resource.RLIMIT_AS, addresses)
    _set_limit(resource.RLIMIT_CPU, request.seconds * request.workers + _SPARE_SECONDS)
    _set_limit(resource.RLIMIT_FSIZE, 0)
    _set_limit(resource.RLIMIT_CORE, 0)


def _set_limit(kind: int, value: int) -> None:
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        value = min(value, most)
    try:
        resource.setrlimit(kind, (value, value))
    except (OSError, ValueError):
        if sys.platform != "darwin":  # macOS has no address limit
            raise


def _exit_with_caller() -> None:
    """Exit with the caller, which sends nothing more: standard input becomes readable when it closes."""
    select.select([sys.stdin], [], [])
    os._exit(1)
