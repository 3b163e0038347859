"""A regeneration of any size in a separate process: `python -m tests.benchmarks.scale_worker`, see `main`.

Nothing is solved: real deals are repeated under new numbers, with other cards and puzzle ids, as new objects.
Everything else is the program's own work.
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
from pipeline.deals.levels import LEVELS, Level
from pipeline.pools import nights, regenerate
from pipeline.pools.catalog import load_catalog
from pipeline.store.root import open_root
from pipeline.store.storage import Storage
from pipeline.work.counts import Clock
from pipeline.work.executors import local_work
from solver.cards import DECK_SIZE
from solver.table.deal import Deal
from tests.benchmarks.memory_worker import can_measure, resident
from tests.benchmarks.synthetic import certified, changed
from tests.support.doubles import FailingStorage, Killed

LEVEL: Final = "medium"

_SAMPLED: Final = 200  # real deals
_ODD: Final = 0x9E3779B97F4A7C15  # odd, so multiplying by it is a permutation of the numbers below 2^64
_IDS: Final = 2**64


def main(folder: str, rows: int, parts: int) -> None:
    """Make a generation of so many rows, or complete it, and print time and memory as JSON.

    Args:
        folder: the data root; made if it does not exist.
        rows: rows of the generation.
        parts: number of new parts after which the run is killed; 0 to let it finish.
    """
    _models(LEVEL)  # these are solved, so before the patches below
    root = open_root(Path(folder), create=True)
    storage: Storage = FailingStorage(root, 2 * parts, Killed(), after=True) if parts else root
    can_measure()  # this resets the peak
    loaded, begun = resident("VmRSS"), perf_counter()
    catalog = load_catalog(storage)
    wanted = regenerate.plan_regeneration(catalog.pool(LEVEL), LEVELS[LEVEL].policy, rows, 0)
    with (
        patch.object(nights, "certify_batch", synthetic_batch),
        patch.object(nights, "warm_up", lambda: None),
        suppress(Killed),
        local_work(1) as work,
    ):
        regenerate.regenerate(storage, catalog, wanted, work)
    seconds, peak = perf_counter() - begun, resident("VmHWM")
    sys.stdout.write(json.dumps({"loaded": loaded, "peak": peak, "seconds": seconds}))


def synthetic_batch(level: Level, first: int, count: int, _clock: Clock) -> Batch:
    """Replace `certify_batch`; every number is admitted."""
    rows = tuple(_synthetic(level.name, number) for number in range(first, first + count))
    return Batch(first, count, rows)


def _synthetic(level: str, number: int) -> Row:
    models = _models(level)
    copy: Row = pickle.loads(models[number % len(models)])
    deal = Deal(tuple(random.Random(number).sample(range(DECK_SIZE), DECK_SIZE)))
    puzzle_id = f"{number * _ODD % _IDS:016x}"
    return changed(copy, deal_number=number, deal=deal.notation, puzzle_id=puzzle_id)


@cache
def _models(level: str) -> tuple[bytes, ...]:
    return tuple(pickle.dumps(row) for row in certified(level, _SAMPLED))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
