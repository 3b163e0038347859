"""The view of deals: the same rows as in a plain DuckDB, read from no more parts than necessary."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.dataset
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.deals.levels import LEVELS
from pipeline.errors import DamagedError
from pipeline.pools.catalog import PartName, empty_catalog, load_catalog, save_catalog
from pipeline.pools.parts import write_part
from pipeline.query import sources
from pipeline.query.sources import deals_of
from pipeline.query.views import write_views
from pipeline.store.root import open_root
from pipeline.store.storage import LocalStorage
from tests.support.doubles import fake_admitted, fake_row
from tests.support.queries import plain_duckdb, query

pytestmark = pytest.mark.system

PARTS = ((0, 19), (20, 39), (50, 79))
"""Sampled numbers of each part of a level; only 40 .. 49 are missing."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pools of three parts each, with deals that have not been solved."""
    root = tmp_path_factory.mktemp("root")
    storage = open_root(root, create=True)
    catalog = empty_catalog()
    for level in LEVELS:
        parts = []
        for first, last in PARTS:
            numbers = [number for number in range(first, last) if fake_admitted(level, number)] + [last]
            rows = [fake_row(level, number) for number in numbers]
            parts.append(
                write_part(storage, PartName(level, 1, first, last), LEVELS[level].policy, None, rows)
            )
        pool = dataclasses.replace(catalog.pool(level), parts=tuple(parts), next_number=80)
        catalog = catalog.with_pool(pool)
    save_catalog(storage, catalog)
    write_views(storage, catalog)
    return root


@pytest.fixture(scope="module")
def plain(root: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with plain_duckdb(root) as connection:
        yield connection


NUMBERS = st.integers(-1, 90)
TEXTS = st.sampled_from(["easy", "medium", "hard", "golf", "relaxed", "", "h%", "%d%"])
SIGNS = st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "is distinct from"])
CONDITIONS = st.one_of(
    st.builds(
        "{} {} {}".format, st.sampled_from(["deal_number", "par", "draws", "steady_p50"]), SIGNS, NUMBERS
    ),
    st.builds("{} {} '{}'".format, st.sampled_from(["level", "rules"]), SIGNS, TEXTS),
    st.builds("{} like '{}'".format, st.sampled_from(["level", "rules", "line"]), TEXTS),
    st.builds("level in ('{}', '{}')".format, TEXTS, TEXTS),
    st.builds("deal_number in ({}, {}, {})".format, NUMBERS, NUMBERS, NUMBERS),
    st.builds("deal_number between {} and {}".format, NUMBERS, NUMBERS),
    st.sampled_from(["level is null", "rules is not null", "steady_mean > 3.5", "steady_scores[20] > 0"]),
)


@settings(max_examples=25)
@given(
    st.lists(CONDITIONS, min_size=1, max_size=3),
    st.sampled_from([" and ", " or "]),
    st.sampled_from(["*", "count(*)", "level, deal_number", "rules, level, line, len(steady_scores)"]),
)
def test_a_plain_duckdb_gives_the_same_result(
    root: Path,
    plain: duckdb.DuckDBPyConnection,
    conditions: list[str],
    word: str,
    columns: str,
) -> None:
    statement = f"select {columns} from deals where {word.join(conditions)} order by all"
    relation = plain.sql(statement)
    assert relation is not None
    assert query(root, statement) == relation.fetchall()


def test_a_filter_by_number_gives_the_rows_of_that_number(root: Path) -> None:
    every = scan(root).to_reader().read_all()
    for number in set(every["deal_number"].to_pylist()):
        is_met = pyarrow.dataset.field("deal_number") == pa.scalar(number, pa.uint64())
        found = scan(root, None, is_met).to_reader().read_all()
        assert found.equals(every.filter(is_met))
        assert len(found) > 0


@contextmanager
def damaged(root: Path, *kept: str) -> Iterator[None]:
    """Empty all parts but these within the block."""
    parts = [path for path in root.glob("deals/*/*/*.parquet") if not any(name in str(path) for name in kept)]
    contents = [path.read_bytes() for path in parts]
    for path in parts:
        path.write_bytes(b"")
    try:
        yield
    finally:
        for path, content in zip(parts, contents, strict=True):
            path.write_bytes(content)


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("level = 'hard'", ["hard"]),
        ("level in ('hard', 'easy')", ["hard", "easy"]),
        ("deal_number = 39", ["part-20-39"]),
        ("deal_number in (3, 79)", ["part-0-19", "part-50-79"]),
        (
            "deal_number < 25 and level = 'easy'",
            ["easy/generation-0001/part-0-19", "easy/generation-0001/part-20-39"],
        ),
        ("deal_number between 40 and 49", []),
        ("deal_number = 18446744073709551615", []),
        ("level = 'none'", []),
    ],
)
def test_only_parts_that_can_match_are_opened(root: Path, condition: str, kept: list[str]) -> None:
    statement = f"select level, deal_number from deals where {condition} order by all"
    expected = query(root, statement)
    with damaged(root, *kept):
        assert query(root, statement) == expected
        with pytest.raises(DamagedError, match="run `fairway verify`"):
            query(root, "select sum(par) from deals")
    for name in kept:
        with damaged(root, *(other for other in kept if other != name)), pytest.raises(DamagedError):
            query(root, statement)


def test_parts_are_read_a_few_at_a_time(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_BYTES_AT_ONCE", 1)
    reader = scan(root).to_reader()
    with damaged(root, "easy/generation-0001/part-0-19"):
        batch = reader.read_next_batch()
        assert set(batch["level"].to_pylist()) == {"easy"}
        with pytest.raises(pa.ArrowInvalid, match="part-20-39"):
            reader.read_next_batch()


@pytest.mark.parametrize("bytes_at_once", [1, 10_000, 1_000_000])
def test_the_rows_do_not_depend_on_how_much_is_read_at_once(
    root: Path, monkeypatch: pytest.MonkeyPatch, bytes_at_once: int
) -> None:
    expected = scan(root).to_reader().read_all()
    monkeypatch.setattr(sources, "_BYTES_AT_ONCE", bytes_at_once)
    assert scan(root).to_reader().read_all().equals(expected)
    assert scan(root, ["par", "level"]).to_reader().read_all().equals(expected.select(["par", "level"]))
    assert scan(root, []).to_reader().read_all().num_rows == expected.num_rows


def scan(root: Path, columns: list[str] | None = None, condition: Any = None) -> Any:
    storage = LocalStorage(root)
    return deals_of(storage, load_catalog(storage)).scanner(columns=columns, filter=condition)


def test_duckdb_uses_our_scanner(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If DuckDB bypassed this method, results would be the same but memory would not be bounded."""

    def noticed(*_: object, **__: object) -> Any:
        raise OSError("it was called")

    monkeypatch.setattr(sources.Deals, "scanner", noticed)
    with pytest.raises(Exception, match="it was called"):
        query(root, "from deals")


def test_a_catalog_without_parts_gives_no_rows(tmp_path: Path) -> None:
    deals = deals_of(LocalStorage(tmp_path), empty_catalog())
    assert isinstance(deals, pyarrow.dataset.Dataset)
    assert deals.scanner().to_reader().read_all().num_rows == 0
