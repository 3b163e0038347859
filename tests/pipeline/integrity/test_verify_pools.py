"""Damage to the catalog, a part or a row is found by its check and reported under its file."""

import dataclasses
import io
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.deals.levels import LEVELS
from pipeline.deals.shuffle import deal_numbered
from pipeline.pools.catalog import CATALOG_FILE, Part, catalog_bytes, load_catalog, save_catalog
from pipeline.store.storage import LocalStorage
from pipeline.store.text import sha256_of
from tests.support import checks
from tests.support.sound_root import (
    DAYS,
    DEALS_PER_NIGHT,
    NIGHTS,
    SAMPLE,
    notes,
    parts_of,
    problems,
    verified,
)

pytestmark = pytest.mark.system


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "not"),
        (b"{", "not"),
        (b"[]", ""),
        (b'{"version":1}', ""),
        (b'{"version":99,"pools":[]}', "99"),
        (None, r"deals/easy/\.\./\.\./x"),
    ],
    ids=["empty", "cut", "list", "fields", "newer", "outside"],
)
def test_a_damaged_catalog_is_found_and_the_dailies_are_checked(
    storage: LocalStorage, content: bytes | None, what: str
) -> None:
    if content is None:
        path = parts_of(load_catalog(storage))[0].path.encode()
        content = storage.read(CATALOG_FILE).replace(path, b"deals/easy/../../x.parquet")
    storage.replace(CATALOG_FILE, content)
    results = verified(storage)
    assert results[checks.CATALOG].problems[0].file == CATALOG_FILE
    assert results[checks.DAILIES].checked == len(DAYS)
    assert list(problems(results)) == [checks.CATALOG]
    assert checks.VIEWS not in results


@pytest.mark.parametrize("damage", ["flipped", "cut", "emptied", "swapped", "missing"])
def test_a_damaged_part_is_found_and_the_others_are_checked(storage: LocalStorage, damage: str) -> None:
    path, other = (part.path for part in parts_of(load_catalog(storage))[1:3])
    data = storage.read(path)
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 1
    contents = {"flipped": bytes(flipped), "cut": data[:-1], "emptied": b"", "swapped": storage.read(other)}
    storage.remove(path)
    if damage in contents:
        storage.create(path, contents[damage])
    results = verified(storage, SAMPLE)
    assert list(problems(results)) == [checks.PARTS]
    (problem,) = results[checks.PARTS].problems
    assert problem.file == path
    assert ("missing" in problem.what) == (damage == "missing")
    assert results[checks.LINES].checked == (len(LEVELS) * len(NIGHTS) - 1) * DEALS_PER_NIGHT


def test_a_part_that_no_catalog_names_is_a_note(storage: LocalStorage) -> None:
    storage.create("deals/easy/generation-0001/part-900-999.parquet", b"left")
    results = verified(storage)
    assert problems(results) == {}
    assert notes(results) == {
        checks.CATALOG: ["deals/easy/generation-0001/part-900-999.parquet: no catalog names it"]
    }


def rewrite(storage: LocalStorage, change: Callable[[Any], Any], place: int = 0) -> Part:
    """Change the table of a part, and its hash in the catalog, so that only its rows are wrong."""
    catalog = load_catalog(storage)
    part = parts_of(catalog)[place]
    stream = io.BytesIO()
    table = change(pq.ParquetFile(io.BytesIO(storage.read(part.path))).read())
    pq.write_table(table, stream)
    pars = dict(Counter(table["par"].to_pylist())) if "par" in table.column_names else {}
    if None in pars or sum(pars.values()) != part.rows:
        pars = part.pars
    storage.replace(part.path, stream.getvalue())
    changed = dataclasses.replace(part, sha256=sha256_of(stream.getvalue()), pars=pars)
    pools = [
        dataclasses.replace(pool, parts=tuple(changed if one == part else one for one in pool.parts))
        for pool in catalog.pools
    ]
    save_catalog(storage, dataclasses.replace(catalog, pools=tuple(pools)))
    return changed


def test_a_gap_between_parts_is_found(storage: LocalStorage) -> None:
    catalog = load_catalog(storage)
    pool = catalog.pool("easy")
    assert len(pool.parts) > 1
    for parts in (pool.parts[1:], pool.parts[:-1]):
        lost = dataclasses.replace(pool, parts=parts)
        storage.replace(CATALOG_FILE, catalog_bytes(catalog.with_pool(lost)))
        found = problems(verified(storage)).get(checks.GAPS, [])
        assert len(found) == (parts != pool.parts[1:])
    (fault,) = found
    assert fault.startswith(f"{pool.parts[-2].path}: no part has the numbers {pool.parts[-2].last + 1} to ")


def test_other_counts_of_pars_in_the_catalog_are_found(storage: LocalStorage) -> None:
    catalog = load_catalog(storage)
    pool = catalog.pools[0]
    wrong = dataclasses.replace(pool.parts[0], pars={5: pool.parts[0].rows})
    parts = (wrong, *pool.parts[1:])
    save_catalog(storage, catalog.with_pool(dataclasses.replace(pool, parts=parts)))
    (problem,) = verified(storage)[checks.NUMBERS].problems
    assert problem.file == wrong.path
    assert problem.what.startswith("its pars are {3: ")


def with_value(column: str, row: int, value: Any) -> Callable[[Any], Any]:
    """Return a change of one value of a column, to another value or by a function of the old one."""

    def change(table: Any) -> Any:
        values = table[column].to_pylist()
        values[row] = value(values[row]) if callable(value) else value
        field = table.schema.field(column)
        return table.set_column(table.schema.get_field_index(column), field, pa.array(values, field.type))

    return change


def another_line(line: str) -> str:
    return line[:-1] + ("1" if line[-1] != "1" else "2")


WRONG_VALUES: list[tuple[str, Any, str, str]] = [
    ("level", "medium", checks.NAMES, r"level and rules are medium and relaxed, not easy and relaxed"),
    ("rules", "golf", checks.NAMES, r"level and rules are easy and golf, not easy and relaxed"),
    ("rules", "", checks.NAMES, r"level and rules are easy and , not"),
    ("deal", "", checks.CARDS, "the cards are not the shuffle of its number"),
    ("deal", str.lower, checks.CARDS, "the cards are not the shuffle of its number"),
    ("deal", deal_numbered(4).notation, checks.CARDS, "the cards are not the shuffle of its number"),
    ("puzzle_id", "0" * 16, checks.PUZZLES, "its puzzle id is [0-9a-f]{16}, not '0{16}'"),
    ("line", "", checks.LINES, "the line gives"),
    ("line", "x", checks.LINES, "'x', is not legal"),
    ("line", "\uff11", checks.LINES, "is not legal"),
    ("line", another_line, checks.LINES, "is not legal"),
    ("line", lambda line: line[:-1], checks.LINES, "the line gives"),
    ("line", lambda line: line + "D", checks.LINES, "is not legal"),
    ("best_score", lambda score: score - 1, checks.LINES, "score and draws are"),
    ("draws", lambda draws: draws + 1, checks.LINES, "score and draws are"),
    ("par", lambda par: 3 + (par - 2) % 3, checks.SCORES, "par does not match its scores"),
    ("par", 2, checks.SCORES, "par does not match its scores"),
    ("steady_mean", lambda mean: mean + 1e-6, checks.SCORES, "steady_mean does not match its scores"),
    ("steady_mean", float("nan"), checks.SCORES, "steady_mean does not match its scores"),
    ("steady_sd", lambda sd: sd + 1e-6, checks.SCORES, "steady_sd does not match its scores"),
    ("steady_sd", lambda sd: -sd, checks.SCORES, "steady_sd does not match its scores"),
    ("steady_clear_rate", lambda rate: 1 - rate, checks.SCORES, "steady_clear_rate does not match"),
    ("steady_p10", lambda score: score + 1, checks.SCORES, "steady_p10 does not match its scores"),
    ("steady_p50", lambda score: score - 1, checks.SCORES, "steady_p50 does not match its scores"),
    ("steady_p90", 35, checks.SCORES, "steady_p90 does not match its scores"),
    ("steady_scores", lambda scores: scores[1:] + scores[:1], checks.SCORES, "steady_mean does not match"),
    ("steady_scores", [0.0] * 52, checks.SCORES, "steady_scores does not match"),
    ("steady_scores", [float("nan")] * 52, checks.SCORES, "steady_scores does not match"),
    ("steady_scores", [2.0, -1.0] + [0.0] * 50, checks.SCORES, "steady_scores does not match"),
    ("steady_scores", [0.0] * 51 + [1.0], checks.ADMITTED, "easy does not admit a mean of 35"),
    ("steady_scores", [1.0], checks.SCHEMA, "row 1: steady_scores does not hold 52 numbers"),
    ("steady_scores", [None] * 52, checks.SCHEMA, "row 1: steady_scores does not hold 52 numbers"),
    ("deal_number", lambda number: number + 1, checks.CARDS, "the cards are not the shuffle of its number"),
    ("deal_number", 2**63, checks.NUMBERS, r"deal 9223372036854775808 is not in 0 \.\. "),
    ("deal_number", 0, checks.NUMBERS, "deal 0 comes after deal"),
]


@pytest.mark.parametrize(("column", "value", "name", "what"), WRONG_VALUES)
def test_a_wrong_value_is_found_by_its_check(
    storage: LocalStorage, column: str, value: Any, name: str, what: str
) -> None:
    part = rewrite(storage, with_value(column, 1, value))
    results = verified(storage)
    assert name in problems(results)
    found = [problem for result in results.values() for problem in result.problems]
    assert {problem.file for problem in found} == {part.path}
    assert any(re.search(what, problem.what) for problem in results[name].problems), found


@pytest.mark.parametrize("column", ["level", "deal_number", "line", "par", "steady_mean", "steady_scores"])
def test_a_null_is_found_and_ends_the_checks_of_its_part(storage: LocalStorage, column: str) -> None:
    def change(table: Any) -> Any:
        loose = pa.schema([field.with_nullable(True) for field in table.schema], table.schema.metadata)
        return with_value(column, 2, None)(table.cast(loose))

    part = rewrite(storage, change)
    results = verified(storage)
    assert {name: [finding.file for finding in results[name].problems] for name in problems(results)} in (
        {checks.SCHEMA: [part.path]},
        {checks.PARTS: [part.path]},
    )


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (
            lambda table: table.slice(1),
            f"{DEALS_PER_NIGHT - 1} rows instead of the {DEALS_PER_NIGHT} in the catalog",
        ),
        (lambda table: table.slice(0, 0), f"0 rows instead of the {DEALS_PER_NIGHT} in the catalog"),
        (lambda table: table.slice(0, 5), r"the last deal is \d+ instead of \d+ as in the catalog"),
        (lambda table: pa.concat_tables([table, table]), r"deal \d+ comes after deal \d+"),
        (lambda table: table.take(list(range(table.num_rows))[::-1]), r"deal \d+ comes after deal \d+"),
    ],
    ids=["without the first", "without any", "without the last", "twice", "backwards"],
)
def test_other_rows_than_in_the_catalog_are_found(
    storage: LocalStorage, change: Callable[[Any], Any], what: str
) -> None:
    rewrite(storage, change)
    results = verified(storage, SAMPLE)
    assert re.search(what, "\n".join(problems(results)[checks.NUMBERS]))


def test_a_puzzle_twice_in_a_pool_is_found_across_its_parts(storage: LocalStorage) -> None:
    first = pq.ParquetFile(io.BytesIO(storage.read(parts_of(load_catalog(storage))[0].path))).read()
    puzzle = first["puzzle_id"].to_pylist()[0]
    part = rewrite(storage, with_value("puzzle_id", 3, puzzle), place=1)
    results = verified(storage)
    (problem,) = results[checks.TWICE].problems
    assert (problem.file, problem.what.partition(": ")[2]) == (
        part.path,
        f"its puzzle {puzzle} is already in the pool",
    )


def test_a_consistent_but_wrong_row_is_found_when_it_is_solved_again(storage: LocalStorage) -> None:
    steady = [f"steady_{name}" for name in ("mean", "sd", "clear_rate", "p10", "p50", "p90", "scores")]

    def borrow(table: Any) -> Any:
        for column in ("par", *steady):
            table = with_value(column, 4, table[column].to_pylist()[7])(table)
        return table

    part = rewrite(storage, borrow)
    assert problems(verified(storage, 0)) == {}
    results = verified(storage, None)
    (problem,) = results[checks.SAMPLED].problems
    assert problem.file == part.path
    assert "solved and rated again, it differs in " in problem.what
    assert "steady_scores" in problem.what


def test_many_faults_of_one_file_are_counted(storage: LocalStorage) -> None:
    def change(table: Any) -> Any:
        for row in range(DEALS_PER_NIGHT):
            table = with_value("puzzle_id", row, "0" * 16)(table)
        return table

    rewrite(storage, change)
    found = problems(verified(storage))[checks.PUZZLES]
    assert len(found) == 6
    assert found[-1].endswith(f"and {DEALS_PER_NIGHT - 5} more like these")


def test_other_versions_than_in_the_catalog_are_found(storage: LocalStorage) -> None:
    def change(table: Any) -> Any:
        return table.replace_schema_metadata(table.schema.metadata | {b"fairway.par": b"9"})

    part = rewrite(storage, change)
    assert problems(verified(storage)) == {
        checks.SCHEMA: [f"{part.path}: its versions are not those in the catalog"]
    }
