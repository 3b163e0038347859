"""SQL queries over a data root, as `fairway query` runs them and in a plain DuckDB."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from jobs.cli import query as query_command
from pipeline.pools.catalog import load_catalog
from pipeline.query.client import QueryRequest
from pipeline.query.engine import run_query
from pipeline.query.rows import QueryResult
from pipeline.query.views import SQL_FILE
from pipeline.store.root import open_root
from pipeline.store.storage import LocalStorage


def query(root: Path, statement: str) -> list[tuple[Any, ...]]:
    """Run a statement in this process, and return all rows."""
    storage = open_root(root, create=False)
    with run_query(storage, load_catalog(storage), statement, workers=1) as answer:
        return [] if answer is None else list(answer.rows())


@contextmanager
def plain_duckdb(root: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a DuckDB in a data root, with the views and macros of `catalog.sql`."""
    with pytest.MonkeyPatch.context() as patch, duckdb.connect() as connection:
        patch.chdir(root)
        connection.execute((root / SQL_FILE).read_text())
        yield connection


def query_here(patch: pytest.MonkeyPatch) -> None:
    """Let `fairway query` run its queries in this process."""
    patch.setattr(query_command, "run_query_isolated", _run)


@contextmanager
def _run(request: QueryRequest, _: Mapping[str, str]) -> Iterator[QueryResult | None]:
    storage = LocalStorage(Path(request.root))
    with run_query(storage, load_catalog(storage), request.statement, request.workers) as result:
        yield result
