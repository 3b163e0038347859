"""What a repair mends and what it refuses, and a rehearsal of it that changes nothing."""

from dataclasses import dataclass, field

from pipeline.errors import AlreadyThereError, MissingError
from pipeline.integrity.report import Finding
from pipeline.store.storage import Storage


@dataclass(slots=True)
class Mending:
    """What has been found so far, in the order in which it was found.

    Attributes:
        mended: files that were made anew, each with what was wrong and where the new one comes from.
        refused: files that are wrong and were left alone, each with the reason and what to do about it.
    """

    mended: list[Finding] = field(default_factory=list)
    refused: list[Finding] = field(default_factory=list)

    def mend(self, file: str, how: str) -> None:
        """Note a file that was made anew."""
        self.mended.append(Finding(file, how))

    def refuse(self, file: str, why: str) -> None:
        """Note a file that is wrong and stays as it is."""
        self.refused.append(Finding(file, why))


class Rehearsal:
    """A storage that takes every change in memory and leaves the one below it as it is.

    Args:
        inner: what is read.
    """

    def __init__(self, inner: Storage) -> None:
        self._inner = inner
        self._changed: dict[str, bytes | None] = {}

    def read(self, path: str) -> bytes:
        """See `Storage.read`."""
        if path not in self._changed:
            return self._inner.read(path)
        data = self._changed[path]
        if data is None:
            raise MissingError(f"cannot read {path}: it does not exist")
        return data

    def create(self, path: str, data: bytes) -> None:
        """See `Storage.create`."""
        if path in self.list(path):
            raise AlreadyThereError(f"cannot create {path}: it exists already")
        self._changed[path] = data

    def replace(self, path: str, data: bytes) -> None:
        """See `Storage.replace`."""
        self._changed[path] = data

    def list(self, prefix: str) -> tuple[str, ...]:
        """See `Storage.list`."""
        there = set(self._inner.list(prefix)) - self._changed.keys()
        there |= {path for path, data in self._changed.items() if data is not None}
        return tuple(sorted(path for path in there if path.startswith(prefix)))

    def remove(self, path: str) -> None:
        """See `Storage.remove`."""
        self.read(path)
        self._changed[path] = None


def put(storage: Storage, path: str, data: bytes) -> None:
    """Write a file whose present content, if there is any, has been proved wrong."""
    try:
        storage.create(path, data)
    except AlreadyThereError:
        storage.replace(path, data)
