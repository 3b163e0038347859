"""Repair: what damage has taken is made again from numbers and dates, to the very bytes, or left alone.

Nothing is replaced before a hash, or the file itself, has proved it wrong, and nothing takes its place but
what has the hash on record. What is lost beyond that, such as the choice of a hole under a key that is not at
hand, is not invented: it is refused, with what to do.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from datetime import datetime
from typing import Final

from pipeline.daily.key import DailyKey
from pipeline.errors import DamagedError, MissingError, NewerError
from pipeline.integrity.dry_run import Mending, put
from pipeline.integrity.repair_dailies import mend_dailies
from pipeline.integrity.repair_pools import mend_parts
from pipeline.integrity.report import NO_FILE
from pipeline.pools.catalog import CATALOG_FILE, KEPT_PREFIX, Catalog, kept_changes, kept_path, load_catalog
from pipeline.pools.history import read_kept
from pipeline.query.views import SQL_FILE, daily_paths, part_paths, write_views
from pipeline.store.storage import Storage
from pipeline.store.text import sha256_of
from pipeline.work.progress import Progress
from pipeline.work.records import read_record, run_paths

_NAME_DIGITS: Final = 16


def repair(
    storage: Storage,
    mending: Mending,
    key: DailyKey | None,
    now: datetime,
    executor: Executor,
    progress: Progress,
    odd_paths: Callable[[], Sequence[str]] = tuple,
) -> None:
    """Mend what can be mended of a data root; what is sound is not written.

    Args:
        storage: the data root, whose lock the caller holds, or a `Rehearsal` of it.
        mending: takes what is mended and what is refused, as it comes.
        key: the secret key in force, or None.
        now: the moment, aware of its time zone.
        executor: works deals and holes out.
        progress: told of deals and dailies that are made anew.
        odd_paths: tells what lies in the data root and is no file, though nothing else may.

    Raises:
        StorageError: the data root cannot be read or written.
    """
    for path in odd_paths():
        mending.refuse(path, NO_FILE)
    catalog = _mend_catalog(storage, mending)
    in_force = () if catalog is None else (catalog,)
    earlier = tuple(_earlier(storage, mending))
    mend_parts(storage, (*in_force, *reversed(earlier)), mending, executor, progress)
    mend_dailies(storage, key, now, mending, executor, progress)
    for each in in_force:
        _mend_views(storage, each, mending)
    for path in run_paths(storage):
        try:
            read_record(storage, path)
        except DamagedError as damage:
            mending.refuse(path, f"{damage}; nobody can tell what it was: restore a copy, or move it away")


def _mend_catalog(storage: Storage, mending: Mending) -> Catalog | None:
    """The catalog in force; a damaged one gives way to the latest that is kept and sound."""
    try:
        return load_catalog(storage)
    except NewerError as newer:
        mending.refuse(CATALOG_FILE, str(newer))
        return None
    except DamagedError as damage:
        fault = str(damage)
    for change in reversed(kept_changes(storage)):
        try:
            (catalog,) = read_kept(storage, [change])
        except DamagedError:
            continue  # it is refused with the other earlier ones
        aside = _set_aside(storage)
        put(storage, CATALOG_FILE, storage.read(kept_path(change)))
        mending.mend(
            CATALOG_FILE,
            f"{fault}; {kept_path(change)}, the latest that is known, took its place{aside}. What a later "
            "run changed is to be done again; the next night makes up for nights",
        )
        return catalog
    mending.refuse(CATALOG_FILE, f"{fault}; no earlier one is kept that could take its place: restore a copy")
    return None


def _set_aside(storage: Storage) -> str:
    """Keep a damaged catalog, in which somebody may yet read what no other file says."""
    try:
        data = storage.read(CATALOG_FILE)
    except MissingError:
        return ""
    path = f"{KEPT_PREFIX}damaged-{sha256_of(data)[:_NAME_DIGITS]}.json"
    put(storage, path, data)
    return f", and it is kept as {path}"


def _earlier(storage: Storage, mending: Mending) -> Iterator[Catalog]:
    for change in kept_changes(storage):
        try:
            yield from read_kept(storage, [change])
        except DamagedError as damage:
            remedy = "restore a copy, or move it away: then nothing goes back to what it names"
            mending.refuse(kept_path(change), f"{damage}; {remedy}")


def _mend_views(storage: Storage, catalog: Catalog, mending: Mending) -> None:
    if SQL_FILE not in storage.list(SQL_FILE):
        if part_paths(catalog) or daily_paths(storage) or run_paths(storage):
            write_views(storage, catalog)
            mending.mend(SQL_FILE, "missing; written anew")
        return
    before = storage.read(SQL_FILE)
    write_views(storage, catalog)
    if storage.read(SQL_FILE) != before:
        mending.mend(SQL_FILE, "not what Fairway writes of what is there; written anew")
