"""Parts as Parquet files: their Arrow schema, and one way to write and read them.

The bytes of a part depend on its rows, its versions, its level's policy and the version of pyarrow, on
nothing else.
"""

import io
import json
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet

from pipeline.deals.columns import ADDED_IN_V2, COLUMNS, FLOAT64, FLOATS, INT8, INT16, TEXT, UINT64, Row
from pipeline.deals.levels import Policy
from pipeline.errors import CheckError, DamagedError, VersionError
from pipeline.versions import EARLIER_PART_VERSIONS, PART_VERSIONS

ROW_GROUP_ROWS: Final = 10_000

_NUMBER_COLUMN: Final = 1
_VERSION_PREFIX: Final = "fairway."
_TYPES: Final = {
    TEXT: pa.string(),
    UINT64: pa.uint64(),
    INT8: pa.int8(),
    INT16: pa.int16(),
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
    "use_dictionary": ["level", "rules", "scoring"],
    "write_statistics": True,
    "sorting_columns": [pyarrow.parquet.SortingColumn(_NUMBER_COLUMN)],
    "store_schema": True,
}


@cache
def _deals_schema(earlier: bool) -> Any:
    """Types, descriptions and units of all columns, as they are or as they were in schema version 1."""
    kept = [column for column in COLUMNS if not (earlier and column.name in ADDED_IN_V2)]
    types = {**_TYPES, INT16: pa.int8()} if earlier else _TYPES
    return pa.schema(
        [
            pa.field(
                column.name,
                types[column.type],
                nullable=False,
                metadata={"description": column.description, "unit": column.unit},
            )
            for column in kept
        ]
    )


DEALS_SCHEMA: Final = _deals_schema(earlier=False)
"""Types, descriptions and units of all columns, without the metadata of a part."""


def part_schema(versions: Mapping[str, int], policy: Policy) -> Any:
    """Return the schema of a part: its columns, and as metadata its versions and its level's policy."""
    earlier = versions["schema"] == EARLIER_PART_VERSIONS["schema"]
    texts = {name: str(version) for name, version in versions.items()}
    if not earlier:
        texts |= {"policy_sha256": policy.sha256, "policy_document": json.dumps(policy.document)}
    return _deals_schema(earlier).with_metadata(
        {f"{_VERSION_PREFIX}{name}": text for name, text in texts.items()}
    )


def pyarrow_version() -> str:
    """Return the version of pyarrow that writes parts here."""
    version: str = pa.__version__
    return version


def part_bytes(rows: Sequence[Row], schema: Any) -> bytes:
    """Return rows, by ascending deal number, as the Parquet file of a part with this `part_schema`.

    Raises:
        CheckError: the deal numbers are not ascending.
    """
    for before, after in pairwise(rows):
        if after.deal_number <= before.deal_number:
            raise CheckError(f"deal {after.deal_number} follows {before.deal_number} in the rows of a part")
    return table_bytes(table_of(rows, schema))


def table_bytes(table: Any) -> bytes:
    """Return a table of a `part_schema`, by ascending deal number, as the Parquet file of a part."""
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream, **_WRITER)
    return stream.getvalue()


def table_of(rows: Sequence[Row], schema: Any) -> Any:
    """Return rows as an Arrow table of a `part_schema`."""
    names = [column.name for column in COLUMNS]
    values = dict(zip(names, zip(*(row.values for row in rows), strict=True), strict=True))
    return pa.Table.from_arrays([pa.array(values[field.name], field.type) for field in schema], schema=schema)


def joined(tables: Sequence[Any], schema: Any) -> Any:
    """Return the rows of parts of one `part_schema`, or of slices of them, as one table.

    The field metadata that reading Parquet adds is dropped, so that the same rows give the same bytes again.
    """
    whole = pa.concat_tables(tables).combine_chunks()
    return pa.Table.from_arrays(whole.columns, schema=schema)


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


def policy_hash_in(schema: Any) -> str | None:
    """Return the hash of the policy in the metadata of a part's schema; None if there is none."""
    found: bytes | None = (schema.metadata or {}).get(f"{_VERSION_PREFIX}policy_sha256".encode())
    return None if found is None else found.decode(errors="replace")


def _check_columns(schema: Any, path: str) -> None:
    version = versions_in(schema).get("schema", 0)
    if version > PART_VERSIONS["schema"]:
        raise VersionError(
            f"{path} has schema {version}, but this Fairway reads up to {PART_VERSIONS['schema']}; upgrade it"
        )
    expected = _deals_schema(version == EARLIER_PART_VERSIONS["schema"])
    if not schema.equals(expected):
        wrong = [name for name in expected.names if name not in schema.names]
        detail = f"without {', '.join(wrong)}" if wrong else "other types or additional columns"
        raise DamagedError(f"{path} is damaged: its columns are not those of deals ({detail})")
