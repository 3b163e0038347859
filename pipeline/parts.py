"""Parts in a data root: written once, read with their hash checked, cleared away when nothing names them."""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from pipeline.catalog import DEALS_PREFIX, Catalog, Part, PartName, parse_part_path
from pipeline.certify import CertifiedDeal
from pipeline.errors import AlreadyThereError, DamagedError, MissingError
from pipeline.schema import part_bytes, read_part
from pipeline.storage import Storage
from pipeline.unfinished import record_path
from pipeline.versions import PART_VERSIONS


def write_part(storage: Storage, name: PartName, night: date | None, rows: Sequence[CertifiedDeal]) -> Part:
    """Write a part that no catalog names yet.

    A file of this name was left by a killed run. It is the same file, unless it was damaged or another
    version of pyarrow wrote it; then it gives way.
    """
    data = part_bytes(rows)
    try:
        storage.create(name.path, data)
    except AlreadyThereError:
        if storage.read(name.path) != data:
            storage.remove(name.path)
            storage.create(name.path, data)
    return part_of(name, night, len(rows), data)


def part_of(name: PartName, night: date | None, rows: int, data: bytes) -> Part:
    """What the catalog says of a part with this content."""
    digest = hashlib.sha256(data).hexdigest()
    return Part(name.path, night, name.first, name.last, rows, digest, dict(PART_VERSIONS))


def read_named_part(storage: Storage, part: Part, columns: Sequence[str] | None = None) -> Any:
    """The Arrow table of a part that the catalog names.

    Args:
        storage: the data root.
        part: the part.
        columns: which columns to read; None for all.

    Raises:
        DamagedError: the file is missing, is not the one that was named, or is no part.
    """
    try:
        data = storage.read(part.path)
    except MissingError as fault:
        raise DamagedError(f"{part.path} is missing, but the catalog names it") from fault
    if hashlib.sha256(data).hexdigest() != part.sha256:
        raise DamagedError(f"{part.path} is damaged: its hash is not the one in the catalog")
    return read_part(data, part.path, columns)


def puzzles_of(storage: Storage, part: Part) -> set[str]:
    """Puzzle ids of all deals of a part.

    Raises:
        DamagedError: see `read_named_part`.
    """
    return set(read_named_part(storage, part, ["puzzle_id"])["puzzle_id"].to_pylist())


def clear_unreferenced(storage: Storage, catalog: Catalog) -> tuple[str, ...]:
    """Remove what a killed run left in the generations in use; only for the holder of the lock.

    Other generations stay: those before are a pool's history, the next may be an unfinished regeneration.
    A record in a generation in use is of one whose last step, the removal of the record, was not reached.

    Returns:
        The paths that were removed, sorted.
    """
    removed = tuple(_unreferenced(storage, catalog))
    for path in removed:
        storage.remove(path)
    return removed


def _unreferenced(storage: Storage, catalog: Catalog) -> Iterator[str]:
    named = {part.path for pool in catalog.pools for part in pool.parts}
    in_use = {(pool.level, pool.generation) for pool in catalog.pools}
    records = {record_path(*generation) for generation in in_use}
    for path in storage.list(DEALS_PREFIX):
        name = parse_part_path(path)
        stray = name is not None and path not in named and (name.level, name.generation) in in_use
        if stray or path in records:
            yield path
