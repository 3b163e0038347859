"""A sound data root to damage, and its verification as text: shared by the tests of verification."""

import shutil
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import count
from pathlib import Path

from pipeline.daily.publish import publish
from pipeline.deals.levels import LEVELS
from pipeline.integrity.report import CheckResult
from pipeline.integrity.verify import verify
from pipeline.pools.catalog import Catalog, Part, load_catalog, save_catalog
from pipeline.pools.nights import add_nights
from pipeline.query.views import write_views
from pipeline.store.documents import parse, render
from pipeline.store.storage import LocalStorage, Storage
from pipeline.work.executors import Work
from pipeline.work.progress import SILENT

KEY = bytes(range(32))
NIGHTS = (date(2026, 11, 29), date(2026, 11, 30))
DAYS = tuple(date(2026, 11, 27) + timedelta(days=n) for n in range(4))
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)  # the 27th and the 28th are over
DEALS_PER_NIGHT = 12
SAMPLE = 3

CATALOG = "catalog"
PARTS = "parts there, as the catalog hashed them"
SCHEMA = "schema and versions"
NUMBERS = "deal numbers ascending, as many as the catalog says"
NAMES = "levels and rules those of the pool"
CARDS = "cards those of the number's shuffle"
PUZZLES = "puzzle ids recomputed"
LINES = "lines replayed to their score and draws"
SCORES = "par and quantiles recomputed from the scores"
ADMITTED = "means that the policy admits"
TWICE = "no puzzle twice in a pool"
SAMPLED = "sampled deals solved and rated anew"
DAILIES = "dailies faultless, under their own date"
DATES = "no puzzle on two dates"
SOLUTIONS = "solutions there, as hashed, replayed"
INDEX = "dailies as the index hashed them"
CHOSEN = "holes chosen anew"
VIEWS = "views for DuckDB"
RUNS = "run records"

Results = Mapping[str, CheckResult]

EXECUTOR = ThreadPoolExecutor(2)


@cache
def sound_files() -> Mapping[str, bytes]:
    """The files of a data root of two nights and four dailies, made once."""
    folder = Path(tempfile.mkdtemp())
    storage = LocalStorage(folder)
    catalog = load_catalog(storage)
    for night in NIGHTS:
        deals = dict.fromkeys(LEVELS, DEALS_PER_NIGHT)
        catalog = add_nights(storage, catalog, [night], deals, dict.fromkeys(LEVELS, 1000), Work(EXECUTOR))
    save_catalog(storage, catalog)
    publish(storage, DAYS, None, NOW, EXECUTOR, SILENT)
    write_views(storage, catalog)
    files = {path: storage.read(path) for path in storage.list("")}
    shutil.rmtree(folder)
    return files


def sound_root(folder: Path) -> LocalStorage:
    """A copy of the sound data root, to be damaged."""
    for path, data in sound_files().items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return LocalStorage(folder)


def verified(storage: Storage, sample: int | None = 0, key: bytes | None = None) -> Results:
    """Verify; nothing is solved unless a sample is asked for, and each look at the clock is a second."""
    ticks = count()
    odd_paths = storage.odd_paths if isinstance(storage, LocalStorage) else tuple
    results = verify(storage, key, sample, EXECUTOR, lambda: float(next(ticks)), SILENT, odd_paths)
    return {result.name: result for result in results}


def parts_of(catalog: Catalog) -> list[Part]:
    return [part for pool in catalog.pools for part in pool.parts]


def problems(results: Results) -> dict[str, list[str]]:
    """The problems as text, under the checks that found any."""
    return {name: list(map(str, result.problems)) for name, result in results.items() if result.problems}


def notes(results: Results) -> dict[str, list[str]]:
    return {name: list(map(str, result.notes)) for name, result in results.items() if result.notes}


def edit(storage: LocalStorage, path: str, **fields: object) -> None:
    """Change fields of a document by hand."""
    storage.replace(path, render(parse(storage.read(path), path) | fields))
