"""`catalog.json`: the one pointer to the pools, replaced in one step and never edited.

What it does not name does not exist for a reader. Its text is a pure function of what it says. Before it is
replaced, the one in force is kept as it is, as `catalogs/<change>.json`
(`pipeline.pools.history` reads those).
"""

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Final

from pipeline import versions
from pipeline.deals.levels import LEVELS, level_named
from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.errors import AlreadyThereError, CheckError, DamagedError, MissingError
from pipeline.store.documents import Document, damaged, from_json, parse, render, to_json
from pipeline.store.storage import Storage
from pipeline.store.text import listed, quoted, sha256_of
from pipeline.work.records import latest_records

CATALOG_FILE: Final = "catalog.json"
KEPT_PREFIX: Final = "catalogs/"
DEALS_PREFIX: Final = "deals/"
FIRST_GENERATION: Final = 1
FIRST_CHANGE: Final = 1

_PART_PATH: Final = re.compile(
    r"deals/level=([a-z_]{1,32})/generation=([0-9]{4,9})/part-([0-9]{1,19})-([0-9]{1,19})\.parquet"
)
_KEPT_PATH: Final = re.compile(r"catalogs/([0-9]{6,12})\.json")
_HASH_KEY: Final = "sha256"
_HASH: Final = b',\n "sha256": "%s"'
_END: Final = b"\n}\n"
_FIRST_HASHED: Final = 3  # layout that holds its own hash
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class PartName:
    """What the path of a part says: whose it is, and the deal numbers sampled for it, both ends included."""

    level: str
    generation: int
    first: int
    last: int

    @property
    def path(self) -> str:
        """The path itself."""
        folder = generation_prefix(self.level, self.generation)
        return f"{folder}part-{self.first}-{self.last}.parquet"


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file of a pool; immutable once the catalog names it.

    Attributes:
        path: where it lies in the data root.
        night: the date of the night that made it; None for a part of a regenerated or compacted pool.
        first: first deal number sampled.
        last: last deal number sampled, which is the number of its last deal.
        rows: how many deals it holds.
        sha256: hash of the file, 64 hex digits.
        versions: the definitions that made it, as `pipeline.versions.PART_VERSIONS`.
        pars: how many of its deals have each par, the par as text; None for a part that was named when
            catalogs did not say so.
    """

    path: str
    night: date | None
    first: int
    last: int
    rows: int
    sha256: str
    versions: dict[str, int]
    pars: dict[str, int] | None


@dataclass(frozen=True, slots=True)
class Pool:
    """The deals of one level.

    Attributes:
        level: its name.
        generation: the one in force; they count up from 1 each time the pool is made anew.
        newest_generation: the highest that was ever in force; a rollback does not lower it.
        next_number: the deal number from which sampling goes on.
        last_night: the date of the last night that was made; None before the first.
        parts: ascending in their deal numbers.
    """

    level: str
    generation: int
    newest_generation: int
    next_number: int
    last_night: date | None
    parts: tuple[Part, ...]

    @property
    def size(self) -> int:
        """How many deals the pool holds."""
        return sum(part.rows for part in self.parts)


@dataclass(frozen=True, slots=True)
class Catalog:
    """All pools at one moment.

    Attributes:
        version: of the file's layout.
        change: counts up each time the file is replaced; 0 where there is no file yet.
        pools: one a level, in the order of `LEVELS`.
    """

    version: int
    change: int
    pools: tuple[Pool, ...]

    def pool(self, level: str) -> Pool:
        """The pool of a level.

        Raises:
            UsageError: there is no such level.
        """
        name = level_named(level).name
        return next(pool for pool in self.pools if pool.level == name)

    def with_pool(self, changed: Pool) -> "Catalog":
        """The catalog with one level's pool replaced."""
        pools = tuple(changed if pool.level == changed.level else pool for pool in self.pools)
        return dataclasses.replace(self, pools=pools)


def empty_catalog() -> Catalog:
    """The catalog of a data root in which no night has been made yet."""
    pools = (Pool(name, FIRST_GENERATION, FIRST_GENERATION, 0, None, ()) for name in LEVELS)
    return Catalog(versions.CATALOG, 0, tuple(pools))


def generation_prefix(level: str, generation: int) -> str:
    """Where the parts of one generation of a level lie, with the slash at the end."""
    return f"{DEALS_PREFIX}level={level}/generation={generation:04d}/"


def parse_part_path(path: str) -> PartName | None:
    """What the path of a part says; None when it is not written exactly as the path of a part is."""
    match = _PART_PATH.fullmatch(path)
    if match is None:
        return None
    name = PartName(match[1], int(match[2]), int(match[3]), int(match[4]))
    return name if name.path == path else None


def kept_path(change: int) -> str:
    """Where the catalog of this change is kept once another one has taken its place."""
    return f"{KEPT_PREFIX}{change:06d}.json"


def kept_changes(storage: Storage) -> tuple[int, ...]:
    """The changes whose catalogs are kept, ascending; that of the catalog in force may be among them."""
    found = (_KEPT_PATH.fullmatch(path) for path in storage.list(KEPT_PREFIX))
    changes = sorted(int(match[1]) for match in found if match is not None)
    return tuple(change for change in changes if change >= FIRST_CHANGE)


def load_catalog(storage: Storage) -> Catalog:
    """The catalog of a data root; the empty one where no night has been made yet.

    Raises:
        DamagedError: the file is not JSON, is from a newer Fairway, lacks something, contradicts itself, or
            is missing though earlier ones are kept.
    """
    try:
        data = storage.read(CATALOG_FILE)
    except MissingError as fault:
        _check_never_made(storage, fault)
        return empty_catalog()
    return parse_catalog(data)


def _check_never_made(storage: Storage, fault: MissingError) -> None:
    """Tell a root in which no night has been made from one that has lost its catalog."""
    kept = kept_changes(storage)
    if kept:
        raise DamagedError(
            f"{CATALOG_FILE} is missing; the one before it is kept as {kept_path(kept[-1])}"
        ) from fault
    for record in latest_records(storage):
        if not isinstance(record, DamagedError) and record.counts.change is not None:
            raise DamagedError(
                f"{CATALOG_FILE} is missing, though the run {record.run_id} has made one; restore a copy"
            ) from fault


def save_catalog(storage: Storage, catalog: Catalog) -> Catalog:
    """Swap the catalog: a reader sees the one before until it sees this one whole.

    The one before is kept first. A kept catalog was therefore always in force once, and one that still is has
    been kept by a run that was stopped before the swap.

    Args:
        storage: the data root; the caller holds its lock.
        catalog: its pools; it gets the number of its change here.

    Returns:
        The catalog in force now: that of before where the pools are the same.

    Raises:
        CheckError: the catalog contradicts itself; the one before stays.
        DamagedError: the one before is damaged, or is kept already and says something else.
    """
    before = load_catalog(storage)
    if before.pools == catalog.pools:
        return before
    newest = max((before.change, *kept_changes(storage)))
    saved = dataclasses.replace(catalog, version=versions.CATALOG, change=newest + 1)
    faults = tuple(_faults(saved))
    if faults:
        raise CheckError(f"{CATALOG_FILE} was not replaced, the new one would be wrong: {listed(faults)}")
    if before.change:
        _keep(storage, before.change)
    storage.replace(CATALOG_FILE, catalog_bytes(saved))
    return saved


def _keep(storage: Storage, change: int) -> None:
    """Keep the file of the catalog in force, byte for byte."""
    data, path = storage.read(CATALOG_FILE), kept_path(change)
    try:
        storage.create(path, data)
    except AlreadyThereError as fault:
        if storage.read(path) != data:
            raise DamagedError(
                f"{path} says something else than {CATALOG_FILE}, of which it is a copy; move it away"
            ) from fault


def catalog_bytes(catalog: Catalog) -> bytes:
    """The text of the file: JSON with its keys in a fixed order, its own hash as the last, and a newline.

    The hash is that of the text without it. It tells a catalog that was edited, or in which a digit has
    decayed, from one that was in force.
    """
    return _hashed(to_json(catalog))


def _hashed(text: bytes) -> bytes:
    """A text with its own hash as the last key."""
    return text.removesuffix(_END) + _HASH % sha256_of(text).encode("ascii") + _END


def parse_catalog(data: bytes, path: str = CATALOG_FILE) -> Catalog:
    """Read the text of a catalog.

    Args:
        data: the file.
        path: where it lies, for messages.

    Raises:
        DamagedError: see `load_catalog`.
    """
    document = parse(data, path)
    is_hashed = _layout_of(document) >= _FIRST_HASHED
    catalog = from_json(Catalog, _in_todays_layout(document, data), path, versions.CATALOG)
    faults = list(_faults(catalog))
    if is_hashed and _hashed(data[: -len(_hashed(b""))] + _END) != data:
        faults.append("it is not as it was written, its sha256 says")
    if faults:
        raise damaged(path, faults)
    return catalog


def _layout_of(document: Document) -> int:
    """The layout of a catalog; 0 where it does not say one."""
    version = document.get("version")
    return version if type(version) is int else 0


def _in_todays_layout(document: Document, data: bytes) -> bytes:
    """The text of a catalog without its hash, and as it would be now where it has one of the earlier layouts.

    A catalog of layout 1 is always the first of its root.
    """
    version, pools = _layout_of(document), document.get("pools")
    if version > versions.CATALOG:
        return data
    if version >= _FIRST_HASHED:
        return render({key: value for key, value in document.items() if key != _HASH_KEY})
    if version == _FIRST_HASHED - 1:
        return render(document | {"version": versions.CATALOG})
    if version != 1 or "change" in document or not isinstance(pools, list):
        return data
    for pool in (pool for pool in pools if isinstance(pool, dict)):
        pool["newest_generation"] = pool.get("generation")
        parts = pool.get("parts")
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                part["pars"] = None
    return render(document | {"version": versions.CATALOG, "change": FIRST_CHANGE})


def _faults(catalog: Catalog) -> Iterator[str]:
    """Everything in which a catalog of the right types contradicts itself."""
    if catalog.version != versions.CATALOG:
        yield f"version {catalog.version} was never used"
    if catalog.change < FIRST_CHANGE:
        yield f"change {catalog.change} is below {FIRST_CHANGE}"
    names = [pool.level for pool in catalog.pools]
    if names != list(LEVELS):
        yield f"its levels are {quoted(', '.join(names))}, not {', '.join(LEVELS)}"
    for pool in catalog.pools:
        yield from (f"level {quoted(pool.level)}: {fault}" for fault in pool_faults(pool))


def pool_faults(pool: Pool) -> Iterator[str]:
    """Everything in which a pool contradicts itself, one sentence each."""
    if pool.generation < FIRST_GENERATION:
        yield f"generation {pool.generation} is below {FIRST_GENERATION}"
    if pool.newest_generation < pool.generation:
        yield f"newest_generation {pool.newest_generation} is below generation {pool.generation}"
    if not 0 <= pool.next_number <= MOST_DEAL_NUMBER + 1:
        yield f"next_number {pool.next_number} is not in 0 .. {MOST_DEAL_NUMBER + 1}"
    for part in pool.parts:
        yield from (f"part {quoted(part.path)}: {fault}" for fault in _part_faults(pool, part))
    for before, after in pairwise(pool.parts):
        if after.first <= before.last:
            yield f"part {quoted(after.path)} begins before {quoted(before.path)} ends"
    if pool.parts and pool.next_number <= pool.parts[-1].last:
        yield f"next_number {pool.next_number} was sampled already, in {quoted(pool.parts[-1].path)}"


def _part_faults(pool: Pool, part: Part) -> Iterator[str]:
    if not 0 <= part.first <= part.last <= MOST_DEAL_NUMBER:
        yield f"numbers {part.first} .. {part.last} are not in 0 .. {MOST_DEAL_NUMBER}"
    elif part.path != PartName(pool.level, pool.generation, part.first, part.last).path:
        yield "the path is not that of a part of this level, generation and these numbers"
    if not 1 <= part.rows <= part.last - part.first + 1:
        yield f"{part.rows} rows do not fit the numbers {part.first} .. {part.last}"
    if part.pars is not None and not _adds_up(part.pars, part.rows):
        yield f"its pars do not add up to its {part.rows} rows"
    if not _SHA256.fullmatch(part.sha256):
        yield "sha256 is not 64 hex digits"
    if part.night is not None and (pool.last_night is None or part.night > pool.last_night):
        yield f"night {part.night} is after last_night {pool.last_night}"


def _adds_up(pars: dict[str, int], rows: int) -> bool:
    are_numbers = all(par.isascii() and par.isdecimal() for par in pars)
    return are_numbers and all(count > 0 for count in pars.values()) and sum(pars.values()) == rows
