"""The log of a repair, and a storage that keeps the changes of a dry run in memory."""

from dataclasses import dataclass, field

from pipeline.errors import AlreadyThereError, MissingError
from pipeline.integrity.report import Finding
from pipeline.store.storage import Storage


@dataclass(slots=True)
class RepairLog:
    """What a repair has done so far, in order.

    Attributes:
        repaired: files that were restored, each with what was wrong and where the new content comes from.
        refused: damaged files that were left alone, each with the reason and what to do.
    """

    repaired: list[Finding] = field(default_factory=list)
    refused: list[Finding] = field(default_factory=list)

    def repair(self, file: str, what: str) -> None:
        """Record a file that was restored."""
        self.repaired.append(Finding(file, what))

    def refuse(self, file: str, what: str) -> None:
        """Record a damaged file that was left alone."""
        self.refused.append(Finding(file, what))


class DryRunStorage:
    """A storage that keeps all changes in memory and leaves the storage below as it is."""

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

    def size(self, path: str) -> int:
        """See `Storage.size`."""
        return len(self.read(path))

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
        paths = set(self._inner.list(prefix)) - self._changed.keys()
        paths |= {path for path, data in self._changed.items() if data is not None}
        return tuple(sorted(path for path in paths if path.startswith(prefix)))

    def remove(self, path: str) -> None:
        """See `Storage.remove`."""
        self.read(path)
        self._changed[path] = None


def put(storage: Storage, path: str, data: bytes) -> None:
    """Write a file that is missing, or whose content is known to be wrong.

    Raises:
        StorageError: if there is a file that cannot be read, so that nothing proves its content wrong.
    """
    try:
        storage.create(path, data)
    except AlreadyThereError:
        storage.read(path)
        storage.replace(path, data)
