"""Verification of the pools: the catalog, its parts and their rows, a sample solved again, and what is kept.

Rows of parts that only kept catalogs name are not checked: with the right hash, such a part is the one that
was checked while it was in force.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pipeline.deals.certify import certify, warm_up
from pipeline.deals.columns import COLUMNS, row_of
from pipeline.deals.levels import Level
from pipeline.deals.shuffle import deal_numbered
from pipeline.errors import DamagedError
from pipeline.integrity.report import Report
from pipeline.integrity.rows import ROW_CHECKS, Rows, shape_faults
from pipeline.pools.catalog import (
    CATALOG_FILE,
    DEALS_PREFIX,
    Catalog,
    Part,
    Pool,
    kept_changes,
    kept_path,
    load_catalog,
)
from pipeline.pools.history import parts_in, read_kept
from pipeline.pools.parquet import policy_hash_in, versions_in
from pipeline.pools.parts import check_named_part, read_named_part
from pipeline.store.storage import Storage
from pipeline.versions import is_reproducible
from pipeline.work.executors import Work

POOLS_TASK: Final = "pools"
KEPT_CATALOGS: Final = "earlier catalogs"
KEPT_PARTS: Final = "parts of earlier catalogs"


class _Steps:
    """Progress of the pools: parts, and deals solved again."""

    def __init__(self, work: Work, total: int) -> None:
        self._progress = work.progress
        self._total = total
        self._done = 0

    def step(self) -> None:
        self._done += 1
        self._progress.update(POOLS_TASK, min(self._done, self._total), self._total)


def verify_pools(storage: Storage, report: Report, sample: int | None, work: Work) -> Catalog | None:
    """Run all checks of the pools in force.

    Args:
        storage: the data root; it is only read.
        report: receives the findings.
        sample: how many deals per level to solve and rate again, spread over the pool; None for all.
        work: solves and rates them, and reports parts and deals.

    Returns:
        The catalog; None if it cannot be read.
    """
    catalog: Catalog | None = None
    with report.check("catalog", "files", CATALOG_FILE) as check:
        check.checked += 1
        catalog = load_catalog(storage)
        known = {*parts_in([catalog]), *kept_part_paths(storage)}
        for path in storage.list(DEALS_PREFIX):
            if path not in known:
                check.note(path, "no catalog names it")
    if catalog is None:
        return None
    sampled = sum(len(spread(pool.size, sample)) for pool in catalog.pools)
    if sampled:
        warm_up()
    steps = _Steps(work, sampled + len(parts_in([catalog])))
    for pool in catalog.pools:
        _verify_pool(storage, report, pool, sample, work, steps)
    return catalog


def verify_history(storage: Storage, report: Report, catalog: Catalog) -> None:
    """Check the kept catalogs and the parts that only they name."""
    checked = set(parts_in([catalog]))
    kept = kept_changes(storage)
    newest = _newest_change(storage, catalog)  # a night may have ended since the catalog was read
    for missing in sorted({*range(kept[0], catalog.change)} - {*kept}) if kept else ():
        with report.check(KEPT_CATALOGS, "files", kept_path(missing)) as check:
            check.note(kept_path(missing), "missing; no rollback to it is possible")
    for change in kept:
        if catalog.change < change <= newest:
            continue
        earlier = _check_kept(storage, report, catalog, change)
        for part in (part for pool in (earlier.pools if earlier else ()) for part in pool.parts):
            if part.path not in checked:
                checked.add(part.path)
                with report.check(KEPT_PARTS, "parts", part.path) as check:
                    check.checked += 1
                    check_named_part(storage, part)


def kept_part_paths(storage: Storage) -> set[str]:
    """Return the paths of all parts that readable kept catalogs name."""
    named: set[str] = set()
    for change in kept_changes(storage):
        try:
            named.update(parts_in(read_kept(storage, [change])))
        except DamagedError:
            continue
    return named


def spread(size: int, count: int | None) -> Sequence[int]:
    """Return `count` of the places 0 .. size - 1, ascending and evenly spread; all for None or if too few."""
    if count is None or count >= size:
        return range(size)
    return [(2 * n + 1) * size // (2 * count) for n in range(count)]


def _newest_change(storage: Storage, catalog: Catalog) -> int:
    try:
        return load_catalog(storage).change
    except DamagedError:
        return catalog.change


def _check_kept(storage: Storage, report: Report, catalog: Catalog, change: int) -> Catalog | None:
    path = kept_path(change)
    earlier: Catalog | None = None
    with report.check(KEPT_CATALOGS, "files", path) as check:
        check.checked += 1
        earlier = next(read_kept(storage, [change]), None)
        if earlier is not None and change > catalog.change:
            check.problem(CATALOG_FILE, f"older than {path}, so it was replaced by hand; compare the two")
        if change == catalog.change and earlier != catalog:
            check.problem(path, f"differs from {CATALOG_FILE}, of which it should be a copy")
    return earlier


def _verify_pool(
    storage: Storage, report: Report, pool: Pool, sample: int | None, work: Work, steps: _Steps
) -> None:
    _check_gaps(report, pool)
    sampled = spread(pool.size, sample)
    puzzles: set[str] = set()
    begin = 0
    for part in pool.parts:
        rows = _read_rows(storage, report, part, pool.level_row)
        if rows is not None:
            _check_rows(report, rows)
            _check_unique(report, rows, puzzles)
            here = [n - begin for n in sampled if begin <= n < begin + min(part.rows, len(rows.numbers))]
            _check_sample(report, rows, here, work, steps)
        begin += part.rows
        steps.step()


def _check_gaps(report: Report, pool: Pool) -> None:
    """Check that each part begins where the one before ends, and the next number follows the last part."""
    with report.check("no gaps between parts", "parts", CATALOG_FILE) as check:
        check.checked += len(pool.parts)
        begins = [*(part.first for part in pool.parts[1:]), pool.next_number]
        for part, begin in zip(pool.parts, begins, strict=False):
            if begin != part.last + 1:
                check.problem(part.path, f"no part has the numbers {part.last + 1} to {begin - 1} after it")


def _read_rows(storage: Storage, report: Report, part: Part, level: Level) -> Rows | None:
    """Return the rows of a part; None if it is damaged, so that they cannot be checked."""
    table: Any = None
    with report.check("parts match their hashes", "parts", part.path) as check:
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
            check.problem(part.path, "its versions are not those in the catalog")
        if policy_hash_in(table.schema) not in (None, level.policy.sha256):
            check.problem(part.path, "its policy is not that of its generation in the catalog")
        if not is_reproducible(part.versions, level.policy.version):
            check.note(part.path, "made by other versions, so its deals are not solved again")
        if faults:
            columns = {}
    return Rows(part, level, columns) if columns else None


def _columns(table: Any, path: str) -> dict[str, list[Any]]:
    try:
        return {name: table[name].to_pylist() for name in table.schema.names}
    except UnicodeDecodeError as error:
        raise DamagedError(f"{path} is damaged: it holds text that is not UTF-8") from error


def _check_rows(report: Report, rows: Rows) -> None:
    for name, faults in ROW_CHECKS:
        with report.check(name, "deals", rows.part.path) as check:
            check.checked += len(rows.numbers)
            check.collect(rows.part.path, faults(rows))


def _check_unique(report: Report, rows: Rows, puzzles: set[str]) -> None:
    def repeated() -> Iterator[str]:
        for number, puzzle_id in zip(rows.numbers, rows.columns["puzzle_id"], strict=True):
            if puzzle_id in puzzles:
                yield f"deal {number}: its puzzle {puzzle_id} is already in the pool"
            puzzles.add(puzzle_id)

    with report.check("no puzzle twice in a pool", "deals", rows.part.path) as check:
        check.checked += len(rows.numbers)
        check.collect(rows.part.path, repeated())


def _check_sample(report: Report, rows: Rows, sampled: Sequence[int], work: Work, steps: _Steps) -> None:
    def differing() -> Iterator[str]:
        numbers = [(rows.level, rows.numbers[index]) for index in sampled]
        for index, again in zip(sampled, work.in_order(_made_again, numbers), strict=True):
            steps.step()
            if again is None:
                yield f"deal {rows.numbers[index]}: {rows.level.name} does not admit it"
            elif wrong := [name for name, value in rows.row(index).items() if again[name] != value]:
                yield f"deal {rows.numbers[index]}: solved and rated again, it differs in {', '.join(wrong)}"

    if not is_reproducible(rows.part.versions, rows.level.policy.version):
        return
    with report.check("sampled deals solved and rated again", "deals", rows.part.path) as check:
        check.checked += len(sampled)
        check.collect(rows.part.path, differing())


def _made_again(named: tuple[Level, int]) -> dict[str, object] | None:
    """Return the row of a deal from its level and number only; None if the level does not admit the deal."""
    level, number = named
    certified = certify(level, deal_numbered(number), number)
    if certified is None:
        return None
    names = (column.name for column in COLUMNS)
    return dict(zip(names, row_of(certified).values, strict=True))
