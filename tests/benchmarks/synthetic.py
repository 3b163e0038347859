"""Pools of any size: real deals of each level, repeated under new deal numbers.

Columns, row groups, parts and roughly the size of the files are realistic; the rows are nonsense.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipeline.deals.columns import COLUMNS, Row
from pipeline.deals.levels import LEVELS
from pipeline.deals.shuffle import deal_numbered
from pipeline.pools.catalog import Catalog, Part, PartName, empty_catalog, load_catalog, save_catalog
from pipeline.pools.nights import make_parts
from pipeline.pools.parquet import DEALS_SCHEMA, table_bytes, table_of
from pipeline.pools.parts import PART_ROWS, part_of
from pipeline.pools.puzzles import PuzzleIds
from pipeline.query.views import write_views
from pipeline.store.root import open_root
from pipeline.store.storage import LocalStorage
from pipeline.versions import PART_VERSIONS
from pipeline.work.executors import local_work
from solver.cards import CARD_NAMES, DECK_SIZE, RANK_LETTERS
from tests.benchmarks.figures import Bench

_Letters = npt.NDArray[np.uint8]

_HEX_DIGITS: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
_SAMPLE: Final = deal_numbered(0).notation


@cache
def certified(level: str, count: int) -> tuple[Row, ...]:
    """Return the rows of the first deals of a level."""
    with local_work(2) as work, closing(make_parts(LEVELS[level], 0, [count], PuzzleIds(), work)) as parts:
        return next(parts).rows


def changed(row: Row, **values: object) -> Row:
    """Return a copy of a row with other values in the named columns."""
    named = {column.name: value for column, value in zip(COLUMNS, row.values, strict=True)} | values
    return Row(named["deal_number"], named["puzzle_id"], named["par"], tuple(named.values()))


def renumbered(rows: tuple[Row, ...], count: int) -> tuple[Row, ...]:
    """Return so many rows, numbered 0, 1, .."""
    copies = enumerate(islice(cycle(rows), count))
    return tuple(changed(row, deal_number=number) for number, row in copies)


def multiplied(table: Any, first: int, count: int) -> Any:
    """Return a table of so many rows, under the numbers from `first` on.

    Deals, puzzle ids and the player's numbers are replaced by random ones of the same kind, because copies
    would compress to almost nothing and be read very quickly.

    Args:
        table: a table of `DEALS_SCHEMA` with at least one row.
        first: the first deal number; the same one gives the same rows.
        count: number of rows.
    """
    random = np.random.default_rng(first)
    copies = pa.concat_tables([table] * -(-count // table.num_rows)).slice(0, count).combine_chunks()
    columns = {name: copies[name].chunk(0) for name in DEALS_SCHEMA.names}
    columns["deal_number"] = pa.array(range(first, first + count), pa.uint64())
    columns["puzzle_id"] = _texts(random.choice(_HEX_DIGITS, (count, 16)))
    columns["deal"] = _texts(_random_notations(random, count))
    for name in ("steady_mean", "steady_sd", "steady_clear_rate"):
        columns[name] = _blurred(random, columns[name])
    scores = columns["steady_scores"]
    columns["steady_scores"] = pa.ListArray.from_arrays(
        scores.offsets, _blurred(random, scores.values), type=scores.type
    )
    return pa.Table.from_arrays(list(columns.values()), schema=DEALS_SCHEMA)


def _random_notations(random: np.random.Generator, count: int) -> _Letters:
    """Return notations of random deals as rows of letters."""
    texts = np.tile(np.frombuffer(_SAMPLE.encode("ascii"), np.uint8), (count, 1))
    places = np.array([place for place, letter in enumerate(_SAMPLE) if letter in RANK_LETTERS])
    cards = np.array([list(name.encode("ascii")) for name in CARD_NAMES], np.uint8)
    decks = random.permuted(np.tile(np.arange(DECK_SIZE), (count, 1)), axis=1)
    texts[:, places] = cards[decks, 0]
    texts[:, places + 1] = cards[decks, 1]
    return texts


def _texts(letters: _Letters) -> Any:
    """Return an Arrow array of texts of equal length."""
    count, length = letters.shape
    offsets = np.arange(0, (count + 1) * length, length, dtype=np.int32)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(letters.tobytes()))


def _blurred(random: np.random.Generator, values: Any) -> Any:
    """Return the same numbers with other last digits; 0 stays 0."""
    return pa.array(values.to_numpy() * random.uniform(0.999, 1.001, len(values)))


def pools(folder: Path, tables: dict[str, Any], rows: int) -> tuple[LocalStorage, Catalog]:
    """Make a data root whose pools have so many rows in all, a third per level.

    Args:
        folder: where to make it.
        tables: the table to repeat, by level.
        rows: number of rows.
    """
    storage = open_root(folder, create=True)
    catalog = empty_catalog()
    share, rest = divmod(rows, len(LEVELS))
    for place, pool in enumerate(catalog.pools):
        size = share + (place < rest)
        parts = tuple(_parts(storage, pool.level, tables[pool.level], size))
        catalog = catalog.with_pool(dataclasses.replace(pool, parts=parts, next_number=size))
    save_catalog(storage, catalog)
    saved = load_catalog(storage)
    write_views(storage, saved)
    return storage, saved


def _parts(storage: LocalStorage, level: str, table: Any, size: int) -> Iterator[Part]:
    """Write parts of the same sizes as a regeneration."""
    for first in range(0, size, PART_ROWS):
        count = min(PART_ROWS, size - first)
        name = PartName(level, 1, first, first + count - 1)
        rows = multiplied(table, first, count)
        data = table_bytes(rows)
        storage.create(name.path, data)
        yield part_of(name, PART_VERSIONS, None, Counter(rows["par"].to_pylist()), data)


@cache
def pools_of(bench: Bench, rows: int) -> tuple[LocalStorage, Catalog]:
    """Make a data root with so many rows; all subjects of a run share it."""
    tables = {level: table_of(certified(level, bench.sampled), DEALS_SCHEMA) for level in LEVELS}
    return pools(bench.folder / f"pools-{rows}", tables, rows)
