"""A result is complete and unchanged, or an error: as rows, as Parquet, and sent to another process."""

import io
from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import QueryError
from pipeline.query import rows as answer
from pipeline.query.rows import QueryResult, receive_result


def of(table: Any, rows_each: int = 2) -> QueryResult:
    return QueryResult(table.schema, iter(table.to_batches(max_chunksize=rows_each)))


def sent(table: Any, rows_each: int = 2) -> bytes:
    stream = io.BytesIO()
    of(table, rows_each).send(stream)
    return stream.getvalue()


def fine() -> None:
    """The other process succeeded."""


def failed() -> None:
    raise QueryError("it did not")


def table_of(count: int) -> Any:
    columns = {"a": range(count), "b": [str(n) * (n % 7) or None for n in range(count)]}
    return pa.table(columns, pa.schema([("a", pa.int64()), ("b", pa.string())]))


def asked_of_duckdb(statement: str) -> Any:
    relation = duckdb.sql(statement)
    assert relation is not None
    return relation.to_arrow_table()


@given(st.integers(0, 40), st.integers(1, 9))
def test_a_result_is_received_as_it_was_sent(count: int, rows_each: int) -> None:
    table = table_of(count)
    got = receive_result(io.BytesIO(sent(table, rows_each)), fine)
    assert got is not None
    assert got.names == ("a", "b")
    assert got.numeric == (True, False)
    assert list(got.rows()) == list(zip(*table.to_pydict().values(), strict=True))


def test_every_type_of_duckdb_can_be_sent() -> None:
    table = asked_of_duckdb("from test_all_types()")
    got = receive_result(io.BytesIO(sent(table)), fine)
    assert got is not None
    assert got.schema.equals(table.schema)
    assert pa.Table.from_batches(got.batches).to_string(show_metadata=True) == table.to_string(
        show_metadata=True
    )


@pytest.mark.parametrize("rest", [0, 1, 100, -300, -1])
def test_a_truncated_stream_is_never_a_shorter_result(rest: int) -> None:
    with pytest.raises(QueryError, match="it did not"):
        list_all(receive_result(io.BytesIO(sent(table_of(100))[:rest]), failed))


def test_a_complete_stream_of_a_failed_process_is_an_error() -> None:
    got = receive_result(io.BytesIO(sent(table_of(3))), failed)
    assert got is not None
    rows = got.rows()
    assert [next(rows) for _ in range(3)]
    with pytest.raises(QueryError, match="it did not"):
        next(rows)


def test_a_damaged_stream_of_a_successful_process_is_an_error() -> None:
    with pytest.raises(QueryError, match="the result is truncated"):
        list_all(receive_result(io.BytesIO(sent(table_of(100))[:-300]), fine))


def test_an_empty_stream_is_not_a_result() -> None:
    assert receive_result(io.BytesIO(), fine) is None


def list_all(got: QueryResult | None) -> list[tuple[Any, ...]]:
    assert got is not None
    return list(got.rows())


def test_large_batches_are_sent_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "MAX_BATCH_BYTES", 4000)
    table = pa.table({"a": ["x" * n for n in range(100)], "b": [list(range(n % 9)) for n in range(100)]})
    got = receive_result(io.BytesIO(sent(table, rows_each=100)), fine)
    assert got is not None
    batches = list(got.batches)
    assert max(batch.nbytes for batch in batches) <= 4000
    assert 1 < len(batches) < 30
    assert pa.Table.from_batches(batches).equals(table)


def test_a_row_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "MAX_BATCH_BYTES", 1000)
    with pytest.raises(
        QueryError, match=r"a row of the result has 1,\d\d\d bytes, more than 1,000; select fewer columns"
    ):
        sent(pa.table({"a": ["x", "x" * 1200, "x"]}))


@pytest.mark.parametrize(
    "statement",
    [
        "select 'abc'::enum('abc', 'defgh') from range(3000)",
        "select [x] from (select 'abc'::enum('abc', 'defgh') x from range(3000))",
        "select {'a': 'abc'::enum('abc', 'defgh'), 'b': [n, n]} from range(3000) t(n)",
        "select map {'k': repeat('v', n)} from range(99) t(n)",
        "select list_resize([{}], 3000, {})",
        "select union_value(a := 'abc'::enum('abc', 'defgh')) from range(3000)",
        "select array_value(n, n, n) from range(3000) t(n)",
        "select null, null::enum('a') from range(3000)",
        "select n::text::blob, n::text, n from range(3000) t(n)",
    ],
)
def test_the_size_of_a_piece_is_that_of_its_python_values(statement: str) -> None:
    for batch in asked_of_duckdb(statement).to_batches():
        for column in batch.columns:
            assert answer._unfolded_bytes(column) >= letters_and_values(column.to_pylist())


def letters_and_values(value: Any) -> int:
    """Return a lower bound of a value's bytes: a reference per value in it, and a byte per letter."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return 8 + sum(map(letters_and_values, parts)) + (len(value) if isinstance(value, str | bytes) else 0)


def test_small_batches_are_grouped_into_row_groups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answer, "_ROW_GROUP_BYTES", 2000)
    table = pa.table({"a": range(1000)})
    stream = io.BytesIO()
    of(table).write_parquet(stream)
    file = pyarrow.parquet.ParquetFile(stream)
    assert file.read().equals(table)
    assert file.num_row_groups == 4


def test_parquet_without_rows_has_the_columns() -> None:
    stream = io.BytesIO()
    of(table_of(0)).write_parquet(stream)
    assert pyarrow.parquet.read_table(stream).equals(table_of(0))


def test_dictionaries_that_grow_from_batch_to_batch_are_sent_and_written() -> None:
    kind = pa.dictionary(pa.int8(), pa.string())
    batches = [
        pa.record_batch([pa.array(values, kind)], ["a"]) for values in (["x"], ["y", "x"], [None, "z"])
    ]

    def again() -> Iterator[Any]:
        yield from batches

    stream, parquet = io.BytesIO(), io.BytesIO()
    QueryResult(batches[0].schema, again()).send(stream)
    assert list_all(receive_result(io.BytesIO(stream.getvalue()), fine)) == [
        ("x",),
        ("y",),
        ("x",),
        (None,),
        ("z",),
    ]
    QueryResult(batches[0].schema, again()).write_parquet(parquet)
    assert pyarrow.parquet.read_table(parquet)["a"].to_pylist() == ["x", "y", "x", None, "z"]


@pytest.mark.parametrize("value", ["date '5000000-01-01'", "timestamp 'infinity'", "date '0044-03-15 (BC)'"])
def test_a_value_without_python_equivalent_is_reported_with_a_remedy(value: str) -> None:
    table = asked_of_duckdb(f"select {value} as a")
    with pytest.raises(QueryError, match=r"a value of 'a' cannot be shown: .*; cast it to VARCHAR"):
        list(of(table).rows())


def test_a_type_without_parquet_equivalent_is_reported() -> None:
    table = asked_of_duckdb("select union_value(a := 1) as a")
    with pytest.raises(QueryError, match="the result cannot be written as Parquet"):
        of(table).write_parquet(io.BytesIO())
