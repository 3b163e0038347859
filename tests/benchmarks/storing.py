"""Writing parts and the catalog; every file is synced to the disk."""

import dataclasses
from collections.abc import Iterator
from datetime import date
from functools import partial
from itertools import count
from typing import Final

from jobs.settings.model import Settings
from pipeline.deals.columns import Row
from pipeline.deals.levels import LEVELS
from pipeline.pools.catalog import Catalog, PartName, load_catalog, save_catalog
from pipeline.pools.parquet import DEALS_SCHEMA, part_bytes
from pipeline.pools.parts import PART_ROWS, write_part
from pipeline.query.views import SQL_FILE, write_views
from pipeline.store.storage import LocalStorage
from tests.benchmarks.figures import Bench, Figure
from tests.benchmarks.synthetic import certified, pools_of, renumbered
from tests.benchmarks.timing import Spent, in_turn, process_clock, timed, wall_milliseconds

_LEVEL: Final = "medium"
_NIGHT: Final = date(2026, 11, 30)
_NIGHT_ROWS: Final = Settings().deals_per_night


def measure(bench: Bench) -> Iterator[Figure]:
    """Measure parts of a night and of a regeneration, and catalogs of all sizes."""
    bench.report(f"storing: {bench.rounds} rounds of parts and catalogs")
    deals = certified(_LEVEL, bench.sampled)
    yield Figure("a row of a part", "bytes", (len(part_bytes(deals, DEALS_SCHEMA)) / len(deals),))
    storage = LocalStorage(bench.folder / "storing")
    generations = count(1)  # a part is written once, under a unique name
    for size in (_NIGHT_ROWS, PART_ROWS):
        rows = renumbered(deals, size)
        spent = in_turn(bench.rounds, {"part": partial(_part, storage, rows, generations)})["part"]
        yield Figure(f"part of {size:,} rows", "ms", wall_milliseconds(spent))
    for size in bench.pool_rows:
        root, catalog = pools_of(bench, size)
        spent = in_turn(bench.rounds, {"catalog": partial(_catalog, root, catalog, count(1))})["catalog"]
        yield Figure(f"catalog.json and catalog.sql, {size:,} rows", "ms", wall_milliseconds(spent))
        loads = in_turn(bench.rounds, {"load": partial(_loaded, root)})["load"]
        yield Figure(f"reading catalog.json, {size:,} rows", "ms", wall_milliseconds(loads))


def _part(storage: LocalStorage, rows: tuple[Row, ...], generations: "count[int]") -> Spent:
    name = PartName(_LEVEL, next(generations), rows[0].deal_number, rows[-1].deal_number)
    _, spent = timed(
        lambda: write_part(storage, name, LEVELS[name.level].policy, _NIGHT, rows), process_clock
    )
    return spent


def _catalog(storage: LocalStorage, catalog: Catalog, steps: "count[int]") -> Spent:
    # Both files are written only if they change.
    pool = catalog.pools[0]
    changed = catalog.with_pool(dataclasses.replace(pool, next_number=pool.next_number + next(steps)))
    storage.remove(SQL_FILE)

    def work() -> None:
        save_catalog(storage, changed)
        write_views(storage, changed)

    _, spent = timed(work, process_clock)
    return spent


def _loaded(storage: LocalStorage) -> Spent:
    _, spent = timed(lambda: load_catalog(storage), process_clock)
    return spent
