"""The data behind the views: parts as an Arrow dataset, JSON documents as an Arrow stream.

DuckDB requests columns and passes on its filters, and Arrow opens the files. Nothing is read before that.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any, Final

import pyarrow as pa
import pyarrow.dataset

from pipeline.errors import DamagedError
from pipeline.pools.catalog import Catalog, Part
from pipeline.query.views import DEAL_COLUMNS, LEVEL_COUNTS, ViewColumn
from pipeline.store.documents import parse
from pipeline.store.storage import LocalStorage, Storage
from solver.errors import FairwayError

_BYTES_AT_ONCE: Final = 60_000_000  # approximate memory for reading
_WIDE: Final = {"steady_scores": 424, "deal": 176, "line": 60, "puzzle_id": 20}  # approximate bytes per row
_NARROW: Final = 9  # bytes per row of any other column
_REPEATED: Final = ("level", "rules")  # few distinct texts in many rows: passed on as dictionaries
_TYPES: Final = {
    "VARCHAR": pa.string(),
    "UBIGINT": pa.uint64(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "DOUBLE[]": pa.list_(pa.float64()),
    "BOOLEAN": pa.bool_(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"),
    LEVEL_COUNTS: pa.list_(
        pa.struct(
            [
                ("level", pa.string()),
                *((name, pa.int64()) for name in ("sampled", "cleared", "admitted", "written")),
            ]
        )
    ),
}


class Deals(pyarrow.dataset.FileSystemDataset):  # type: ignore[misc]  # pyarrow ships no types
    """The parts as one dataset, which is read a few parts at a time.

    Arrow by itself reads ahead up to a gigabyte if the consumer is slower.

    Attributes:
        rows_of: number of rows by file.
        fault: the error if reading failed; DuckDB passes on only parts of its text.
    """

    rows_of: Mapping[str, int]
    fault: FairwayError | None = None

    def scanner(self, columns: Sequence[str] | None = None, filter: Any = None) -> "_Scan":  # noqa: A002 - the name in Arrow
        """Called by DuckDB for each scan of the view."""
        return _Scan(self, columns, filter)


@dataclass(frozen=True, slots=True)
class _Scan:
    """A scan of the parts: columns to read, in this order, and an Arrow expression; None for all."""

    deals: Deals
    columns: Sequence[str] | None
    condition: Any

    def to_reader(self) -> Any:
        """Return a reader like that of Arrow's own scanner."""
        return pa.RecordBatchReader.from_batches(self._schema, self._batches())

    @property
    def _schema(self) -> Any:
        schema = self.deals.schema
        return schema if self.columns is None else pa.schema([schema.field(name) for name in self.columns])

    def _batches(self) -> Iterator[Any]:
        try:
            for group in self._groups():
                yield from self._read(group)
        except pa.ArrowMemoryError:
            raise
        except (pa.ArrowException, OSError) as error:
            self.deals.fault = DamagedError(f"{error}; run `fairway verify` for details")
            raise

    def _read(self, fragments: list[Any]) -> Iterator[Any]:
        deals = self.deals
        some = pyarrow.dataset.FileSystemDataset(fragments, deals.schema, deals.format, deals.filesystem)
        yield from some.scanner(columns=self.columns, filter=self.condition).to_reader()

    def _groups(self) -> Iterator[list[Any]]:
        """Groups of parts that can contain matching rows; the fewer columns, the larger the groups."""
        widths = [_WIDE.get(name, _NARROW) for name in self._schema.names]
        rows_at_once = _BYTES_AT_ONCE // max(sum(widths), _NARROW)
        group, rows = [], 0
        for fragment in self.deals.get_fragments(self.condition):
            group.append(fragment)
            rows += self.deals.rows_of[fragment.path]
            if rows >= rows_at_once:
                yield group
                group, rows = [], 0
        if group:
            yield group


def deals_of(storage: LocalStorage, catalog: Catalog) -> Deals:
    """Return the parts of a catalog as a dataset.

    The catalog has the level and the numbers of each part, so Arrow skips parts without opening them.

    Raises:
        DamagedError: a part is missing.
    """
    system = pa.fs.LocalFileSystem()
    # Reading ahead within a file only helps with slow storage.
    reading = pyarrow.dataset.ParquetFragmentScanOptions(pre_buffer=False)
    kind = pyarrow.dataset.ParquetFileFormat(
        default_fragment_scan_options=reading, dictionary_columns=_REPEATED
    )
    level, number = pyarrow.dataset.field("level"), pyarrow.dataset.field("deal_number")
    fragments, rows_of = [], {}
    for pool in catalog.pools:
        of_level = level == pool.level
        for part in pool.parts:
            file = _file_of(storage, part)
            first, last = (pa.scalar(end, pa.uint64()) for end in (part.first, part.last))
            known = of_level & (number >= first) & (number <= last)
            fragments.append(kind.make_fragment(file, system, partition_expression=known))
            rows_of[file] = part.rows
    deals = Deals(fragments, _deals_schema(), kind, system)
    deals.rows_of = rows_of
    return deals


def _file_of(storage: LocalStorage, part: Part) -> str:
    file = storage.local_path(part.path)
    if not file.is_file():
        raise DamagedError(
            f"{part.path} is missing, but catalog.json names it; run `fairway verify` for details"
        )
    return str(file)


def _deals_schema() -> Any:
    schema = _schema(DEAL_COLUMNS)
    for name in _REPEATED:
        place = schema.get_field_index(name)
        schema = schema.set(place, pa.field(name, pa.dictionary(pa.int32(), pa.string())))
    return schema


@dataclass
class Documents:
    """JSON documents as an Arrow stream, one row per document.

    Attributes:
        storage: the data root.
        paths: of the documents, in the order of the rows.
        columns: the columns to read; a missing key is null.
        fault: see `Deals`.
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
        arrays = [_column(documents, column) for column in self.columns]
        return pa.Table.from_arrays(arrays, schema=_schema(self.columns))


def _column(documents: Sequence[tuple[str, Mapping[str, Any]]], column: ViewColumn) -> Any:
    """Return one column of all documents; only if that fails, each value is looked at for the error."""
    values = [_value(document, column) for _, document in documents]
    try:
        return pa.array([_read(value, column.type) for value in values], _TYPES[column.type])
    except (TypeError, ValueError, pa.ArrowException):
        for (path, _), value in zip(documents, values, strict=True):
            _check(path, value, column)
        raise


def _value(document: Mapping[str, Any], column: ViewColumn) -> Any:
    value: Any = document
    for key in column.path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _check(path: str, value: Any, column: ViewColumn) -> None:
    try:
        pa.scalar(_read(value, column.type), _TYPES[column.type])
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise DamagedError(f"{path}: {'.'.join(column.path)} is not a {column.type}: {error}") from error


def _read(value: Any, kind: str) -> Any:
    """Convert a JSON value to an SQL type; dates and times are texts in JSON."""
    if value is not None and kind == "DATE":
        return date.fromisoformat(value)
    if value is not None and kind == "TIMESTAMP":
        return _utc(datetime.fromisoformat(value))
    return value


def _schema(columns: Sequence[ViewColumn]) -> Any:
    return pa.schema([(column.name, _TYPES[column.type]) for column in columns])


def _utc(moment: datetime) -> datetime:
    """Convert a time to UTC without a time zone, as in DuckDB's TIMESTAMP."""
    return moment.astimezone(UTC).replace(tzinfo=None)
