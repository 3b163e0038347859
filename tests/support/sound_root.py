"""A sound data root for tests to damage, and its verification as text."""

import shutil
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import count
from pathlib import Path

from pipeline.daily.files import INDEX_PATH
from pipeline.daily.publish import publish
from pipeline.deals.levels import LEVELS
from pipeline.integrity.report import Check
from pipeline.integrity.verify import verify
from pipeline.pools.catalog import Catalog, Part, load_catalog, save_catalog
from pipeline.pools.nights import add_nights
from pipeline.query.views import write_views
from pipeline.store.documents import parse, render
from pipeline.store.storage import LocalStorage, Storage
from pipeline.work.executors import Work
from tests.support.doubles import files_in

KEY = bytes(range(32))
NIGHTS = (date(2026, 11, 29), date(2026, 11, 30))
DAYS = tuple(date(2026, 11, 27) + timedelta(days=n) for n in range(4))
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)  # the 27th and the 28th are over
DEALS_PER_NIGHT = 12
SAMPLE = 3

Results = Mapping[str, Check]

WORK = Work(ThreadPoolExecutor(2))


@cache
def sound_files() -> Mapping[str, bytes]:
    """Return the files of a data root with two nights and four dailies, made once."""
    folder = Path(tempfile.mkdtemp())
    storage = LocalStorage(folder)
    catalog = load_catalog(storage)
    for night in NIGHTS:
        deals, caps = dict.fromkeys(LEVELS, DEALS_PER_NIGHT), dict.fromkeys(LEVELS, 1000)
        catalog = add_nights(storage, catalog, LEVELS.values(), [night], deals, caps, WORK)
    save_catalog(storage, catalog)
    publish(storage, DAYS, None, NOW, WORK)
    write_views(storage, catalog)
    files = files_in(storage)
    shutil.rmtree(folder)
    return files


def sound_root(folder: Path) -> LocalStorage:
    """Return a copy of the sound data root, to be damaged."""
    for path, data in sound_files().items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return LocalStorage(folder)


def verified(storage: Storage, sample: int | None = 0, key: bytes | None = None) -> Results:
    """Verify a data root; the clock moves by one second per reading."""
    ticks = count()
    irregular_paths = storage.irregular_paths if isinstance(storage, LocalStorage) else tuple
    results = verify(storage, key, sample, WORK, lambda: float(next(ticks)), irregular_paths)
    return {result.name: result for result in results}


def parts_of(catalog: Catalog) -> list[Part]:
    """Return all parts of a catalog."""
    return [part for pool in catalog.pools for part in pool.parts]


def problems(results: Results) -> dict[str, list[str]]:
    """Return the problems as text, by the check that found them."""
    return {name: list(map(str, result.problems)) for name, result in results.items() if result.problems}


def notes(results: Results) -> dict[str, list[str]]:
    """Return the notes as text, by the check that made them."""
    return {name: list(map(str, result.notes)) for name, result in results.items() if result.notes}


def rebuild_index(storage: LocalStorage) -> None:
    """Make the index again from the dailies alone."""
    if INDEX_PATH in storage.list(INDEX_PATH):
        storage.remove(INDEX_PATH)
    publish(storage, (), None, NOW, WORK)


def edit(storage: LocalStorage, path: str, **fields: object) -> None:
    """Change fields of a document."""
    storage.replace(path, render(parse(storage.read(path), path) | fields))
