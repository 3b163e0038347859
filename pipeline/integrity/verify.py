"""Verification of a whole data root: runs every check, in order, and changes nothing.

Damage does not stop it: it is reported, and the other checks go on. A new check of rows goes into the table
`ROW_CHECKS` of `rows.py`, one of parts or catalogs into `pools.py`, one of Daily holes into `dailies.py`, and
one of any other file here.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from pipeline.daily.files import DAILY_FOLDER
from pipeline.integrity.dailies import choose_again, verify_dailies
from pipeline.integrity.pools import verify_history, verify_pools
from pipeline.integrity.report import NOT_A_FILE, Check, Report
from pipeline.pools.catalog import DEALS_PREFIX, Catalog, parse_part_path
from pipeline.query.views import EARLIER_HEADS, SQL_FILE, catalog_sql, daily_paths, part_paths
from pipeline.store.storage import Storage
from pipeline.work.executors import Work
from pipeline.work.records import read_record, run_paths

SAMPLE_SIZE: Final = 20  # deals per level that are solved and rated again by default

_QUOTED: Final = re.compile(r"'([^']*)'")


def verify(
    storage: Storage,
    key: bytes | None,
    sample: int | None,
    work: Work,
    clock: Callable[[], float],
    irregular_paths: Callable[[], Sequence[str]] = tuple,
) -> tuple[Check, ...]:
    """Check everything in a data root.

    Args:
        storage: the data root; it is only read.
        key: the secret key in force, or None.
        sample: how many deals per level to solve and rate again; None for all. With 0, nothing is solved, and
            Daily holes are not chosen again.
        work: solves deals and chooses holes, and reports them.
        clock: seconds since any fixed time, to time the checks.
        irregular_paths: returns the paths in the data root that are not regular files but should be.
    """
    report = Report(clock)
    with report.check("only regular files", "files", ".") as check:
        check.checked = len(storage.list(""))
        for path in irregular_paths():
            check.problem(path, NOT_A_FILE)
    catalog = verify_pools(storage, report, sample, work)
    ledger = verify_dailies(storage, report)
    if ledger is not None and sample != 0:
        choose_again(storage, report, ledger, key, work)
    if catalog is not None:
        verify_history(storage, report, catalog)
        _check_views(storage, report, catalog)
    for path in run_paths(storage):
        with report.check("run records", "files", path) as check:
            check.checked += 1
            read_record(storage, path)
    return report.results()


def _check_views(storage: Storage, report: Report, catalog: Catalog) -> None:
    """Check `catalog.sql` against the files; a killed run may have left an earlier one."""
    dailies, has_runs = daily_paths(storage), bool(run_paths(storage))
    parts = part_paths(catalog)
    with report.check("views for DuckDB", "files", SQL_FILE) as check:
        if SQL_FILE not in storage.list(SQL_FILE):
            if parts or dailies or has_runs:
                check.problem(SQL_FILE, "missing; the next run writes it")
            return
        check.checked += 1
        text = storage.read(SQL_FILE).decode(errors="replace")
        if text == catalog_sql(parts, dailies, runs=has_runs):
            return
        if _was_right_before(storage, text):
            check.note(SQL_FILE, "out of date; the next run rewrites it")
        else:
            check.problem(SQL_FILE, "not the text that Fairway writes; the next run rewrites it")


def _was_right_before(storage: Storage, text: str) -> bool:
    """Return whether a text was written by an earlier Fairway, or for a catalog whose parts all exist."""
    if text.startswith(EARLIER_HEADS):
        return True
    named = _QUOTED.findall(text)
    parts = [path for path in named if parse_part_path(path) is not None]
    dailies = [path for path in named if path.startswith(DAILY_FOLDER)]
    texts = (catalog_sql(parts, dailies, runs=runs) for runs in (False, True))
    return text in texts and set(parts) <= set(storage.list(DEALS_PREFIX))
