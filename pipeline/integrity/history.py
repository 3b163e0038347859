"""Verification of what the pools were: the kept catalogs, and the parts that nothing else names.

Their rows are not looked into: a part that has its hash is the one that was checked while it was in force.
"""

from typing import Final

from pipeline.errors import DamagedError
from pipeline.integrity.report import Report
from pipeline.pools.catalog import CATALOG_FILE, Catalog, kept_changes, kept_path
from pipeline.pools.history import parts_in, read_kept
from pipeline.pools.parts import check_named_part
from pipeline.store.storage import Storage

KEPT_CATALOGS: Final = "earlier catalogs"
KEPT_PARTS: Final = "parts that only earlier catalogs name"


def kept_part_paths(storage: Storage) -> set[str]:
    """Paths of all parts that those of the kept catalogs name that can be read."""
    named: set[str] = set()
    for change in kept_changes(storage):
        try:
            named.update(parts_in(read_kept(storage, [change])))
        except DamagedError:
            continue
    return named


def verify_history(storage: Storage, report: Report, catalog: Catalog) -> None:
    """Check the kept catalogs, and that the parts are there that only they name.

    Args:
        storage: the data root; it is only read.
        report: takes what is found.
        catalog: the one in force.
    """
    checked = set(parts_in([catalog]))
    kept = kept_changes(storage)
    for missing in sorted({*range(kept[0], catalog.change)} - {*kept}) if kept else ():
        with report.check(KEPT_CATALOGS, "files", kept_path(missing)) as check:
            check.note(kept_path(missing), "missing: nothing can go back to what it named")
    for change in kept_changes(storage):
        path = kept_path(change)
        earlier: Catalog | None = None
        with report.check(KEPT_CATALOGS, "files", path) as check:
            check.checked += 1
            earlier = next(read_kept(storage, [change]), None)
            if earlier is not None and change > catalog.change:
                check.problem(CATALOG_FILE, f"older than {path}: it was put back by hand; compare the two")
            if change == catalog.change and storage.read(path) != storage.read(CATALOG_FILE):
                check.problem(path, f"says something else than {CATALOG_FILE}, of which it is a copy")
        for part in (part for pool in (earlier.pools if earlier else ()) for part in pool.parts):
            if part.path not in checked:
                checked.add(part.path)
                with report.check(KEPT_PARTS, "parts", part.path) as check:
                    check.checked += 1
                    check_named_part(storage, part)
