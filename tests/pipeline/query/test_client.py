"""Queries in a subprocess: limited in time and memory, and ended with their caller."""

import json
import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from pipeline.errors import DamagedError, OverdueError, QueryError
from pipeline.pools.catalog import load_catalog
from pipeline.query.client import QueryRequest, run_query_isolated
from pipeline.query.engine import run_query
from pipeline.store.root import open_root
from pipeline.store.storage import LocalStorage
from tests.support.command import PROGRAM, STOP_SECONDS, done, fairway, files_of, run_child, spawned

LONG = "a" * 55_000
FOREVER = "select sleep_ms(3600000)"
ENDLESS = "from range(1000000000000)"
# One call of a function that ignores interrupts for minutes.
DEAF = "select levenshtein(repeat('a', 3000000), repeat('b', 3000000))"
SECONDS = 60  # longer than any query here takes, even on a busy machine

pytestmark = pytest.mark.system
on_linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc here")


@contextmanager
def isolated(root: Path, statement: str, seconds: int = SECONDS) -> Iterator[Any]:
    with run_query_isolated(QueryRequest(str(root), statement, 1, seconds), {}) as result:
        yield result


def rows(root: Path, statement: str, seconds: int = SECONDS) -> list[tuple[Any, ...]]:
    with isolated(root, statement, seconds) as answer:
        return list(answer.rows())


def read_all(
    root: Path, statement: str, seconds: int = SECONDS, at_first: Callable[[], object] = int
) -> None:
    """Read a result to its end without keeping it.

    Args:
        root: the data root.
        statement: the query.
        seconds: time limit.
        at_first: called after the first rows.
    """
    with isolated(root, statement, seconds) as answer:
        next(answer.batches)
        at_first()
        for _ in answer.batches:
            pass


def children(parent: int) -> list[int]:
    """Running child processes of a process."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(")")
        except OSError:  # it has ended in the meantime
            continue
        state, its_parent = rest.split()[:2]
        if int(its_parent) == parent and state != "Z":
            found.append(int(name.split()[0]))
    return found


@contextmanager
def ends(process: int) -> Iterator[None]:
    """Check that a process ends in the block or soon after it."""
    handle = os.pidfd_open(process)
    try:
        yield
        assert select.select([handle], [], [], STOP_SECONDS)[0], "it still runs"
    finally:
        os.close(handle)


@pytest.mark.parametrize(
    "statement",
    [
        "pivot deals on par using count(*) group by level order by level",
        "select d.*, runs.run_id from dailies as d, runs order by date",
    ],
)
def test_the_result_is_the_same_as_in_this_process(made_root: Path, statement: str) -> None:
    storage = open_root(made_root, create=False)
    with run_query(storage, load_catalog(storage), statement, workers=1) as here:
        assert here is not None
        assert rows(made_root, statement) == list(here.rows())


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("selec 1", 'Parser Error: syntax error at or near "selec"'),
        ("select 1; select 2", "2 SQL statements given; give exactly one"),
        ("explain analyze copy deals to '{root}/x.csv'", "COPY statements are not allowed"),
        ("from enable_profiling(save_location = '{root}/x.json')", "the configuration has been locked"),
        ("select case when range = 50000 then error('late') else range end from range(60000)", "late"),
    ],
)
def test_errors_of_duckdb_are_reported_with_their_text(made_root: Path, statement: str, words: str) -> None:
    before = files_of(made_root)
    with pytest.raises(QueryError) as caught:
        rows(made_root, statement.format(root=made_root))
    assert words in str(caught.value)
    assert files_of(made_root) == before


def test_damage_is_reported_as_damage(tmp_path: Path) -> None:
    open_root(tmp_path, create=True)
    (tmp_path / "catalog.json").write_text("{")
    with pytest.raises(DamagedError, match=r"catalog\.json"):
        rows(tmp_path, "select 1")


@pytest.mark.parametrize(("statement", "seconds"), [(FOREVER, 1), (DEAF, 2), (ENDLESS, 1)])
def test_a_query_ends_at_its_time_limit(made_root: Path, statement: str, seconds: int) -> None:
    words = f"no result within {seconds} s; narrow the query, or raise the limit with --timeout"
    with pytest.raises(OverdueError, match=words):
        read_all(made_root, statement, seconds)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("select repeat('x', 4000000000)", "Out of Memory"),
        (
            "select len(list_transform(range(1, 400000000), lambda x: x || 'abc'))",
            "Out of Memory|failed",
        ),
        (
            "select repeat('x', 20000000)",
            "a row of the result has 20,000,... bytes, more than 16,777,216",
        ),
        # Small in Arrow, but large as Python values.
        ("select list_resize([{}], 1000000, {}) a", "a row of the result has 64,...,... bytes"),
        (
            f"select array_agg(e) from (select '{LONG}'::enum('{LONG}') e from range(2000))",
            "a row of the result has 1..,...,... bytes",
        ),
    ],
)
def test_memory_is_limited_by_duckdb_or_by_the_system(made_root: Path, statement: str, words: str) -> None:
    with pytest.raises(QueryError, match=words):
        rows(made_root, statement)


@on_linux
def test_the_subprocess_has_limits_and_no_environment(
    made_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRWAY_DAILY_KEY", "0" * 64)
    before = set(children(os.getpid()))
    with run_query_isolated(QueryRequest(str(made_root), ENDLESS, 2, SECONDS), os.environ) as answer:
        assert answer is not None
        next(answer.batches)
        (process,) = set(children(os.getpid())) - before
        lines = Path(f"/proc/{process}/limits").read_text().splitlines()
        environment = Path(f"/proc/{process}/environ").read_text().split("\0")
        opened = {str(file.readlink()) for file in Path(f"/proc/{process}/fd").iterdir()}
    limits = {line[:26].strip(): line[26:].split()[:2] for line in lines}
    assert limits["Max file size"] == ["0", "0"]
    assert limits["Max core file size"] == ["0", "0"]
    assert limits["Max cpu time"] == [str(2 * SECONDS + 5)] * 2
    assert limits["Max address space"] == [str(3 * 2**30 + 2 * 64 * 2**20)] * 2
    assert not any("FAIRWAY" in line or "HOME" in line or "PATH" in line for line in environment)
    assert {name.split(":")[0] for name in opened} == {"pipe"}


@on_linux
def test_the_subprocess_ends_with_the_block(made_root: Path) -> None:
    before = set(children(os.getpid()))
    with isolated(made_root, ENDLESS) as answer:
        next(answer.batches)
        assert set(children(os.getpid())) - before
    assert set(children(os.getpid())) == before


@on_linux
def test_a_truncated_result_is_an_error(made_root: Path) -> None:
    before = set(children(os.getpid()))

    def kill() -> None:
        (process,) = set(children(os.getpid())) - before
        os.kill(process, signal.SIGKILL)

    with pytest.raises(QueryError, match=r"the query process failed \(exit code -9\)"):
        read_all(made_root, ENDLESS, at_first=kill)


@on_linux
@pytest.mark.skipif(sys.platform != "linux", reason="pidfd is Linux's")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_subprocess_ends_with_its_caller(made_root: Path, number: int) -> None:
    with spawned("query", FOREVER, "--timeout", 3600, "--data", made_root) as asker:
        while not (started := children(asker.pid)):
            assert asker.poll() is None
        with ends(started[0]):
            asker.send_signal(number)
            out, err = asker.communicate(timeout=STOP_SECONDS)
    assert asker.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert (out, "Traceback" in err) == ("", False)


def test_a_timeout_exits_with_75_and_leaves_the_old_file(made_root: Path, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("old")
    outcome = fairway("query", ENDLESS, "--timeout", 1, "--data", made_root, "-o", file)
    assert outcome.complaint == "no result within 1 s; narrow the query, or raise the limit with --timeout"
    assert (outcome.code, files_of(tmp_path)) == (75, {"rows.csv": b"old"})


@pytest.mark.parametrize("seconds", ["0", "-1", "1.5", "86401", "soon"])
def test_an_invalid_timeout_is_wrong_usage(made_root: Path, seconds: str) -> None:
    outcome = fairway("query", "select 1", "--timeout", seconds, "--data", made_root)
    assert f"'{seconds}' is not a whole number from 1 to 86400" in outcome.complaint
    assert outcome.code == 2


MANY = "select range as n, repeat('x', 400) as text, [range, 1] as list from range({rows})"
PEAK_MEGABYTES = 400
"""Enough for libraries and buffers; two million rows need more than twice as much."""

# Run from a small process, because the peak of a process includes that of the process that started it.
MEASURED = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:])
_, code, usage = os.wait4(process.pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(code))
"""


def peak_megabytes(*arguments: object) -> float:
    """Peak resident memory of the command or its subprocess."""
    command = (sys.executable, "-c", MEASURED, sys.executable, "-c", PROGRAM, *arguments)
    ended = run_child(*command, check=True)
    return int(ended.stdout) * (1 if sys.platform == "darwin" else 1024) / 1e6


def check_bounded(root: Path, file: Path, rows_wanted: int) -> None:
    """Write rows to a file, and check that it is complete and that they were never in memory at once."""
    statement = MANY.format(rows=rows_wanted)
    peak = peak_megabytes("query", statement, "--data", root, "--timeout", 600, "-o", file)
    assert peak < PEAK_MEGABYTES
    check_complete(file, rows_wanted)


def test_two_million_rows_are_never_in_memory_at_once(made_root: Path, tmp_path: Path) -> None:
    check_bounded(made_root, tmp_path / "rows.parquet", 2_000_000)


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_five_million_rows_are_never_in_memory_at_once(made_root: Path, tmp_path: Path, kind: str) -> None:
    check_bounded(made_root, tmp_path / f"rows.{kind}", 5_000_000)


def check_complete(file: Path, rows_wanted: int) -> None:
    """Check the number of rows of a file and its last row."""
    if file.suffix == ".parquet":
        assert pyarrow.parquet.ParquetFile(file).metadata.num_rows == rows_wanted
        return
    with file.open("rb") as stream:
        lines = sum(1 for _ in stream)
        stream.seek(-1000, os.SEEK_END)
        last = stream.read().decode().splitlines()[-1]
    assert lines == rows_wanted + (file.suffix == ".csv")
    number = last.split(",")[0] if file.suffix == ".csv" else json.loads(last)["n"]
    assert int(number) == rows_wanted - 1


def test_variables_for_loading_python_are_passed_on(made_root: Path) -> None:
    assert done("query", "select 1 as a", "--data", made_root, "--json").text == '{"a":1}\n'
    with run_query_isolated(
        QueryRequest(str(made_root), "select 1", 1, SECONDS), {"LD_LIBRARY_PATH": "/nowhere"}
    ) as answer:
        assert answer is not None
        assert list(answer.rows()) == [(1,)]


def test_a_root_with_any_name_can_be_queried(tmp_path: Path) -> None:
    root = tmp_path / "a 'quoted' root;ü"
    open_root(root, create=True)
    assert rows(root, "select count(*) from deals") == [(0,)]
    assert LocalStorage(root).list("") == (".fairway-root",)
