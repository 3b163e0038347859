"""Pools of fake deals: nights and generations made without solving anything."""

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import pytest

from pipeline.deals.columns import Row
from pipeline.deals.levels import level_named
from pipeline.pools import nights
from pipeline.pools.catalog import Catalog, Part, PartName, Pool, load_catalog, save_catalog
from pipeline.pools.parquet import joined, part_schema
from pipeline.pools.parts import read_named_part, write_part
from pipeline.pools.unfinished import next_generation
from pipeline.store.storage import Storage
from tests.support.doubles import fake_admitted, fake_batch, fake_row

LEVEL = "medium"
NIGHT = date(2026, 11, 30)


def with_nights(storage: Storage, sizes: Sequence[int], level: str = LEVEL) -> Catalog:
    """Add one night per size, all in a single change of the catalog."""
    catalog = load_catalog(storage)
    pool = catalog.pool(level)
    for size in sizes:
        night = NIGHT if pool.last_night is None else pool.last_night + timedelta(1)
        part = _part(storage, pool, pool.next_number, size, night)
        parts = (*pool.parts, part)
        pool = dataclasses.replace(pool, parts=parts, next_number=part.last + 1, last_night=night)
    return save_catalog(storage, catalog.with_pool(pool))


def regenerated(storage: Storage, size: int, first: int = 0, level: str = LEVEL) -> Catalog:
    """Make the next generation, with one part."""
    catalog = load_catalog(storage)
    pool = catalog.pool(level)
    number = next_generation(pool)
    pool = dataclasses.replace(pool, generation=number, newest_generation=number)
    part = _part(storage, pool, first, size, None)
    pool = dataclasses.replace(pool, parts=(part,), next_number=part.last + 1)
    return save_catalog(storage, catalog.with_pool(pool))


def _part(storage: Storage, pool: Pool, first: int, size: int, night: date | None) -> Part:
    rows = admitted(pool.level, first, size)
    name = PartName(pool.level, pool.generation, first, rows[-1].deal_number)
    return write_part(storage, name, pool.policy, night, rows)


def admitted(level: str, first: int, count: int) -> list[Row]:
    """Return the first deals, starting at a number, that the fake policy of a level admits."""
    rows: list[Row] = []
    number = first
    while len(rows) < count:
        if fake_admitted(level, number):
            rows.append(fake_row(level, number))
        number += 1
    return rows


def rows_of(storage: Storage, parts: Sequence[Part]) -> Any:
    """Return the rows of parts as one table; each part must have its hash in the catalog."""
    tables = [read_named_part(storage, part) for part in parts]
    return joined(tables, part_schema(parts[0].versions, level_named(LEVEL).policy))


def logical_hash(table: Any) -> str:
    """Return the SHA-256 of the rows, whatever pyarrow wrote them and however they are cut into files.

    Each row is hashed as a line of JSON: an array of its values in the order of its columns, without blanks,
    with floats in the fewest digits that round-trip.

    Returns:
        64 hex digits.
    """
    digest = hashlib.sha256()
    for batch in table.to_batches():
        values = [column.to_pylist() for column in batch.columns]
        for row in zip(*values, strict=True):
            digest.update(json.dumps(row, separators=(",", ":")).encode("ascii") + b"\n")
    return digest.hexdigest()


def numbers_of(storage: Storage, pool: Pool) -> list[int]:
    """Return the deal numbers of a pool."""
    numbers: list[int] = rows_of(storage, pool.parts)["deal_number"].to_pylist()
    return numbers


def make_fake_deals(patch: pytest.MonkeyPatch) -> None:
    """Let nights and regenerations take fake deals instead of solving."""
    patch.setattr(nights, "certify_batch", fake_batch)
    patch.setattr(nights, "warm_up", lambda: None)
