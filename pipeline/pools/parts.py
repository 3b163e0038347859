"""The parts of a data root: each is written once, and read only if its hash is that in the catalog."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

from pipeline.deals.columns import Row
from pipeline.deals.levels import Policy
from pipeline.errors import AlreadyThereError, DamagedError, MissingError
from pipeline.pools.catalog import Part, PartName
from pipeline.pools.history import kept_parts
from pipeline.pools.parquet import part_bytes, part_schema, read_part
from pipeline.store.storage import Storage
from pipeline.store.text import sha256_of
from pipeline.versions import part_versions

PART_ROWS: Final = 10_000  # of a regenerated pool; bounds memory and the work that a stop can lose


def write_part(
    storage: Storage, name: PartName, policy: Policy, night: date | None, rows: Sequence[Row]
) -> Part:
    """Write rows as a part that the catalog in force does not name; see `write_part_file`."""
    versions = part_versions(policy.version)
    data = part_bytes(rows, part_schema(versions, policy))
    return write_part_file(storage, name, versions, night, Counter(row.par for row in rows), data)


def write_part_file(
    storage: Storage,
    name: PartName,
    versions: Mapping[str, int],
    night: date | None,
    pars: Mapping[int, int],
    data: bytes,
) -> Part:
    """Write the file of a part that the catalog in force does not name.

    If a file with this name exists, a killed run left it or a kept catalog names it. It has the same content
    unless it was damaged or another version of pyarrow wrote it. Then it is replaced, unless a kept catalog
    names it.

    Raises:
        DamagedError: a kept catalog names the file with other content, or is itself damaged.
    """
    part = part_of(name, versions, night, pars, data)
    try:
        storage.create(name.path, data)
    except AlreadyThereError:
        if storage.read(name.path) != data:
            _check_free(storage, part)
            storage.remove(name.path)
            storage.create(name.path, data)
    return part


def _check_free(storage: Storage, part: Part) -> None:
    """Raise `DamagedError` if a kept catalog names this path with other content."""
    if kept_parts(storage).get(part.path, {part.sha256}) != {part.sha256}:
        raise DamagedError(
            f"{part.path} would have other content today, and an earlier catalog names it as it is; "
            "use `fairway pool regenerate`, which makes the pool as a new generation"
        )


def part_of(
    name: PartName, versions: Mapping[str, int], night: date | None, pars: Mapping[int, int], data: bytes
) -> Part:
    """Return the catalog's entry for a part with this content; the night is None if no single one made it."""
    return Part(
        name.path,
        night,
        name.first,
        name.last,
        sum(pars.values()),
        sha256_of(data),
        dict(versions),
        dict(sorted(pars.items())),
    )


def read_named_part(storage: Storage, part: Part, columns: Sequence[str] | None = None) -> Any:
    """Return a part that the catalog names as an Arrow table.

    Raises:
        DamagedError: the file is missing, does not have the hash in the catalog, or is not a part.
    """
    return read_part(_named_bytes(storage, part), part.path, columns)


def check_named_part(storage: Storage, part: Part) -> None:
    """Check that the file of a part exists and has the hash in the catalog.

    Raises:
        DamagedError: it does not.
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
    """Return the puzzle ids of all deals of a part.

    Raises:
        DamagedError: see `read_named_part`.
    """
    puzzles: list[str] = read_named_part(storage, part, ["puzzle_id"])["puzzle_id"].to_pylist()
    return puzzles
