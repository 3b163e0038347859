"""Queries see the three views and nothing else, change nothing, and report the errors of DuckDB."""

import io
import shutil
from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow.parquet
import pytest

from pipeline.errors import DamagedError, QueryError
from pipeline.pools.catalog import empty_catalog, load_catalog
from pipeline.pools.parquet import DEALS_SCHEMA
from pipeline.query import engine
from pipeline.query.engine import run_query
from pipeline.query.rows import QueryResult
from pipeline.store.root import open_root
from tests.support.queries import query
from tests.support.reference import REFERENCE as FOLDER

REFERENCE = FOLDER / "daily-2026-11-30.json"


def test_the_pools_have_the_pars_that_their_policies_allow(made_root: Path) -> None:
    rows = query(made_root, "select level, par, count(*) from deals group by all order by all")
    assert {(level, par) for level, par, _ in rows} <= {
        ("easy", 3), ("easy", 4), ("medium", 3), ("medium", 4), ("medium", 5), ("hard", 4), ("hard", 5)
    }  # fmt: skip
    assert sum(count for *_, count in rows) == 36


def test_dailies_and_runs_can_be_queried(made_root: Path) -> None:
    rows = query(made_root, "select date, hole, par, rules, len(steady_scores) from dailies order by date")
    assert [row[0] for row in rows] == [date(2026, 11, n) for n in (28, 29, 30)] + [
        date(2026, 12, n) for n in (1, 2)
    ]
    assert rows[2] == (date(2026, 11, 30), 334, 4, "golf", 52)
    ((job, outcome, deals, dailies, started),) = query(
        made_root, "select job, outcome, deals, dailies, started from runs"
    )
    assert (job, outcome, deals, dailies) == ("nightly", "done", 36, 5)
    assert started == datetime(2026, 11, 30, 12)  # noqa: DTZ001 - as DuckDB's TIMESTAMP is, in UTC


@pytest.mark.parametrize(
    "statement",
    [
        "select deal_number, rank() over (partition by level order by steady_mean) from deals",
        "pivot deals on par using count(*) group by level",
        "select * from deals d join dailies on dailies.par = d.par limit 3",
        "with a as (from deals) select unnest(steady_scores) from a limit 60",
        "summarize deals",
        "describe dailies",
        "show tables",
        "values (1), (2)",
        "explain from deals",
        "explain /* a */ analyze select 1 -- b",
        "explain (analyze, format json) (select 1) union select 2;",
        "explain (select 1) union select 2",
        "explain analyze summarize deals",
        "explain analyze with ö as (pivot deals on par using count(*)) from ö; -- ö",
        "explain (format json) pivot deals on par using count(*)",
        "pivot deals on par using count(*) group by level; /* a */ -- b",
    ],
)
def test_ordinary_analysis_works(made_root: Path, statement: str) -> None:
    assert query(made_root, statement)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("selec 1", 'Parser Error: syntax error at or near "selec"'),
        ("select nothing from deals", "Binder Error"),
        ("select cast('x' as integer)", "Conversion Error"),
        ("select cast(line as integer) from deals", "Conversion Error"),
        ("", "0 SQL statements given; give exactly one"),
        ("-- only a remark", "0 SQL statements"),
        ("select 1; select 2", "2 SQL statements given; give exactly one"),
        (
            "create table t as from deals",
            "CREATE statements are not allowed, only statements that read",
        ),
        ("update extensions", "OTHER statements are not allowed"),
        ("explain analyze create table t as select 1", "CREATE statements are not allowed"),
        ("create table t as pivot deals on par using count(*)", "CREATE statements are not allowed"),
        ("select 'a' -- \udcff", "the statement is not UTF-8"),
    ],
)
def test_a_bad_statement_gets_a_clear_message(made_root: Path, statement: str, words: str) -> None:
    with pytest.raises(QueryError) as caught:
        query(made_root, statement)
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "select\nnothing from deals",
            'Referenced column "nothing" not found in FROM clause! Candidate bindings: "scoring"',
        ),
        (
            "select st_point(1, 2)",
            'name "st_point" is not in the catalog, but it exists in the spatial extension.',
        ),
        (
            "from sqlite_scan('x', 'y')",
            'name "sqlite_scan" is not in the catalog, but it exists in the sqlite_scanner extension.',
        ),
        ("pivot range(100001) on range using sum(range)", "Pivot column limit of 100000 exceeded."),
        ("select error('a' || chr(10) || 'b')", "a b"),
    ],
)
def test_a_message_is_one_line_without_advice_that_cannot_be_followed(
    made_root: Path, statement: str, message: str
) -> None:
    with pytest.raises(QueryError) as caught:
        query(made_root, statement)
    assert str(caught.value).endswith(message)
    assert "\n" not in str(caught.value)


def test_memory_is_limited(made_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MEMORY_LIMIT", "50MB")
    with pytest.raises(QueryError, match=r"^Out of Memory Error: [^\n]*used\); narrow the query$"):
        query(made_root, "select list(range) from range(200000000)")


def test_rows_are_read_as_they_are_needed(made_root: Path) -> None:
    storage = open_root(made_root, create=False)
    statement = "select range from range(100000000000)"
    with run_query(storage, load_catalog(storage), statement, workers=1) as answer:
        assert answer is not None
        assert [next(iter(answer.rows())), answer.names, answer.numeric] == [(0,), ("range",), (True,)]


def parquet_of(root: Path, statement: str) -> Any:
    storage = open_root(root, create=False)
    stream = io.BytesIO()
    with run_query(storage, load_catalog(storage), statement, workers=1) as answer:
        assert isinstance(answer, QueryResult)
        answer.write_parquet(stream)
    return pyarrow.parquet.read_table(stream)


def test_parquet_has_the_rows_with_their_types(made_root: Path) -> None:
    table = parquet_of(made_root, "from deals order by level, deal_number")
    assert table.schema.types == DEALS_SCHEMA.types
    assert table.num_rows == 36
    assert table["deal_number"].to_pylist() == [
        row[0] for row in query(made_root, "select deal_number from deals order by level, deal_number")
    ]


def test_a_statement_that_fails_while_it_runs_fails_in_parquet_too(made_root: Path) -> None:
    with pytest.raises(QueryError, match="Conversion Error"):
        parquet_of(made_root, "select cast(line as integer) from deals")


def test_every_type_of_value_can_be_read(made_root: Path) -> None:
    ((moment, zoned, tiny, big),) = query(
        made_root,
        "select timestamp_ns '2026-11-30 00:00:00.000000001', timestamptz '2026-11-30 00:00:00+00',"
        " 1::decimal(4, 2), 170141183460469231731687303715884105727::hugeint",
    )
    assert moment == "2026-11-30 00:00:00.000000001"
    assert zoned == datetime(2026, 11, 30, tzinfo=UTC)
    assert (tiny, big) == (1, 2**127 - 1)


def test_a_truncated_or_missing_part_is_an_error_not_a_shorter_result(
    made_root: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "root"
    shutil.copytree(made_root, broken)
    part = next(broken.glob("deals/hard/*/*.parquet"))
    part.write_bytes(part.read_bytes()[:-100])
    with pytest.raises(DamagedError, match=f"{part}.*run `fairway verify`"):
        query(broken, "from deals")
    part.unlink()
    with pytest.raises(DamagedError, match=f"{part.relative_to(broken)} is missing"):
        query(broken, "from deals")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b'"par":4', b'"par":"four"', "par is not a TINYINT"),
        (b'"par":4', b'"par":400', "par is not a TINYINT"),
        (b'"date":"2026-11-30"', b'"date":"soon"', "date is not a DATE"),
        (b'{"schema"', b'["schema"', "is not a JSON document"),
    ],
)
def test_a_damaged_document_is_named(tmp_path: Path, old: bytes, new: bytes, words: str) -> None:
    storage = open_root(tmp_path, create=True)
    storage.create("daily/2026-11-30.json", REFERENCE.read_bytes().replace(old, new))
    with (
        pytest.raises(DamagedError, match=f"daily/2026-11-30.json.*{words}"),
        run_query(storage, empty_catalog(), "from dailies", workers=1),
    ):
        pass


def test_a_missing_key_of_a_document_is_null(tmp_path: Path) -> None:
    storage = open_root(tmp_path, create=True)
    storage.create("runs/a.json", b'{"run_id":"a","steady":1}\n')
    assert query(tmp_path, "select run_id, job, started from runs") == [("a", None, None)]


def test_an_interrupted_statement_is_an_interrupt(made_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> Any:
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr(duckdb, "connect", lambda *_, **__: Stopped(interrupted))
    with pytest.raises(KeyboardInterrupt):
        query(made_root, "select 1")


class Stopped:
    """A connection whose statement is stopped by a signal."""

    def __init__(self, sql: Any) -> None:
        self.sql = sql

    def register(self, *_: object) -> None: ...

    def execute(self, *_: object) -> None: ...

    def close(self) -> None: ...

    def extract_statements(self, _: str) -> list[Any]:
        return [SimpleNamespace(type=duckdb.StatementType.SELECT)]
