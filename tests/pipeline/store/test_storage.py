"""Files are whole or not there, stay inside the root, and every failure is one line that says what to do."""

import errno
import fcntl
import os
import resource
import stat
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import AlreadyThereError, MissingError, StorageError
from pipeline.store.storage import INCOMING, LocalStorage
from tests.support.doubles import Killed


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path / "root")


def files_of(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def fail_at(monkeypatch: pytest.MonkeyPatch, name: str, fault: BaseException, call: int = 0) -> None:
    """Make the n-th call of `os.name` raise."""
    real: Callable[..., Any] = getattr(os, name)
    calls = iter(range(1000))

    def failing(*arguments: Any, **options: Any) -> Any:
        if next(calls) == call:
            raise fault
        return real(*arguments, **options)

    monkeypatch.setattr(os, name, failing)


def test_what_was_created_or_replaced_is_read_back_and_listed(storage: LocalStorage) -> None:
    storage.create("daily/b.json", b"b")
    storage.create("daily/a.json", b"a")
    storage.replace("catalog.json", b"1")
    storage.replace("catalog.json", b"2")
    assert storage.read("catalog.json") == b"2"
    assert storage.list("") == ("catalog.json", "daily/a.json", "daily/b.json")
    assert storage.list("daily/") == storage.list("da") == ("daily/a.json", "daily/b.json")
    assert storage.list("daily/b") == ("daily/b.json",)
    assert storage.list("runs/") == ()
    storage.remove("daily/a.json")
    assert storage.list("daily/") == ("daily/b.json",)


def test_creating_never_touches_a_file_that_exists(storage: LocalStorage) -> None:
    storage.create("daily/a.json", b"first")
    with pytest.raises(AlreadyThereError, match=r"daily/a\.json: it exists already"):
        storage.create("daily/a.json", b"second")
    assert files_of(storage.root) == {"daily/a.json": b"first"}


@pytest.mark.parametrize("operation", ["read", "remove"])
def test_a_missing_file_is_named(storage: LocalStorage, operation: str) -> None:
    with pytest.raises(MissingError, match=rf"cannot {operation} .*runs/none\.json: it does not exist"):
        getattr(storage, operation)("runs/none.json")


@pytest.mark.parametrize("operation", ["create", "replace"])
@pytest.mark.parametrize(
    ("step", "call"),
    [("open", 0), ("fsync", 0), ("link", 0), ("replace", 0), ("unlink", 0), ("mkdir", 0), ("fsync", 1)],
)
@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "free some space"),
        (errno.EROFS, "--data"),
        (errno.EACCES, "--data"),
        (errno.EMFILE, "ulimit -n"),
        (errno.EIO, "check the disk"),
    ],
)
def test_a_failed_write_is_explained_and_leaves_the_old_state(
    storage: LocalStorage,
    monkeypatch: pytest.MonkeyPatch,
    operation: str,
    step: str,
    call: int,
    number: int,
    remedy: str,
) -> None:
    storage.replace("old.json", b"old")
    fail_at(monkeypatch, step, OSError(number, os.strerror(number)), call)
    path, data = "new/file.json", b"new"
    try:
        getattr(storage, operation)(path, data)
    except StorageError as fault:
        message = str(fault)
        assert path in message
        assert os.strerror(number) in message
        assert remedy in message
        assert "\n" not in message
    monkeypatch.undo()
    left = files_of(storage.root)
    assert left.pop("old.json") == b"old"
    assert left in ({}, {path: data}) or step == "unlink"
    storage.clear_leftovers()
    storage.replace(path, data)
    assert files_of(storage.root) == {"old.json": b"old", path: data}


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_replacement_leaves_the_old_content(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    storage.replace("catalog.json", b"old")
    fail_at(monkeypatch, step, OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(StorageError, match="No space left on device; free some space"):
        storage.replace("catalog.json", b"new")
    assert files_of(storage.root) == {"catalog.json": b"old"}


@pytest.mark.parametrize("operation", ["create", "replace"])
def test_a_disk_that_is_full_in_the_middle_of_the_data_leaves_nothing(
    storage: LocalStorage, operation: str
) -> None:
    storage.replace("daily/a.json", b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(StorageError, match="File too large"):
            getattr(storage, operation)("daily/b.json", bytes(1_000_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert files_of(storage.root) == {"daily/a.json": b"old"}


@pytest.mark.parametrize("operation", ["create", "replace"])
@pytest.mark.parametrize(("step", "call"), [("fsync", 0), ("link", 0), ("replace", 0), ("unlink", 0)])
def test_a_killed_write_leaves_nothing_under_the_final_name(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch, operation: str, step: str, call: int
) -> None:
    fail_at(monkeypatch, step, Killed(), call)
    monkeypatch.setattr(Path, "unlink", lambda *_args, **_options: None)  # the dead clear nothing away
    try:
        getattr(storage, operation)("daily/a.json", b"whole")
    except Killed:
        assert storage.list("") == ()
        assert all(name.startswith(f"daily/{INCOMING}") for name in files_of(storage.root))
    else:
        assert storage.read("daily/a.json") == b"whole"
    monkeypatch.undo()
    storage.clear_leftovers()
    assert files_of(storage.root) in ({}, {"daily/a.json": b"whole"})


def test_leftovers_are_no_finished_files_and_are_cleared_alone(storage: LocalStorage) -> None:
    storage.create("daily/a.json", b"a")
    leftover = storage.root / "daily" / f"{INCOMING}77"
    leftover.write_bytes(b"half")
    assert storage.list("") == ("daily/a.json",)
    assert storage.clear_leftovers() == (f"daily/{INCOMING}77",)
    assert files_of(storage.root) == {"daily/a.json": b"a"}
    assert storage.clear_leftovers() == ()


def recorded(monkeypatch: pytest.MonkeyPatch, *names: str) -> list[str]:
    """The calls of these functions of `os`, with the name of the file or folder where one is given."""
    calls: list[str] = []
    opened: dict[int, str] = {}

    def record(name: str) -> None:
        real: Callable[..., Any] = getattr(os, name)

        def recording(first: Any, *others: Any, **options: Any) -> Any:
            try:
                result = real(first, *others, **options)
            except FileNotFoundError:  # the way in which nothing is left to unlink
                return None
            if name == "open":
                opened[result] = Path(first).name
                return result
            place = opened[first] if isinstance(first, int) else Path(first).name
            calls.append(f"{name} {'incoming' if place.startswith(INCOMING) else place}")
            return result

        monkeypatch.setattr(os, name, recording)

    for name in names:
        record(name)
    return calls


def test_data_reach_the_disk_before_the_name_and_the_name_before_the_return(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage.replace("catalog.json", b"0")
    calls = recorded(monkeypatch, "open", "fsync", "link", "replace", "unlink", "mkdir")
    storage.create("deals/part", b"part")
    create = [
        "mkdir deals",
        "fsync root",
        "fsync incoming",
        "link incoming",
        "unlink incoming",
        "fsync deals",
    ]
    assert calls == create
    storage.replace("catalog.json", b"1")
    assert [call for call in calls[len(create) :] if not call.startswith("unlink")] == [
        "fsync incoming",
        "replace incoming",
        "fsync root",
    ]


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "../out", "a/../../out", "a//b", "a/./b", "a/", "a\\b", "a\0b", "a\nb", "..", "."],
)
@pytest.mark.parametrize("operation", ["read", "create", "replace", "remove"])
def test_a_path_out_of_the_root_is_refused(storage: LocalStorage, operation: str, path: str) -> None:
    storage.replace("old.json", b"old")
    arguments = (path,) if operation in ("read", "remove") else (path, b"data")
    with pytest.raises(StorageError, match="is not a path inside the data root"):
        getattr(storage, operation)(*arguments)
    assert files_of(storage.root.parent) == {"root/old.json": b"old"}


@given(st.text(st.sampled_from("ab./\\~\0 "), max_size=12))
def test_no_text_leads_out_of_the_root(path: str) -> None:
    storage = LocalStorage(Path("/nowhere/root"))
    try:
        place = storage.local_path(path)
    except StorageError:
        return
    assert place.is_relative_to(storage.root)
    assert place != storage.root
    assert ".." not in place.parts


def test_a_symbolic_link_out_of_the_root_is_not_followed(storage: LocalStorage, tmp_path: Path) -> None:
    storage.replace("deals/a", b"a")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    (storage.root / "deals" / "folder").symlink_to(outside)
    (storage.root / "deals" / "file").symlink_to(outside / "secret")
    for path in ("deals/folder/secret", "deals/file"):
        for operation, *data in (("read",), ("create", b"x"), ("replace", b"x"), ("remove",)):
            with pytest.raises(StorageError, match="through a symbolic link"):
                getattr(storage, operation)(path, *data)
    assert storage.list("") == ("deals/a",)
    assert files_of(outside) == {"secret": b"secret"}


def test_a_pipe_is_reported_and_not_waited_for(storage: LocalStorage) -> None:
    storage.replace("a", b"a")
    os.mkfifo(storage.root / "pipe")
    with pytest.raises(StorageError, match="pipe: it is not a file but a pipe or a device; move it away"):
        storage.read("pipe")


def test_a_folder_in_the_place_of_a_file_is_reported_with_what_to_do(storage: LocalStorage) -> None:
    (storage.root / "a.json").mkdir(parents=True)
    with pytest.raises(StorageError, match="Is a directory; move away the folder"):
        storage.read("a.json")


def test_the_error_for_a_place_without_folders_asks_for_another_one() -> None:
    with pytest.raises(StorageError, match="does not allow folders there; choose another place"):
        LocalStorage(Path("/proc/fairway")).create("a", b"a")


def test_a_circle_of_links_is_an_error_of_the_store(storage: LocalStorage) -> None:
    storage.replace("a", b"a")
    (storage.root / "circle").symlink_to("circle")
    with pytest.raises(StorageError, match="circle"):
        storage.read("circle")


def test_a_root_that_is_itself_a_link_works(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "root").symlink_to(tmp_path / "disk")
    storage = LocalStorage(tmp_path / "root")
    storage.create("a/b", b"b")
    assert storage.list("") == ("a/b",)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_others_may_read_everything_but_what_is_private(storage: LocalStorage) -> None:
    before = os.umask(0o022)
    try:
        storage.create("daily/a.json", b"a")
        storage.create("private/solutions/a.json", b"a")
    finally:
        os.umask(before)
    assert mode_of(storage.root / "daily") == 0o755
    assert mode_of(storage.root / "daily/a.json") == 0o644
    assert mode_of(storage.root / "private") == mode_of(storage.root / "private/solutions") == 0o700
    assert mode_of(storage.root / "private/solutions/a.json") == 0o600


def test_a_private_folder_that_others_can_read_is_closed_before_anything_is_put_there(
    storage: LocalStorage,
) -> None:
    (storage.root / "private").mkdir(parents=True, mode=0o755)
    (storage.root / "private").chmod(0o755)
    storage.create("private/a", b"a")
    assert mode_of(storage.root / "private") == 0o700


def test_a_file_where_a_folder_must_be_is_named(storage: LocalStorage) -> None:
    storage.replace("daily", b"a file")
    with pytest.raises(StorageError, match="move away the file"):
        storage.create("daily/a.json", b"a")


def test_a_file_that_is_being_written_is_not_a_leftover(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as that of a study, which works beside the run that clears away."""
    cleared: list[tuple[str, ...]] = []
    other = LocalStorage(storage.root)

    def clearing(name: str) -> Callable[..., Any]:
        real: Callable[..., Any] = getattr(os, name)

        def clear_first(*arguments: Any, **options: Any) -> Any:
            cleared.append(other.clear_leftovers())
            return real(*arguments, **options)

        return clear_first

    for name in ("link", "replace"):
        monkeypatch.setattr(os, name, clearing(name))
    storage.create("studies/a", b"a")
    storage.replace("studies/a", b"b")
    assert cleared == [(), ()]
    assert files_of(storage.root) == {"studies/a": b"b"}


def test_a_file_that_was_cleared_away_before_it_was_locked_is_begun_again(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, other = fcntl.flock, LocalStorage(storage.root)
    cleared: list[tuple[str, ...]] = []

    def clear_first(handle: int, operation: int) -> None:
        if not cleared:
            monkeypatch.setattr(fcntl, "flock", real)
            cleared.append(other.clear_leftovers())
        real(handle, operation)

    monkeypatch.setattr(fcntl, "flock", clear_first)
    storage.create("studies/a", b"a")
    assert len(cleared[0]) == 1
    assert files_of(storage.root) == {"studies/a": b"a"}


def filled(storage: LocalStorage, **fields: int) -> str | None:
    """Return the obstacle if the disk is as it is but for these fields of `os.statvfs`."""
    disk = os.statvfs(storage.root)
    names = [name for name in dir(disk) if name.startswith("f_")]
    values = {name: getattr(disk, name) for name in names} | {"f_bavail": 10**9, "f_favail": 10**6} | fields
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "statvfs", lambda _root: SimpleNamespace(**values))
        return storage.obstacle()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"f_flag": os.ST_RDONLY}, "is on a file system that is mounted read-only"),
        ({"f_bavail": 100, "f_frsize": 4096}, "has room for 0.4 MB more"),
        ({"f_files": 10**6, "f_favail": 7}, "has room for 7 files more"),
    ],
)
def test_a_disk_that_cannot_be_written_or_is_nearly_full_is_an_obstacle(
    fields: dict[str, int], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = LocalStorage(tmp_path)
    assert filled(storage) is None
    assert words in str(filled(storage, **fields))
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "this user cannot write to" in str(filled(storage))
    (tmp_path / "runs").mkdir()
    monkeypatch.setattr(os, "access", lambda folder, _mode: folder != tmp_path / "runs")
    assert f"this user cannot write to {tmp_path / 'runs'}" in str(filled(storage))
    (tmp_path / "runs").rmdir()
    assert list(tmp_path.iterdir()) == []
