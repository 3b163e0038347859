"""A regeneration of any size in a process of its own: `python -m tests.benchmarks.scale_worker`, see `main`.

Nothing is solved: real deals come again and again under new numbers, with other cards and puzzle ids, each
time as new objects, as a batch would bring them. All the rest is the program's own work.
"""

import json
import pickle
import random
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Final
from unittest.mock import patch

from pipeline.deals.batches import Batch
from pipeline.deals.columns import Row
from pipeline.pools.catalog import load_catalog
from pipeline.store.root import open_root
from pipeline.store.storage import Storage
from pipeline.work.counts import Clock
from solver.cards import DECK_SIZE
from solver.table.deal import Deal
from tests.benchmarks.memory_worker import can_measure, resident
from tests.support.doubles import FailingStorage, Killed

LEVEL: Final = "medium"

_SAMPLED: Final = 200  # real deals
_ODD: Final = 0x9E3779B97F4A7C15  # times this, every number below 2^64 gives another one
_IDS: Final = 2**64


def main(folder: str, rows: int, parts: int) -> None:
    """Make a generation of so many rows, or what is missing of it, and print what it took as JSON.

    Args:
        folder: the data root; made where it does not exist.
        rows: of the generation.
        parts: after how many new parts the run is killed; 0 to let it come to its end.
    """
    from pipeline.pools import nights as generate
    from pipeline.pools import regenerate
    from pipeline.work.executors import local_work

    _models(LEVEL)  # solved for real, so before what stands in for that
    root = open_root(Path(folder), create=True)
    storage: Storage = FailingStorage(root, 2 * parts, Killed(), after=True) if parts else root
    can_measure()  # it sets the peak back
    loaded, begun = resident("VmRSS"), perf_counter()
    catalog = load_catalog(storage)
    wanted = regenerate.plan_regeneration(catalog.pool(LEVEL), rows, 0)
    with (
        patch.object(generate, "certify_batch", synthetic_batch),
        patch.object(generate, "warm_up", lambda: None),
        suppress(Killed),
        local_work(1) as work,
    ):
        regenerate.regenerate(storage, catalog, wanted, work)
    seconds, peak = perf_counter() - begun, resident("VmHWM")
    sys.stdout.write(json.dumps({"loaded": loaded, "peak": peak, "seconds": seconds}))


def synthetic_batch(level_name: str, first: int, count: int, _clock: Clock) -> Batch:
    """Stands in for `certify_batch`; every number is admitted."""
    rows = tuple(_synthetic(level_name, number) for number in range(first, first + count))
    return Batch(first, count, rows)


def _synthetic(level: str, number: int) -> Row:
    from tests.benchmarks.synthetic import changed

    models = _models(level)
    copy: Row = pickle.loads(models[number % len(models)])
    deal = Deal(tuple(random.Random(number).sample(range(DECK_SIZE), DECK_SIZE)))
    puzzle_id = f"{number * _ODD % _IDS:016x}"
    return changed(copy, deal_number=number, deal=deal.notation, puzzle_id=puzzle_id)


@cache
def _models(level: str) -> tuple[bytes, ...]:
    from tests.benchmarks.synthetic import certified

    return tuple(pickle.dumps(row) for row in certified(level, _SAMPLED))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
