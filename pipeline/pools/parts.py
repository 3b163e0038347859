"""Parts in a data root: written once, read with their hash checked, cleared away when nothing names them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final

from pipeline.deals.columns import Row
from pipeline.errors import AlreadyThereError, DamagedError, MissingError
from pipeline.pools.catalog import (
    DEALS_PREFIX,
    FIRST_GENERATION,
    Catalog,
    Part,
    PartName,
    parse_part_path,
)
from pipeline.pools.history import kept_parts
from pipeline.pools.parquet import part_bytes, read_part
from pipeline.pools.unfinished import record_path
from pipeline.store.storage import Storage
from pipeline.store.text import sha256_of
from pipeline.versions import PART_VERSIONS

PART_ROWS: Final = 10_000  # of a pool made anew: bounds the memory, and the work that a stop can lose


def write_part(storage: Storage, name: PartName, night: date | None, rows: Sequence[Row]) -> Part:
    """Write deals as a part that the catalog in force does not name; see `write_part_file`."""
    return write_part_file(storage, name, night, Counter(row.par for row in rows), part_bytes(rows))


def write_part_file(
    storage: Storage, name: PartName, night: date | None, pars: Mapping[int, int], data: bytes
) -> Part:
    """Write the file of a part that the catalog in force does not name.

    A file of this name was left by a killed run, or belongs to a kept catalog. It is the same file, unless it
    was damaged or another version of pyarrow wrote it; then it gives way, if it is no kept one.

    Raises:
        DamagedError: a kept catalog names it with another content, or is damaged itself.
    """
    part = part_of(name, night, pars, data)
    try:
        storage.create(name.path, data)
    except AlreadyThereError:
        if storage.read(name.path) != data:
            _check_free(storage, part)
            storage.remove(name.path)
            storage.create(name.path, data)
    return part


def _check_free(storage: Storage, part: Part) -> None:
    if kept_parts(storage).get(part.path, {part.sha256}) != {part.sha256}:
        raise DamagedError(
            f"{part.path} would come out otherwise today, and an earlier catalog names it as it is; "
            "`fairway pool regenerate` makes the pool anew under a number of its own"
        )


def part_of(name: PartName, night: date | None, pars: Mapping[int, int], data: bytes) -> Part:
    """What the catalog says of a part with this content.

    Args:
        name: of the part.
        night: that made it; None for none, or for several.
        pars: how many of its deals have each par.
        data: the file.
    """
    return Part(
        name.path,
        night,
        name.first,
        name.last,
        sum(pars.values()),
        sha256_of(data),
        dict(PART_VERSIONS),
        dict(sorted(pars.items())),
    )


def read_named_part(storage: Storage, part: Part, columns: Sequence[str] | None = None) -> Any:
    """The Arrow table of a part that the catalog names.

    Args:
        storage: the data root.
        part: the part.
        columns: which columns to read; None for all.

    Raises:
        DamagedError: the file is missing, is not the one that was named, or is no part.
    """
    return read_part(_named_bytes(storage, part), part.path, columns)


def check_named_part(storage: Storage, part: Part) -> None:
    """Make sure that a part that a catalog names is there, as it was when it was named.

    Raises:
        DamagedError: the file is missing, or is not the one that was named.
    """
    _named_bytes(storage, part)


def _named_bytes(storage: Storage, part: Part) -> bytes:
    try:
        data = storage.read(part.path)
    except MissingError as fault:
        raise DamagedError(f"{part.path} is missing, but the catalog names it") from fault
    if sha256_of(data) != part.sha256:
        raise DamagedError(f"{part.path} is damaged: its hash is not the one in the catalog")
    return data


def puzzles_of(storage: Storage, part: Part) -> list[str]:
    """Puzzle ids of all deals of a part.

    Raises:
        DamagedError: see `read_named_part`.
    """
    puzzles: list[str] = read_named_part(storage, part, ["puzzle_id"])["puzzle_id"].to_pylist()
    return puzzles


def clear_unreferenced(storage: Storage, catalog: Catalog) -> tuple[str, ...]:
    """Remove what a killed run left in the generations in use; only for the holder of the lock.

    Other generations stay: they are a pool's history, or an unfinished regeneration. So does what a kept
    catalog names, and everything where a damaged one may name it. A record in a generation that was in force
    is of a regeneration whose last step, the removal of the record, was not reached.

    Returns:
        The paths that were removed, sorted.
    """
    removed = tuple(sorted((*_strays(storage, catalog), *_left_records(storage, catalog))))
    for path in removed:
        storage.remove(path)
    return removed


def _strays(storage: Storage, catalog: Catalog) -> list[str]:
    named = {part.path for pool in catalog.pools for part in pool.parts}
    in_use = {(pool.level, pool.generation) for pool in catalog.pools}
    found = []
    for path in storage.list(DEALS_PREFIX):
        name = parse_part_path(path)
        if name is not None and path not in named and (name.level, name.generation) in in_use:
            found.append(path)
    if not found:
        return []
    try:
        kept = kept_parts(storage)
    except DamagedError:
        return []
    return [path for path in found if path not in kept]


def _left_records(storage: Storage, catalog: Catalog) -> Iterator[str]:
    were_in_force = {
        record_path(pool.level, generation)
        for pool in catalog.pools
        for generation in range(FIRST_GENERATION, pool.newest_generation + 1)
    }
    return (path for path in storage.list(DEALS_PREFIX) if path in were_in_force)
