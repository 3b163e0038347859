"""A part contains what was certified, describes its columns, and has the same bytes each time."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.deals.batches import certify_batch
from pipeline.deals.columns import COLUMNS, Row
from pipeline.deals.levels import LEVELS, POLICIES_V1
from pipeline.errors import CheckError, DamagedError
from pipeline.pools.parquet import DEALS_SCHEMA, part_bytes, part_schema, read_part, table_of, versions_in
from pipeline.versions import EARLIER_PART_VERSIONS, PART_VERSIONS
from tests.support.doubles import fake_row
from tests.support.pools import logical_hash
from tests.support.reference import REFERENCE

SCHEMA = part_schema(PART_VERSIONS, LEVELS["medium"].policy)
FROZEN = json.loads((REFERENCE / "frozen_v1.json").read_text())["deals"]

# SHA-256 over the rows that medium's numbers 0 .. 29 give: the content of a part, frozen.
MEDIUM_HASH = "da36e8edcab3bd0c0454dfab03cfbd2235b8042d8c13f1d315fc9bef2679654b"
EARLIER_HASH = "f2ea42e20f6e817739cedaf45911af441bd5d83ba03ac76877a3813027774f45"  # without its last columns


@pytest.fixture(scope="module")
def rows() -> tuple[Row, ...]:
    return certify_batch(LEVELS["medium"], 0, 30).rows


@pytest.fixture(scope="module")
def data(rows: tuple[Row, ...]) -> bytes:
    return part_bytes(rows, SCHEMA)


def test_a_part_describes_its_columns_and_has_the_versions_that_made_it(data: bytes) -> None:
    schema = pyarrow.parquet.read_schema(io.BytesIO(data))
    for column in COLUMNS:
        metadata = schema.field(column.name).metadata
        assert metadata[b"description"].decode() == column.description
        assert metadata[b"unit"].decode() == column.unit
        assert column.description
        assert column.unit
    assert versions_in(schema) == PART_VERSIONS
    assert set(PART_VERSIONS) == {*EARLIER_PART_VERSIONS, "varied", "difficulty"}


def test_metadata_that_is_not_text_is_not_a_version() -> None:
    schema = DEALS_SCHEMA.with_metadata({b"fairway.par": b"\xff", b"\xff": b"1", b"fairway.line": b"1"})
    assert versions_in(schema) == {"line": 1}


def test_a_part_round_trips(rows: tuple[Row, ...], data: bytes) -> None:
    read = read_part(data, "part").to_pylist()
    assert len(read) == len(rows) > 10
    for found, row in zip(read, rows, strict=True):
        assert tuple(found.values()) == row.values
        named = (found["deal_number"], found["puzzle_id"], found["par"])
        assert named == (row.deal_number, row.puzzle_id, row.par)


def test_a_part_holds_the_frozen_values(data: bytes) -> None:
    read = {row["deal_number"]: row for row in read_part(data, "part").to_pylist()}
    expected = [deal for deal in FROZEN if int(deal["deal_number"]) < 30 and deal["golf"]["admitted_by"]]
    assert expected
    for deal in expected:
        found, golf = read[int(deal["deal_number"])], deal["golf"]
        assert (found["puzzle_id"], found["deal"]) == (deal["puzzle_id"], deal["deal"])
        for key in ("best_score", "line", "par", "steady_p10", "steady_p50", "steady_p90"):
            assert found[key] == golf[key]
        for key in ("steady_mean", "steady_sd", "steady_clear_rate"):
            assert found[key] == pytest.approx(golf[key], abs=1e-12)
        assert found["steady_scores"] == [int(mass) / 2**60 for mass in golf["steady_mass"]]


def test_the_content_of_a_part_is_frozen(data: bytes) -> None:
    assert logical_hash(read_part(data, "part")) == MEDIUM_HASH


def test_a_part_of_schema_version_1_is_made_as_it_was(rows: tuple[Row, ...]) -> None:
    policy = POLICIES_V1["medium"]
    table = read_part(part_bytes(rows, part_schema(EARLIER_PART_VERSIONS, policy)), "part")
    assert logical_hash(table) == EARLIER_HASH
    assert versions_in(table.schema) == EARLIER_PART_VERSIONS
    assert set(DEALS_SCHEMA.names) - set(table.schema.names) == {"scoring", "clear_chance", "difficulty"}


def test_a_part_has_the_whole_policy_of_its_level(data: bytes) -> None:
    metadata = read_part(data, "part").schema.metadata
    policy = LEVELS["medium"].policy
    assert json.loads(metadata[b"fairway.policy_document"]) == policy.document
    assert metadata[b"fairway.policy_sha256"].decode() == policy.sha256


def test_the_same_rows_give_the_same_bytes(rows: tuple[Row, ...], data: bytes) -> None:
    assert part_bytes(list(rows), SCHEMA) == data


@pytest.mark.system
def test_the_file_is_laid_out_as_fixed() -> None:
    file = pyarrow.parquet.ParquetFile(
        io.BytesIO(part_bytes([fake_row("easy", n) for n in range(10_001)], SCHEMA))
    )
    groups = [file.metadata.row_group(n) for n in range(file.metadata.num_row_groups)]
    assert [group.num_rows for group in groups] == [10_000, 1]
    number = groups[0].column(1)
    assert groups[0].sorting_columns == (pyarrow.parquet.SortingColumn(1),)
    assert (number.path_in_schema, number.compression) == ("deal_number", "ZSTD")
    assert (number.statistics.min, number.statistics.max) == (0, 9_999)


def test_nothing_of_the_machine_is_in_a_part(data: bytes) -> None:
    metadata = pyarrow.parquet.read_metadata(io.BytesIO(data))
    assert {key.decode() for key in metadata.metadata} == {
        *(f"fairway.{name}" for name in PART_VERSIONS),
        "fairway.policy_sha256",
        "fairway.policy_document",
        "ARROW:schema",
    }


@pytest.mark.parametrize("numbers", [(2, 1), (1, 1)])
def test_rows_out_of_order_are_never_written(numbers: tuple[int, ...]) -> None:
    with pytest.raises(CheckError, match="in the rows of a part"):
        part_bytes([fake_row("easy", number) for number in numbers], SCHEMA)


def written(table: Any) -> bytes:
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream)
    return stream.getvalue()


def test_a_file_that_is_not_a_part_is_refused_by_name(data: bytes) -> None:
    table = table_of([fake_row("easy", 5)], SCHEMA)
    newer = {**table.schema.metadata, b"fairway.schema": b"3"}
    cases = {
        "it is not readable Parquet": [b"", b"PAR1", data[:-1], data[: len(data) // 2], b"x" * 1000],
        "without par": [written(table.drop_columns(["par"]))],
        "other types or additional columns": [
            written(table.append_column("more", pa.array([1]))),
            written(table.set_column(5, "par", pa.array([3], pa.int8()))),
        ],
        "has schema 3, but this Fairway reads up to 2;": [written(table.replace_schema_metadata(newer))],
    }
    for message, files in cases.items():
        for file in files:
            with pytest.raises(DamagedError, match=f"^deals/x .*{message}") as caught:
                read_part(file, "deals/x")
            assert "\n" not in str(caught.value)


FAKE_PART = part_bytes([fake_row("easy", number) for number in range(9)], SCHEMA)


@given(st.integers(0, len(FAKE_PART) - 1), st.integers(1, 255))
def test_no_flipped_byte_makes_reading_fail_otherwise(place: int, change: int) -> None:
    text = bytearray(FAKE_PART)
    text[place] ^= change
    try:
        table = read_part(bytes(text), "part")
    except DamagedError:
        return
    assert len(table.to_pylist()) == table.num_rows


THREADS = """
import os, sys
from pipeline.pools.parquet import read_part
before = os.listdir("/proc/self/task")
assert read_part(sys.stdin.buffer.read(), "part").num_rows
assert os.listdir("/proc/self/task") == before
"""


@pytest.mark.system
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not list its threads")
def test_reading_a_part_starts_no_thread_that_could_outlive_the_program(data: bytes) -> None:
    subprocess.run([sys.executable, "-c", THREADS], input=data, check=True)
