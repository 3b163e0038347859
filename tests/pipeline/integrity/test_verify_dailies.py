"""Damage to a daily, a solution or the index is found by its check and reported under its file."""

import dataclasses
import re
from datetime import date, timedelta

import pytest

from pipeline.daily import publish as publish_module
from pipeline.daily.files import INDEX_PATH, daily_path, private_solution_path, solution_path
from pipeline.daily.hole import choose
from pipeline.daily.publish import publish
from pipeline.errors import StorageError
from pipeline.integrity.dry_run import RepairLog
from pipeline.integrity.repair import repair
from pipeline.store.storage import LocalStorage
from tests.support import checks
from tests.support.sound_root import (
    DAYS,
    KEY,
    NOW,
    SAMPLE,
    WORK,
    edit,
    notes,
    problems,
    rebuild_index,
    verified,
)

pytestmark = pytest.mark.system


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"par": 3}, r"\$\.par: 3 does not match"),
        ({"hole": 1}, r"\$\.hole: 1 is not"),
        ({"waste": "XX"}, r"\$\.waste"),
        ({"more": 1}, r"\$: Additional properties"),
        ({"date": "2026-11-30", "hole": 334}, "is not the date in the file name"),
    ],
    ids=str,
)
def test_an_edited_daily_is_found(storage: LocalStorage, fields: dict[str, object], what: str) -> None:
    path = daily_path(DAYS[2])
    edit(storage, path, **fields)
    (found,) = problems(verified(storage))[checks.DAILIES]
    assert re.search(what, found)
    assert found.startswith(path)


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\xff\x00", b"null"])
def test_a_file_that_is_not_a_daily_is_found(storage: LocalStorage, content: bytes) -> None:
    storage.replace(daily_path(DAYS[1]), content)
    found = problems(verified(storage, SAMPLE))
    assert found[checks.DAILIES][0].startswith(daily_path(DAYS[1]))


class Unreadable(LocalStorage):
    """A data root in which the disk fails to read some files."""

    paths: tuple[str, ...] = ()

    def read(self, path: str) -> bytes:
        if path in self.paths:
            raise StorageError(f"cannot read {path}: Input/output error")
        return super().read(path)


def test_files_that_cannot_be_read_are_found_but_not_replaced(storage: LocalStorage) -> None:
    failing = Unreadable(storage.root)
    for path, name in ((daily_path(DAYS[0]), checks.DAILIES), (solution_path(DAYS[0]), checks.SOLUTIONS)):
        failing.paths = (path,)
        assert problems(verified(failing))[name] == [f"{path}: cannot read {path}: Input/output error"]
        log = RepairLog()
        repair(failing, log, None, NOW, WORK)
        assert [(found.file, found.what) for found in log.refused] == [
            (path, f"cannot read {path}: Input/output error")
        ]
        assert log.repaired == []
    assert problems(verified(storage)) == {}


def test_a_daily_with_other_spaces_is_found(storage: LocalStorage) -> None:
    path = daily_path(DAYS[0])
    storage.replace(path, storage.read(path).replace(b",", b", "))
    assert problems(verified(storage)) == {
        checks.DAILIES: [f"{path} is damaged: it has other spaces or another order of keys"]
    }


def test_an_edit_that_leaves_a_daily_valid_is_found_by_its_hash(storage: LocalStorage) -> None:
    path = daily_path(DAYS[0])
    edit(storage, path, attempt=1000)
    assert problems(verified(storage)) == {
        checks.INDEX: [f"{path} has changed since daily/index.json listed it"]
    }


def test_an_edit_before_the_index_was_rebuilt_is_found_when_the_hole_is_chosen_again(
    storage: LocalStorage,
) -> None:
    edit(storage, daily_path(DAYS[0]), attempt=1000)
    rebuild_index(storage)
    assert problems(verified(storage, SAMPLE)) == {
        checks.CHOSEN: [f"{daily_path(DAYS[0])}: made again, the same deal gives another attempt"]
    }


def test_a_missing_daily_is_found(storage: LocalStorage) -> None:
    path = daily_path(DAYS[1])
    storage.remove(path)
    results = verified(storage)
    assert problems(results) == {checks.INDEX: [f"{path} is missing, but daily/index.json lists it"]}
    assert notes(results)[checks.DAILIES] == [f"daily/: 1 dates between {DAYS[0]} and {DAYS[2]} have no hole"]


@pytest.mark.parametrize("content", [None, b"", b"{}", b'{"schema":"fairway-index/2.0","dailies":[]}\n'])
def test_a_missing_or_damaged_index_is_found(storage: LocalStorage, content: bytes | None) -> None:
    storage.remove(INDEX_PATH)
    if content is not None:
        storage.create(INDEX_PATH, content)
    results = verified(storage)
    assert list(problems(results)) == [checks.INDEX]
    assert [problem.file for problem in results[checks.INDEX].problems] == [INDEX_PATH]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"par":', b'"par": '),
        (b'"hole":331', b'"hole":332'),
        (
            b'"solution":null',
            b'"solution":{"file":"solutions/2026-11-29.json","sha256":"' + b"0" * 64 + b'"}',
        ),
    ],
    ids=["space", "hole", "solution"],
)
def test_an_edited_index_is_found(storage: LocalStorage, old: bytes, new: bytes) -> None:
    storage.replace(INDEX_PATH, storage.read(INDEX_PATH).replace(old, new, 1))
    results = verified(storage)
    assert list(problems(results)) == [checks.INDEX]
    assert [problem.file for problem in results[checks.INDEX].problems] == [INDEX_PATH]


def test_one_puzzle_on_two_dates_is_found(storage: LocalStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    next_day = DAYS[-1] + timedelta(days=1)
    twin = dataclasses.replace(choose(DAYS[0], None), day=next_day)
    monkeypatch.setattr(publish_module, "choose", lambda *_: twin)
    made = publish_module.make_daily(next_day, None)
    storage.create(private_solution_path(next_day), made.solution)
    storage.create(daily_path(next_day), made.daily)
    rebuild_index(storage)
    results = verified(storage, SAMPLE)
    assert problems(results) == {
        checks.DATES: [f"{daily_path(next_day)}: {daily_path(DAYS[0])} has the same puzzle"]
    }
    assert "today's code would choose attempt" in notes(results)[checks.CHOSEN][0]


@pytest.mark.parametrize(
    ("day", "path"),
    [(DAYS[3], private_solution_path(DAYS[3])), (DAYS[0], solution_path(DAYS[0]))],
    ids=["private", "public"],
)
@pytest.mark.parametrize("content", [None, b"", b"{}\n", b"other"])
def test_a_missing_or_wrong_solution_is_found(
    storage: LocalStorage, day: date, path: str, content: bytes | None
) -> None:
    storage.remove(path)
    expected = f"{daily_path(day)}: its solution is missing"
    if content is not None:
        storage.create(path, content)
        expected = f"{path} does not have the hash in {daily_path(day)}"
    assert problems(verified(storage))[checks.SOLUTIONS] == [expected]


def test_a_solution_without_a_daily_is_a_note(storage: LocalStorage) -> None:
    path = private_solution_path(date(2027, 1, 1))
    storage.create(path, b"left by a killed run")
    results = verified(storage)
    assert problems(results) == {}
    assert notes(results) == {checks.SOLUTIONS: [f"{path}: no hole is published for its date"]}


def test_a_file_with_another_name_is_a_note(storage: LocalStorage) -> None:
    storage.create("daily/2026-02-30.json", b"{}")
    assert notes(verified(storage))[checks.DAILIES] == [
        "daily/2026-02-30.json: not the name of a published file"
    ]


def test_holes_of_another_key_are_noted(storage: LocalStorage) -> None:
    publish(storage, [date(2026, 12, 1), date(2026, 12, 2)], KEY, NOW, WORK)
    without = verified(storage, SAMPLE)
    assert problems(without) == {}
    assert notes(without)[checks.CHOSEN] == [
        "daily/: 2 holes of key e9303e2d cannot be checked without that key"
    ]
    assert without[checks.CHOSEN].checked == len(DAYS)
    with_it = verified(storage, SAMPLE, KEY)
    assert problems(with_it) == {}
    assert notes(with_it)[checks.CHOSEN] == [
        "daily/: 4 holes were published without a key; the key in force would choose others"
    ]
    assert with_it[checks.CHOSEN].checked == len(DAYS) + 2
    assert KEY.hex() not in repr(with_it)
