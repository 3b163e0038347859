"""The log of a repair, and a storage that keeps the changes of a dry run in memory."""

from collections.abc import Collection
from dataclasses import dataclass, field

from pipeline.errors import AlreadyThereError, MisplacedError, MissingError, StorageError
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
    """A storage that keeps all changes in memory and leaves the storage below as it is.

    Args:
        inner: the storage below.
        irregular_paths: what is not a file there, and so is in the way of a file that is to be created.
    """

    def __init__(self, inner: Storage, irregular_paths: Collection[str] = ()) -> None:
        self._inner = inner
        self._irregular = irregular_paths
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
        if path in self._irregular:
            raise MisplacedError(f"cannot create {path}: what is in its place is not a file; move it away")
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
        MisplacedError: if there is a file that cannot be read, so that nothing proves its content wrong, or
            something that is not a file.
        StorageError: if it cannot be written.
    """
    try:
        storage.create(path, data)
    except AlreadyThereError:
        try:
            storage.read(path)
        except StorageError as error:
            raise MisplacedError(str(error)) from error
        storage.replace(path, data)


def restore(storage: Storage, log: RepairLog, path: str, data: bytes, what: str) -> None:
    """Write a file as `put` does, and record that it was restored, or why what is there was left alone.

    Raises:
        StorageError: if it cannot be written.
    """
    try:
        put(storage, path, data)
    except MisplacedError as error:
        log.refuse(path, str(error))
    else:
        log.repair(path, what)
