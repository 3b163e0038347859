"""What an untrusted statement must not do: each attempt succeeds on a plain connection and fails here.

There are two defences: only statements that read are accepted, and the connection is locked down. The second
is tested with the first one disabled.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from pipeline.errors import QueryError
from pipeline.query import engine
from pipeline.query.views import SQL_FILE
from tests.support.queries import query

pytestmark = pytest.mark.system

PART = "deals/easy/generation-0001/part-0-1.parquet"
DAILY = "daily/2026-11-30.json"
PRIVATE = "private/solutions/2026-12-02.json"

# Messages of the locked-down connection.
NO_FILE = "File system LocalFileSystem has been disabled by configuration"
LOCKED = "the configuration has been locked"
NO_EXTENSION = "Loading external extensions is disabled|extension"
# For attempts that the first defence accepts, or that only affect the memory of the query.
NOWHERE = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt by a statement.

    Attributes:
        statement: the SQL; paths are relative to a copy of a data root with some more files.
        wall: the error of the locked-down connection; `NOWHERE` if only the query's own memory is affected.
        leaves: whether an unguarded connection changes the folder.
        tried: the error of an unguarded connection if the attempt needs a network to succeed.
    """

    statement: str
    wall: str = NO_FILE
    leaves: bool = False
    tried: str = ""


WRITES = [
    "copy deals to 'x.csv'",
    "copy (from dailies) to 'x.json' (format json)",
    "copy (select 1 as a, 2 as b) to 'x' (partition_by (b))",
    "copy (select 'old') to 'catalog.json' (format csv, use_tmp_file false)",
    f"copy (select 1) to '{DAILY}' (format json)",
    f"copy (select 1) to '{PART}' (format parquet)",
    "explain analyze copy (select 1) to 'x.csv'",
    "copy (pivot (select 1 as a, 2 as b) on a using sum(b)) to 'x.csv'",
    "export database 'x'",
    "attach 'x.duckdb'",
]
READS = [
    "from 'secret.csv'",
    'from "secret.csv"',
    "from read_csv('secret.csv')",
    "from sniff_csv('secret.csv')",
    "from read_text('secret.txt')",
    "from read_text('/etc/passwd')",
    "from read_text('daily/../secret.txt')",
    f"from read_text('{PRIVATE}')",
    f"from read_blob('{PART}')",
    "from read_json('secret.json')",
    "from read_ndjson('secret.json')",
    "from 'secret.parquet'",
    f"from read_parquet('{PART}')",
    f"from parquet_metadata('{PART}')",
    f"from parquet_schema('{PART}')",
    f"from parquet_bloom_probe('{PART}', 'level', 'easy')",
    "from read_duckdb('other.duckdb')",
    "from glob('*')",
    "from deals, read_text('secret.txt')",
    "select (select content from read_text('secret.txt'))",
    "with a as (from read_text('secret.txt')) from a",
    "from query('from read_text(''secret.txt'')')",
    "from query_table('secret.csv')",
    "from json_execute_serialized_sql(json_serialize_sql('from read_text(''secret.txt'')'))",
    "summarize 'secret.csv'",
    "explain analyze from 'secret.csv'",
    "pivot 'secret.csv' on a using count(*)",
    "create table t as from read_csv('secret.csv')",
    "create macro m() as table from read_text('secret.txt')",
    "prepare p as from read_text('secret.txt')",
    "attach 'other.duckdb' as other (read_only)",
    "pragma import_database('exported')",
    "from duckdb_extensions()",
]
SETTINGS = [
    "set threads = 1",
    "set memory_limit = '100GB'",
    "set allowed_directories = ['/']",
    "set temp_directory = 'x'",
    "set lock_configuration = false",
    "set python_enable_replacements = true",
    "set global disabled_filesystems = ''",
    "reset memory_limit",
    "pragma enable_profiling",
    "pragma disable_optimizer",
    "from enable_profiling(format = 'json', save_location = 'x.json')",
    "from enable_logging('QueryLog', storage = 'memory')",
]
PIVOT = "pivot (select 1 as a, 2 as b) on a using sum(b)"
OWN_MEMORY = [
    "create table t as from deals",
    "explain create table t as from deals",
    "explain analyze create table t as select 1",
    "explain analyze /* a */ create -- b\n temp table t as select 1",
    "explain (analyze, format json) create table t as select 1",
    "explain (format json) set variable a = 1",
    "explain analyze call pragma_version()",
    "explain analyze load json",
    "explain analyze analyze",
    f"create table t as {PIVOT}",
    f"explain analyze create temp table t as {PIVOT};",
    f"set variable a = ({PIVOT})",
    f"prepare p as {PIVOT}",
    "drop view deals",
    "attach ':memory:' as x",
    "set variable a = 1",
    "use memory",
    "prepare p as select 1",
    "begin",
    "checkpoint",
    "call pragma_version()",
    "create secret s (type http, bearer_token 'x')",
]
ATTEMPTS = [
    *(Attempt(statement, leaves=True) for statement in WRITES),
    *(Attempt(statement) for statement in READS),
    *(Attempt(statement, LOCKED) for statement in SETTINGS),
    *(Attempt(statement, NOWHERE) for statement in OWN_MEMORY),
    Attempt("call enable_logging(storage = 'file', storage_path = 'x')", LOCKED, leaves=True),
    Attempt("create persistent secret s (type http, bearer_token 'x')", "ersistent secret", leaves=True),
    Attempt("load json", NOWHERE),
    Attempt("load 'x.duckdb_extension'", NO_EXTENSION, tried="The file is not a DuckDB extension"),
    Attempt("install 'x.duckdb_extension'", leaves=True, tried="The file is not a DuckDB extension"),
    Attempt("install x from 'nowhere'", leaves=True, tried="no access to the file"),
    Attempt("from 'https://127.0.0.1/x.csv'", tried="httpfs"),
    Attempt("from read_csv('s3://x/x.csv')", tried="httpfs"),
    Attempt("attach 'https://127.0.0.1/x.duckdb'", tried="httpfs"),
]


@pytest.fixture(scope="module")
def template(made_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with files of other kinds in it."""
    folder = tmp_path_factory.mktemp("template") / "root"
    shutil.copytree(made_root, folder)
    (folder / PART).write_bytes(next(folder.glob("deals/easy/*/*.parquet")).read_bytes())
    (folder / "secret.txt").write_text("secret")
    (folder / "secret.csv").write_text("a,b\n1,2\n")
    (folder / "secret.json").write_text('{"a":1}\n')
    (folder / "x.duckdb_extension").write_bytes(b"x" * 1000)
    with pytest.MonkeyPatch.context() as patch, duckdb.connect() as connection:
        patch.chdir(folder)
        for statement in (
            "copy (select 1 as a) to 'secret.parquet'",
            "attach 'other.duckdb' as other; create table other.t as select 1 as a; detach other",
            "create table t as select 1; export database 'exported'",
        ):
            connection.execute(statement)
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the template, as the working directory."""
    folder = tmp_path / "root"
    shutil.copytree(template, folder)
    monkeypatch.chdir(folder)
    return folder


def unguarded(folder: Path) -> Any:
    """Open a plain DuckDB with the views; the folder is used instead of the user's home."""
    connection = duckdb.connect(
        config={
            "secret_directory": str(folder / "secrets"),
            "extension_directory": str(folder / "extensions"),
            "autoinstall_known_extensions": False,
            "threads": 1,
        }
    )
    connection.execute((folder / SQL_FILE).read_text())
    return connection


def contents(folder: Path) -> dict[Path, bytes | None]:
    """Return everything in a folder by its path: the content of files, None for folders."""
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.statement[:60])
def test_attempts_that_succeed_on_a_plain_connection_fail_here(
    attempt: Attempt, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(folder)
    with pytest.raises(QueryError):
        query(folder, attempt.statement)
    assert contents(folder) == before, "the folder was changed"

    monkeypatch.setattr(engine, "_READING", [*duckdb.StatementType.__members__, "OTHER"])
    if attempt.wall == NOWHERE:
        query(folder, attempt.statement)
    else:
        with pytest.raises(QueryError, match=attempt.wall):
            query(folder, attempt.statement)
    assert contents(folder) == before, "without the first defence, the folder was changed"

    with unguarded(folder) as connection:
        if attempt.tried:
            with pytest.raises(duckdb.Error, match=attempt.tried):
                connection.sql(attempt.statement)
        else:
            relation = connection.sql(attempt.statement)
            assert relation is None or relation.fetchall() is not None
    assert (contents(folder) != before) == attempt.leaves


SECRET_TABLE = pa.table({"a": ["secret"]})


@pytest.mark.parametrize(
    "name", ["secret_table", "SECRET_TABLE", "_TYPES", "storage", "catalog", "connection", "MACROS"]
)
def test_variables_of_the_process_cannot_be_read(name: str, folder: Path) -> None:
    secret_table = SECRET_TABLE
    with pytest.raises(QueryError, match=f"Table with name {name} does not exist"):
        query(folder, f"from {name}")
    if name.lower() == "secret_table":
        with unguarded(folder) as connection:
            assert connection.sql(f"from {name}").fetchall() == [
                (value,) for value in secret_table["a"].to_pylist()
            ]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="there is no /proc here")
def test_the_environment_cannot_be_read(folder: Path) -> None:
    statement = "select contains(content, 'PATH=') from read_text('/proc/self/environ')"
    with pytest.raises(QueryError, match=NO_FILE):
        query(folder, statement)
    with pytest.raises(QueryError, match="getenv does not exist"):
        query(folder, "select getenv('PATH')")
    with unguarded(folder) as connection:
        assert connection.sql(statement).fetchall() == [(True,)]


def test_no_setting_reveals_a_path_of_this_machine(folder: Path) -> None:
    settings = dict(query(folder, "select name, value from duckdb_settings()"))
    assert [name for name, value in settings.items() if value and value.startswith(("/", "~", "."))] == []
    assert settings["lock_configuration"] == "true"
    assert settings["enable_external_access"] == "false"
    assert settings["threads"] == "1"
    assert query(folder, "from duckdb_secrets()") == []
