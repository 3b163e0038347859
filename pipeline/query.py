"""SQL over the pools, the Daily holes and the runs; the only module that knows DuckDB.

The ground is a connection in memory, over a dataset of exactly the parts that the catalog names, that is cut
off from files, network, Python's variables and its own settings before it sees the statement. What a
statement creates or drops is its own memory.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, BinaryIO, Final

import duckdb
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet

from pipeline.catalog import Catalog
from pipeline.documents import parse
from pipeline.errors import DamagedError, QueryError
from pipeline.storage import LocalStorage, Storage
from pipeline.views import (
    DAILY_COLUMNS,
    DEAL_COLUMNS,
    RUN_COLUMNS,
    ViewColumn,
    daily_paths,
    part_paths,
    run_paths,
)

MEMORY_LIMIT: Final = "1GB"
_BATCH_ROWS: Final = 10_000
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


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a statement, read as it comes; it lives as long as its connection.

    Attributes:
        names: the columns, left to right; two may have one name.
        numeric: for each column, whether it holds numbers.
    """

    names: tuple[str, ...]
    numeric: tuple[bool, ...]
    _reader: Any

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows as Python values; they can be read once.

        Raises:
            QueryError: the statement fails while it runs.
            DamagedError: a part is not what it must be.
        """
        for batch in self._batches():
            yield from zip(*(_values(column) for column in batch.columns), strict=True)

    def write_parquet(self, stream: BinaryIO) -> None:
        """Write the rows as one Parquet file; they can be read once.

        Raises:
            QueryError: the statement fails while it runs, or its columns cannot be Parquet.
        """
        try:
            with pyarrow.parquet.ParquetWriter(stream, self._reader.schema) as writer:
                for batch in self._batches():
                    writer.write_batch(batch)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
            raise QueryError(f"this result cannot be written as Parquet: {error}") from error

    def _batches(self) -> Iterator[Any]:
        with _explained():
            yield from self._reader


@contextmanager
def asked(storage: LocalStorage, catalog: Catalog, statement: str, workers: int) -> Iterator[Answer | None]:
    """Run one statement on the guarded ground.

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
        _register(connection, storage, part_paths(catalog))
        _lock_down(connection)
        with _explained():
            _check_single(connection, statement)
            relation = connection.sql(statement)
            reader = None if relation is None else relation.to_arrow_reader(_BATCH_ROWS)
        yield None if reader is None else _answer(reader)
    finally:
        connection.close()


def _answer(reader: Any) -> Answer:
    kinds = [field.type for field in reader.schema]
    numeric = tuple(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) for kind in kinds
    )
    return Answer(tuple(reader.schema.names), numeric, reader)


def _register(connection: duckdb.DuckDBPyConnection, storage: LocalStorage, parts: Sequence[str]) -> None:
    connection.register("deals", _deals(storage, parts))
    connection.register("dailies", _documents(storage, daily_paths(storage), DAILY_COLUMNS))
    connection.register("runs", _documents(storage, run_paths(storage), RUN_COLUMNS))


def _lock_down(connection: duckdb.DuckDBPyConnection) -> None:
    for setting in (
        f"memory_limit = '{MEMORY_LIMIT}'",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "enable_external_access = false",
        "python_enable_replacements = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")


def _check_single(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
    count = len(connection.extract_statements(statement))
    if count != 1:
        raise QueryError(f"{count} SQL statements given, exactly one can be answered")


def _deals(storage: LocalStorage, parts: Sequence[str]) -> Any:
    schema = _schema(DEAL_COLUMNS)
    if not parts:
        return pa.Table.from_pylist([], schema=schema)
    files = [storage.local_path(path) for path in parts]
    missing = next((path for path, file in zip(parts, files, strict=True) if not file.is_file()), None)
    if missing is not None:
        raise DamagedError(f"{missing} is missing, and catalog.json names it; `fairway verify` tells more")
    return pyarrow.dataset.dataset([str(file) for file in files], format="parquet", schema=schema)


def _documents(storage: Storage, paths: Sequence[str], columns: Sequence[ViewColumn]) -> Any:
    """A table of documents, one row each; a key that is not there is null."""
    documents = [(path, parse(storage.read(path), path)) for path in paths]
    arrays = [
        pa.array([_cell(path, document, column) for path, document in documents], _TYPES[column.type])
        for column in columns
    ]
    return pa.Table.from_arrays(arrays, schema=_schema(columns))


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


def _values(column: Any) -> list[Any]:
    """Python values of an Arrow column; nanoseconds, which Python's datetime has not, as text."""
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = column.cast(pa.string())
    values: list[Any] = column.to_pylist()
    return values


@contextmanager
def _explained() -> Iterator[None]:
    """Turn DuckDB's errors into ours, with its own words; while a result streams, Arrow wraps them."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        if _UNREADABLE in str(error):
            raise DamagedError(f"{error}; `fairway verify` tells more") from error
        raise QueryError(str(error).strip()) from error
    except RuntimeError as error:
        # DuckDB swallows what a signal's handler raises and says no more than this.
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from error
        raise
