"""Verification finds whatever is damaged, names the file, never raises for it and never changes anything."""

import dataclasses
import io
import random
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import publish as publish_module
from pipeline.catalog import CATALOG_FILE, Catalog, Part, load_catalog, save_catalog
from pipeline.daily import choose
from pipeline.documents import parse, render
from pipeline.generate import add_nights
from pipeline.ledger import INDEX_PATH, daily_path, private_solution_path, sha256_of, solution_path
from pipeline.levels import LEVELS
from pipeline.progress import SILENT
from pipeline.publish import publish, rebuild_index
from pipeline.shuffle import deal_numbered
from pipeline.storage import LocalStorage, Storage
from pipeline.verify import verify
from pipeline.verify_parts import spread
from pipeline.verify_report import CheckResult
from pipeline.views import SQL_FILE, catalog_sql, part_paths, write_views
from tests.doubles import FailingStorage, Killed

KEY = bytes(range(32))
NIGHTS = (date(2026, 11, 29), date(2026, 11, 30))
DAYS = tuple(date(2026, 11, 27) + timedelta(days=n) for n in range(4))
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)  # the 27th and the 28th are over
DEALS_PER_NIGHT = 12
SAMPLE = 3

CATALOG = "catalog"
PARTS = "parts there, as the catalog hashed them"
SCHEMA = "schema and versions"
NUMBERS = "deal numbers ascending, as many as the catalog says"
NAMES = "levels and rules those of the pool"
CARDS = "cards those of the number's shuffle"
PUZZLES = "puzzle ids recomputed"
LINES = "lines replayed to their score and draws"
SCORES = "par and quantiles recomputed from the scores"
ADMITTED = "means that the policy admits"
TWICE = "no puzzle twice in a pool"
SAMPLED = "sampled deals solved and rated anew"
DAILIES = "dailies faultless, under their own date"
DATES = "no puzzle on two dates"
SOLUTIONS = "solutions there, as hashed, replayed"
INDEX = "dailies as the index hashed them"
CHOSEN = "holes chosen anew"
VIEWS = "views for DuckDB"

Results = Mapping[str, CheckResult]


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as threads:
        yield threads


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, executor: Executor) -> Path:
    """A data root of two nights and four dailies, made once."""
    root = tmp_path_factory.mktemp("sound")
    storage = LocalStorage(root)
    catalog = load_catalog(storage)
    for night in NIGHTS:
        deals = dict.fromkeys(LEVELS, DEALS_PER_NIGHT)
        catalog = add_nights(storage, catalog, [night], deals, 1000, executor, SILENT)
    save_catalog(storage, catalog)
    publish(storage, DAYS, None, NOW, executor, SILENT)
    write_views(storage, catalog)
    return root


@pytest.fixture
def storage(sound: Path, tmp_path: Path) -> LocalStorage:
    """A copy of it, to be damaged."""
    shutil.copytree(sound, tmp_path / "root")
    return LocalStorage(tmp_path / "root")


@pytest.fixture
def check(storage: LocalStorage, executor: Executor) -> Callable[..., Results]:
    """Verify the copy; nothing is solved unless a sample is asked for."""

    def run(sample: int | None = 0, key: bytes | None = None) -> Results:
        return verified(storage, executor, sample, key)

    return run


def verified(
    storage: Storage, executor: Executor, sample: int | None = 0, key: bytes | None = None
) -> Results:
    ticks = count()
    results = verify(storage, key, sample, executor, lambda: float(next(ticks)), SILENT)
    return {result.name: result for result in results}


def parts_of(catalog: Catalog) -> list[Part]:
    return [part for pool in catalog.pools for part in pool.parts]


def problems(results: Results) -> dict[str, list[str]]:
    """The problems as text, under the checks that found any."""
    return {name: list(map(str, result.problems)) for name, result in results.items() if result.problems}


def notes(results: Results) -> dict[str, list[str]]:
    return {name: list(map(str, result.notes)) for name, result in results.items() if result.notes}


# What is sound


def test_a_sound_root_passes_every_check_with_the_right_counts(
    storage: LocalStorage, check: Callable[..., Results]
) -> None:
    results = check(SAMPLE)
    deals = len(LEVELS) * len(NIGHTS) * DEALS_PER_NIGHT
    assert (problems(results), notes(results)) == ({}, {})
    assert {name: result.checked for name, result in results.items()} == {
        CATALOG: 1,
        PARTS: len(LEVELS) * len(NIGHTS),
        SCHEMA: len(LEVELS) * len(NIGHTS),
        **dict.fromkeys((NUMBERS, NAMES, CARDS, PUZZLES, LINES, SCORES, ADMITTED, TWICE), deals),
        SAMPLED: len(LEVELS) * SAMPLE,
        DAILIES: len(DAYS),
        DATES: len(DAYS),
        SOLUTIONS: len(DAYS),
        INDEX: len(DAYS),
        CHOSEN: len(DAYS),
        VIEWS: 1,
    }
    assert all(result.is_passed and result.seconds >= 1 for result in results.values())


def test_all_deals_are_worked_out_anew_on_request(check: Callable[..., Results]) -> None:
    results = check(None)
    assert problems(results) == {}
    assert results[SAMPLED].checked == len(LEVELS) * len(NIGHTS) * DEALS_PER_NIGHT


def test_without_a_sample_nothing_is_solved(
    check: Callable[..., Results], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solver.search.solve_position", None)
    monkeypatch.setattr("pipeline.verify_parts.warm_up", None)
    results = check(0)
    assert problems(results) == {}
    assert CHOSEN not in results


def test_nothing_is_changed(storage: LocalStorage, executor: Executor) -> None:
    storage.remove(INDEX_PATH)
    storage.replace(daily_path(DAYS[0]), b"damaged")
    before = {path: storage.read(path) for path in storage.list("")}
    recorder = FailingStorage(storage, -1, Killed())
    verified(recorder, executor, SAMPLE)
    assert recorder.changes == []
    assert {path: storage.read(path) for path in storage.list("")} == before


def test_an_empty_root_is_sound(tmp_path: Path, executor: Executor) -> None:
    results = verified(LocalStorage(tmp_path), executor, SAMPLE)
    assert (problems(results), notes(results)) == ({}, {})


def test_progress_goes_up_to_its_total(storage: LocalStorage, executor: Executor) -> None:
    told: dict[str, list[tuple[int, int]]] = {}

    class Recorder:
        def update(self, task: str, done: int, total: int) -> None:
            told.setdefault(task, []).append((done, total))

    verify(storage, None, SAMPLE, executor, lambda: 0.0, Recorder())
    pools = len(LEVELS) * (len(NIGHTS) + SAMPLE)
    assert told == {
        "pools": [(done, pools) for done in range(1, pools + 1)],
        "dailies": [(done, len(DAYS)) for done in range(1, len(DAYS) + 1)],
    }


@given(st.integers(0, 500), st.integers(0, 500))
def test_a_sample_is_spread_over_the_whole_pool(size: int, wanted: int) -> None:
    places = spread(size, wanted)
    assert len(places) == min(size, wanted)
    assert all(0 <= place < size for place in places)
    gaps = {after - before for before, after in pairwise(places)}
    assert max(gaps, default=1) - min(gaps, default=1) <= 1
    assert min(gaps, default=1) >= 1
    assert len(spread(size, None)) == size


# Pools: files


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "not"),
        (b"{", "not"),
        (b"[]", ""),
        (b'{"version":1}', ""),
        (b'{"version":99,"pools":[]}', "99"),
        (None, r"deals/level=easy/\.\./\.\./x"),
    ],
    ids=["empty", "cut", "list", "fields", "newer", "outside"],
)
def test_a_damaged_catalog_is_a_problem_and_the_dailies_are_checked_all_the_same(
    storage: LocalStorage, check: Callable[..., Results], content: bytes | None, what: str
) -> None:
    if content is None:
        path = parts_of(load_catalog(storage))[0].path.encode()
        content = storage.read(CATALOG_FILE).replace(path, b"deals/level=easy/../../x.parquet")
    storage.replace(CATALOG_FILE, content)
    results = check()
    assert results[CATALOG].problems[0].file == CATALOG_FILE
    assert results[DAILIES].checked == len(DAYS)
    assert list(problems(results)) == [CATALOG]
    assert VIEWS not in results


@pytest.mark.parametrize("damage", ["flipped", "cut", "emptied", "swapped", "missing"])
def test_a_damaged_part_is_named_and_the_others_are_checked_all_the_same(
    storage: LocalStorage, check: Callable[..., Results], damage: str
) -> None:
    path, other = (part.path for part in parts_of(load_catalog(storage))[1:3])
    data = storage.read(path)
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 1
    contents = {"flipped": bytes(flipped), "cut": data[:-1], "emptied": b"", "swapped": storage.read(other)}
    storage.remove(path)
    if damage in contents:
        storage.create(path, contents[damage])
    results = check(SAMPLE)
    assert list(problems(results)) == [PARTS]
    (problem,) = results[PARTS].problems
    assert problem.file == path
    assert ("missing" in problem.what) == (damage == "missing")
    assert results[LINES].checked == (len(LEVELS) * len(NIGHTS) - 1) * DEALS_PER_NIGHT


def test_a_part_that_nothing_points_to_is_a_note(
    storage: LocalStorage, check: Callable[..., Results]
) -> None:
    storage.create("deals/level=easy/generation=0001/part-900-999.parquet", b"left")
    results = check()
    assert problems(results) == {}
    assert notes(results) == {
        CATALOG: ["deals/level=easy/generation=0001/part-900-999.parquet: nothing points to it"]
    }


# Pools: rows


def rewrite(storage: LocalStorage, change: Callable[[Any], Any], place: int = 0) -> Part:
    """Change the table of a part, and the catalog with it, so that only its rows are wrong."""
    catalog = load_catalog(storage)
    part = parts_of(catalog)[place]
    stream = io.BytesIO()
    pq.write_table(change(pq.ParquetFile(io.BytesIO(storage.read(part.path))).read()), stream)
    storage.replace(part.path, stream.getvalue())
    changed = dataclasses.replace(part, sha256=sha256_of(stream.getvalue()))
    pools = [
        dataclasses.replace(pool, parts=tuple(changed if one == part else one for one in pool.parts))
        for pool in catalog.pools
    ]
    save_catalog(storage, dataclasses.replace(catalog, pools=tuple(pools)))
    return changed


def with_value(column: str, row: int, value: Any) -> Callable[[Any], Any]:
    """A change that puts a value, or what a function makes of the old one, into one row of a column."""

    def change(table: Any) -> Any:
        values = table[column].to_pylist()
        values[row] = value(values[row]) if callable(value) else value
        field = table.schema.field(column)
        return table.set_column(table.schema.get_field_index(column), field, pa.array(values, field.type))

    return change


def another_line(line: str) -> str:
    return line[:-1] + ("1" if line[-1] != "1" else "2")


WRONG_VALUES: list[tuple[str, Any, str, str]] = [
    ("level", "medium", NAMES, r"level and rules are medium and relaxed, not easy and relaxed"),
    ("rules", "golf", NAMES, r"level and rules are easy and golf, not easy and relaxed"),
    ("rules", "", NAMES, r"level and rules are easy and , not"),
    ("deal", "", CARDS, "the cards are not those of its number"),
    ("deal", str.lower, CARDS, "the cards are not those of its number"),
    ("deal", deal_numbered(4).notation, CARDS, "the cards are not those of its number"),
    ("puzzle_id", "0" * 16, PUZZLES, "its puzzle id is [0-9a-f]{16}, not '0{16}'"),
    ("line", "", LINES, "the line comes to"),
    ("line", "x", LINES, "'x', is not legal"),
    ("line", "\uff11", LINES, "is not legal"),
    ("line", another_line, LINES, "is not legal"),
    ("line", lambda line: line[:-1], LINES, "the line comes to"),
    ("line", lambda line: line + "D", LINES, "is not legal"),
    ("best_score", lambda score: score - 1, LINES, "score and draws are"),
    ("draws", lambda draws: draws + 1, LINES, "score and draws are"),
    ("par", lambda par: 3 + (par - 2) % 3, SCORES, "par does not follow from its scores"),
    ("par", 2, SCORES, "par does not follow from its scores"),
    ("steady_mean", lambda mean: mean + 1e-6, SCORES, "steady_mean does not follow from its scores"),
    ("steady_mean", float("nan"), SCORES, "steady_mean does not follow from its scores"),
    ("steady_sd", lambda sd: sd + 1e-6, SCORES, "steady_sd does not follow from its scores"),
    ("steady_sd", lambda sd: -sd, SCORES, "steady_sd does not follow from its scores"),
    ("steady_clear_rate", lambda rate: 1 - rate, SCORES, "steady_clear_rate does not follow"),
    ("steady_p10", lambda score: score + 1, SCORES, "steady_p10 does not follow from its scores"),
    ("steady_p50", lambda score: score - 1, SCORES, "steady_p50 does not follow from its scores"),
    ("steady_p90", 35, SCORES, "steady_p90 does not follow from its scores"),
    ("steady_scores", lambda scores: scores[1:] + scores[:1], SCORES, "steady_mean does not follow"),
    ("steady_scores", [0.0] * 52, SCORES, "steady_scores does not follow"),
    ("steady_scores", [float("nan")] * 52, SCORES, "steady_scores does not follow"),
    ("steady_scores", [2.0, -1.0] + [0.0] * 50, SCORES, "steady_scores does not follow"),
    ("steady_scores", [0.0] * 51 + [1.0], ADMITTED, "easy does not admit a mean of 35"),
    ("steady_scores", [1.0], SCHEMA, "row 1: steady_scores does not hold 52 numbers"),
    ("steady_scores", [None] * 52, SCHEMA, "row 1: steady_scores does not hold 52 numbers"),
    ("deal_number", lambda number: number + 1, CARDS, "the cards are not those of its number"),
    ("deal_number", 2**63, NUMBERS, r"deal 9223372036854775808 is not in 0 \.\. "),
    ("deal_number", 0, NUMBERS, "deal 0 comes after deal"),
]


@pytest.mark.parametrize(("column", "value", "name", "what"), WRONG_VALUES)
def test_a_wrong_value_is_found_by_its_check_and_put_down_to_its_part(
    storage: LocalStorage, check: Callable[..., Results], column: str, value: Any, name: str, what: str
) -> None:
    part = rewrite(storage, with_value(column, 1, value))
    results = check()
    assert name in problems(results)
    found = [problem for result in results.values() for problem in result.problems]
    assert {problem.file for problem in found} == {part.path}
    assert any(re.search(what, problem.what) for problem in results[name].problems), found


@pytest.mark.parametrize("column", ["level", "deal_number", "line", "par", "steady_mean", "steady_scores"])
def test_a_null_is_found_and_its_part_looked_at_no_further(
    storage: LocalStorage, check: Callable[..., Results], column: str
) -> None:
    def change(table: Any) -> Any:
        loose = pa.schema([field.with_nullable(True) for field in table.schema], table.schema.metadata)
        return with_value(column, 2, None)(table.cast(loose))

    part = rewrite(storage, change)
    results = check()
    assert {name: [finding.file for finding in results[name].problems] for name in problems(results)} in (
        {SCHEMA: [part.path]},
        {PARTS: [part.path]},
    )


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (
            lambda table: table.slice(1),
            f"{DEALS_PER_NIGHT - 1} rows, not {DEALS_PER_NIGHT} as the catalog says",
        ),
        (lambda table: table.slice(0, 0), f"0 rows, not {DEALS_PER_NIGHT} as the catalog says"),
        (lambda table: table.slice(0, 5), r"it ends with deal \d+, not \d+ as the catalog says"),
        (lambda table: pa.concat_tables([table, table]), r"deal \d+ comes after deal \d+"),
        (lambda table: table.take(list(range(table.num_rows))[::-1]), r"deal \d+ comes after deal \d+"),
    ],
    ids=["without the first", "without any", "without the last", "twice", "backwards"],
)
def test_rows_that_are_not_those_of_the_catalog_are_found(
    storage: LocalStorage, check: Callable[..., Results], change: Callable[[Any], Any], what: str
) -> None:
    rewrite(storage, change)
    results = check(SAMPLE)
    assert re.search(what, "\n".join(problems(results)[NUMBERS]))


def test_a_puzzle_twice_in_a_pool_is_found_across_its_parts(
    storage: LocalStorage, check: Callable[..., Results]
) -> None:
    first = pq.ParquetFile(io.BytesIO(storage.read(parts_of(load_catalog(storage))[0].path))).read()
    puzzle = first["puzzle_id"].to_pylist()[0]
    part = rewrite(storage, with_value("puzzle_id", 3, puzzle), place=1)
    results = check()
    (problem,) = results[TWICE].problems
    assert (problem.file, problem.what.partition(": ")[2]) == (
        part.path,
        f"its puzzle {puzzle} is in the pool already",
    )


def test_a_row_that_only_looks_right_is_found_when_it_is_worked_out_anew(
    storage: LocalStorage, check: Callable[..., Results]
) -> None:
    steady = [f"steady_{name}" for name in ("mean", "sd", "clear_rate", "p10", "p50", "p90", "scores")]

    def borrow(table: Any) -> Any:
        for column in ("par", *steady):
            table = with_value(column, 4, table[column].to_pylist()[7])(table)
        return table

    part = rewrite(storage, borrow)
    assert problems(check(0)) == {}
    results = check(None)
    (problem,) = results[SAMPLED].problems
    assert problem.file == part.path
    assert "worked out anew, it differs in " in problem.what
    assert "steady_scores" in problem.what


def test_many_faults_of_one_file_are_counted_not_listed(
    storage: LocalStorage, check: Callable[..., Results]
) -> None:
    def change(table: Any) -> Any:
        for row in range(DEALS_PER_NIGHT):
            table = with_value("puzzle_id", row, "0" * 16)(table)
        return table

    rewrite(storage, change)
    found = problems(check())[PUZZLES]
    assert len(found) == 6
    assert found[-1].endswith(f"and {DEALS_PER_NIGHT - 5} more of the kind")


def test_other_versions_than_the_catalog_says_are_a_problem(
    storage: LocalStorage, check: Callable[..., Results]
) -> None:
    def change(table: Any) -> Any:
        return table.replace_schema_metadata(table.schema.metadata | {b"fairway.par": b"9"})

    part = rewrite(storage, change)
    assert problems(check()) == {SCHEMA: [f"{part.path}: its versions are not those that the catalog says"]}


# Dailies


def edit(storage: LocalStorage, path: str, **fields: object) -> None:
    storage.replace(path, render(parse(storage.read(path), path) | fields))


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"par": 3}, r"\$\.par: 3 does not follow"),
        ({"hole": 1}, r"\$\.hole: 1 is not"),
        ({"waste": "XX"}, r"\$\.waste"),
        ({"more": 1}, r"\$: Additional properties"),
        ({"date": "2026-11-30", "hole": 334}, r"not that of the file's name"),
    ],
    ids=str,
)
def test_a_daily_edited_by_hand_is_found_by_itself_and_by_the_index(
    storage: LocalStorage, check: Callable[..., Results], fields: dict[str, object], what: str
) -> None:
    path = daily_path(DAYS[2])
    edit(storage, path, **fields)
    found = problems(check())
    assert re.search(what, found[DAILIES][0])
    assert found[DAILIES][0].startswith(path)


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\xff\x00", b"null"])
def test_a_daily_that_is_no_daily_is_found(
    storage: LocalStorage, check: Callable[..., Results], content: bytes
) -> None:
    storage.replace(daily_path(DAYS[1]), content)
    found = problems(check(SAMPLE))
    assert found[DAILIES][0].startswith(daily_path(DAYS[1]))


def test_an_edit_that_keeps_a_daily_faultless_is_found_by_its_hash(
    storage: LocalStorage, check: Callable[..., Results]
) -> None:
    edit(storage, daily_path(DAYS[0]), attempt=1000)
    assert problems(check()) == {
        INDEX: [f"{daily_path(DAYS[0])}: not the file that the index lists: it has changed or is gone"]
    }


def test_an_edit_that_the_index_was_rebuilt_over_is_found_when_the_hole_is_chosen_anew(
    storage: LocalStorage, check: Callable[..., Results]
) -> None:
    edit(storage, daily_path(DAYS[0]), attempt=1000)
    storage.remove(INDEX_PATH)
    rebuild_index(storage)
    assert problems(check(SAMPLE)) == {
        CHOSEN: [f"{daily_path(DAYS[0])}: worked out anew, the same deal gives another attempt"]
    }


def test_a_daily_in_another_form_is_found(storage: LocalStorage, check: Callable[..., Results]) -> None:
    path = daily_path(DAYS[0])
    storage.replace(path, storage.read(path).replace(b",", b", "))
    assert set(problems(check())) == {DAILIES, INDEX}


def test_a_daily_that_went_is_missed(storage: LocalStorage, check: Callable[..., Results]) -> None:
    storage.remove(daily_path(DAYS[1]))
    results = check()
    assert problems(results) == {
        INDEX: [f"{daily_path(DAYS[1])}: not the file that the index lists: it has changed or is gone"]
    }
    assert notes(results)[DAILIES] == [f"daily/: no hole for 1 dates between {DAYS[0]} and {DAYS[2]}"]


@pytest.mark.parametrize("content", [None, b"", b"{}", b'{"schema":"fairway-index/2.0","dailies":[]}\n'])
def test_an_index_that_is_gone_or_damaged_is_found(
    storage: LocalStorage, check: Callable[..., Results], content: bytes | None
) -> None:
    storage.remove(INDEX_PATH)
    if content is not None:
        storage.create(INDEX_PATH, content)
    results = check()
    assert list(problems(results)) == [INDEX]
    assert [problem.file for problem in results[INDEX].problems] == [INDEX_PATH]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"par":', b'"par": '),
        (b'"hole":331', b'"hole":332'),
        (
            b'"solution":null',
            b'"solution":{"file":"solutions/2026-11-29.json","sha256":"' + b"0" * 64 + b'"}',
        ),
    ],
    ids=["blank", "hole", "solution"],
)
def test_an_index_edited_by_hand_is_found(
    storage: LocalStorage, check: Callable[..., Results], old: bytes, new: bytes
) -> None:
    storage.replace(INDEX_PATH, storage.read(INDEX_PATH).replace(old, new, 1))
    results = check()
    assert list(problems(results)) == [INDEX]
    assert [problem.file for problem in results[INDEX].problems] == [INDEX_PATH]


@pytest.mark.parametrize("fault_after", [False, True])
def test_whatever_a_killed_run_leaves_is_no_problem(
    tmp_path: Path, executor: Executor, fault_after: bool
) -> None:
    for at in count():
        root = LocalStorage(tmp_path / str(at))
        publish(root, DAYS[:1], None, datetime(2026, 11, 27, tzinfo=UTC), executor, SILENT)
        write_views(root, load_catalog(root))
        stopping = FailingStorage(root, at, Killed(), after=fault_after)
        try:
            publish(stopping, DAYS[:2], None, NOW, executor, SILENT)
        except Killed:
            assert problems(verified(root, executor)) == {}
        else:
            break
    assert at == 5


@pytest.mark.parametrize("at", range(4))
def test_whatever_the_first_run_leaves_when_killed_is_no_problem(
    tmp_path: Path, executor: Executor, at: int
) -> None:
    root = LocalStorage(tmp_path)
    with pytest.raises(Killed):
        publish(FailingStorage(root, at, Killed()), DAYS[:1], None, NOW, executor, SILENT)
    assert problems(verified(root, executor)) == {}


def test_one_puzzle_on_two_dates_is_found(
    storage: LocalStorage,
    check: Callable[..., Results],
    executor: Executor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    next_day = DAYS[-1] + timedelta(days=1)
    twin = dataclasses.replace(choose(DAYS[0], None), day=next_day)
    monkeypatch.setattr(publish_module, "choose", lambda day, key: twin)
    made = publish_module.make_daily(next_day, None)
    storage.create(private_solution_path(next_day), made.solution)
    storage.create(daily_path(next_day), made.daily)
    rebuild_index(storage)
    results = check(SAMPLE)
    assert problems(results) == {
        DATES: [f"{daily_path(next_day)}: its puzzle is that of {daily_path(DAYS[0])} too"]
    }
    assert "differs: today's code would choose attempt" in notes(results)[CHOSEN][0]


@pytest.mark.parametrize("folder", ["private", "public"])
@pytest.mark.parametrize("content", [None, b"", b"{}\n", b"other"])
def test_a_solution_that_is_gone_or_another_is_found(
    storage: LocalStorage, check: Callable[..., Results], folder: str, content: bytes | None
) -> None:
    day = {"public": DAYS[0], "private": DAYS[3]}[folder]
    path = (solution_path if folder == "public" else private_solution_path)(day)
    storage.remove(path)
    if content is not None:
        storage.create(path, content)
    found = problems(check())[SOLUTIONS]
    expected = f"{daily_path(day)}: its solution is missing"
    wrong = f"{path}: not the solution that the daily promises"
    assert found == [expected if content is None else wrong]


def test_a_solution_without_a_daily_is_a_note(storage: LocalStorage, check: Callable[..., Results]) -> None:
    path = private_solution_path(date(2027, 1, 1))
    storage.create(path, b"left by a killed run")
    results = check()
    assert problems(results) == {}
    assert notes(results) == {SOLUTIONS: [f"{path}: no hole is published for its date"]}


def test_a_file_that_is_no_daily_is_a_note(storage: LocalStorage, check: Callable[..., Results]) -> None:
    storage.create("daily/2026-02-30.json", b"{}")
    assert notes(check())[DAILIES] == ["daily/2026-02-30.json: no file of this name is published"]


def test_holes_of_another_key_are_noted_as_not_checkable(
    storage: LocalStorage, check: Callable[..., Results], executor: Executor
) -> None:
    publish(storage, [date(2026, 12, 1), date(2026, 12, 2)], KEY, NOW, executor, SILENT)
    without = check(SAMPLE)
    assert problems(without) == {}
    assert notes(without)[CHOSEN] == ["daily/: 2 holes of key e9303e2d: not checkable without that key"]
    assert without[CHOSEN].checked == len(DAYS)
    with_it = check(SAMPLE, KEY)
    assert problems(with_it) == {}
    assert notes(with_it)[CHOSEN] == [
        "daily/: 4 holes were published without a key; with the one in force, others would be chosen"
    ]
    assert with_it[CHOSEN].checked == len(DAYS) + 2
    assert KEY.hex() not in repr(with_it)


@pytest.mark.parametrize("content", [b"", b"\xff", b"drop table deals;"])
def test_views_that_are_not_ours_are_found(
    storage: LocalStorage, check: Callable[..., Results], content: bytes
) -> None:
    storage.replace(SQL_FILE, storage.read(SQL_FILE) + content if content else b"")
    results = check()
    assert list(problems(results)) == [VIEWS]
    assert results[VIEWS].problems[0].file == SQL_FILE


def test_views_that_are_gone_or_of_an_earlier_catalog_are_a_note(
    storage: LocalStorage, check: Callable[..., Results]
) -> None:
    storage.replace(
        SQL_FILE, catalog_sql(part_paths(load_catalog(storage))[:2], dailies=False, runs=False).encode()
    )
    assert notes(check()) == {VIEWS: ["catalog.sql: behind what is there; the next run rewrites it"]}
    storage.remove(SQL_FILE)
    results = check()
    assert notes(results) == {VIEWS: ["catalog.sql: missing; the next run writes it"]}
    assert problems(results) == {}


def test_views_of_parts_that_are_gone_are_found(storage: LocalStorage, check: Callable[..., Results]) -> None:
    gone = ["deals/level=easy/generation=0009/part-0-9.parquet"]
    storage.replace(SQL_FILE, catalog_sql(gone, dailies=True, runs=False).encode())
    assert list(problems(check())) == [VIEWS]


# Any damage


def test_any_flipped_bit_is_found_and_none_stops_the_verification(
    storage: LocalStorage, executor: Executor
) -> None:
    dice = random.Random(1)
    paths = [path for path in storage.list("") if path != CATALOG_FILE]
    for path in paths:
        data = storage.read(path)
        damaged = bytearray(data)
        damaged[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        storage.replace(path, bytes(damaged))
        assert problems(verified(storage, executor)), path
        storage.replace(path, data)
    assert problems(verified(storage, executor)) == {}


def test_a_flipped_bit_in_the_catalog_never_stops_the_verification(
    storage: LocalStorage, executor: Executor
) -> None:
    dice = random.Random(2)
    data = storage.read(CATALOG_FILE)
    for _ in range(15):
        damaged = bytearray(data)
        damaged[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        storage.replace(CATALOG_FILE, bytes(damaged))
        verified(storage, executor)


def test_any_flipped_bit_in_a_part_whose_hash_was_made_to_fit_never_stops_the_verification(
    storage: LocalStorage, executor: Executor
) -> None:
    dice = random.Random(3)
    catalog = load_catalog(storage)
    part = parts_of(catalog)[0]
    data = storage.read(part.path)
    text = storage.read(CATALOG_FILE)
    for _ in range(25):
        damaged = bytearray(data)
        damaged[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        storage.replace(part.path, bytes(damaged))
        fitting = text.replace(part.sha256.encode(), sha256_of(bytes(damaged)).encode())
        storage.replace(CATALOG_FILE, fitting)
        verified(storage, executor)


@pytest.mark.soak
def test_ten_thousand_deals_without_solving_take_less_than_five_seconds(
    tmp_path: Path, executor: Executor
) -> None:
    import time

    storage = LocalStorage(tmp_path)
    deals = {"easy": 3400, "medium": 3300, "hard": 3300}
    catalog = add_nights(storage, load_catalog(storage), NIGHTS[:1], deals, 20_000, executor, SILENT)
    save_catalog(storage, catalog)
    write_views(storage, catalog)
    begun = time.perf_counter()
    results = verify(storage, None, 0, executor, time.perf_counter, SILENT)
    assert time.perf_counter() - begun < 5
    assert results[3].checked == 10_000
    assert all(result.is_passed for result in results)
