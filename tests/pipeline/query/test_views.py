"""catalog.sql gives a plain DuckDB that is started in the data root the same views as `fairway query`."""

import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipeline.pools.catalog import empty_catalog, load_catalog, save_catalog
from pipeline.query.views import (
    DEAL_COLUMNS,
    SQL_FILE,
    catalog_sql,
    daily_paths,
    part_paths,
    write_views,
)
from pipeline.store.root import open_root
from pipeline.store.storage import LocalStorage
from tests.support.queries import plain_duckdb, query
from tests.support.reference import REFERENCE as FOLDER

pytestmark = pytest.mark.system

VIEWS = ("deals", "dailies", "runs")
REFERENCE = FOLDER / "daily-2026-11-30.json"


def in_plain_duckdb(root: Path, statement: str) -> list[tuple[Any, ...]]:
    with plain_duckdb(root) as connection:
        return connection.sql(statement).fetchall()


def check_same(root: Path, rows: dict[str, int]) -> None:
    for view in VIEWS:
        for statement in (f"describe {view}", f"from {view} order by 1, 2"):
            plain = in_plain_duckdb(root, statement)
            assert query(root, statement) == plain
        assert len(plain) == rows[view], view


def test_the_views_agree_in_a_full_root(made_root: Path) -> None:
    check_same(made_root, {"deals": 36, "dailies": 5, "runs": 1})


def test_the_views_agree_in_an_empty_root(tmp_path: Path) -> None:
    storage = open_root(tmp_path, create=True)
    write_views(storage, empty_catalog())
    check_same(tmp_path, {"deals": 0, "dailies": 0, "runs": 0})


def test_the_views_agree_while_a_pool_is_empty(made_root: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    shutil.copytree(made_root, root)
    storage = open_root(root, create=False)
    catalog = load_catalog(storage)
    catalog = catalog.with_pool(next(pool for pool in empty_catalog().pools if pool.level == "medium"))
    save_catalog(storage, catalog)
    write_views(storage, catalog)
    check_same(root, {"deals": 24, "dailies": 5, "runs": 1})
    assert query(root, "select distinct level from deals order by 1") == [("easy",), ("hard",)]


def test_an_empty_view_has_the_types_of_a_full_one(made_root: Path, tmp_path: Path) -> None:
    write_views(open_root(tmp_path, create=True), empty_catalog())
    for view in VIEWS:
        statement = f"describe {view}"
        assert in_plain_duckdb(tmp_path, statement) == in_plain_duckdb(made_root, statement)


def test_folder_names_add_no_columns(made_root: Path) -> None:
    names = [row[0] for row in query(made_root, "describe deals")]
    assert names == [column.name for column in DEAL_COLUMNS]


def test_other_files_are_ignored(tmp_path: Path) -> None:
    storage = open_root(tmp_path, create=True)
    storage.create("daily/2026-11-30.json", REFERENCE.read_bytes())
    storage.create("daily/index.json", b'{"schema":"other"}\n')
    storage.create("daily/solutions/2026-11-30.json", b'{"schema":"other"}\n')
    (tmp_path / "daily" / ".incoming-2026-11-30.json").write_bytes(b"{")
    write_views(storage, empty_catalog())
    check_same(tmp_path, {"deals": 0, "dailies": 1, "runs": 0})


def test_the_views_are_written_only_when_they_change(tmp_path: Path) -> None:
    class Counting(LocalStorage):
        replaced = 0

        def replace(self, path: str, data: bytes) -> None:
            self.replaced += 1
            super().replace(path, data)

    storage = Counting(tmp_path)
    for _ in range(3):
        write_views(storage, empty_catalog())
    assert storage.replaced == 1
    storage.create("daily/2026-11-30.json", REFERENCE.read_bytes())
    write_views(storage, empty_catalog())
    assert storage.replaced == 2


def test_the_text_depends_only_on_the_files(made_root: Path) -> None:
    parts = part_paths(load_catalog(LocalStorage(made_root)))
    assert (made_root / SQL_FILE).read_text() == catalog_sql(
        parts, daily_paths(LocalStorage(made_root)), runs=True
    )


def test_quotes_in_paths_are_escaped() -> None:
    assert "'a''b.parquet'" in catalog_sql(["a'b.parquet"], [], runs=False)


@pytest.mark.parametrize("name", ["2026-13-45", "abcd-ef-gh", "2026-11-31"])
def test_a_file_named_almost_like_a_daily_is_not_counted(name: str, tmp_path: Path) -> None:
    storage = open_root(tmp_path, create=True)
    storage.create("daily/2026-11-30.json", REFERENCE.read_bytes())
    (tmp_path / "daily" / f"{name}.json").write_bytes(REFERENCE.read_bytes())
    write_views(storage, empty_catalog())
    check_same(tmp_path, {"deals": 0, "dailies": 1, "runs": 0})


def test_from_another_folder_the_script_asks_for_the_data_root_and_then_works(
    made_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script = (made_root / SQL_FILE).read_text()
    with duckdb.connect() as connection:
        with pytest.raises(
            duckdb.Error, match="start DuckDB in the data root, or name it first: SET VARIABLE"
        ):
            connection.execute(script)
        connection.execute(f"SET VARIABLE fairway_root = '{made_root}'")
        connection.execute(script)
        for view, count in (("deals", 36), ("dailies", 5), ("runs", 1)):
            assert connection.sql(f"select count(*) from {view}").fetchall() == [(count,)]
