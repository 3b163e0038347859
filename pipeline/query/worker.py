"""The process that answers one question (`pipeline.query.client` starts it): limits, the answer, a report.

It reads the question from standard input, sends the rows to standard output as an Arrow stream, and writes
one line of JSON to standard error when it is done: `{}`, or the kind and the message of an error.
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
from pipeline.query.client import Question
from pipeline.query.engine import asked
from pipeline.store.storage import LocalStorage
from solver.errors import FairwayError

_ADDRESSES: Final = 3 * 2**30  # DuckDB's own limit, Arrow's reading, the libraries
_ADDRESSES_PER_WORKER: Final = 64 * 2**20
_SPARE_SECONDS: Final = 5  # of processor time: the time that is kept is whoever asks's
_MOST_LETTERS: Final = 10_000  # of a message, which can hold a value


def main() -> None:
    """Answer, report and end."""
    question = Question(**json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=_end_when_left, daemon=True).start()
    _limit(question)
    report = _answer(question)
    sys.stdout.close()
    sys.stderr.write(json.dumps(report))
    sys.stderr.flush()
    os._exit(0)  # there is nothing to tidy up, and taking the libraries down takes a while


def _answer(question: Question) -> dict[str, str]:
    storage = LocalStorage(Path(question.root))
    try:
        with asked(storage, load_catalog(storage), question.statement, question.workers) as answer:
            if answer is not None:
                answer.send(sys.stdout.buffer)
                sys.stdout.buffer.flush()
    except FairwayError as error:
        return {"error": type(error).__name__, "message": str(error)[:_MOST_LETTERS]}
    except MemoryError:
        return {
            "error": QueryError.__name__,
            "message": "Out of Memory Error: the query needs more than it can have",
        }
    except BrokenPipeError:  # nobody is listening any more
        pass
    return {}


def _limit(question: Question) -> None:
    """Have the system hold this process within limits, whatever happens in it."""
    addresses = _ADDRESSES + question.workers * _ADDRESSES_PER_WORKER
    _set_limit(resource.RLIMIT_AS, addresses)
    _set_limit(resource.RLIMIT_CPU, question.seconds * question.workers + _SPARE_SECONDS)
    _set_limit(resource.RLIMIT_FSIZE, 0)
    _set_limit(resource.RLIMIT_CORE, 0)


def _set_limit(kind: int, value: int) -> None:
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        value = min(value, most)
    try:
        resource.setrlimit(kind, (value, value))
    except (OSError, ValueError):
        if sys.platform != "darwin":  # which knows no limit on addresses
            raise


def _end_when_left() -> None:
    """End with whoever asked, who says nothing more, so that standard input can only come to its end."""
    select.select([sys.stdin], [], [])
    os._exit(1)
