"""The counts of a study as Parquet, one row per block of deal numbers, and the findings of a players' study.

The files share neither columns nor versions nor writer options with the parts of the pools, so they have a
module of their own. Their bytes depend on the blocks, on `pipeline.versions` and on the version of pyarrow.
"""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet

from pipeline.errors import DamagedError
from pipeline.studies.players import PlayersFindings
from pipeline.studies.winnability import Block, Study, joined
from pipeline.versions import PLAYERS_STUDY_VERSIONS, STUDY_VERSIONS
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


PLAYERS_SCHEMA: Final = pa.schema(
    [
        _field("rules", pa.string(), "Which ranks may be played on a King and an Ace", "name as in PySolFC"),
        _field("first", pa.uint64(), "First deal number of the study", "number from 0 to 2^63 - 1"),
        _field("count", pa.uint32(), "Consecutive deal numbers in the study", "deals"),
        _field("cleared", pa.uint32(), "Of these, how many can be cleared", "deals"),
        _field("measures", pa.list_(pa.string()), "What was measured of each of those", "names of columns"),
        _field(
            "correlations",
            pa.list_(pa.list_(pa.float64())),
            "Spearman's rank correlation of each measure with each; null if a measure is always the same",
            "number from -1 to 1",
        ),
        _field(
            "difficulties",
            pa.list_(pa.uint32()),
            "How many have each difficulty, 1 to 5, in that order",
            "deals",
        ),
        _field("level", pa.string(), "Level whose range of the steady mean was applied", "name, or empty"),
        _field(
            "level_difficulties",
            pa.list_(pa.uint32()),
            "How many in that range have each difficulty, 1 to 5, in that order",
            "deals",
        ),
        _field(
            "cells",
            pa.list_(pa.list_(pa.int32())),
            "Steady mean in halves of a card; tries for a clear in quarters of a power of ten, at most 40;"
            " how many have both. Both are rounded down",
            "halves, quarters, deals",
        ),
    ],
    metadata={f"{_VERSION_PREFIX}{name}": str(version) for name, version in PLAYERS_STUDY_VERSIONS.items()},
)
"""Types, descriptions and units of all columns of a players' study, which has one row."""


def blocks_bytes(blocks: Sequence[Block]) -> bytes:
    """Return blocks as a Parquet file, in the order given."""
    return _file([_row(block) for block in blocks], BLOCKS_SCHEMA)


def read_blocks(data: bytes, path: str) -> tuple[Block, ...]:
    """Read the blocks in a Parquet file.

    Raises:
        DamagedError: the file is not Parquet, its columns or versions are not those of a study, or the counts
            do not add up.
    """
    with _reading(path):
        return tuple(_blocks(_rows(data, path, BLOCKS_SCHEMA, "the counts of a study")))


def players_bytes(found: PlayersFindings) -> bytes:
    """Return the findings of a players' study as a Parquet file with one row."""
    return _file([_players_row(found)], PLAYERS_SCHEMA)


def read_players(data: bytes, path: str) -> PlayersFindings:
    """Read the findings of a players' study from a Parquet file.

    Raises:
        DamagedError: the file is not Parquet, its columns or versions are not those of a players' study, or
            the counts do not add up.
    """
    with _reading(path):
        rows = _rows(data, path, PLAYERS_SCHEMA, "the findings of a players' study")
        if len(rows) != 1:
            raise ValueError(f"it has {len(rows)} rows instead of one")
        row = rows[0]
        found = PlayersFindings(
            Study(row["rules"], fewest=False, first=row["first"], count=row["count"]),
            tuple(row["measures"]),
            tuple(map(tuple, row["correlations"])),
            tuple(row["difficulties"]),
            row["level"],
            tuple(row["level_difficulties"]),
            tuple((mean, chance, deals) for mean, chance, deals in row["cells"]),
        )
        if _players_row(found) != row:
            raise ValueError("its counts contradict one another")
        return found


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


def _players_row(found: PlayersFindings) -> dict[str, object]:
    return {
        "rules": found.study.rules,
        "first": found.study.first,
        "count": found.study.count,
        "cleared": found.cleared,
        "measures": list(found.measures),
        "correlations": [list(row) for row in found.correlations],
        "difficulties": list(found.difficulties),
        "level": found.level,
        "level_difficulties": list(found.level_difficulties),
        "cells": [list(cell) for cell in found.cells],
    }


def _file(rows: Sequence[dict[str, object]], schema: Any) -> bytes:
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows, schema=schema), stream, **_WRITER)
    return stream.getvalue()


@contextmanager
def _reading(path: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, TypeError, UsageError) as fault:
        first_line = str(fault).partition("\n")[0]
        raise DamagedError(f"{path} is damaged: {first_line}") from fault


def _rows(data: bytes, path: str, schema: Any, what: str) -> list[dict[str, Any]]:
    # Read in this thread: a thread of Arrow that is running when the process ends can crash it.
    file = pyarrow.parquet.ParquetFile(io.BytesIO(data), page_checksum_verification=True, pre_buffer=False)
    found = file.schema_arrow
    if not found.equals(schema) or found.metadata != schema.metadata:
        raise DamagedError(f"{path} does not hold {what} in the format of this version of Fairway")
    table = file.read(use_threads=False)
    table.validate(full=True)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def _blocks(rows: Sequence[dict[str, Any]]) -> Iterator[Block]:
    for row in rows:
        study = Study(row["rules"], row["fewest"], row["first"], row["count"])
        block = Block(study, row["cleared"], tuple(count or 0 for count in row["scores"]))
        if _row(block) != row:
            raise ValueError(f"the counts from number {study.first} on contradict one another")
        yield block
