"""Queries in the process of the test, which is much quicker than starting a subprocess for each."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from jobs.cli import query
from pipeline.pools.catalog import load_catalog
from pipeline.query.client import QueryRequest
from pipeline.query.engine import run_query
from pipeline.query.rows import QueryResult
from pipeline.store.storage import LocalStorage


def query_here(patch: pytest.MonkeyPatch) -> None:
    """Let `fairway query` run its queries in this process."""
    patch.setattr(query, "run_query_isolated", _run)


@contextmanager
def _run(request: QueryRequest, _: Mapping[str, str]) -> Iterator[QueryResult | None]:
    storage = LocalStorage(Path(request.root))
    with run_query(storage, load_catalog(storage), request.statement, request.workers) as result:
        yield result
