"""Verification of a whole data root: every check, in order, without changing anything.

Damage never stops it: what is damaged is reported and the rest is checked all the same.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Final

from pipeline.catalog import Catalog
from pipeline.progress import Progress
from pipeline.storage import Storage
from pipeline.verify_dailies import choose_anew, verify_dailies
from pipeline.verify_parts import verify_parts
from pipeline.verify_report import CheckResult, Report
from pipeline.views import SQL_FILE, catalog_sql, daily_paths, part_paths, run_paths

SAMPLE_SIZE: Final = 20  # deals a level that are solved and rated anew unless it is said otherwise


def verify(
    storage: Storage,
    key: bytes | None,
    sample: int | None,
    executor: Executor,
    clock: Callable[[], float],
    progress: Progress,
) -> tuple[CheckResult, ...]:
    """Check everything in a data root; it is only read.

    Args:
        storage: the data root.
        key: the secret key in force, or None.
        sample: how many deals a level to solve and rate anew; None for all. With 0, nothing at all is
            solved, the holes of the dailies neither.
        executor: works things out anew.
        clock: seconds from any fixed moment, for the time that each check took.
        progress: told of parts, of deals and of dailies.
    """
    report = Report(clock)
    catalog = verify_parts(storage, report, sample, executor, progress)
    dailies = verify_dailies(storage, report)
    if sample != 0:
        choose_anew(report, dailies, key, executor, progress)
    if catalog is not None:
        _check_sql(storage, report, catalog)
    return report.results()


def _check_sql(storage: Storage, report: Report, catalog: Catalog) -> None:
    with report.check("views for DuckDB up to date", "files", SQL_FILE) as check:
        parts = part_paths(catalog)
        has_dailies, has_runs = bool(daily_paths(storage)), bool(run_paths(storage))
        if not (parts or has_dailies or has_runs):
            return  # nothing was ever made
        check.checked += 1
        if storage.read(SQL_FILE).decode(errors="replace") != catalog_sql(
            parts, dailies=has_dailies, runs=has_runs
        ):
            check.problem(SQL_FILE, "out of date; the next run that changes something rewrites it")
