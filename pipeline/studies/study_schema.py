"""The counts of a study as Parquet, one row per block of deal numbers.

The files share neither columns nor versions nor writer options with the parts of the pools, so they have a
module of their own. Their bytes depend on the blocks, on `pipeline.versions` and on the version of pyarrow.
"""

import io
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet

from pipeline.errors import DamagedError
from pipeline.studies.winnability import Block, Study, joined
from pipeline.versions import STUDY_VERSIONS
from solver.errors import UsageError
from solver.table.score import CLEARED_SCORES, SCORE_COUNT

_VERSION_PREFIX: Final = "fairway."

# Every option that affects the bytes. No hash of these files is stored, so the checksums detect damage.
_WRITER: Final = {
    "version": "2.6",
    "data_page_version": "1.0",
    "compression": "zstd",
    "compression_level": 3,
    "write_page_checksum": True,
    "store_schema": True,
}


def _field(name: str, kind: Any, description: str, unit: str) -> Any:
    return pa.field(name, kind, nullable=False, metadata={"description": description, "unit": unit})


BLOCKS_SCHEMA: Final = pa.schema(
    [
        _field("rules", pa.string(), "Which ranks may be played on a King and an Ace", "name as in PySolFC"),
        _field(
            "fewest",
            pa.bool_(),
            "Whether the fewest cards left were found where a deal cannot be cleared",
            "true or false",
        ),
        _field("first", pa.uint64(), "First deal number of the block", "number from 0 to 2^63 - 1"),
        _field("count", pa.uint32(), "Consecutive deal numbers in the block", "deals"),
        _field("cleared", pa.uint32(), "Of these, how many can be cleared", "deals"),
        _field(
            "scores",
            pa.list_(pa.uint32()),
            "How many have each of the best scores -16 .. 35, in that order; null from 1 on without fewest",
            "deals",
        ),
    ],
    metadata={f"{_VERSION_PREFIX}{name}": str(version) for name, version in STUDY_VERSIONS.items()},
)
"""Types, descriptions and units of all columns, and the versions that are written to new files."""


def blocks_bytes(blocks: Sequence[Block]) -> bytes:
    """Return blocks as a Parquet file, in the order given."""
    table = pa.Table.from_pylist([_row(block) for block in blocks], schema=BLOCKS_SCHEMA)
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream, **_WRITER)
    return stream.getvalue()


def read_blocks(data: bytes, path: str) -> tuple[Block, ...]:
    """Read the blocks in a Parquet file.

    Raises:
        DamagedError: the file is not Parquet, its columns or versions are not those of a study, or the counts
            do not add up.
    """
    try:
        # Read in this thread: a thread of Arrow that is running when the process ends can crash it.
        file = pyarrow.parquet.ParquetFile(
            io.BytesIO(data), page_checksum_verification=True, pre_buffer=False
        )
        found = file.schema_arrow
        if not found.equals(BLOCKS_SCHEMA) or found.metadata != BLOCKS_SCHEMA.metadata:
            raise DamagedError(
                f"{path} does not hold the counts of a study in the format of this version of Fairway"
            )
        table = file.read(use_threads=False)
        table.validate(full=True)
        return tuple(_blocks(table))
    except (pa.ArrowException, OSError, ValueError, UsageError) as fault:
        first_line = str(fault).partition("\n")[0]
        raise DamagedError(f"{path} is damaged: {first_line}") from fault


def read_whole(data: bytes, path: str) -> Block:
    """Read a Parquet file whose blocks make up one study, and add up their counts.

    Raises:
        DamagedError: see `read_blocks`; or the blocks are not consecutive.
    """
    blocks = read_blocks(data, path)
    try:
        return joined(blocks)
    except ValueError as fault:
        raise DamagedError(f"{path} does not hold one study: {fault}") from fault


def _row(block: Block) -> dict[str, object]:
    study = block.study
    known = block.scores if study.fewest else block.scores[:CLEARED_SCORES]
    return {
        "rules": study.rules,
        "fewest": study.fewest,
        "first": study.first,
        "count": study.count,
        "cleared": block.cleared,
        "scores": [*known, *[None] * (SCORE_COUNT - len(known))],
    }


def _blocks(table: Any) -> Iterator[Block]:
    for row in table.to_pylist():
        study = Study(row["rules"], row["fewest"], row["first"], row["count"])
        block = Block(study, row["cleared"], tuple(count or 0 for count in row["scores"]))
        if _row(block) != row:
            raise ValueError(f"the counts from number {study.first} on contradict one another")
        yield block
