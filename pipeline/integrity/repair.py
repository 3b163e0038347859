"""Repair: damaged files are made again from numbers and dates, to the same bytes, or left alone.

A file is replaced only if its hash or its content proves it wrong, and only by content with the right hash.
If that cannot be made, such as a hole of a key that is not known, the repair refuses and says what to do.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Final

from pipeline.daily.key import DailyKey
from pipeline.errors import DamagedError, MissingError, StorageError, VersionError
from pipeline.integrity.dry_run import RepairLog, put
from pipeline.integrity.repair_dailies import repair_dailies
from pipeline.integrity.repair_pools import repair_parts
from pipeline.integrity.report import NOT_A_FILE
from pipeline.pools.catalog import CATALOG_FILE, KEPT_PREFIX, Catalog, kept_changes, kept_path, load_catalog
from pipeline.pools.history import read_kept
from pipeline.query.views import SQL_FILE, daily_paths, part_paths, write_views
from pipeline.store.storage import Storage
from pipeline.store.text import sha256_of
from pipeline.work.executors import Work
from pipeline.work.records import read_record, run_paths

_NAME_DIGITS: Final = 16


def repair(
    storage: Storage,
    log: RepairLog,
    key: DailyKey | None,
    now: datetime,
    work: Work,
    irregular_paths: Callable[[], Sequence[str]] = tuple,
) -> None:
    """Repair a data root as far as possible; sound files are not written.

    Args:
        storage: the data root, whose lock the caller holds, or a `DryRunStorage` of it.
        log: receives what is restored and what is refused.
        key: the secret key in force, or None.
        now: the current time, with its time zone.
        work: makes deals and holes, and reports them.
        irregular_paths: returns the paths in the data root that are not regular files but should be.

    Raises:
        StorageError: if the data root cannot be read or written.
    """
    catalog = _repair_catalog(storage, log)
    in_force = () if catalog is None else (catalog,)
    earlier = tuple(_earlier_catalogs(storage, log))
    repair_parts(storage, (*in_force, *reversed(earlier)), log, work)
    repair_dailies(storage, key, now, log, work)
    if catalog is not None:
        _repair_views(storage, catalog, log)
    for path in run_paths(storage):
        try:
            read_record(storage, path)
        except (DamagedError, StorageError) as fault:
            log.refuse(path, f"{fault}; restore a copy or move it away")
    known = {found.file for found in (*log.repaired, *log.refused)}
    for path in irregular_paths():
        if path not in known:
            log.refuse(path, NOT_A_FILE)


def _repair_catalog(storage: Storage, log: RepairLog) -> Catalog | None:
    """Return the catalog in force; a damaged one is replaced by the latest kept one that is sound."""
    try:
        return load_catalog(storage)
    except VersionError as error:
        log.refuse(CATALOG_FILE, str(error))
        return None
    except DamagedError as error:
        fault = str(error)
    except StorageError as error:
        log.refuse(CATALOG_FILE, str(error))
        return None
    for change in reversed(kept_changes(storage)):
        try:
            (catalog,) = read_kept(storage, [change])
        except (DamagedError, StorageError):
            continue  # it is refused with the other kept ones
        saved = _save_damaged(storage)
        put(storage, CATALOG_FILE, storage.read(kept_path(change)))
        log.repair(
            CATALOG_FILE,
            f"{fault}; replaced by {kept_path(change)}, the latest kept catalog{saved}. Redo any "
            "changes made since; the next night adds the missing nights",
        )
        return catalog
    log.refuse(CATALOG_FILE, f"{fault}; there is no earlier catalog to replace it: restore a copy")
    return None


def _save_damaged(storage: Storage) -> str:
    """Copy a damaged catalog, which may be the only copy of its content."""
    try:
        data = storage.read(CATALOG_FILE)
    except MissingError:
        return ""
    path = f"{KEPT_PREFIX}damaged-{sha256_of(data)[:_NAME_DIGITS]}.json"
    put(storage, path, data)
    return f", and saved as {path}"


def _earlier_catalogs(storage: Storage, log: RepairLog) -> Iterator[Catalog]:
    for change in kept_changes(storage):
        try:
            yield from read_kept(storage, [change])
        except (DamagedError, StorageError) as fault:
            log.refuse(kept_path(change), f"{fault}; restore a copy or move it away")


def _repair_views(storage: Storage, catalog: Catalog, log: RepairLog) -> None:
    before = _text_of_views(storage)
    if before is None and not (part_paths(catalog) or daily_paths(storage) or run_paths(storage)):
        return  # an empty data root
    try:
        write_views(storage, catalog)
    except StorageError as error:
        log.refuse(SQL_FILE, str(error))
        return
    if storage.read(SQL_FILE) != before:
        fault = "missing" if before is None else "not the text that Fairway writes"
        log.repair(SQL_FILE, f"{fault}; written again")


def _text_of_views(storage: Storage) -> bytes | None:
    """Return the text of `catalog.sql`; None if it is missing or cannot be read."""
    try:
        return storage.read(SQL_FILE)
    except StorageError:
        return None
