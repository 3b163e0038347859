"""Parts as Parquet files: their Arrow schema, and one way to write and read them.

The bytes of a part depend on its rows, on `pipeline.versions` and on the version of pyarrow, on nothing else.
"""

import io
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet

from pipeline.deals.columns import COLUMNS, FLOAT64, FLOATS, INT8, TEXT, UINT64, Row
from pipeline.errors import CheckError, DamagedError, VersionError
from pipeline.versions import PART_VERSIONS

ROW_GROUP_ROWS: Final = 10_000

_NUMBER_COLUMN: Final = 1
_VERSION_PREFIX: Final = "fairway."
_TYPES: Final = {
    TEXT: pa.string(),
    UINT64: pa.uint64(),
    INT8: pa.int8(),
    FLOAT64: pa.float64(),
    FLOATS: pa.list_(pa.float64()),
}

# Everything besides the rows that determines the bytes. A change here changes every new part.
_WRITER: Final = {
    "version": "2.6",
    "data_page_version": "1.0",
    "compression": "zstd",
    "compression_level": 3,
    "row_group_size": ROW_GROUP_ROWS,
    "use_dictionary": ["level", "rules"],
    "write_statistics": True,
    "sorting_columns": [pyarrow.parquet.SortingColumn(_NUMBER_COLUMN)],
    "store_schema": True,
}


DEALS_SCHEMA: Final = pa.schema(
    [
        pa.field(
            column.name,
            _TYPES[column.type],
            nullable=False,
            metadata={"description": column.description, "unit": column.unit},
        )
        for column in COLUMNS
    ],
    metadata={f"{_VERSION_PREFIX}{name}": str(version) for name, version in PART_VERSIONS.items()},
)
"""Types, descriptions and units of all columns, with the versions that new parts carry."""


def pyarrow_version() -> str:
    """Return the version of pyarrow that writes parts here."""
    version: str = pa.__version__
    return version


def part_bytes(rows: Sequence[Row]) -> bytes:
    """Return rows, by ascending deal number, as the Parquet file of a part.

    Raises:
        CheckError: the deal numbers are not ascending.
    """
    for before, after in pairwise(rows):
        if after.deal_number <= before.deal_number:
            raise CheckError(f"deal {after.deal_number} follows {before.deal_number} in the rows of a part")
    return table_bytes(table_of(rows))


def table_bytes(table: Any) -> bytes:
    """Return a table of `DEALS_SCHEMA`, by ascending deal number, as the Parquet file of a part."""
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream, **_WRITER)
    return stream.getvalue()


def table_of(rows: Sequence[Row]) -> Any:
    """Return rows as an Arrow table of `DEALS_SCHEMA`."""
    columns = zip(COLUMNS, zip(*(row.values for row in rows), strict=True), strict=True)
    arrays = [pa.array(values, _TYPES[column.type]) for column, values in columns]
    return pa.Table.from_arrays(arrays, schema=DEALS_SCHEMA)


def joined(tables: Sequence[Any]) -> Any:
    """Return the rows of parts, or of slices of them, as one table of `DEALS_SCHEMA`.

    The field metadata that reading Parquet adds is dropped, so that the same rows give the same bytes again.
    """
    whole = pa.concat_tables(tables).combine_chunks()
    return pa.Table.from_arrays(whole.columns, schema=DEALS_SCHEMA)


def read_part(data: bytes, path: str, columns: Sequence[str] | None = None) -> Any:
    """Return the content of a part as an Arrow table.

    Only this thread reads it. A thread of Arrow's own may still use the bytes when the process ends, and
    crash it; for a part that fits in memory it would save no time.

    Raises:
        VersionError: a newer Fairway wrote the file.
        DamagedError: it is not a Parquet file, or its columns are not those of `deals`.
    """
    try:
        file = pyarrow.parquet.ParquetFile(io.BytesIO(data), pre_buffer=False)
        found = file.schema_arrow
        _check_columns(found, path)
        table: Any = file.read(columns=columns, use_threads=False)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as fault:  # depends on where the fault is
        first_line = str(fault).partition("\n")[0]
        raise DamagedError(f"{path} is damaged: it is not readable Parquet ({first_line})") from fault
    return table


def versions_in(schema: Any) -> dict[str, int]:
    """Return the versions in the metadata of a part's schema, without those that are not numbers."""
    texts = [[text.decode(errors="replace") for text in pair] for pair in (schema.metadata or {}).items()]
    return {
        key.removeprefix(_VERSION_PREFIX): int(value)
        for key, value in texts
        if key.startswith(_VERSION_PREFIX) and value.isdecimal()
    }


def _check_columns(schema: Any, path: str) -> None:
    version = versions_in(schema).get("schema", 0)
    if version > PART_VERSIONS["schema"]:
        raise VersionError(
            f"{path} has schema {version}, but this Fairway reads up to {PART_VERSIONS['schema']}; upgrade it"
        )
    if not schema.equals(DEALS_SCHEMA):
        wrong = [column.name for column in COLUMNS if column.name not in schema.names]
        detail = f"without {', '.join(wrong)}" if wrong else "other types or additional columns"
        raise DamagedError(f"{path} is damaged: its columns are not those of deals ({detail})")
