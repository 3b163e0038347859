"""The record of a regeneration that is not finished: what was asked for, and which parts are there already.

It lies with the parts of its generation, from before the first of them until the catalog names them all.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

from pipeline import versions
from pipeline.errors import DamagedError, MissingError
from pipeline.pools.catalog import Part, Pool, generation_prefix, pool_faults
from pipeline.store.documents import damaged, from_json, to_json
from pipeline.store.storage import Storage

RECORD_NAME: Final = "unfinished.json"

_MAX_FAULTS: Final = 2


@dataclass(frozen=True, slots=True)
class Regeneration:
    """What a new generation is to be.

    Attributes:
        level: whose pool.
        generation: the new generation.
        first: the deal number to begin with.
        size: how many deals.
        versions: the definitions that make it, as `pipeline.versions.PART_VERSIONS`.
    """

    level: str
    generation: int
    first: int
    size: int
    versions: dict[str, int]

    @property
    def command(self) -> str:
        """The command that asks for exactly this."""
        return f"fairway pool regenerate {self.level} --size {self.size} --from-number {self.first}"

    @property
    def folder(self) -> str:
        """Where its parts lie, with the slash at the end."""
        return generation_prefix(self.level, self.generation)


@dataclass(frozen=True, slots=True)
class Record:
    """How far a regeneration is.

    Attributes:
        version: of the file's layout.
        wanted: what was asked for.
        parts: those that are there, as the catalog will name them.
    """

    version: int
    wanted: Regeneration
    parts: tuple[Part, ...]

    @property
    def next_number(self) -> int:
        """The deal number to go on with."""
        return self.parts[-1].last + 1 if self.parts else self.wanted.first

    @property
    def missing(self) -> int:
        """How many deals are not there yet."""
        return self.wanted.size - sum(part.rows for part in self.parts)

    def pool(self, last_night: date | None) -> Pool:
        """The pool that its parts make up."""
        generation = self.wanted.generation
        return Pool(self.wanted.level, generation, generation, self.next_number, last_night, self.parts)

    def with_part(self, part: Part) -> "Record":
        """The record with one more part."""
        return dataclasses.replace(self, parts=(*self.parts, part))


def new_record(wanted: Regeneration) -> Record:
    """The record of a regeneration of which nothing is there yet."""
    return Record(versions.UNFINISHED, wanted, ())


def next_generation(pool: Pool) -> int:
    """The number of the next generation to be made: one that was never used, whatever was rolled back."""
    return pool.newest_generation + 1


def record_path(level: str, generation: int) -> str:
    """Where the record of a generation lies."""
    return f"{generation_prefix(level, generation)}{RECORD_NAME}"


def read_record(storage: Storage, pool: Pool) -> Record | None:
    """The record of what is being made beside a pool; None when nothing is.

    Raises:
        DamagedError: the file is not what it must be.
    """
    return _read(storage, pool, next_generation(pool))


def was_just_made(storage: Storage, pool: Pool, wanted: Regeneration) -> bool:
    """Whether a run that was stopped right after its switch has made a pool what is wanted now.

    Its record is still there then, in the generation in force, until the next run that works on pools.
    """
    try:
        record = _read(storage, pool, pool.generation)
    except DamagedError:
        return False
    return record is not None and dataclasses.replace(record.wanted, generation=wanted.generation) == wanted


def _read(storage: Storage, pool: Pool, generation: int) -> Record | None:
    path = record_path(pool.level, generation)
    try:
        record = from_json(Record, storage.read(path), path, versions.UNFINISHED)
    except MissingError:
        return None
    except DamagedError as fault:
        raise DamagedError(f"{fault}; {_remedy(pool.level)}") from fault
    faults = [*_faults(record, path), *pool_faults(record.pool(None))]
    if faults:
        raise damaged(path, [*faults[:_MAX_FAULTS], _remedy(pool.level)])
    return record


def write_record(storage: Storage, record: Record) -> None:
    """Write the record, or bring it up to date."""
    storage.replace(record_path(record.wanted.level, record.wanted.generation), to_json(record))


def _faults(record: Record, path: str) -> Iterator[str]:
    if record_path(record.wanted.level, record.wanted.generation) != path:
        yield "it belongs to another level or generation"
    starts = [record.wanted.first, *(part.last + 1 for part in record.parts)]
    if any(part.first != start for part, start in zip(record.parts, starts, strict=False)):
        yield "its parts do not follow one another"
    if record.missing < 0:
        yield "its parts hold more deals than were asked for"


def _remedy(level: str) -> str:
    return f"`fairway pool regenerate {level} --restart` drops it"
