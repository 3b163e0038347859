"""Export a pool for game clients: JSON shards of 500 deals, and an index that names them.

The name of a shard contains a part of its hash, so a shard never changes and an index always names the right
one. The index is replaced in one step after all its shards have been written. Shards that it no longer names
are kept for some days, because clients may still have an earlier index; `superseded.json` says since when.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

from pipeline.deals.fragments import rules_document
from pipeline.errors import AlreadyThereError, CheckError, DamagedError, MissingError
from pipeline.pools.catalog import Pool
from pipeline.pools.parts import read_named_part
from pipeline.store.documents import parse, render
from pipeline.store.storage import INCOMING, LocalStorage, Storage, names_in
from pipeline.store.text import sha256_of
from solver.errors import UsageError

SHARD_DEALS: Final = 500
KEEP_DAYS: Final = 30
INDEX_NAME: Final = "index.json"
SUPERSEDED_NAME: Final = "superseded.json"
POOL_SCHEMA: Final = "fairway-pool/1.0"
SHARD_SCHEMA: Final = "fairway-shard/1.0"
SUPERSEDED_SCHEMA: Final = "fairway-superseded/1.0"

_COLUMNS: Final = ("deal_number", "deal", "par", "rules")
_HASH_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class Exported:
    """The content of an export: the number of deals, and the names of the shards in number order."""

    deals: int
    shards: tuple[str, ...]


def export_pool(
    storage: LocalStorage, pool: Pool, folder: Path, today: date, keep_days: int = KEEP_DAYS
) -> Exported:
    """Write a pool for clients to a new folder, or update an earlier export of the same level.

    Args:
        storage: the data root.
        pool: the pool to export.
        folder: where to.
        today: the date in UTC, from which the days that superseded shards are kept are counted.
        keep_days: how many days superseded shards stay.

    Raises:
        UsageError: the folder is inside the data root, is a file, or contains something else.
        CheckError: the pool is empty.
        DamagedError: a part of the pool is not as in the catalog.
        StorageError: the folder cannot be written.
    """
    if not pool.size:
        raise CheckError(f"the pool of level {pool.level} is empty; `fairway nightly` fills it")
    target = _target(storage, pool.level, folder)
    target.clear_leftovers()
    cut = enumerate(_cut(storage, pool), start=1)
    shards = [_write_shard(target, pool.level, number, rows) for number, rows in cut]
    index = {
        "schema": POOL_SCHEMA,
        "level": pool.level,
        "generation": pool.generation,
        "rules": rules_document(pool.level_row.rules),
        "deals": pool.size,
        "shards": shards,
    }
    target.replace(INDEX_NAME, render(index))
    named = tuple(shard["file"] for shard in shards)
    _remove_superseded(target, set(named), today, keep_days)
    return Exported(pool.size, named)


def _remove_superseded(target: LocalStorage, named: Collection[str], today: date, keep_days: int) -> None:
    """Remove the shards that were superseded long enough ago, and write down since when the others are."""
    known = _superseded(target)
    others = sorted(set(target.list("")) - {INDEX_NAME, SUPERSEDED_NAME, *named})
    since = {name: min(known.get(name, today), today) for name in others}
    last = today - timedelta(days=keep_days)
    staying = {name: str(day) for name, day in since.items() if day > last}
    if staying or known:
        target.replace(SUPERSEDED_NAME, render({"schema": SUPERSEDED_SCHEMA, "since": staying}))
    for name in others:
        if name not in staying:
            target.remove(name)


def _superseded(target: Storage) -> dict[str, date]:
    """Return since when shards are superseded; of a damaged file nothing is known, so they stay longer."""
    try:
        since = parse(target.read(SUPERSEDED_NAME), SUPERSEDED_NAME)["since"]
        return {name: date.fromisoformat(day) for name, day in since.items()}
    except (MissingError, DamagedError, KeyError, AttributeError, TypeError, ValueError):
        return {}


def _target(storage: LocalStorage, level: str, folder: Path) -> LocalStorage:
    """Return the folder as a storage, if it is new or empty or contains an export of this level."""
    target = LocalStorage(folder)
    if target.root.is_relative_to(storage.root):
        raise UsageError(f"{folder} is inside the data root {storage.root}; choose a folder outside")
    if target.root.is_file():
        raise UsageError(f"{folder} is not a folder; give a folder")
    shard = re.compile(rf"{level}-[0-9]{{5}}-[0-9a-f]{{{_HASH_DIGITS}}}\.json|{re.escape(INCOMING)}.*")
    ours = (INDEX_NAME, SUPERSEDED_NAME)
    others = [name for name in names_in(target.root) if name not in ours and not shard.fullmatch(name)]
    if others or not _is_ours(target, level):
        name = others[0] if others else INDEX_NAME
        raise UsageError(f"{folder} contains something else ({name}); choose an empty or new folder")
    return target


def _is_ours(target: Storage, level: str) -> bool:
    """Return whether the index in the folder is that of this level; true if there is no index."""
    try:
        index = parse(target.read(INDEX_NAME), INDEX_NAME)
    except MissingError:
        return True
    except DamagedError:
        return False
    return index.get("schema") == POOL_SCHEMA and index.get("level") == level


def _cut(storage: Storage, pool: Pool) -> Iterator[list[dict[str, Any]]]:
    """Yield the deals of a pool in number order, `SHARD_DEALS` at a time."""
    waiting: list[dict[str, Any]] = []
    for part in pool.parts:
        waiting += read_named_part(storage, part, _COLUMNS).to_pylist()
        while len(waiting) >= SHARD_DEALS:
            yield waiting[:SHARD_DEALS]
            waiting = waiting[SHARD_DEALS:]
    if waiting:
        yield waiting


def _write_shard(target: Storage, level: str, number: int, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Write a shard and return its entry in the index."""
    deals = [
        {"number": str(row["deal_number"]), "deal": row["deal"], "par": row["par"], "rules": row["rules"]}
        for row in rows
    ]
    data = render({"schema": SHARD_SCHEMA, "level": level, "deals": deals})
    digest = sha256_of(data)
    name = f"{level}-{number:05d}-{digest[:_HASH_DIGITS]}.json"
    try:
        target.create(name, data)
    except AlreadyThereError:
        if target.read(name) != data:
            target.replace(name, data)
    return {
        "file": name,
        "sha256": digest,
        "deals": len(deals),
        "first": deals[0]["number"],
        "last": deals[-1]["number"],
    }
