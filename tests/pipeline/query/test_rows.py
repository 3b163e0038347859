"""An answer comes whole and as it is, or not at all: rows, Parquet, and a stream to another process."""

import io
from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import QueryError
from pipeline.query import rows as answer
from pipeline.query.rows import Answer, received


def of(table: Any, rows_each: int = 2) -> Answer:
    return Answer(table.schema, iter(table.to_batches(max_chunksize=rows_each)))


def sent(table: Any, rows_each: int = 2) -> bytes:
    stream = io.BytesIO()
    of(table, rows_each).send(stream)
    return stream.getvalue()


def fine() -> None:
    """The other process ended well."""


def failed() -> None:
    raise QueryError("it did not")


def table_of(count: int) -> Any:
    columns = {"a": range(count), "b": [str(n) * (n % 7) or None for n in range(count)]}
    return pa.table(columns, pa.schema([("a", pa.int64()), ("b", pa.string())]))


def asked_of_duckdb(statement: str) -> Any:
    relation = duckdb.sql(statement)
    assert relation is not None
    return relation.to_arrow_table()


@settings(deadline=None)
@given(st.integers(0, 40), st.integers(1, 9))
def test_what_is_sent_is_what_is_received(count: int, rows_each: int) -> None:
    table = table_of(count)
    got = received(io.BytesIO(sent(table, rows_each)), fine)
    assert got is not None
    assert got.names == ("a", "b")
    assert got.numeric == (True, False)
    assert list(got.rows()) == list(zip(*table.to_pydict().values(), strict=True))


def test_every_type_of_duckdb_can_be_sent() -> None:
    table = asked_of_duckdb("from test_all_types()")
    got = received(io.BytesIO(sent(table)), fine)
    assert got is not None
    assert got.schema.equals(table.schema)
    assert pa.Table.from_batches(got.batches).to_string(show_metadata=True) == table.to_string(
        show_metadata=True
    )


@pytest.mark.parametrize("rest", [0, 1, 100, -300, -1])
def test_a_stream_that_was_cut_off_is_never_a_shorter_answer(rest: int) -> None:
    with pytest.raises(QueryError, match="it did not"):
        list_all(received(io.BytesIO(sent(table_of(100))[:rest]), failed))


def test_a_whole_stream_of_a_process_that_failed_is_no_answer() -> None:
    got = received(io.BytesIO(sent(table_of(3))), failed)
    assert got is not None
    rows = got.rows()
    assert [next(rows) for _ in range(3)]
    with pytest.raises(QueryError, match="it did not"):
        next(rows)


def test_a_stream_with_a_hole_in_it_is_told_even_if_the_process_ended_well() -> None:
    with pytest.raises(QueryError, match="the answer was cut off"):
        list_all(received(io.BytesIO(sent(table_of(100))[:-300]), fine))


def test_nothing_at_all_is_no_result() -> None:
    assert received(io.BytesIO(), fine) is None


def list_all(got: Answer | None) -> list[tuple[Any, ...]]:
    assert got is not None
    return list(got.rows())


def test_large_batches_are_sent_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "MOST_BATCH_BYTES", 4000)
    table = pa.table({"a": ["x" * n for n in range(100)], "b": [list(range(n % 9)) for n in range(100)]})
    got = received(io.BytesIO(sent(table, rows_each=100)), fine)
    assert got is not None
    batches = list(got.batches)
    assert max(batch.nbytes for batch in batches) <= 4000
    assert 1 < len(batches) < 30
    assert pa.Table.from_batches(batches).equals(table)


def test_a_row_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "MOST_BATCH_BYTES", 1000)
    with pytest.raises(
        QueryError, match=r"a row of this result takes 1,\d\d\d bytes, more than 1,000; ask for less"
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
def test_a_piece_is_reckoned_by_what_its_values_take_in_python(statement: str) -> None:
    for batch in asked_of_duckdb(statement).to_batches():
        for column in batch.columns:
            assert answer._unfolded_bytes(column) >= letters_and_values(column.to_pylist())


def letters_and_values(value: Any) -> int:
    """What a value cannot take less than: a reference for each value in it, and a byte for each letter."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return 8 + sum(map(letters_and_values, parts)) + (len(value) if isinstance(value, str | bytes) else 0)


def test_parquet_has_row_groups_of_some_size_however_small_the_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answer, "_ROW_GROUP_BYTES", 2000)
    table = pa.table({"a": range(1000)})
    stream = io.BytesIO()
    of(table).write_parquet(stream)
    file = pyarrow.parquet.ParquetFile(stream)
    assert file.read().equals(table)
    assert file.num_row_groups == 4


def test_parquet_of_no_rows_has_the_columns() -> None:
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
    Answer(batches[0].schema, again()).send(stream)
    assert list_all(received(io.BytesIO(stream.getvalue()), fine)) == [
        ("x",),
        ("y",),
        ("x",),
        (None,),
        ("z",),
    ]
    Answer(batches[0].schema, again()).write_parquet(parquet)
    assert pyarrow.parquet.read_table(parquet)["a"].to_pylist() == ["x", "y", "x", None, "z"]


@pytest.mark.parametrize("value", ["date '5000000-01-01'", "timestamp 'infinity'", "date '0044-03-15 (BC)'"])
def test_a_value_that_python_has_not_is_told_with_what_to_do(value: str) -> None:
    table = asked_of_duckdb(f"select {value} as a")
    with pytest.raises(QueryError, match=r"a value of 'a' cannot be shown: .*; cast it to VARCHAR"):
        list(of(table).rows())


def test_a_result_that_parquet_has_no_type_for_is_told() -> None:
    table = asked_of_duckdb("select union_value(a := 1) as a")
    with pytest.raises(QueryError, match="this result cannot be written as Parquet"):
        of(table).write_parquet(io.BytesIO())
