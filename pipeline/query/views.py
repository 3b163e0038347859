"""The views `deals`, `dailies` and `runs`, the SQL macros, and `catalog.sql`, which creates them all.

`catalog.sql` is derived from the files of the data root and works with any DuckDB that is started there, or
that is told where it is.
`pipeline.query.engine` provides the same views and macros to `fairway query`.

The macros are generated from the solver's tables of cards and scores, so each is defined once. They return
null for null; a text that is not a card and a number that is not a column are errors, as in a cast.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pipeline.daily.files import daily_path, published_days
from pipeline.deals.columns import COLUMNS, FLOAT64, FLOATS, INT8, INT16, TEXT, UINT64
from pipeline.errors import StorageError
from pipeline.pools.catalog import Catalog
from pipeline.store.root import MARKER
from pipeline.store.storage import Storage
from pipeline.work.records import RUN_PREFIX, run_paths
from solver.cards import RANK_LETTERS, SUIT_LETTERS
from solver.table.deal import COLUMN_COUNT
from solver.table.score import score_name

SQL_FILE: Final = "catalog.sql"
_RUN_GLOB: Final = f"{RUN_PREFIX}*.json"  # in globs of DuckDB

_ROOT: Final = "coalesce(getvariable('fairway_root'), '.')"
EARLIER_HEADS: Final = (
    "-- The deals, the Daily holes and the runs of this folder,",
    "-- The deals, the Daily holes and the runs of a data root,",
)
"""How the files begin that earlier versions wrote."""

_HEAD: Final = f"""\
-- Views of the deals, the Daily holes and the runs of a data root, and macros, for DuckDB started in it:
--   duckdb -init catalog.sql
-- In another folder, name the data root first: SET VARIABLE fairway_root = '/srv/fairway/data';
-- Derived from catalog.json and the files beside it, and rewritten by every run that changes them.

SET VARIABLE fairway_root = (
  SELECT CASE WHEN count(*) > 0 THEN {_ROOT} ELSE error(
    'start DuckDB in the data root, or name it first: SET VARIABLE fairway_root = ''/srv/fairway/data'''
  ) END FROM glob({_ROOT} || '/{MARKER}')
);
"""  # noqa: S608 - made of constants


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column of a view: name, SQL type, and the keys that lead to the value in a JSON document."""

    name: str
    type: str
    path: tuple[str, ...] = ()


_SQL_TYPES: Final = {
    TEXT: "VARCHAR",
    UINT64: "UBIGINT",
    INT8: "TINYINT",
    INT16: "SMALLINT",
    FLOAT64: "DOUBLE",
    FLOATS: "DOUBLE[]",
}
DEAL_COLUMNS: Final = tuple(ViewColumn(column.name, _SQL_TYPES[column.type]) for column in COLUMNS)

DAILY_COLUMNS: Final = (
    ViewColumn("date", "DATE", ("date",)),
    ViewColumn("hole", "INTEGER", ("hole",)),
    ViewColumn("level", "VARCHAR", ("level",)),
    ViewColumn("puzzle_id", "VARCHAR", ("puzzle_id",)),
    ViewColumn("deal", "VARCHAR", ("deal",)),
    ViewColumn("rules", "VARCHAR", ("rules", "name")),
    ViewColumn("par", "TINYINT", ("par",)),
    ViewColumn("best_score", "TINYINT", ("best_score",)),
    ViewColumn("steady_mean", "DOUBLE", ("steady", "mean")),
    ViewColumn("steady_clear_rate", "DOUBLE", ("steady", "clear_rate")),
    ViewColumn("steady_scores", "DOUBLE[]", ("steady", "probabilities")),
    ViewColumn("difficulty", "TINYINT", ("difficulty",)),
    ViewColumn("clear_chance", "DOUBLE", ("clear_chance",)),
    ViewColumn("attempt", "INTEGER", ("attempt",)),
    ViewColumn("keyed", "BOOLEAN", ("keyed",)),
    ViewColumn("key_id", "VARCHAR", ("key_id",)),
    ViewColumn("solution_sha256", "VARCHAR", ("solution_sha256",)),
)

LEVEL_COUNTS: Final = (
    "STRUCT(level VARCHAR, sampled BIGINT, cleared BIGINT, admitted BIGINT, written BIGINT)[]"
)
RUN_COLUMNS: Final = (
    ViewColumn("run_id", "VARCHAR", ("run_id",)),
    ViewColumn("job", "VARCHAR", ("job",)),
    ViewColumn("outcome", "VARCHAR", ("outcome",)),
    ViewColumn("started", "TIMESTAMP", ("started",)),
    ViewColumn("ended", "TIMESTAMP", ("ended",)),
    ViewColumn("seconds", "DOUBLE", ("seconds",)),
    ViewColumn("nights", "INTEGER", ("nights",)),
    ViewColumn("sampled", "BIGINT", ("sampled",)),
    ViewColumn("deals", "BIGINT", ("deals",)),
    ViewColumn("dailies", "INTEGER", ("dailies",)),
    ViewColumn("solutions", "INTEGER", ("solutions",)),
    ViewColumn("removed", "INTEGER", ("removed",)),
    ViewColumn("mended", "INTEGER", ("mended",)),
    ViewColumn("refused", "INTEGER", ("refused",)),
    ViewColumn("change", "INTEGER", ("change",)),
    ViewColumn("missed", "INTEGER", ("missed",)),
    ViewColumn("attempt", "INTEGER", ("attempt",)),
    ViewColumn("levels", LEVEL_COUNTS, ("levels",)),
    ViewColumn("sampling_seconds", "DOUBLE", ("stages", "sampling")),
    ViewColumn("solving_seconds", "DOUBLE", ("stages", "solving")),
    ViewColumn("rating_seconds", "DOUBLE", ("stages", "rating")),
    ViewColumn("writing_seconds", "DOUBLE", ("stages", "writing")),
    ViewColumn("workers", "INTEGER", ("workers",)),
    ViewColumn("version", "VARCHAR", ("version",)),
    ViewColumn("error", "VARCHAR", ("error",)),
)


_BAR: Final = " | "
_NAMED: Final = range(-2, 3)  # differences from par that have a name

_DEAL_COLUMN: Final = f"""\
-- deal_column(deal, n): the cards of column 1 .. {COLUMN_COUNT} as a list of texts, the playable card last
CREATE OR REPLACE MACRO deal_column(deal, n) AS CASE
  WHEN n BETWEEN 1 AND {COLUMN_COUNT} THEN string_split(string_split(deal, '{_BAR}')[n], ' ')
  WHEN n IS NOT NULL THEN error('deal_column: ' || n || ' is no column; they are 1 .. {COLUMN_COUNT}')
END;
"""

_CARD_RANK: Final = f"""\
-- card_rank(card): 0 .. {len(RANK_LETTERS) - 1} for A .. K, of a card such as 'TD'
CREATE OR REPLACE MACRO card_rank(card) AS CASE
  WHEN regexp_full_match(card, '[{RANK_LETTERS}][{SUIT_LETTERS}]', 'i')
    THEN (strpos('{RANK_LETTERS}', upper(card[1])) - 1)::TINYINT
  WHEN card IS NOT NULL THEN error('card_rank: ' || card || ' is no card; one is written as in TD')
END;
"""

_NAMES: Final = "\n".join(f"  WHEN {difference} THEN '{score_name(difference, 0)}'" for difference in _NAMED)
_SCORE_NAME: Final = f"""\
-- score_name(score, par): Eagle to Double bogey, beyond them the signed number, as in '+3'
CREATE OR REPLACE MACRO score_name(score, par) AS CASE score::INTEGER - par::INTEGER
{_NAMES}
  ELSE printf('%+d', score::INTEGER - par::INTEGER)
END;
"""

MACROS: Final = (_DEAL_COLUMN, _CARD_RANK, _SCORE_NAME)
"""One `CREATE OR REPLACE` statement per macro, after a comment with its signature and result."""


def daily_paths(storage: Storage) -> tuple[str, ...]:
    """Return the paths of the published Daily holes, the rows of the view `dailies`, ascending."""
    return tuple(daily_path(day) for day in published_days(storage))


def catalog_sql(parts: Sequence[str], dailies: Sequence[str], *, runs: bool) -> str:
    """Return the text of `catalog.sql` for these parts and Daily holes, and for runs if there are any.

    DuckDB refuses a view of no files, so such a view selects no rows with the same types.
    """
    run_files = f"{_ROOT} || '/{_RUN_GLOB}'"
    views = (
        _view("deals", _from_parts(parts) if parts else _empty(DEAL_COLUMNS)),
        _view(
            "dailies", _from_documents(_files(dailies), DAILY_COLUMNS) if dailies else _empty(DAILY_COLUMNS)
        ),
        _view("runs", _from_documents(run_files, RUN_COLUMNS) if runs else _empty(RUN_COLUMNS)),
    )
    return "\n".join((_HEAD, *views, *MACROS))


def part_paths(catalog: Catalog) -> tuple[str, ...]:
    """Return the paths of all parts in a catalog, whose rows make up the view `deals`."""
    return tuple(part.path for pool in catalog.pools for part in pool.parts)


def write_views(storage: Storage, catalog: Catalog) -> None:
    """Write `catalog.sql` unless it is up to date; the caller holds the lock."""
    text = catalog_sql(part_paths(catalog), daily_paths(storage), runs=bool(run_paths(storage)))
    try:
        if storage.read(SQL_FILE) == text.encode():
            return
    except StorageError:  # missing, or not readable, and it can always be written again
        pass
    storage.replace(SQL_FILE, text.encode())


def _view(name: str, select: str) -> str:
    return f"CREATE OR REPLACE VIEW {name} AS\n{select};\n"


def _from_parts(paths: Sequence[str]) -> str:
    names = ", ".join(column.name for column in DEAL_COLUMNS)
    # Folder names such as generation=0001, of earlier roots, must not become columns. Parts of schema
    # version 1 lack columns, which are null; so the rows are united by name with no rows of all columns.
    source = f"read_parquet({_files(paths)}, hive_partitioning = false, union_by_name = true)"
    return f"SELECT {names}\nFROM (\n{_empty(DEAL_COLUMNS)}\nUNION ALL BY NAME\nSELECT * FROM {source}\n)"  # noqa: S608 - made of constants and quoted paths


def _files(paths: Sequence[str]) -> str:
    """Return the expression of a list of files in the data root."""
    names = ",\n  ".join(_quoted(path) for path in paths)
    return f"[{_ROOT} || '/' || path FOR path IN [\n  {names}\n]]"


def _from_documents(files: str, columns: Sequence[ViewColumn]) -> str:
    chosen = ",\n  ".join(
        f"{'.'.join(map(_name, column.path))} AS {_name(column.name)}" for column in columns
    )
    fields = ",\n  ".join(f"{name}: {_quoted(kind)}" for name, kind in _document_types(columns).items())
    source = f"read_json({files}, format = 'newline_delimited', columns = {{\n  {fields}\n}})"
    return f"SELECT\n  {chosen}\nFROM {source}"


def _document_types(columns: Sequence[ViewColumn]) -> dict[str, str]:
    """Return the SQL type of each top-level key that a view reads; nested keys become a STRUCT."""
    below: dict[str, list[str]] = {}
    types: dict[str, str] = {}
    for column in columns:
        top, *rest = column.path
        if rest:
            below.setdefault(top, []).append(f"{_name(rest[0])} {column.type}")
        types[top] = f"STRUCT({', '.join(below[top])})" if rest else column.type
    return types


def _empty(columns: Sequence[ViewColumn]) -> str:
    chosen = ",\n  ".join(f"CAST(NULL AS {column.type}) AS {_name(column.name)}" for column in columns)
    return f"SELECT\n  {chosen}\nWHERE false"


def _name(text: str) -> str:
    return f'"{text}"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
