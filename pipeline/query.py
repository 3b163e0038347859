"""SQL over the pools, the Daily holes and the runs; the only module that knows DuckDB.

The ground is a connection in memory that is cut off from files, network, Python's variables and its own
settings before it sees the statement; only a statement that reads is let through to it. DuckDB itself can
open nothing: the parts that the catalog names are an Arrow dataset, and Arrow reads them. What the ground
does not bound is time and memory: SQL from others belongs into a process of its own (`jobs.asking`).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.dataset

from pipeline.answer import BATCH_ROWS, Answer
from pipeline.catalog import Catalog, Part
from pipeline.documents import parse
from pipeline.errors import DamagedError, QueryError
from pipeline.macros import MACROS
from pipeline.storage import LocalStorage, Storage
from pipeline.views import DAILY_COLUMNS, DEAL_COLUMNS, RUN_COLUMNS, ViewColumn, daily_paths, run_paths
from solver.errors import FairwayError

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
_REPEATED: Final = ("level", "rules")  # few texts in many rows: Arrow hands them on as numbers
_UNREADABLE: Final = "reading the stream registered as"
_INTERRUPTED: Final = "Query interrupted"
_TYPES: Final = {
    "VARCHAR": pa.string(),
    "UBIGINT": pa.uint64(),
    "TINYINT": pa.int8(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "DOUBLE[]": pa.list_(pa.float64()),
    "BOOLEAN": pa.bool_(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"),
}


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
        dailies = _Documents(storage, daily_paths(storage), DAILY_COLUMNS)
        runs = _Documents(storage, run_paths(storage), RUN_COLUMNS)
        connection.register("deals", _deals(storage, catalog))
        connection.register("dailies", dailies)
        connection.register("runs", runs)
        _lock_down(connection)
        with _explained(dailies, runs):
            _check(connection, statement)
            relation = connection.sql(statement)
            reader = None if relation is None else relation.to_arrow_reader(BATCH_ROWS)
        yield None if reader is None else Answer(reader.schema, _batches(reader, dailies, runs))
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


def _deals(storage: LocalStorage, catalog: Catalog) -> Any:
    """The parts as one dataset; what the catalog says of each tells Arrow which ones a question is about."""
    system, kind = pa.fs.LocalFileSystem(), pyarrow.dataset.ParquetFileFormat(dictionary_columns=_REPEATED)
    fragments = [
        kind.make_fragment(
            _part_file(storage, part), system, partition_expression=_known_of(pool.level, part)
        )
        for pool in catalog.pools
        for part in pool.parts
    ]
    schema = _schema(DEAL_COLUMNS)
    for name in _REPEATED:
        place = schema.get_field_index(name)
        schema = schema.set(place, pa.field(name, pa.dictionary(pa.int32(), pa.string())))
    return pyarrow.dataset.FileSystemDataset(fragments, schema, kind, system)


def _part_file(storage: LocalStorage, part: Part) -> str:
    file = storage.local_path(part.path)
    if not file.is_file():
        raise DamagedError(f"{part.path} is missing, and catalog.json names it; `fairway verify` tells more")
    return str(file)


def _known_of(level: str, part: Part) -> Any:
    """What holds for every deal of a part, as an Arrow expression."""
    number = pyarrow.dataset.field("deal_number")
    first, last = (pa.scalar(end, pa.uint64()) for end in (part.first, part.last))
    return (pyarrow.dataset.field("level") == level) & (number >= first) & (number <= last)


@dataclass(slots=False)
class _Documents:
    """Documents as an Arrow stream, one row each, which are read when a statement first asks for them.

    Attributes:
        storage: where they are.
        paths: which they are, in the order of the rows.
        columns: what is read of them; a key that is not there is null.
        fault: why they cannot be read; DuckDB has only a part of its words.
    """

    storage: Storage
    paths: Sequence[str]
    columns: Sequence[ViewColumn]
    fault: FairwayError | None = field(default=None, init=False)

    def __arrow_c_schema__(self) -> Any:
        return _schema(self.columns).__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        try:
            return self._table.__arrow_c_stream__(requested_schema)
        except FairwayError as error:
            self.fault = error
            raise

    @cached_property
    def _table(self) -> Any:
        documents = [(path, parse(self.storage.read(path), path)) for path in self.paths]
        arrays = [
            pa.array([_cell(path, document, column) for path, document in documents], _TYPES[column.type])
            for column in self.columns
        ]
        return pa.Table.from_arrays(arrays, schema=_schema(self.columns))


def _cell(path: str, document: Mapping[str, Any], column: ViewColumn) -> Any:
    value: Any = document
    for key in column.path:
        value = value.get(key) if isinstance(value, dict) else None
    try:
        return pa.scalar(_read(value, column.type), _TYPES[column.type]).as_py()
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise DamagedError(f"{path}: {'.'.join(column.path)} is no {column.type}: {error}") from error


def _read(value: Any, kind: str) -> Any:
    """A value of JSON as one of an SQL type, which JSON may have to write as text."""
    if value is not None and kind == "DATE":
        return date.fromisoformat(value)
    if value is not None and kind == "TIMESTAMP":
        return _utc(datetime.fromisoformat(value))
    return value


def _schema(columns: Sequence[ViewColumn]) -> Any:
    return pa.schema([(column.name, _TYPES[column.type]) for column in columns])


def _utc(moment: datetime) -> datetime:
    """A moment as DuckDB's TIMESTAMP holds it: in UTC, without saying so."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def _batches(reader: Any, *documents: _Documents) -> Iterator[Any]:
    with _explained(*documents):
        yield from reader


@contextmanager
def _explained(*documents: _Documents) -> Iterator[None]:
    """Turn DuckDB's errors into ours, with its own words; while a result streams, Arrow wraps them."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError, MemoryError) as error:
        for fault in (found.fault for found in documents if found.fault is not None):
            raise fault from error
        if _UNREADABLE in str(error):
            raise DamagedError(f"{error}; `fairway verify` tells more") from error
        raise QueryError(str(error).strip() or "Out of Memory Error") from error
    except RuntimeError as error:
        # DuckDB swallows what a signal's handler raises and says no more than this.
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from error
        raise
