"""A data root that tests of publishing publish into."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path

from pipeline.daily.publish import Published, make_daily, publish
from pipeline.store.documents import INDEX_SCHEMA, parse, render
from pipeline.store.storage import LocalStorage, Storage
from pipeline.work.executors import Work
from tests.support.doubles import changes_of, files_in

KEY = bytes(range(32))
OTHER_KEY = bytes(32)
DAYS = tuple(date(2026, 11, 27) + timedelta(days=n) for n in range(4))  # to the 30th
ALL_OVER = datetime(2026, 12, 1, 12, tzinfo=UTC)
HALF_OVER = datetime(2026, 11, 29, 12, tzinfo=UTC)  # the 27th and the 28th are over
NONE_OVER = datetime(2026, 11, 27, tzinfo=UTC)

EMPTY_INDEX = render({"schema": INDEX_SCHEMA, "dailies": []})

Files = dict[str, bytes]

made_before = cache(make_daily)  # the tests publish the same few holes many times

WORK = Work(ThreadPoolExecutor(2))


@dataclass
class Site:
    """A data root to publish into."""

    root: LocalStorage
    work: Work = WORK

    def publish(
        self,
        days: Sequence[date] = DAYS,
        now: datetime = HALF_OVER,
        key: bytes | None = None,
        storage: Storage | None = None,
    ) -> Published:
        return publish(storage or self.root, days, key, now, self.work)

    def files(self) -> Files:
        return files_in(self.root)

    def changes(self, now: datetime = HALF_OVER, key: bytes | None = None) -> list[tuple[str, str]]:
        """Return the changes that publishing makes, in order."""
        return changes_of(self.root, lambda storage: self.publish(now=now, key=key, storage=storage))

    def edit(self, path: str, **fields: object) -> None:
        """Change fields of a document."""
        self.root.replace(path, render(parse(self.root.read(path), path) | fields))


def site_in(folder: Path) -> Site:
    """Return an empty data root in a folder."""
    return Site(LocalStorage(folder))
