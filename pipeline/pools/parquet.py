"""The columns of `deals`, and parts as bytes: one way to write Parquet, one to read it, one to hash its rows.

The only module, with `query`, that knows Arrow. The bytes of a part depend on its rows, on
`pipeline.versions` and on the version of pyarrow; on nothing of the machine.
"""

import hashlib
import io
import json
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

# All that decides how rows become bytes, beside the rows themselves. A change here changes every new part.
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
"""Types, descriptions and units of all columns, with the versions that a part written now carries."""


def pyarrow_version() -> str:
    """The version of pyarrow that writes parts here."""
    version: str = pa.__version__
    return version


def part_bytes(rows: Sequence[Row]) -> bytes:
    """Deals as the Parquet file of a part.

    Args:
        rows: ascending in their deal numbers.

    Raises:
        CheckError: they are not.
    """
    for before, after in pairwise(rows):
        if after.deal_number <= before.deal_number:
            raise CheckError(
                f"deal {after.deal_number} comes after {before.deal_number} in the rows of a part"
            )
    return table_bytes(table_of(rows))


def table_bytes(table: Any) -> bytes:
    """A table of `DEALS_SCHEMA`, ascending in its deal numbers, as the Parquet file of a part."""
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream, **_WRITER)
    return stream.getvalue()


def table_of(rows: Sequence[Row]) -> Any:
    """Deals as an Arrow table of `DEALS_SCHEMA`."""
    columns = zip(COLUMNS, zip(*(row.values for row in rows), strict=True), strict=True)
    arrays = [pa.array(values, _TYPES[column.type]) for column, values in columns]
    return pa.Table.from_arrays(arrays, schema=DEALS_SCHEMA)


def joined(tables: Sequence[Any]) -> Any:
    """The rows of whole parts, or of slices of them, as one table of `DEALS_SCHEMA`.

    What Parquet adds to the metadata of the fields when it is read does not come along, so that the same rows
    become the same bytes again.
    """
    whole = pa.concat_tables(tables).combine_chunks()
    return pa.Table.from_arrays(whole.columns, schema=DEALS_SCHEMA)


def read_part(data: bytes, path: str, columns: Sequence[str] | None = None) -> Any:
    """The Arrow table in the Parquet file of a part.

    It is read in this thread alone. One of Arrow's own may still hold the file's bytes when the process ends,
    and bring it down; and where a part fits into memory it gains nothing.

    Args:
        data: the file.
        path: where it lies, for messages.
        columns: which columns to read; None for all.

    Raises:
        DamagedError: it is no Parquet file, is from a newer Fairway, or its columns are not those of `deals`.
    """
    try:
        file = pyarrow.parquet.ParquetFile(io.BytesIO(data), pre_buffer=False)
        found = file.schema_arrow
        _check_columns(found, path)
        table: Any = file.read(columns=columns, use_threads=False)
        table.validate(full=True)
    except (
        pa.ArrowException,
        OSError,
        ValueError,
    ) as fault:  # what pyarrow raises depends on where the fault is
        first_line = str(fault).partition("\n")[0]
        raise DamagedError(f"{path} is damaged: no readable Parquet ({first_line})") from fault
    return table


def versions_in(schema: Any) -> dict[str, int]:
    """Versions that the metadata of a part's schema carry; what is no number is left out."""
    texts = [[text.decode(errors="replace") for text in pair] for pair in (schema.metadata or {}).items()]
    return {
        key.removeprefix(_VERSION_PREFIX): int(value)
        for key, value in texts
        if key.startswith(_VERSION_PREFIX) and value.isdecimal()
    }


def logical_hash(table: Any) -> str:
    """SHA-256 over the rows, whatever version of pyarrow wrote them and however they are cut into files.

    Each row is one line of JSON: an array of its values in the order of `COLUMNS`, without blanks, floats
    with the fewest digits that read back the same.

    Returns:
        64 hex digits.
    """
    digest = hashlib.sha256()
    for batch in table.select([column.name for column in COLUMNS]).to_batches():
        values = [column.to_pylist() for column in batch.columns]
        for row in zip(*values, strict=True):
            digest.update(json.dumps(row, separators=(",", ":")).encode("ascii") + b"\n")
    return digest.hexdigest()


def _check_columns(schema: Any, path: str) -> None:
    version = versions_in(schema).get("schema", 0)
    if version > PART_VERSIONS["schema"]:
        raise VersionError(
            f"{path} is of schema {version}, this Fairway reads {PART_VERSIONS['schema']}: upgrade it"
        )
    if not schema.equals(DEALS_SCHEMA):
        wrong = [column.name for column in COLUMNS if column.name not in schema.names]
        detail = f"without {', '.join(wrong)}" if wrong else "other types or further columns"
        raise DamagedError(f"{path} is damaged: its columns are not those of deals ({detail})")
