"""A pool as files that a game client deals from: JSON shards of 500 deals, and an index that names them.

A shard's name holds a part of its hash, so that a shard never changes and an index never names another than
the one it means. The index is replaced in one step once all its shards are there; those that it does not name
go last.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pipeline.deals.fragments import rules_document
from pipeline.deals.levels import level_named
from pipeline.errors import AlreadyThereError, CheckError, DamagedError, MissingError
from pipeline.pools.catalog import Pool
from pipeline.pools.parts import read_named_part
from pipeline.store.documents import parse, render
from pipeline.store.storage import INCOMING, LocalStorage, Storage, names_in
from pipeline.store.text import sha256_of
from solver.errors import UsageError

SHARD_DEALS: Final = 500
INDEX_NAME: Final = "index.json"
POOL_SCHEMA: Final = "fairway-pool/1.0"
SHARD_SCHEMA: Final = "fairway-shard/1.0"

_COLUMNS: Final = ("deal_number", "deal", "par", "rules")
_HASH_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class Exported:
    """What lies in the folder now.

    Attributes:
        deals: how many deals.
        shards: names of their files, in number order.
    """

    deals: int
    shards: tuple[str, ...]


def export_pool(storage: LocalStorage, pool: Pool, folder: Path) -> Exported:
    """Write a pool for clients, or bring an earlier export of the same level up to date.

    Args:
        storage: the data root.
        pool: the pool as it is in the catalog.
        folder: where to; made when it does not exist.

    Raises:
        UsageError: the folder lies in the data root, is a file, or holds something else.
        CheckError: the pool is empty.
        DamagedError: a part of the pool is not what the catalog says.
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
        "rules": rules_document(level_named(pool.level).rules),
        "deals": pool.size,
        "shards": shards,
    }
    target.replace(INDEX_NAME, render(index))
    named = tuple(shard["file"] for shard in shards)
    for stale in sorted(set(target.list("")) - {INDEX_NAME, *named}):
        target.remove(stale)
    return Exported(pool.size, named)


def _target(storage: LocalStorage, level: str, folder: Path) -> LocalStorage:
    """The folder to write to, if it is new, empty, or holds an export of this level, whole or not."""
    target = LocalStorage(folder)
    if target.root.is_relative_to(storage.root):
        raise UsageError(f"{folder} lies in the data root {storage.root}; choose a folder outside")
    if target.root.is_file():
        raise UsageError(f"{folder} is a file; give a folder")
    shard = re.compile(rf"{level}-[0-9]{{5}}-[0-9a-f]{{{_HASH_DIGITS}}}\.json|{re.escape(INCOMING)}.*")
    others = [name for name in names_in(target.root) if name != INDEX_NAME and not shard.fullmatch(name)]
    if others or not _is_ours(target, level):
        name = others[0] if others else INDEX_NAME
        raise UsageError(f"{folder} holds something else ({name}); choose an empty or new folder")
    return target


def _is_ours(target: Storage, level: str) -> bool:
    """Whether the index in the folder, if there is one, is that of this level."""
    try:
        index = parse(target.read(INDEX_NAME), INDEX_NAME)
    except MissingError:
        return True
    except DamagedError:
        return False
    return index.get("schema") == POOL_SCHEMA and index.get("level") == level


def _cut(storage: Storage, pool: Pool) -> Iterator[list[dict[str, Any]]]:
    """The deals of a pool in number order, `SHARD_DEALS` at a time."""
    waiting: list[dict[str, Any]] = []
    for part in pool.parts:
        waiting += read_named_part(storage, part, _COLUMNS).to_pylist()
        while len(waiting) >= SHARD_DEALS:
            yield waiting[:SHARD_DEALS]
            waiting = waiting[SHARD_DEALS:]
    if waiting:
        yield waiting


def _write_shard(target: Storage, level: str, number: int, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Write a shard; what the index says of it."""
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
