"""Run a read-only SQL statement on a locked-down DuckDB connection; the only module that imports DuckDB.

The connection is in memory. Before it sees the statement, it loses access to files, the network, Python
variables and its own settings, and only statements that read are passed to it. DuckDB itself can open
nothing: Arrow reads the parts of the catalog and hands them over as a dataset. Time is not limited here, and
memory not entirely, so untrusted SQL must run in a subprocess (`pipeline.query.client`).
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

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
_READING: Final = ("SELECT",)
_READERS: Final = "SELECT, FROM, WITH, VALUES, PIVOT, SUMMARIZE, DESCRIBE, SHOW, and EXPLAIN of these"
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
# What follows DuckDB's statement of what is wrong: an excerpt of the SQL with a mark below it, and advice
# to install extensions or change settings, which is not possible here.
_UNUSABLE: Final = re.compile(
    r"\n+(?:LINE \d+: |Please try |Database is launched |Launch the database |Possible solutions"
    r"|\* SET |SET |INSTALL |LOAD )"
    r"|(?:,? or| Use) \"?SET [a-z_]+ ?(?:=|TO )"
)


class _Word(NamedTuple):
    """A word of a statement in UTF-8, and where it starts, in bytes."""

    text: bytes
    start: int


@contextmanager
def run_query(
    storage: LocalStorage, catalog: Catalog, statement: str, workers: int
) -> Iterator[QueryResult | None]:
    """Context manager that runs one statement in this process, on a locked-down connection.

    Yields:
        The result, to be read within the block; None if the statement has no result.

    Raises:
        QueryError: DuckDB refuses the statement; the message says why in DuckDB's words.
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
    """Refuse anything but exactly one statement that reads, or is an EXPLAIN of one."""
    if not _is_text(statement):
        raise QueryError("the statement is not UTF-8")
    statements = connection.extract_statements(statement)
    if len(statements) != 1:
        raise QueryError(f"{len(statements)} SQL statements given; give exactly one")
    kind = _kind(connection, _explained_part(connection, statement))
    if kind not in _READING:
        raise QueryError(f"{kind} statements are not allowed, only statements that read: {_READERS}")


def _is_text(statement: str) -> bool:
    """Whether a text can be encoded; other bytes of a command line become lone surrogates in Python."""
    return statement.encode("utf-8", "ignore").decode() == statement


def _kind(connection: duckdb.DuckDBPyConnection, statement: str) -> str:
    """Return the type of one statement, which is SELECT if it only reads.

    DuckDB gives the type MULTI to whatever contains a PIVOT, be it `CREATE TABLE .. AS PIVOT ..`, because it
    first creates an enumeration of the columns. If it can be a subquery, it reads.
    """
    (parsed,) = connection.extract_statements(statement)
    try:
        kind = parsed.type.name
    except ValueError:  # DuckDB has more types than its Python module has names for
        return "OTHER"
    if kind != "MULTI":
        return kind
    words = _words(statement.encode())
    last = max(place for place, word in enumerate(words) if word.text != b";")
    end = words[last].start + len(words[last].text)
    query = statement.encode()[:end].decode()
    return "SELECT" if _parses(connection, f"SELECT EXISTS ({query})") else words[0].text.decode().upper()


def _explained_part(connection: duckdb.DuckDBPyConnection, statement: str) -> str:
    """Return the statement that an EXPLAIN explains; any other statement unchanged."""
    data = statement.encode()
    words = _words(data)
    if words[0].text.upper() != b"EXPLAIN":
        return statement
    rest: Sequence[_Word] = words[1:]
    if rest[0].text.upper() == b"ANALYZE":
        rest = rest[1:]
    after = _after_brackets(rest)  # options, as in EXPLAIN (FORMAT json) SELECT 1, or the statement itself
    if after and _parses(connection, data[after[0].start :].decode()):
        rest = after
    return data[rest[0].start :].decode()


def _after_brackets(words: Sequence[_Word]) -> Sequence[_Word]:
    """Return the words after the brackets that the first word opens; none if it opens none."""
    depth = 0
    for place, word in enumerate(words, start=1):
        depth += (word.text == b"(") - (word.text == b")")
        if depth == 0:
            return words[place:] if place > 1 else ()
    return ()


def _words(data: bytes) -> list[_Word]:
    """Return the words of a statement without its comments."""
    tokens = duckdb.tokenize(data.decode())
    ends = [*(start for start, _ in tokens[1:]), len(data)]
    return [
        _Word(data[start:end].strip(), start)
        for (start, kind), end in zip(tokens, ends, strict=True)
        if kind != duckdb.token_type.comment
    ]


def _parses(connection: duckdb.DuckDBPyConnection, statement: str) -> bool:
    try:
        return len(connection.extract_statements(statement)) == 1
    except duckdb.Error:
        return False


def _batches(reader: Any, *sources: Deals | Documents) -> Iterator[Any]:
    with _explained(*sources):
        yield from reader


@contextmanager
def _explained(*sources: Deals | Documents) -> Iterator[None]:
    """Turn errors of DuckDB, and of Arrow while a result streams, into our own."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError, MemoryError) as error:
        for fault in (source.fault for source in sources if source.fault is not None):
            raise fault from error
        raise QueryError(_message(error)) from error
    except RuntimeError as error:
        # DuckDB replaces an exception from a signal handler by this one.
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from error
        raise


def _message(error: BaseException) -> str:
    """Return what an error of DuckDB or Arrow says is wrong, on one line, without its unusable advice."""
    text = " ".join(filter(None, _UNUSABLE.split(str(error).strip(), maxsplit=1)[0].split("\n")))
    if isinstance(error, duckdb.OutOfMemoryException | MemoryError):
        return f"{text or 'Out of Memory Error'}; narrow the query"
    return text
