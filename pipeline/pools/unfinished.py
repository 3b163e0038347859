"""The record of an unfinished regeneration: the request, and the parts made so far.

It is stored beside the parts of its generation, from before the first part until the catalog names them all.
"""

import dataclasses
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

from pipeline import versions
from pipeline.deals.levels import LEVELS, Level, Policy
from pipeline.errors import DamagedError, MissingError
from pipeline.pools.catalog import Part, Pool, empty_pool, generation_prefix, load_catalog, pool_faults
from pipeline.store.documents import damaged, from_json, parse, to_json
from pipeline.store.storage import Storage

RECORD_NAME: Final = "unfinished.json"

_MAX_FAULTS: Final = 2
_EARLIER: Final = (1, 2)  # layouts without a policy


@dataclass(frozen=True, slots=True)
class Regeneration:
    """A request for a new generation: `size` deals from number `first` on, by this policy, with a note."""

    level: str
    generation: int
    first: int
    size: int
    versions: dict[str, int]
    policy: Policy
    note: str

    def command(self, policy: Policy | None = None) -> str:
        """Return the command that makes exactly this request.

        Args:
            policy: the level's policy in the settings; None for the one that is built in.
        """
        if policy is None and self.level in LEVELS:
            policy = LEVELS[self.level].policy
        known = () if policy is None else policy.assignments
        changes = [text for text in self.policy.assignments if text not in known]
        options = [*(f"--set {shlex.quote(text)}" for text in changes)]
        if self.note:
            options.append(f"--note {shlex.quote(self.note)}")
        request = f"fairway pool regenerate {self.level} --size {self.size} --from-number {self.first}"
        return " ".join((request, *options))

    @property
    def level_row(self) -> Level:
        """The level with the requested policy."""
        return Level(self.level, self.policy)

    @property
    def folder(self) -> str:
        """The folder of its parts, with a slash at the end."""
        return generation_prefix(self.level, self.generation)


@dataclass(frozen=True, slots=True)
class Record:
    """The progress of a regeneration: the request, and the catalog entries of the parts made so far."""

    version: int
    wanted: Regeneration
    parts: tuple[Part, ...]

    @property
    def next_number(self) -> int:
        """The deal number at which sampling continues."""
        return self.parts[-1].last + 1 if self.parts else self.wanted.first

    @property
    def missing(self) -> int:
        """The number of deals still to be made."""
        return self.wanted.size - sum(part.rows for part in self.parts)

    def pool(self, last_night: date | None) -> Pool:
        """Return the pool that consists of its parts."""
        wanted = self.wanted
        return Pool(
            level=wanted.level,
            generation=wanted.generation,
            newest_generation=wanted.generation,
            policy=wanted.policy,
            policy_sha256=wanted.policy.sha256,
            note=wanted.note,
            next_number=self.next_number,
            last_night=last_night,
            parts=self.parts,
        )

    def with_part(self, part: Part) -> "Record":
        """Return the record with one more part."""
        return dataclasses.replace(self, parts=(*self.parts, part))


def new_record(wanted: Regeneration) -> Record:
    """Return the record of a regeneration that has no parts yet."""
    return Record(versions.UNFINISHED, wanted, ())


def next_generation(pool: Pool) -> int:
    """Return the number of the next generation, which was never used, not even before a rollback."""
    return pool.newest_generation + 1


def record_path(level: str, generation: int) -> str:
    """Return the path of the record of a generation."""
    return f"{generation_prefix(level, generation)}{RECORD_NAME}"


def read_record(storage: Storage, pool: Pool) -> Record | None:
    """Return the record of a pool's unfinished regeneration; None if there is none.

    Raises:
        DamagedError: the record is damaged.
    """
    return _read(storage, pool, next_generation(pool))


def made_policy(storage: Storage, level: str) -> Policy | None:
    """Return the policy of a level's pool or, without one, of its unfinished regeneration; None without both.

    Raises:
        DamagedError: the catalog or the record is damaged.
    """
    pools = {pool.level: pool for pool in load_catalog(storage).pools}
    if level in pools and pools[level].parts:
        return pools[level].policy
    record = read_record(storage, empty_pool(Level(level, next(iter(LEVELS.values())).policy)))
    return None if record is None else record.wanted.policy


def just_made(storage: Storage, pool: Pool) -> Regeneration | None:
    """Return the request that made the pool if its run was stopped before it removed its record.

    The record then stays in the generation in force until that request is repeated or the pool changes.
    """
    try:
        record = _read(storage, pool, pool.generation)
    except DamagedError:
        return None
    return None if record is None else record.wanted


def _read(storage: Storage, pool: Pool, generation: int) -> Record | None:
    path = record_path(pool.level, generation)
    try:
        data = storage.read(path)
        if parse(data, path).get("version") in _EARLIER:
            raise DamagedError(f"{path} is of an earlier version of Fairway, which began it")
        record = from_json(Record, data, path, versions.UNFINISHED)
    except MissingError:
        return None
    except DamagedError as fault:
        raise DamagedError(f"{fault}; {_remedy(pool.level)}") from fault
    faults = [*_faults(record, path), *pool_faults(record.pool(None))]
    if faults:
        raise damaged(path, [*faults[:_MAX_FAULTS], _remedy(pool.level)])
    return record


def write_record(storage: Storage, record: Record) -> None:
    """Write or update the record."""
    storage.replace(record_path(record.wanted.level, record.wanted.generation), to_json(record))


def _faults(record: Record, path: str) -> Iterator[str]:
    if record_path(record.wanted.level, record.wanted.generation) != path:
        yield "it belongs to another level or generation"
    starts = [record.wanted.first, *(part.last + 1 for part in record.parts)]
    if any(part.first != start for part, start in zip(record.parts, starts, strict=False)):
        yield "its parts are not consecutive"
    if record.missing < 0:
        yield "its parts contain more deals than requested"


def _remedy(level: str) -> str:
    return f"`fairway pool regenerate {level} --restart` drops it"
