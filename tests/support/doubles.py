"""Test doubles: storages in memory and with injected faults, and deals made without solving."""

import dataclasses
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from functools import cache
from typing import Any

import pytest

from pipeline.deals.batches import Batch
from pipeline.deals.certified import CertifiedDeal
from pipeline.deals.columns import Row, row_of
from pipeline.deals.levels import LEVELS, Level
from pipeline.deals.shuffle import deal_numbered
from pipeline.errors import AlreadyThereError, MissingError, StorageError
from pipeline.store.storage import Storage
from pipeline.work.counts import Clock, Stages, no_clock
from solver.players.distribution import TOTAL_MASS, ScoreDistribution
from solver.table.score import LOWEST_SCORE, SCORE_COUNT


class Killed(BaseException):
    """Raised by a test where a real run would be killed; handlers of ordinary errors do not catch it."""


class MemoryStorage:
    """A storage in memory.

    Attributes:
        files: content by path.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def read(self, path: str) -> bytes:
        if path not in self.files:
            raise MissingError(path)
        return self.files[path]

    def size(self, path: str) -> int:
        return len(self.read(path))

    def create(self, path: str, data: bytes) -> None:
        if path in self.files:
            raise AlreadyThereError(path)
        self.files[path] = data

    def replace(self, path: str, data: bytes) -> None:
        self.files[path] = data

    def list(self, prefix: str) -> tuple[str, ...]:
        return tuple(sorted(path for path in self.files if path.startswith(prefix)))

    def remove(self, path: str) -> None:
        self.read(path)
        del self.files[path]


def files_in(storage: Storage, prefix: str = "") -> dict[str, bytes]:
    """Return the files of a storage: content by path."""
    return {path: storage.read(path) for path in storage.list(prefix)}


class Recorder:
    """Progress that records its updates.

    Attributes:
        updates: task, done and total of each update.
    """

    def __init__(self) -> None:
        self.updates: list[tuple[str, int, int]] = []

    def update(self, task: str, done: int, total: int) -> None:
        self.updates.append((task, done, total))


class FailingStorage:
    """A storage that fails at its n-th change, before or after the change has been made.

    Attributes:
        changes: the changes requested so far, as (operation, path).
    """

    def __init__(self, inner: Storage, at: int, fault: BaseException, *, after: bool = False) -> None:
        self._inner = inner
        self._at = at
        self._fault = fault
        self._after = after
        self.changes: list[tuple[str, str]] = []

    def read(self, path: str) -> bytes:
        return self._inner.read(path)

    def size(self, path: str) -> int:
        return self._inner.size(path)

    def list(self, prefix: str) -> tuple[str, ...]:
        return self._inner.list(prefix)

    def create(self, path: str, data: bytes) -> None:
        self._change("create", path, lambda: self._inner.create(path, data))

    def replace(self, path: str, data: bytes) -> None:
        self._change("replace", path, lambda: self._inner.replace(path, data))

    def remove(self, path: str) -> None:
        self._change("remove", path, lambda: self._inner.remove(path))

    def _change(self, operation: str, path: str, make: Callable[[], None]) -> None:
        fails = len(self.changes) == self._at
        self.changes.append((operation, path))
        if fails and not self._after:
            raise self._fault
        try:
            make()
        finally:
            if fails:
                raise self._fault


def changes_of(storage: Storage, work: Callable[[Storage], object]) -> list[tuple[str, str]]:
    """Do some work, and return its changes as (operation, path)."""
    recording = FailingStorage(storage, -1, Killed())
    work(recording)
    return recording.changes


def stopped_at_each_change(
    start: Callable[[], MemoryStorage], work: Callable[[Storage], object]
) -> Iterator[tuple[MemoryStorage, tuple[str, str], bool]]:
    """Stop some work at each of its changes: killed, and by a full disk, before and after the change.

    Args:
        start: makes a storage as it is before the work.
        work: the work.

    Yields:
        The storage that the stopped work left, its last change, and whether that one was made.
    """
    for step, change in enumerate(changes_of(start(), work)):
        for fault in (Killed(), StorageError("no space")):
            for after in (False, True):
                storage = start()
                with pytest.raises(type(fault)):
                    work(FailingStorage(storage, step, fault, after=after))
                yield storage, change, after


class Inline(Executor):
    """Runs each batch when it is handed out, in the same thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as fault:
            future.set_exception(fault)
        return future


def fake_cleared(level: str, number: int) -> bool:
    """Whether a fake deal can be cleared: every other deal, and those that are admitted."""
    return number % 2 == 0 or fake_admitted(level, number)


@cache
def fake_deal(level: str, number: int) -> CertifiedDeal:
    """A certified deal made without solving anything; its puzzle is that of the number's shuffle."""
    masses = [0] * SCORE_COUNT
    masses[number % SCORE_COUNT] = TOTAL_MASS
    return CertifiedDeal(
        level=level,
        deal_number=number,
        deal=deal_numbered(number),
        rules=LEVELS[level].rules.name,
        par=3 + number % 3,
        best_score=-(number % 17),
        line="1D" * (number % 5),
        draws=number % 5,
        distribution=ScoreDistribution(tuple(masses), cleared_mass=sum(masses[: 1 - LOWEST_SCORE])),
        clear_mass=TOTAL_MASS // (number + 1),
    )


@cache
def fake_row(level: str, number: int) -> Row:
    """The row of `fake_deal`."""
    return row_of(fake_deal(level, number))


def row_with_puzzle_of(level: str, number: int, other: int) -> Row:
    """The row of `fake_deal` with the cards, and so the puzzle, of another number."""
    return row_of(dataclasses.replace(fake_deal(level, number), deal=fake_deal(level, other).deal))


def fake_admitted(level: str, number: int) -> bool:
    """Whether a fake deal is admitted: a pattern without a short period, different for each level."""
    return (number * number + len(level)) % 7 < 2


def fake_batch(level: Level, first: int, count: int, clock: Clock = no_clock) -> Batch:
    """Replace `certify_batch`."""
    numbers, name = range(first, first + count), level.name
    rows = tuple(fake_row(name, number) for number in numbers if fake_admitted(name, number))
    cleared = tuple(number for number in numbers if fake_cleared(name, number))
    stages = Stages(solving=clock() * count, rating=clock() * len(rows))
    return Batch(first, count, rows, cleared, stages)
