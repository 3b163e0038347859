"""Whatever is wrong with a daily, a solution or the index is found by its check and put down to its file."""

import dataclasses
import re
from datetime import date, timedelta
from pathlib import Path

import pytest

from pipeline.daily import publish as publish_module
from pipeline.daily.hole import choose
from pipeline.daily.ledger import INDEX_PATH, daily_path, private_solution_path, solution_path
from pipeline.daily.publish import publish, rebuild_index
from pipeline.store.storage import LocalStorage
from pipeline.work.progress import SILENT
from tests.support.sound_root import (
    CHOSEN,
    DAILIES,
    DATES,
    DAYS,
    EXECUTOR,
    INDEX,
    KEY,
    NOW,
    SAMPLE,
    SOLUTIONS,
    edit,
    notes,
    problems,
    sound_root,
    verified,
)


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return sound_root(tmp_path)


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"par": 3}, r"\$\.par: 3 does not follow"),
        ({"hole": 1}, r"\$\.hole: 1 is not"),
        ({"waste": "XX"}, r"\$\.waste"),
        ({"more": 1}, r"\$: Additional properties"),
        ({"date": "2026-11-30", "hole": 334}, r"not that of the file's name"),
    ],
    ids=str,
)
def test_a_daily_edited_by_hand_is_found_by_itself_and_by_the_index(
    storage: LocalStorage, fields: dict[str, object], what: str
) -> None:
    path = daily_path(DAYS[2])
    edit(storage, path, **fields)
    found = problems(verified(storage))
    assert re.search(what, found[DAILIES][0])
    assert found[DAILIES][0].startswith(path)


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\xff\x00", b"null"])
def test_a_daily_that_is_no_daily_is_found(storage: LocalStorage, content: bytes) -> None:
    storage.replace(daily_path(DAYS[1]), content)
    found = problems(verified(storage, SAMPLE))
    assert found[DAILIES][0].startswith(daily_path(DAYS[1]))


def test_an_edit_that_keeps_a_daily_faultless_is_found_by_its_hash(storage: LocalStorage) -> None:
    edit(storage, daily_path(DAYS[0]), attempt=1000)
    assert problems(verified(storage)) == {
        INDEX: [f"{daily_path(DAYS[0])}: not the file that the index lists: it has changed or is gone"]
    }


def test_an_edit_that_the_index_was_rebuilt_over_is_found_when_the_hole_is_chosen_anew(
    storage: LocalStorage,
) -> None:
    edit(storage, daily_path(DAYS[0]), attempt=1000)
    storage.remove(INDEX_PATH)
    rebuild_index(storage)
    assert problems(verified(storage, SAMPLE)) == {
        CHOSEN: [f"{daily_path(DAYS[0])}: worked out anew, the same deal gives another attempt"]
    }


def test_a_daily_in_another_form_is_found(storage: LocalStorage) -> None:
    path = daily_path(DAYS[0])
    storage.replace(path, storage.read(path).replace(b",", b", "))
    assert set(problems(verified(storage))) == {DAILIES, INDEX}


def test_a_daily_that_went_is_missed(storage: LocalStorage) -> None:
    storage.remove(daily_path(DAYS[1]))
    results = verified(storage)
    assert problems(results) == {
        INDEX: [f"{daily_path(DAYS[1])}: not the file that the index lists: it has changed or is gone"]
    }
    assert notes(results)[DAILIES] == [f"daily/: no hole for 1 dates between {DAYS[0]} and {DAYS[2]}"]


@pytest.mark.parametrize("content", [None, b"", b"{}", b'{"schema":"fairway-index/2.0","dailies":[]}\n'])
def test_an_index_that_is_gone_or_damaged_is_found(storage: LocalStorage, content: bytes | None) -> None:
    storage.remove(INDEX_PATH)
    if content is not None:
        storage.create(INDEX_PATH, content)
    results = verified(storage)
    assert list(problems(results)) == [INDEX]
    assert [problem.file for problem in results[INDEX].problems] == [INDEX_PATH]


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
    ids=["blank", "hole", "solution"],
)
def test_an_index_edited_by_hand_is_found(storage: LocalStorage, old: bytes, new: bytes) -> None:
    storage.replace(INDEX_PATH, storage.read(INDEX_PATH).replace(old, new, 1))
    results = verified(storage)
    assert list(problems(results)) == [INDEX]
    assert [problem.file for problem in results[INDEX].problems] == [INDEX_PATH]


def test_one_puzzle_on_two_dates_is_found(
    storage: LocalStorage,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    next_day = DAYS[-1] + timedelta(days=1)
    twin = dataclasses.replace(choose(DAYS[0], None), day=next_day)
    monkeypatch.setattr(publish_module, "choose", lambda *_: twin)
    made = publish_module.make_daily(next_day, None)
    storage.create(private_solution_path(next_day), made.solution)
    storage.create(daily_path(next_day), made.daily)
    rebuild_index(storage)
    results = verified(storage, SAMPLE)
    assert problems(results) == {
        DATES: [f"{daily_path(next_day)}: its puzzle is that of {daily_path(DAYS[0])} too"]
    }
    assert "differs: today's code would choose attempt" in notes(results)[CHOSEN][0]


@pytest.mark.parametrize("folder", ["private", "public"])
@pytest.mark.parametrize("content", [None, b"", b"{}\n", b"other"])
def test_a_solution_that_is_gone_or_another_is_found(
    storage: LocalStorage, folder: str, content: bytes | None
) -> None:
    day = {"public": DAYS[0], "private": DAYS[3]}[folder]
    path = (solution_path if folder == "public" else private_solution_path)(day)
    storage.remove(path)
    if content is not None:
        storage.create(path, content)
    found = problems(verified(storage))[SOLUTIONS]
    expected = f"{daily_path(day)}: its solution is missing"
    wrong = f"{path}: not the solution that the daily promises"
    assert found == [expected if content is None else wrong]


def test_a_solution_without_a_daily_is_a_note(storage: LocalStorage) -> None:
    path = private_solution_path(date(2027, 1, 1))
    storage.create(path, b"left by a killed run")
    results = verified(storage)
    assert problems(results) == {}
    assert notes(results) == {SOLUTIONS: [f"{path}: no hole is published for its date"]}


def test_a_file_that_is_no_daily_is_a_note(storage: LocalStorage) -> None:
    storage.create("daily/2026-02-30.json", b"{}")
    assert notes(verified(storage))[DAILIES] == ["daily/2026-02-30.json: no file of this name is published"]


def test_holes_of_another_key_are_noted_as_not_checkable(storage: LocalStorage) -> None:
    publish(storage, [date(2026, 12, 1), date(2026, 12, 2)], KEY, NOW, EXECUTOR, SILENT)
    without = verified(storage, SAMPLE)
    assert problems(without) == {}
    assert notes(without)[CHOSEN] == ["daily/: 2 holes of key e9303e2d: not checkable without that key"]
    assert without[CHOSEN].checked == len(DAYS)
    with_it = verified(storage, SAMPLE, KEY)
    assert problems(with_it) == {}
    assert notes(with_it)[CHOSEN] == [
        "daily/: 4 holes were published without a key; with the one in force, others would be chosen"
    ]
    assert with_it[CHOSEN].checked == len(DAYS) + 2
    assert KEY.hex() not in repr(with_it)
