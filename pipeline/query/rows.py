"""The result of a query, streamed in batches: as Python values, as Parquet, or to another process.

Only a few batches are in memory at a time, however many rows there are. This module uses Arrow but not
DuckDB, so a process that only passes rows on need not load DuckDB.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

import pyarrow as pa

from pipeline.errors import QueryError

BATCH_ROWS: Final = 2048  # the size of DuckDB's own batches
MAX_BATCH_BYTES: Final = 16 * 2**20
_ROW_GROUP_BYTES: Final = 32 * 2**20
_OBJECT_BYTES: Final = 64  # approximate size of a Python value and the reference to it


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The result of a statement, as Arrow record batches; it can be read once, by one of the methods."""

    schema: Any
    batches: Iterator[Any]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, not necessarily unique."""
        return tuple(self.schema.names)

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each column is numeric."""
        return tuple(_is_number(field.type) for field in self.schema)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Iterate over the rows as Python values.

        Raises:
            QueryError: the statement fails while it runs, or a value has no Python equivalent.
            DamagedError: a part is damaged.
        """
        for batch in self.batches:
            columns = (_values(*column) for column in zip(self.names, batch.columns, strict=True))
            yield from zip(*columns, strict=True)

    def write_parquet(self, stream: BinaryIO) -> None:
        """Write the rows as one Parquet file.

        Raises:
            QueryError: the statement fails while it runs, or a column has no Parquet type.
            DamagedError: a part is damaged.
        """
        import pyarrow.parquet  # takes longer to load than most queries to run

        try:
            with pyarrow.parquet.ParquetWriter(stream, self.schema) as writer:
                for group in _groups(self.batches):
                    writer.write_table(pa.Table.from_batches(group))
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
            raise QueryError(f"the result cannot be written as Parquet: {error}") from error

    def send(self, stream: BinaryIO) -> None:
        """Send the rows to another process, which reads them with `receive_result`.

        Raises:
            QueryError: the statement fails while it runs, or a row is too large to send.
            DamagedError: a part is damaged.
        """
        with pa.ipc.new_stream(stream, self.schema) as writer:
            for batch in self.batches:
                for piece in _pieces(batch):
                    writer.write_batch(piece)


def receive_result(stream: BinaryIO, check_end: Callable[[], None]) -> QueryResult | None:
    """Receive a result from another process.

    Args:
        stream: output of the other process.
        check_end: called after the last byte, because a truncated stream can look complete; raises the error
            of the other process if there was one.

    Returns:
        The result; None if the statement has no result.
    """
    try:
        reader = pa.ipc.open_stream(stream)
    except (pa.ArrowException, OSError):  # nothing was sent, or not even a complete schema
        check_end()
        return None
    return QueryResult(reader.schema, _received(reader, check_end))


def _received(reader: Any, check_end: Callable[[], None]) -> Iterator[Any]:
    try:
        yield from reader
    except (pa.ArrowException, OSError) as error:
        check_end()
        raise QueryError(f"the result is truncated: {error}") from error
    check_end()


def _groups(batches: Iterator[Any]) -> Iterator[list[Any]]:
    """Group batches into row groups of a reasonable size."""
    group: list[Any] = []
    size = 0
    for batch in batches:
        group.append(batch)
        size += batch.nbytes
        if size >= _ROW_GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _pieces(batch: Any) -> Iterator[Any]:
    """Split a batch into pieces that the receiver can hold as Python values."""
    size = sum(_unfolded_bytes(column) for column in batch.columns)
    if size <= MAX_BATCH_BYTES:
        yield batch
    elif batch.num_rows > 1:
        half = batch.num_rows // 2
        yield from _pieces(batch.slice(0, half))
        yield from _pieces(batch.slice(half))
    else:
        raise QueryError(
            f"a row of the result has {size:,} bytes, more than {MAX_BATCH_BYTES:,}; select fewer columns"
        )


def _unfolded_bytes(values: Any) -> int:
    """Approximate size of Arrow values in Python; a text that Arrow stores once counts for each value."""
    kind, own = values.type, len(values) * _OBJECT_BYTES
    if pa.types.is_dictionary(kind):
        return own + len(values) * _longest_bytes(values.dictionary)
    if pa.types.is_union(kind):
        return own + sum(_unfolded_bytes(values.field(n)) for n in range(kind.num_fields))
    if pa.types.is_struct(kind):
        return own + sum(_unfolded_bytes(field) for field in values.flatten())
    if pa.types.is_map(kind):
        first, end = (values.offsets[at].as_py() for at in (0, -1))
        return own + sum(
            _unfolded_bytes(half.slice(first, end - first)) for half in (values.keys, values.items)
        )
    if pa.types.is_nested(kind):
        return own + _unfolded_bytes(values.flatten())
    return own + int(values.nbytes)


def _longest_bytes(texts: Any) -> int:
    import pyarrow.compute  # rarely needed

    return pyarrow.compute.max(pyarrow.compute.binary_length(texts)).as_py() or 0


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _values(name: str, column: Any) -> list[Any]:
    """Python values of an Arrow column; times in nanoseconds, which Python lacks, as text."""
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = column.cast(pa.string())
    try:
        values: list[Any] = column.to_pylist()
    except (ValueError, OverflowError) as error:  # such as a date before the year 1, or infinity
        raise QueryError(f"a value of {name!r} cannot be shown: {error}; cast it to VARCHAR") from error
    return values
