"""Verification of a whole data root: every check, in order, without changing anything.

Damage never stops it: what is damaged is reported and the rest is checked all the same.
"""

import re
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Final

from pipeline.integrity.dailies import choose_anew, verify_dailies
from pipeline.integrity.history import verify_history
from pipeline.integrity.pools import verify_parts
from pipeline.integrity.report import NO_FILE, CheckResult, Report
from pipeline.pools.catalog import DEALS_PREFIX, Catalog, parse_part_path
from pipeline.query.views import SQL_FILE, catalog_sql, daily_paths, part_paths
from pipeline.store.storage import Storage
from pipeline.work.progress import Progress
from pipeline.work.records import read_record, run_paths

SAMPLE_SIZE: Final = 20  # deals a level that are solved and rated anew unless it is said otherwise

_QUOTED: Final = re.compile(r"'([^']*)'")


def verify(
    storage: Storage,
    key: bytes | None,
    sample: int | None,
    executor: Executor,
    clock: Callable[[], float],
    progress: Progress,
    odd_paths: Callable[[], Sequence[str]] = tuple,
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
        odd_paths: tells what lies in the data root and is no file, though nothing else may.
    """
    report = Report(clock)
    with report.check("nothing but files", "files", ".") as check:
        check.checked = len(storage.list(""))
        for path in odd_paths():
            check.problem(path, NO_FILE)
    catalog = verify_parts(storage, report, sample, executor, progress)
    dailies = verify_dailies(storage, report)
    if sample != 0:
        choose_anew(report, dailies, key, executor, progress)
    if catalog is not None:
        verify_history(storage, report, catalog)
        _check_views(storage, report, catalog)
    _check_runs(storage, report)
    return report.results()


def _check_runs(storage: Storage, report: Report) -> None:
    """Make sure that the view `runs` can be read, and that status and service can go by the records."""
    for path in run_paths(storage):
        with report.check("run records", "files", path) as check:
            check.checked += 1
            read_record(storage, path)


def _check_views(storage: Storage, report: Report, catalog: Catalog) -> None:
    """Hold `catalog.sql` against what is there; a run that was killed leaves that of before."""
    has_dailies, has_runs = bool(daily_paths(storage)), bool(run_paths(storage))
    parts = part_paths(catalog)
    with report.check("views for DuckDB", "files", SQL_FILE) as check:
        if SQL_FILE not in storage.list(SQL_FILE):
            if parts or has_dailies or has_runs:
                check.problem(SQL_FILE, "missing; the next run writes it")
            return
        check.checked += 1
        text = storage.read(SQL_FILE).decode(errors="replace")
        if text == catalog_sql(parts, dailies=has_dailies, runs=has_runs):
            return
        if _was_right_before(storage, text):
            check.note(SQL_FILE, "behind what is there; the next run rewrites it")
        else:
            check.problem(SQL_FILE, "not what Fairway writes; the next run rewrites it")


def _was_right_before(storage: Storage, text: str) -> bool:
    """Whether a text is that of some catalog whose parts are all there."""
    parts = [path for path in _QUOTED.findall(text) if parse_part_path(path) is not None]
    texts = (catalog_sql(parts, dailies=d, runs=r) for d in (False, True) for r in (False, True))
    return text in texts and set(parts) <= set(storage.list(DEALS_PREFIX))
