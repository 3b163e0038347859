"""The commands on a data root: what they print as text and as JSON, and which files they write."""

import csv
import io
import json
import os
import shutil
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from jobs.runs import regeneration
from jobs.settings.model import METRICS_FILE
from jobs.terminal import clock
from jobs.terminal.output import json_line
from jobs.terminal.rows import cell_text, plain, write_csv, write_json
from pipeline.daily import publish
from pipeline.pools.catalog import load_catalog
from pipeline.store.storage import LocalStorage
from solver.errors import UsageError
from tests.support.command import done, fairway, files_of
from tests.support.publishing import made_before
from tests.support.queries import query_here
from tests.support.reference import REFERENCE as FOLDER

pytestmark = pytest.mark.system

NOW = datetime(2026, 11, 30, 12, 1, tzinfo=UTC)
REFERENCE = FOLDER / "daily-2026-11-30.json"


@pytest.fixture(autouse=True)
def _frozen_clock_and_quick_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: NOW)
    monkeypatch.setenv("FAIRWAY_DEALS_PER_NIGHT", "3")
    monkeypatch.setenv("FAIRWAY_DAILY_FROM", "2026-11-29")
    query_here(monkeypatch)


@pytest.fixture
def copied_root(made_root: Path, tmp_path: Path) -> Path:
    shutil.copytree(made_root, tmp_path / "root")
    return tmp_path / "root"


def document(*arguments: object) -> Any:
    return json.loads(done(*arguments).out)


def test_a_first_night_reports_what_it_made_and_what_to_try_next(tmp_path: Path) -> None:
    root = tmp_path / "my root"
    outcome = done("nightly", "--data", root)
    assert "night 2026-11-30: done in" in outcome.text
    assert "Daily holes: 4 published, 2026-11-29 to 2026-12-02; 4 in all" in outcome.text
    assert f"data root:   {root}" in outcome.text
    assert f"  fairway query --data '{root}' \"select level, par, count(*) from deals" in outcome.text
    assert f"  fairway daily show --data '{root}'" in outcome.text
    assert [line.rpartition("medium: ")[2] for line in outcome.err.splitlines() if "medium: " in line] == [
        f"{n} of 3" for n in range(4)
    ]


def test_a_second_run_of_a_night_does_nothing_and_says_so(copied_root: Path) -> None:
    before = files_of(copied_root)
    outcome = done("nightly", "--data", copied_root, "--date", "2026-11-30")
    assert "nothing to do" in outcome.text
    after = files_of(copied_root)
    (record,) = after.keys() - before.keys()
    assert json.loads(after.pop(record))["outcome"] == "nothing to do"
    assert {path for path in before if after[path] != before[path]} <= {".lock", METRICS_FILE}


def test_missed_nights_are_added(copied_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 12, 3, 1, tzinfo=UTC))
    report = document("nightly", "--data", copied_root, "--json")
    assert report["nights"] == ["2026-12-01", "2026-12-02", "2026-12-03"]
    assert report["dailies"] == ["2026-12-03", "2026-12-04", "2026-12-05"]
    assert [level["added"] for level in report["levels"]] == [9, 9, 9]
    pool = load_catalog(LocalStorage(copied_root)).pool("easy")
    assert [part.night for part in pool.parts] == [
        date(2026, 11, 30), date(2026, 12, 1), date(2026, 12, 2), date(2026, 12, 3)
    ]  # fmt: skip


def test_a_pool_grows_up_to_its_cap(copied_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRWAY_DEALS_CAP", "13")
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 12, 2, 1, tzinfo=UTC))
    report = document("nightly", "--data", copied_root, "--json")
    assert [level["deals"] for level in report["levels"]] == [13, 13, 13]
    assert report["nights"] == ["2026-12-01", "2026-12-02"]


@pytest.mark.parametrize(
    "arguments",
    [["nightly", "--date", "2026-12-01"], ["daily", "publish", "--to", "2026-12-03"]],
    ids=" ".join,
)
def test_the_future_is_refused_unless_it_is_allowed(arguments: list[str], tmp_path: Path) -> None:
    root = tmp_path / "root"
    outcome = fairway(*arguments, "--data", root)
    assert "--allow-future" in outcome.complaint
    assert (outcome.code, root.exists()) == (2, False)
    done(*arguments, "--data", root, "--allow-future")
    assert (root / "daily" / "2026-12-03.json").exists()


def test_a_run_with_nothing_to_do_is_silent_if_asked_and_leaves_one_record_at_most(copied_root: Path) -> None:
    (copied_root / "daily" / "2026-12-02.json").unlink()
    made = done("nightly", "--quiet", "--data", copied_root)
    assert "1 published, 2026-12-02 to 2026-12-02" in made.text
    for _ in range(3):
        outcome = done("nightly", "--quiet", "--data", copied_root)
        assert (outcome.text, outcome.err) == ("", "")
    assert "Try next" not in done("nightly", "--data", copied_root).text
    runs = [json.loads(file.read_bytes())["outcome"] for file in (copied_root / "runs").iterdir()]
    assert runs.count("nothing to do") == 1


@pytest.mark.parametrize(
    "request_", [["--size", 2, "--fresh"], ["--size", 2], ["--size", 2, "--from-number", 9]]
)
def test_a_regeneration_that_was_killed_after_its_switch_is_not_made_again(
    request_: list[object], copied_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("pool", "regenerate", "medium", *request_, "--data", copied_root)
    with monkeypatch.context() as patch:
        patch.setattr(regeneration, "forget_request", lambda *_: None)  # as if it was killed before this
        done(*command)
    done("nightly", "--data", copied_root)  # an hourly run that has nothing to do for the pools
    before = load_catalog(LocalStorage(copied_root))
    again = done(*command)
    assert "level medium was already at generation 2: an earlier run made its 2 deals" in again.text
    assert load_catalog(LocalStorage(copied_root)) == before
    assert document(*command, "--json")["was_done"] is False  # asked for once more
    assert load_catalog(LocalStorage(copied_root)).pool("medium").generation == 3


@pytest.mark.parametrize("day", ["2025-12-31", "0001-01-01"])
def test_a_night_before_the_first_hole_is_refused(day: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    outcome = fairway("nightly", "--date", day, "--data", root)
    assert outcome.complaint == f"there is no hole for {day}; the first one is for 2026-01-01"
    assert (outcome.code, root.exists()) == (2, False)


@pytest.mark.parametrize(
    "arguments",
    [
        ["nightly", "--date", "2027-02-01", "--allow-future"],
        ["daily", "publish", "--to", "2027-02-03", "--allow-future"],
        ["daily", "publish", "--from", "2026-02-01", "--to", "2026-11-01"],
    ],
    ids=" ".join,
)
def test_very_many_holes_at_once_are_published_only_if_a_user_allows_it(
    arguments: list[str], copied_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "make_daily", made_before)
    before = sorted((copied_root / "daily").glob("20*.json"))
    outcome = fairway(*arguments, "--data", copied_root)
    assert "--allow-many" in outcome.err
    assert outcome.code == 1
    assert sorted((copied_root / "daily").glob("20*.json")) == before
    if "2027-02-03" in arguments:  # the others make as many holes in the same way, or nights as well
        done(*arguments, "--allow-many", "--data", copied_root)
        assert len(sorted((copied_root / "daily").glob("20*.json"))) > len(before) + 60


def test_a_first_night_that_was_killed_while_it_published_is_completed(
    copied_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRWAY_DAILY_FROM", "2026-09-01")  # of 93 holes there are 5
    done("nightly", "--date", "2026-11-30", "--data", copied_root)
    assert (copied_root / "daily" / "2026-09-01.json").exists()


def test_a_key_makes_other_holes_and_appears_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "00112233445566778899aabbccddeeff" * 2
    monkeypatch.setenv("FAIRWAY_DAILY_KEY", key)
    outcome = done("nightly", "--data", tmp_path / "root")
    published = json.loads((tmp_path / "root" / "daily" / "2026-11-30.json").read_bytes())
    assert published["keyed"]
    assert published["deal"] != json.loads(REFERENCE.read_bytes())["deal"]
    raw = bytes.fromhex(key)
    for data in (*files_of(tmp_path).values(), outcome.out, outcome.err.encode()):
        assert key.encode() not in data
        assert raw not in data


def test_the_status_shows_sizes_pars_and_progress_of_pools(made_root: Path) -> None:
    levels = document("pool", "status", "--data", made_root, "--json")["levels"]
    assert [row["level"] for row in levels] == ["easy", "medium", "hard"]
    assert all(row["deals"] == sum(row["pars"].values()) == 12 for row in levels)
    assert all((row["generation"], row["last_night"]) == (1, "2026-11-30") for row in levels)
    text = done("pool", "status", "--data", made_root).text
    assert all(word in text for word in ("easy", "par 5", "next number", "2026-11-30"))


def test_an_empty_root_has_a_status_and_can_be_queried(tmp_path: Path, made_root: Path) -> None:
    shutil.copy(made_root / ".fairway-root", tmp_path)
    levels = document("pool", "status", "--data", tmp_path, "--json")["levels"]
    assert all((row["deals"], row["last_night"]) == (0, None) for row in levels)
    assert "none yet" in done("pool", "status", "--data", tmp_path).text
    assert "the pool of level easy is empty" in done("pool", "show", "easy", "--data", tmp_path).text
    assert document("pool", "show", "easy", "--data", tmp_path, "--json") == []
    assert done("query", "from deals", "--data", tmp_path, "--format", "csv").text.startswith("level,")
    assert fairway("pool", "export", "easy", "-o", tmp_path / "x", "--data", tmp_path).code == 1


def test_the_first_deals_of_a_level_are_listed(made_root: Path) -> None:
    rows = document("pool", "show", "hard", "--limit", 3, "--data", made_root, "--json")
    numbers = [row["deal_number"] for row in rows]
    assert len(numbers) == 3
    assert numbers == sorted(numbers)
    assert len(rows[0]["steady_scores"]) == 52
    text = done("pool", "show", "hard", "--limit", 3, "--data", made_root).text
    assert all(str(number) in text for number in numbers)
    assert rows[0]["line"] in text


def test_a_pool_is_regenerated_in_a_new_generation(copied_root: Path) -> None:
    before = document("pool", "show", "easy", "--limit", 99, "--data", copied_root, "--json")
    same = document("pool", "regenerate", "easy", "--data", copied_root, "--json")
    assert (same["generation"], same["first"], same["deals"]) == (2, 0, 12)
    assert document("pool", "show", "easy", "--limit", 99, "--data", copied_root, "--json") == before
    fresh = document("pool", "regenerate", "easy", "--fresh", "--size", 4, "--data", copied_root, "--json")
    assert (fresh["generation"], fresh["deals"]) == (3, 4)
    assert fresh["first"] == same["last"] + 1
    outcome = done("pool", "regenerate", "easy", "--from-number", 100, "--size", 2, "--data", copied_root)
    assert "level easy is now at generation 4: 2 deals" in outcome.text
    assert done("query", "select count(*) c from deals", "--data", copied_root, "--json").text == '{"c":26}\n'
    assert fairway("verify", "--sample", 1, "--data", copied_root).code == 0


def test_a_pool_is_exported_for_clients(made_root: Path, tmp_path: Path) -> None:
    outcome = done("pool", "export", "easy", "-o", tmp_path / "out", "--data", made_root)
    assert "12 deals of level easy in 1 file and an index" in outcome.text
    first = files_of(tmp_path)
    again = document("pool", "export", "easy", "-o", tmp_path / "out", "--data", made_root, "--json")
    assert again["deals"] == 12
    assert files_of(tmp_path) == first
    assert fairway("pool", "export", "easy", "-o", made_root / "out", "--data", made_root).code == 2


def test_a_published_hole_is_drawn_with_its_chances(made_root: Path) -> None:
    text = done("daily", "show", "--data", made_root).text
    assert "Daily hole 334, 2026-11-30" in text
    assert "par 4, best score 0" in text
    chances = [line.split()[-2] for line in text.splitlines() if line.endswith("%")]
    assert len(chances) == 7
    assert sum(map(float, chances)) == pytest.approx(100, abs=0.4)
    assert "94.2 %" in text


def test_a_published_hole_is_exported_byte_for_byte(made_root: Path, tmp_path: Path) -> None:
    expected = REFERENCE.read_bytes()
    assert done("daily", "export", "--data", made_root).out == expected
    assert done("daily", "show", "--json", "--data", made_root).out == expected
    assert done("daily", "export", "--data", made_root, "-o", "-").out == expected
    assert done("daily", "export", "--data", made_root, "-o", tmp_path / "hole.json").out == b""
    assert files_of(tmp_path) == {"hole.json": expected}


@pytest.mark.parametrize("command", ["show", "export"])
def test_a_hole_that_is_not_published_exits_with_1(made_root: Path, command: str) -> None:
    outcome = fairway("daily", command, "--date", "2026-11-01", "--data", made_root)
    assert "hole of 2026-11-01 is not published; `fairway daily publish` publishes" in outcome.complaint
    assert outcome.code == 1


@pytest.mark.parametrize("damage", [b"{", b"{}", b"[]", b'{"deal":"x"}', b'{"deal":7}', b"\xff"])
def test_a_damaged_hole_exits_with_1(copied_root: Path, damage: bytes) -> None:
    (copied_root / "daily" / "2026-11-30.json").write_bytes(damage)
    outcome = fairway("daily", "show", "--data", copied_root)
    assert outcome.err.startswith("fairway: error: daily/2026-11-30.json")
    assert outcome.code == 1


def test_missing_holes_are_published_and_published_ones_stay(copied_root: Path) -> None:
    arguments = ("daily", "publish", "--from", "2026-11-26", "--to", "2026-11-29", "--data", copied_root)
    before = files_of(copied_root)
    done_first = document(*arguments, "--json")
    assert (done_first["made"], done_first["there"]) == (["2026-11-26", "2026-11-27"], 2)
    assert "0 Daily holes published; 4 were already published" in done(*arguments).text
    after = files_of(copied_root)
    assert all(after[path] == data for path, data in before.items() if path.startswith("daily/2026"))


def test_verification_prints_one_line_per_check_and_changes_nothing(copied_root: Path) -> None:
    before = files_of(copied_root)
    text = done("verify", "--sample", 2, "--data", copied_root).text
    assert text.endswith("\nno problems found\n")
    report = document("verify", "--sample", 2, "--data", copied_root, "--json")
    assert report["passed"]
    assert text.count("ok  ") == len(report["checks"]) > 10
    assert files_of(copied_root) == before


def test_damage_is_named_and_exits_with_1(copied_root: Path) -> None:
    part = next(copied_root.glob("deals/hard/*/*.parquet"))
    part.write_bytes(part.read_bytes()[:-1] + b"x")
    outcome = fairway("verify", "--sample", 0, "--data", copied_root)
    assert outcome.code == 1
    assert f"problem: {part.relative_to(copied_root)}" in outcome.text
    outcome = fairway("verify", "--sample", 0, "--data", copied_root, "--json")
    assert (outcome.code, json.loads(outcome.out)["passed"]) == (1, False)


def test_every_command_exits_with_1_if_the_catalog_is_not_json(copied_root: Path) -> None:
    (copied_root / "catalog.json").write_text("{")
    for arguments in (["pool", "status"], ["query", "from deals"], ["nightly"]):
        outcome = fairway(*arguments, "--data", copied_root)
        assert "catalog.json" in outcome.err
        assert (outcome.code, "Traceback" in outcome.err) == (1, False)


STATEMENT = "select level, deal_number, steady_mean, steady_scores, null as nothing from deals order by 1, 2"


def test_results_are_written_as_table_csv_json_and_parquet(made_root: Path, tmp_path: Path) -> None:
    query = ("query", STATEMENT, "--data", made_root)
    table = done(*query).text
    assert table.splitlines()[0].split() == STATEMENT.replace(" null as", "").replace(",", "").split()[1:6]
    rows = [json.loads(line) for line in done(*query, "--json").text.splitlines()]
    assert len(rows) == 36
    assert list(rows[0]) == ["level", "deal_number", "steady_mean", "steady_scores", "nothing"]
    text = list(csv.DictReader(io.StringIO(done(*query, "--format", "csv").text)))
    assert [int(row["deal_number"]) for row in text] == [row["deal_number"] for row in rows]
    assert [json.loads(row["steady_scores"]) for row in text] == [row["steady_scores"] for row in rows]
    assert [float(row["steady_mean"]) for row in text] == [row["steady_mean"] for row in rows]
    assert {row["nothing"] for row in text} == {""}
    parquet = done(*query, "--format", "parquet").out
    assert pyarrow.parquet.read_table(io.BytesIO(parquet)).to_pylist() == rows
    for name in ("rows.csv", "rows.json", "rows.parquet"):
        assert done(*query, "-o", tmp_path / name).out == b""
    files = files_of(tmp_path)
    assert files["rows.parquet"] == parquet
    assert files["rows.csv"] == done(*query, "--format", "csv").out
    assert files["rows.json"] == done(*query, "--format", "json").out


def test_a_long_table_says_that_it_is_cut(made_root: Path) -> None:
    outcome = done("query", "from range(1001)", "--data", made_root)
    assert len(outcome.text.splitlines()) == 1002
    assert "the first 1,000 rows are shown" in outcome.err
    assert done("query", "from range(1000)", "--data", made_root).err == ""


def test_invalid_sql_is_reported_in_the_words_of_duckdb(made_root: Path, tmp_path: Path) -> None:
    outcome = fairway("query", "selec 1", "--data", made_root, "-o", tmp_path / "x.csv")
    assert outcome.complaint == 'Parser Error: syntax error at or near "selec"'
    assert (outcome.code, outcome.out, files_of(tmp_path)) == (2, b"", {})


def test_a_query_that_fails_midway_leaves_the_old_file(made_root: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("old")
    statement = "select cast(if(range < 50000, '1', 'x') as integer) from range(60000)"
    outcome = fairway("query", statement, "--data", made_root, "-o", file)
    assert (outcome.code, files_of(tmp_path)) == (2, {"x.csv": b"old"})


def test_files_in_the_data_root_or_in_no_folder_are_refused(made_root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(made_root, target_is_directory=True)
    for place in (made_root / "x.csv", link / "daily" / "x.csv", made_root / "daily" / ".." / "x.csv"):
        outcome = fairway("query", "from deals", "--data", made_root, "-o", place)
        assert f"is in the data root {made_root}" in outcome.complaint
        assert outcome.code == 2
    for place in (tmp_path / "nowhere" / "x.csv", tmp_path):
        outcome = fairway("query", "from deals", "--format", "csv", "--data", made_root, "-o", place)
        assert f"cannot write {place}" in outcome.complaint
        assert outcome.code == 73


def test_a_link_is_written_through(made_root: Path, tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "file.json")
    done("daily", "export", "--data", made_root, "-o", tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "file.json").read_bytes() == REFERENCE.read_bytes()


def test_a_path_that_is_not_valid_text_is_escaped_in_json() -> None:
    line = json_line({"data": os.fsdecode(b"/srv/\xff\xc3\xa9")})
    assert json.loads(line) == {"data": "/srv/\udcff\u00e9"}
    assert json_line({"data": "\u00e9"}) == b'{"data":"\xc3\xa9"}\n'


def test_sql_values_become_json_values(made_root: Path) -> None:
    statement = (
        "select 'nan'::double a, '-inf'::double b, 1.50::decimal(4, 2) c, 18446744073709551616::hugeint d,"
        " date '2026-11-30' e, timestamp '2026-11-30 01:02:03' f, time '01:02:03' g, '\\xAB'::blob h,"
        " {'x': [1, null]} i, map {'k': 2} j, interval 2 days k, true l, 'ü\n' m"
    )
    (line,) = done("query", statement, "--data", made_root, "--json").text.splitlines()
    values = list(json.loads(line).values())
    assert values[:4] == [None, None, 1.5, 2**64]
    assert values[4:8] == ["2026-11-30", "2026-11-30T01:02:03", "01:02:03", "ab"]
    assert values[8:10] == [{"x": [1, None]}, [["k", 2]]]
    assert values[11:] == [True, "ü\n"]
    assert done("query", statement, "--data", made_root, "--format", "csv").text.count("\n") == 3


def test_two_columns_of_the_same_name_are_refused_in_json() -> None:
    with pytest.raises(UsageError, match="two columns are called 'a'; rename one with AS"):
        write_json(io.BytesIO(), ["a", "b", "a"], [])
    stream = io.BytesIO()
    write_csv(stream, ["a", "a"], [(1, None), (True, 2.5)])
    assert stream.getvalue() == b"a,a\n1,\ntrue,2.5\n"


def test_long_cells_of_a_table_are_cut() -> None:
    assert cell_text("a" * 100) == "a" * 59 + "…"
    assert cell_text(None) == ""
    assert cell_text(1 / 3) == "0.333333"
    assert cell_text([1.0] * 52).endswith("…")
    assert cell_text("\x1b[2J\a\tx") == "\\x1b[2J\\x07\\tx"
    assert cell_text("a\n" * 100) == "a\n" * 100
    assert cell_text("a\n" * 100_000) == "a\n" * 9_999 + "a…"
    assert plain({1: (date(2026, 1, 1),)}) == {"1": ["2026-01-01"]}
