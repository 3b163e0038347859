"""Run a read-only SQL statement on a locked-down DuckDB connection; the only module that imports DuckDB.

The connection is in memory. Before it sees the statement, it loses access to files, the network, Python
variables and its own settings, and only statements that read are passed to it. DuckDB itself can open
nothing: Arrow reads the parts of the catalog and hands them over as a dataset. Time is not limited here, and
memory not entirely, so untrusted SQL must run in a subprocess (`pipeline.query.client`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import duckdb
import pyarrow as pa

from pipeline.errors import QueryError
from pipeline.pools.catalog import Catalog
from pipeline.query.rows import BATCH_ROWS, QueryResult
from pipeline.query.sources import Deals, Documents, deals_of
from pipeline.query.views import DAILY_COLUMNS, MACROS, RUN_COLUMNS, daily_paths
from pipeline.store.storage import LocalStorage
from pipeline.work.records import run_paths

MEMORY_LIMIT: Final = "1GB"
# PIVOT is of type MULTI, because DuckDB first creates an enumeration of its columns.
_READING: Final = ("SELECT", "EXPLAIN", "MULTI")
_READERS: Final = "SELECT, FROM, WITH, VALUES, PIVOT, SUMMARIZE, DESCRIBE, SHOW, EXPLAIN"
_SETTINGS: Final = (
    "enable_progress_bar = false",  # it would be drawn on standard output, among the rows
    "TimeZone = 'UTC'",
    "secret_directory = ''",
    "allow_persistent_secrets = false",
    "allow_community_extensions = false",
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "python_enable_replacements = false",
    "disabled_filesystems = 'LocalFileSystem'",
    "enable_external_access = false",
    "lock_configuration = true",  # must be the last
)
_INTERRUPTED: Final = "Query interrupted"


@contextmanager
def run_query(
    storage: LocalStorage, catalog: Catalog, statement: str, workers: int
) -> Iterator[QueryResult | None]:
    """Context manager that runs one statement in this process, on a locked-down connection.

    Yields:
        The result, to be read within the block; None if the statement has no result.

    Raises:
        QueryError: DuckDB refuses the statement; the message is DuckDB's.
        DamagedError: a part or a document is missing or damaged.
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
        yield None if reader is None else QueryResult(reader.schema, _batches(reader, deals, dailies, runs))
    finally:
        connection.close()


def _lock_down(connection: duckdb.DuckDBPyConnection) -> None:
    for macro in MACROS:
        connection.execute(macro)
    for setting in (f"memory_limit = '{MEMORY_LIMIT}'", *_SETTINGS):
        connection.execute(f"SET {setting}")


def _check(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
    """Refuse anything but exactly one statement that reads."""
    if not _is_text(statement):
        raise QueryError("the statement is not UTF-8")
    statements = connection.extract_statements(statement)
    if len(statements) != 1:
        raise QueryError(f"{len(statements)} SQL statements given; give exactly one")
    kind = _kind(statements[0])
    if kind not in _READING:
        raise QueryError(f"{kind} statements are not allowed, only statements that read: {_READERS}")


def _is_text(statement: str) -> bool:
    """Whether a text can be encoded; other bytes of a command line become lone surrogates in Python."""
    return statement.encode("utf-8", "ignore").decode() == statement


def _kind(statement: duckdb.Statement) -> str:
    try:
        return statement.type.name
    except ValueError:  # DuckDB has more types than its Python module has names for
        return "OTHER"


def _batches(reader: Any, *sources: Deals | Documents) -> Iterator[Any]:
    with _explained(*sources):
        yield from reader


@contextmanager
def _explained(*sources: Deals | Documents) -> Iterator[None]:
    """Turn errors of DuckDB, and of Arrow while a result streams, into our own with the same text."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError, MemoryError) as error:
        for fault in (source.fault for source in sources if source.fault is not None):
            raise fault from error
        raise QueryError(str(error).strip() or "Out of Memory Error") from error
    except RuntimeError as error:
        # DuckDB replaces an exception from a signal handler by this one.
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from error
        raise
