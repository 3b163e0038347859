"""`catalog.json`: the one pointer to the parts of all pools, replaced in one step and never edited.

For a reader, a part exists only if the catalog names it. The bytes of the file depend only on its content.
Before the file is replaced, the catalog in force is copied unchanged to `catalogs/<change>.json`, which
`pipeline.pools.history` reads.
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Final

from pipeline import versions
from pipeline.deals.levels import LEVELS, NAME_FAULT, POLICIES_V1, Level, Policy, is_level_name, policy_faults
from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.errors import AlreadyThereError, CheckError, DamagedError, MissingError, VersionError
from pipeline.store.documents import Document, damaged, from_json, parse, render, to_json
from pipeline.store.storage import Storage
from pipeline.store.text import listed, quoted, sha256_of
from pipeline.work.records import latest_records
from solver.errors import UsageError

CATALOG_FILE: Final = "catalog.json"
KEPT_PREFIX: Final = "catalogs/"
DEALS_PREFIX: Final = "deals/"
FIRST_GENERATION: Final = 1
FIRST_CHANGE: Final = 1

_PART_PATH: Final = re.compile(
    r"deals/(?:level=)?([a-z][a-z0-9_-]{0,30})/generation[-=]([0-9]{4,9})/part-([0-9]{1,19})-([0-9]{1,19})\.parquet"
)
_KEPT_PATH: Final = re.compile(r"catalogs/([0-9]{6,12})\.json")
MAX_NOTE: Final = 200  # characters
_MAX_SHOWN: Final = 30
_HASH_KEY: Final = "sha256"
_HASH_LINE: Final = b',\n "sha256": "%s"'
_END: Final = b"\n}\n"
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_HASHED_END: Final = len(_HASH_LINE % (b"0" * 64) + _END)  # bytes of the hash and all that follows it


@dataclass(frozen=True, slots=True)
class PartName:
    """The name of a part: its pool and the range of deal numbers sampled for it, both ends included."""

    level: str
    generation: int
    first: int
    last: int

    @property
    def path(self) -> str:
        """Path of the part in the data root."""
        return generation_prefix(self.level, self.generation) + self._file

    @property
    def paths(self) -> tuple[str, str]:
        """Its path, and the one that it has in a data root of catalog layout 3.

        There the folders were named `level=easy/generation=0001`, from which many tools infer a second column
        `level`. Such parts stay where they are.
        """
        return self.path, f"{DEALS_PREFIX}level={self.level}/generation={self.generation:04d}/{self._file}"

    @property
    def _file(self) -> str:
        return f"part-{self.first}-{self.last}.parquet"


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file of a pool; immutable once the catalog names it.

    Attributes:
        path: its path in the data root.
        night: the date of the night that made it; None for a part of a regenerated or compacted pool.
        first: the first deal number sampled.
        last: the last deal number sampled, which is the number of its last deal.
        rows: the number of deals.
        sha256: the hash of the file, 64 hex digits.
        versions: the versions of the definitions that made it, as `pipeline.versions.PART_VERSIONS`.
        pars: the number of deals of each par.
    """

    path: str
    night: date | None
    first: int
    last: int
    rows: int
    sha256: str
    versions: dict[str, int]
    pars: dict[int, int]


@dataclass(frozen=True, slots=True)
class Pool:
    """The deals of one level.

    Attributes:
        level: the name of the level.
        generation: the generation in force. Generations count up from 1 with each regeneration.
        newest_generation: the highest generation that was ever in force; a rollback does not lower it.
        policy: the policy with which this generation was made and grows.
        policy_sha256: its hash.
        note: what the designer said of this generation.
        next_number: the deal number at which sampling continues.
        last_night: the date of the last night that was added; None before the first.
        parts: in ascending order of their deal numbers.
    """

    level: str
    generation: int
    newest_generation: int
    policy: Policy
    policy_sha256: str
    note: str
    next_number: int
    last_night: date | None
    parts: tuple[Part, ...]

    @property
    def level_row(self) -> Level:
        """The level with the policy of this generation."""
        return Level(self.level, self.policy)

    @property
    def size(self) -> int:
        """The number of deals in the pool."""
        return sum(part.rows for part in self.parts)

    @property
    def pars(self) -> dict[int, int]:
        """The number of deals of each par, ascending in par."""
        total: Counter[int] = Counter()
        for part in self.parts:
            total.update(part.pars)
        return dict(sorted(total.items()))


@dataclass(frozen=True, slots=True)
class Catalog:
    """All pools at one moment.

    Attributes:
        version: the version of the file's layout.
        change: counts up each time the file is replaced; 0 if there is no file yet.
        pools: one per level: those of `LEVELS` first, then others in the order in which they were made.
    """

    version: int
    change: int
    pools: tuple[Pool, ...]

    def pool(self, level: str) -> Pool:
        """Return the pool of a level.

        Raises:
            UsageError: the level has no pool.
        """
        for pool in self.pools:
            if pool.level == level:
                return pool
        names = ", ".join(pool.level for pool in self.pools)
        raise UsageError(f"unknown level {quoted(level, _MAX_SHOWN)}; the levels with a pool are {names}")

    def pool_of(self, level: Level) -> Pool:
        """Return the pool of a level; if it has no parts yet, it has the policy of that level."""
        pool = next((pool for pool in self.pools if pool.level == level.name), empty_pool(level))
        if pool.parts or pool.generation != pool.newest_generation:
            return pool
        return dataclasses.replace(pool, policy=level.policy, policy_sha256=level.policy.sha256)

    def with_pool(self, changed: Pool) -> "Catalog":
        """Return the catalog with one level's pool replaced or added."""
        pools = {pool.level: pool for pool in self.pools} | {changed.level: changed}
        return dataclasses.replace(self, pools=tuple(pools.values()))


def empty_catalog() -> Catalog:
    """Return the catalog of a data root before its first night."""
    return Catalog(versions.CATALOG, 0, tuple(map(empty_pool, LEVELS.values())))


def empty_pool(level: Level) -> Pool:
    """Return the pool of a level before its first night."""
    policy = level.policy
    return Pool(level.name, FIRST_GENERATION, FIRST_GENERATION, policy, policy.sha256, "", 0, None, ())


def generation_prefix(level: str, generation: int) -> str:
    """Return the folder of one generation of a level, with a slash at the end."""
    return f"{DEALS_PREFIX}{level}/generation-{generation:04d}/"


def parse_part_path(path: str) -> PartName | None:
    """Return the name that the path of a part stands for; None if the path is not exactly that of a part."""
    match = _PART_PATH.fullmatch(path)
    if match is None:
        return None
    name = PartName(match[1], int(match[2]), int(match[3]), int(match[4]))
    return name if path in name.paths else None


def kept_path(change: int) -> str:
    """Return the path at which the catalog of this change is kept after it has been replaced."""
    return f"{KEPT_PREFIX}{change:06d}.json"


def kept_changes(storage: Storage) -> tuple[int, ...]:
    """Return the changes whose catalogs are kept, ascending; the one in force may be among them."""
    matches = (_KEPT_PATH.fullmatch(path) for path in storage.list(KEPT_PREFIX))
    changes = sorted(int(match[1]) for match in matches if match is not None)
    return tuple(change for change in changes if change >= FIRST_CHANGE)


def load_catalog(storage: Storage) -> Catalog:
    """Return the catalog of a data root; the empty one before the first night.

    Raises:
        VersionError: the file has the layout of another version of Fairway.
        DamagedError: the file is not JSON, lacks something or contradicts itself, or it is missing although
            the data root has had one.
    """
    try:
        data = storage.read(CATALOG_FILE)
    except MissingError as fault:
        _check_never_made(storage, fault)
        return empty_catalog()
    return parse_catalog(data)


def _check_never_made(storage: Storage, fault: MissingError) -> None:
    """Raise `DamagedError` if a data root without a catalog once had one."""
    kept = kept_changes(storage)
    if kept:
        raise DamagedError(
            f"{CATALOG_FILE} is missing; the one before it is kept as {kept_path(kept[-1])}"
        ) from fault
    for record in latest_records(storage):
        if not isinstance(record, DamagedError) and record.counts.change is not None:
            raise DamagedError(
                f"{CATALOG_FILE} is missing, but the run {record.run_id} wrote one; restore a copy"
            ) from fault


def save_catalog(storage: Storage, catalog: Catalog) -> Catalog:
    """Replace the catalog in one step, so that a reader sees either the old or the new one.

    The old catalog is kept first. So a kept catalog was always in force once; one that is still in force was
    kept by a run that was stopped before the replacement.

    Args:
        storage: the data root; the caller holds its lock.
        catalog: the pools to save; the number of the change is set here.

    Returns:
        The catalog now in force: the old one if the pools are the same.

    Raises:
        CheckError: the catalog contradicts itself; the old one stays.
        DamagedError: the old catalog is damaged, or its copy exists already with other content.
    """
    before = load_catalog(storage)
    if before.pools == catalog.pools:
        return before
    newest = max((before.change, *kept_changes(storage)))
    saved = dataclasses.replace(catalog, version=versions.CATALOG, change=newest + 1)
    faults = tuple(_faults(saved))
    if faults:
        raise CheckError(f"{CATALOG_FILE} was not replaced: the new one would be wrong: {listed(faults)}")
    if before.change:
        _keep(storage, before.change)
    storage.replace(CATALOG_FILE, catalog_bytes(saved))
    return saved


def _keep(storage: Storage, change: int) -> None:
    """Copy the file of the catalog in force, byte for byte."""
    data, path = storage.read(CATALOG_FILE), kept_path(change)
    try:
        storage.create(path, data)
    except AlreadyThereError as fault:
        if storage.read(path) != data:
            raise DamagedError(
                f"{path} should be a copy of {CATALOG_FILE} but differs from it; move it away"
            ) from fault


def catalog_bytes(catalog: Catalog) -> bytes:
    """Return the text of the file: JSON with its keys in a fixed order, its own hash last, and a newline.

    The hash covers the text without it. It shows whether a catalog was edited or has decayed since it was
    written.
    """
    return _with_hash(to_json(catalog))


def _with_hash(text: bytes) -> bytes:
    """Return a JSON text with its own hash as the last key."""
    return text.removesuffix(_END) + _HASH_LINE % sha256_of(text).encode("ascii") + _END


def parse_catalog(data: bytes, path: str = CATALOG_FILE) -> Catalog:
    """Read the text of a catalog.

    Raises:
        VersionError: see `load_catalog`.
        DamagedError: see `load_catalog`.
    """
    document = parse(data, path)
    version = document.get("version")
    if type(version) is int and version < versions.OLDEST_CATALOG:
        raise VersionError(
            f"{path} has layout {version}, which no released Fairway reads; make the pools in a new data root"
        )
    document.pop(_HASH_KEY, None)
    if type(version) is int and version < versions.POLICY_CATALOG:
        _add_first_policies(document)
    catalog = from_json(Catalog, render(document), path, versions.CATALOG)
    faults = list(_faults(catalog))
    if _with_hash(data[:-_HASHED_END] + _END) != data:
        faults.append("its sha256 does not match its content, so it was changed after it was written")
    if faults:
        raise damaged(path, faults)
    return catalog


def _add_first_policies(document: Document) -> None:
    """Add to a catalog of an earlier layout the policies with which its pools were made."""
    pools = document.get("pools")
    for pool in pools if isinstance(pools, list) else ():
        policy = POLICIES_V1.get(str(pool.get("level"))) if isinstance(pool, dict) else None
        if policy is not None:
            pool.update(policy=policy.document, policy_sha256=policy.sha256, note="")


def _faults(catalog: Catalog) -> Iterator[str]:
    """Yield every contradiction in a catalog whose types are right."""
    if catalog.change < FIRST_CHANGE:
        yield f"change {catalog.change} is below {FIRST_CHANGE}"
    names = [pool.level for pool in catalog.pools]
    if names[: len(LEVELS)] != list(LEVELS) or len(set(names)) < len(names):
        yield f"its levels are {quoted(', '.join(names))}, not {', '.join(LEVELS)} and others, each once"
    for pool in catalog.pools:
        yield from (f"level {quoted(pool.level)}: {fault}" for fault in pool_faults(pool))


def pool_faults(pool: Pool) -> Iterator[str]:
    """Yield every contradiction in a pool, one sentence each."""
    if not is_level_name(pool.level):
        yield NAME_FAULT
    yield from policy_faults(pool.policy)
    if len(pool.note) > MAX_NOTE or not pool.note.isprintable():
        yield f"its note is not one line of at most {MAX_NOTE} characters"
    if pool.policy.sha256 != pool.policy_sha256:
        yield "policy_sha256 is not the hash of its policy"
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
        yield f"next_number {pool.next_number} was already sampled for {quoted(pool.parts[-1].path)}"


def _part_faults(pool: Pool, part: Part) -> Iterator[str]:
    if not 0 <= part.first <= part.last <= MOST_DEAL_NUMBER:
        yield f"numbers {part.first} .. {part.last} are not in 0 .. {MOST_DEAL_NUMBER}"
    elif part.path not in PartName(pool.level, pool.generation, part.first, part.last).paths:
        yield "the path is not that of a part of this level, generation and these numbers"
    if not 1 <= part.rows <= part.last - part.first + 1:
        yield f"{part.rows} rows do not fit the numbers {part.first} .. {part.last}"
    if min(part.pars.values(), default=0) < 1 or sum(part.pars.values()) != part.rows:
        yield f"its pars do not add up to its {part.rows} rows"
    if not _SHA256.fullmatch(part.sha256):
        yield "sha256 is not 64 hex digits"
    if part.night is not None and (pool.last_night is None or part.night > pool.last_night):
        yield f"night {part.night} is after last_night {pool.last_night}"
