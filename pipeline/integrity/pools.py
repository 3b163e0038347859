"""Verification of the pools: the catalog, each part it names, each row in it, a sample worked out anew."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from typing import Any, Final

from pipeline.deals.certify import certify, warm_up
from pipeline.deals.columns import COLUMNS
from pipeline.deals.levels import Level, level_named
from pipeline.deals.shuffle import deal_numbered
from pipeline.errors import DamagedError
from pipeline.integrity.history import kept_part_paths
from pipeline.integrity.report import Report
from pipeline.integrity.rows import (
    Rows,
    admission_faults,
    deal_faults,
    distribution_faults,
    level_faults,
    line_faults,
    number_faults,
    puzzle_faults,
    shape_faults,
)
from pipeline.pools.catalog import CATALOG_FILE, DEALS_PREFIX, Catalog, Part, Pool, load_catalog
from pipeline.pools.parquet import versions_in
from pipeline.pools.parts import read_named_part
from pipeline.store.storage import Storage
from pipeline.versions import PART_VERSIONS
from pipeline.work.ordered import in_order
from pipeline.work.progress import Progress

POOLS_TASK: Final = "pools"

_ROW_CHECKS: Final = (
    ("deal numbers ascending, as many as the catalog says", number_faults),
    ("levels and rules those of the pool", level_faults),
    ("cards those of the number's shuffle", deal_faults),
    ("puzzle ids recomputed", puzzle_faults),
    ("lines replayed to their score and draws", line_faults),
    ("par and quantiles recomputed from the scores", distribution_faults),
    ("means that the policy admits", admission_faults),
)


class _Steps:
    """How far the pools are, counted in parts and in deals worked out anew."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def step(self) -> None:
        self._done += 1
        self._progress.update(POOLS_TASK, min(self._done, self._total), self._total)


def verify_parts(
    storage: Storage, report: Report, sample: int | None, executor: Executor, progress: Progress
) -> Catalog | None:
    """Run all checks of the pools.

    Args:
        storage: the data root; it is only read.
        report: takes what is found.
        sample: how many deals a level to solve and rate anew, spread over the pool; None for all.
        executor: solves and rates them.
        progress: told of parts and of deals worked out anew.

    Returns:
        The catalog; None where it cannot be read.
    """
    catalog: Catalog | None = None
    named: set[str] = set()
    with report.check("catalog", "files", CATALOG_FILE) as check:
        check.checked += 1
        catalog = load_catalog(storage)
        named.update(part.path for pool in catalog.pools for part in pool.parts)
        known = named | kept_part_paths(storage)  # `pipeline.integrity.history` looks at those
        for path in storage.list(DEALS_PREFIX):
            if path not in known:
                check.note(path, "nothing points to it")
    if catalog is None:
        return None
    sampled = sum(len(spread(pool.size, sample)) for pool in catalog.pools)
    if sampled:
        warm_up()
    steps = _Steps(progress, sampled + len(named))
    for pool in catalog.pools:
        _verify_pool(storage, report, pool, sample, executor, steps)
    return catalog


def spread(size: int, count: int | None) -> Sequence[int]:
    """So many of the places 0 .. size - 1, ascending, evenly spread; all of them for None or if too few."""
    if count is None or count >= size:
        return range(size)
    return [(2 * n + 1) * size // (2 * count) for n in range(count)]


def _check_numbers_between(report: Report, pool: Pool) -> None:
    """Make sure that each part begins where the one before it ends, and the next number comes last."""
    with report.check("no number left out between parts", "parts", CATALOG_FILE) as check:
        check.checked += len(pool.parts)
        begins = [*(part.first for part in pool.parts[1:]), pool.next_number]
        for part, begin in zip(pool.parts, begins, strict=False):
            if begin != part.last + 1:
                check.problem(
                    part.path, f"the numbers {part.last + 1} to {begin - 1} after it are in no part"
                )


def _verify_pool(
    storage: Storage, report: Report, pool: Pool, sample: int | None, executor: Executor, steps: _Steps
) -> None:
    _check_numbers_between(report, pool)
    sampled = spread(pool.size, sample)
    puzzles: set[str] = set()
    begin = 0
    for part in pool.parts:
        rows = _read_rows(storage, report, part, level_named(pool.level))
        if rows is not None:
            _check_rows(report, rows)
            _check_unique(report, rows, puzzles)
            here = [n - begin for n in sampled if begin <= n < begin + min(part.rows, len(rows.numbers))]
            _check_sample(report, rows, here, executor, steps)
        begin += part.rows
        steps.step()


def _read_rows(storage: Storage, report: Report, part: Part, level: Level) -> Rows | None:
    """The rows of a part; None where it is damaged, so that nothing can be said of them."""
    table: Any = None
    with report.check("parts there, as the catalog hashed them", "parts", part.path) as check:
        check.checked += 1
        table = read_named_part(storage, part)
    if table is None:
        return None
    columns: dict[str, list[Any]] = {}
    with report.check("schema and versions", "parts", part.path) as check:
        check.checked += 1
        columns = _columns(table, part.path)
        faults = list(shape_faults(columns))
        check.collect(part.path, faults)
        if versions_in(table.schema) != part.versions:
            check.problem(part.path, "its versions are not those that the catalog says")
        if part.versions != PART_VERSIONS:
            check.note(part.path, "made by other versions: its deals are not worked out anew")
        if faults:
            columns = {}
    return Rows(part, level, columns) if columns else None


def _columns(table: Any, path: str) -> dict[str, list[Any]]:
    try:
        return {column.name: table[column.name].to_pylist() for column in COLUMNS}
    except UnicodeDecodeError as error:
        raise DamagedError(f"{path} is damaged: it holds text that is not UTF-8") from error


def _check_rows(report: Report, rows: Rows) -> None:
    for name, faults in _ROW_CHECKS:
        with report.check(name, "deals", rows.part.path) as check:
            check.checked += len(rows.numbers)
            check.collect(rows.part.path, faults(rows))


def _check_unique(report: Report, rows: Rows, puzzles: set[str]) -> None:
    def repeated() -> Iterator[str]:
        for number, puzzle_id in zip(rows.numbers, rows.columns["puzzle_id"], strict=True):
            if puzzle_id in puzzles:
                yield f"deal {number}: its puzzle {puzzle_id} is in the pool already"
            puzzles.add(puzzle_id)

    with report.check("no puzzle twice in a pool", "deals", rows.part.path) as check:
        check.checked += len(rows.numbers)
        check.collect(rows.part.path, repeated())


def _check_sample(
    report: Report, rows: Rows, sampled: Sequence[int], executor: Executor, steps: _Steps
) -> None:
    def differing() -> Iterator[str]:
        numbers = [(rows.level.name, rows.numbers[index]) for index in sampled]
        for index, anew in zip(sampled, in_order(executor, _work_out, numbers), strict=True):
            steps.step()
            if anew is None:
                yield f"deal {rows.numbers[index]}: {rows.level.name} does not admit it"
            elif anew != rows.row(index):
                pairs = zip(COLUMNS, anew, rows.row(index), strict=True)
                wrong = [column.name for column, new, stored in pairs if new != stored]
                yield f"deal {rows.numbers[index]}: worked out anew, it differs in {', '.join(wrong)}"

    if rows.part.versions != PART_VERSIONS:
        return
    with report.check("sampled deals solved and rated anew", "deals", rows.part.path) as check:
        check.checked += len(sampled)
        check.collect(rows.part.path, differing())


def _work_out(named: tuple[str, int]) -> tuple[object, ...] | None:
    """The row of a deal from nothing but its level and number; None where the level does not admit it."""
    level, number = named
    certified = certify(level_named(level), deal_numbered(number), number)
    return None if certified is None else tuple(column.value(certified) for column in COLUMNS)
