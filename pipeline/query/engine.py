"""SQL over the pools, the Daily holes and the runs; the only module that knows DuckDB.

The ground is a connection in memory that is cut off from files, network, Python's variables and its own
settings before it sees the statement; only a statement that reads is let through to it. DuckDB itself can
open nothing: the parts that the catalog names are an Arrow dataset, and Arrow reads them. What the ground
does not bound is time and memory: SQL from others belongs into a process of its own
(`pipeline.query.client`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import duckdb
import pyarrow as pa

from pipeline.errors import QueryError
from pipeline.pools.catalog import Catalog
from pipeline.query.macros import MACROS
from pipeline.query.rows import BATCH_ROWS, Answer
from pipeline.query.sources import Deals, Documents, deals_of
from pipeline.query.views import DAILY_COLUMNS, RUN_COLUMNS, daily_paths
from pipeline.store.storage import LocalStorage
from pipeline.work.records import run_paths

MEMORY_LIMIT: Final = "1GB"
# PIVOT is MULTI: DuckDB makes an enumeration of its columns first.
_READING: Final = ("SELECT", "EXPLAIN", "MULTI")
_READERS: Final = "SELECT, FROM, WITH, VALUES, PIVOT, SUMMARIZE, DESCRIBE, SHOW, EXPLAIN"
_SETTINGS: Final = (
    "enable_progress_bar = false",  # it is drawn on standard output, where the rows go
    "TimeZone = 'UTC'",
    "secret_directory = ''",
    "allow_persistent_secrets = false",
    "allow_community_extensions = false",
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "python_enable_replacements = false",
    "disabled_filesystems = 'LocalFileSystem'",
    "enable_external_access = false",
    "lock_configuration = true",  # the last one
)
_INTERRUPTED: Final = "Query interrupted"


@contextmanager
def asked(storage: LocalStorage, catalog: Catalog, statement: str, workers: int) -> Iterator[Answer | None]:
    """Run one statement on the guarded ground, in this process and for as long as it takes.

    Args:
        storage: the data root; it is only read.
        catalog: names the parts that are the view `deals`.
        statement: one SQL statement.
        workers: threads that DuckDB may use.

    Yields:
        Its result; None where there is none.

    Raises:
        QueryError: DuckDB refuses the statement; the message is DuckDB's own.
        DamagedError: a part or a document is missing or not what it must be.
    """
    connection = duckdb.connect(":memory:", config={"temp_directory": "", "threads": workers})
    try:
        deals = deals_of(storage, catalog)
        dailies = Documents(storage, daily_paths(storage), DAILY_COLUMNS)
        runs = Documents(storage, run_paths(storage), RUN_COLUMNS)
        connection.register("deals", deals)
        connection.register("dailies", dailies)
        connection.register("runs", runs)
        _lock_down(connection)
        with _explained(deals, dailies, runs):
            _check(connection, statement)
            relation = connection.sql(statement)
            reader = None if relation is None else relation.to_arrow_reader(BATCH_ROWS)
        yield None if reader is None else Answer(reader.schema, _batches(reader, deals, dailies, runs))
    finally:
        connection.close()


def _lock_down(connection: duckdb.DuckDBPyConnection) -> None:
    for macro in MACROS:
        connection.execute(macro)
    for setting in (f"memory_limit = '{MEMORY_LIMIT}'", *_SETTINGS):
        connection.execute(f"SET {setting}")


def _check(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
    """Refuse what is not exactly one statement that reads."""
    if not _is_text(statement):
        raise QueryError("the statement holds bytes that are not UTF-8")
    statements = connection.extract_statements(statement)
    if len(statements) != 1:
        raise QueryError(f"{len(statements)} SQL statements given, exactly one can be answered")
    kind = _kind(statements[0])
    if kind not in _READING:
        raise QueryError(f"a statement of the kind {kind} is not answered, only those that read: {_READERS}")


def _is_text(statement: str) -> bool:
    """Whether all of it can be encoded; Python lets in other bytes of a command line as lone surrogates."""
    return statement.encode("utf-8", "ignore").decode() == statement


def _kind(statement: duckdb.Statement) -> str:
    try:
        return statement.type.name
    except ValueError:  # DuckDB knows more kinds than its Python side has names for
        return "OTHER"


def _batches(reader: Any, *sources: Deals | Documents) -> Iterator[Any]:
    with _explained(*sources):
        yield from reader


@contextmanager
def _explained(*sources: Deals | Documents) -> Iterator[None]:
    """Turn DuckDB's errors into ours, with its own words; while a result streams, Arrow wraps them."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError, MemoryError) as error:
        for fault in (source.fault for source in sources if source.fault is not None):
            raise fault from error
        raise QueryError(str(error).strip() or "Out of Memory Error") from error
    except RuntimeError as error:
        # DuckDB swallows what a signal's handler raises and says no more than this.
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from error
        raise
