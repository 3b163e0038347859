"""The answer to a question: rows that come in batches, to Python values, to Parquet, or to another process.

No more than a few batches are held at a time, however many rows there are. It knows Arrow, and not DuckDB, so
that a process which only hands rows on need not load it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

import pyarrow as pa

from pipeline.errors import QueryError

BATCH_ROWS: Final = 2048  # as many as DuckDB works on at a time
MOST_BATCH_BYTES: Final = 16 * 2**20
_ROW_GROUP_BYTES: Final = 32 * 2**20
_OBJECT_BYTES: Final = 64  # about what Python takes for a value and the reference to it


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a statement, read as it comes; it lives as long as what answers.

    Attributes:
        schema: the columns as Arrow has them.
        batches: the rows as Arrow has them; they can be read once, by one of the methods.
    """

    schema: Any
    batches: Iterator[Any]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, left to right; two may have one name."""
        return tuple(self.schema.names)

    @property
    def numeric(self) -> tuple[bool, ...]:
        """For each column, whether it holds numbers."""
        return tuple(_is_number(field.type) for field in self.schema)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows as Python values.

        Raises:
            QueryError: the statement fails while it runs, or a value is none that Python has.
            DamagedError: a part is not what it must be.
        """
        for batch in self.batches:
            columns = (_values(*column) for column in zip(self.names, batch.columns, strict=True))
            yield from zip(*columns, strict=True)

    def write_parquet(self, stream: BinaryIO) -> None:
        """Write the rows as one Parquet file.

        Raises:
            QueryError: the statement fails while it runs, or its columns cannot be Parquet.
            DamagedError: a part is not what it must be.
        """
        import pyarrow.parquet  # it takes longer to load than most questions to answer

        try:
            with pyarrow.parquet.ParquetWriter(stream, self.schema) as writer:
                for group in _groups(self.batches):
                    writer.write_table(pa.Table.from_batches(group))
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
            raise QueryError(f"this result cannot be written as Parquet: {error}") from error

    def send(self, stream: BinaryIO) -> None:
        """Write the rows for another process, which reads them with `received`.

        Raises:
            QueryError: the statement fails while it runs, or one of its rows is too large to be handed on.
            DamagedError: a part is not what it must be.
        """
        with pa.ipc.new_stream(stream, self.schema) as writer:
            for batch in self.batches:
                for piece in _pieces(batch):
                    writer.write_batch(piece)


def received(stream: BinaryIO, end: Callable[[], None]) -> Answer | None:
    """An answer that another process sends.

    Args:
        stream: where it comes from.
        end: called after the last byte, because a stream that was cut off can look whole; raises what stopped
            the other process.

    Returns:
        The answer; None where there is no result.
    """
    try:
        reader = pa.ipc.open_stream(stream)
    except (pa.ArrowException, OSError):  # nothing came, or not even all of the columns
        end()
        return None
    return Answer(reader.schema, _received(reader, end))


def _received(reader: Any, end: Callable[[], None]) -> Iterator[Any]:
    try:
        yield from reader
    except (pa.ArrowException, OSError) as error:
        end()
        raise QueryError(f"the answer was cut off: {error}") from error
    end()


def _groups(batches: Iterator[Any]) -> Iterator[list[Any]]:
    """Batches together until they are worth a row group."""
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
    """A batch as pieces small enough for whoever receives them."""
    size = sum(_unfolded_bytes(column) for column in batch.columns)
    if size <= MOST_BATCH_BYTES:
        yield batch
    elif batch.num_rows > 1:
        half = batch.num_rows // 2
        yield from _pieces(batch.slice(0, half))
        yield from _pieces(batch.slice(half))
    else:
        raise QueryError(
            f"a row of this result takes {size:,} bytes, more than {MOST_BATCH_BYTES:,}; ask for less"
        )


def _unfolded_bytes(values: Any) -> int:
    """What Arrow values take as Python has them: a text that Arrow holds once counts wherever it stands."""
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
    import pyarrow.compute  # few results need it

    return pyarrow.compute.max(pyarrow.compute.binary_length(texts)).as_py() or 0


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _values(name: str, column: Any) -> list[Any]:
    """Python values of an Arrow column; nanoseconds, which Python's datetime has not, as text."""
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = column.cast(pa.string())
    try:
        values: list[Any] = column.to_pylist()
    except (ValueError, OverflowError) as error:  # such as a date before the year 1, or infinity
        raise QueryError(f"a value of {name!r} cannot be shown: {error}; cast it to VARCHAR") from error
    return values
