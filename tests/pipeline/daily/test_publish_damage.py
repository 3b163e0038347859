"""Published holes survive another key, clock or policy, and damage does not block publishing."""

import dataclasses
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from pipeline.daily import publish as module
from pipeline.daily.files import INDEX_PATH, daily_path, private_solution_path, published_days, solution_path
from pipeline.daily.hole import DailyHole, choose
from pipeline.daily.ledger import parse_index
from pipeline.daily.publish import Published, make_daily
from pipeline.errors import CheckError, DamagedError
from pipeline.store.text import sha256_of
from tests.support.publishing import (
    ALL_OVER,
    DAYS,
    EMPTY_INDEX,
    HALF_OVER,
    KEY,
    NONE_OVER,
    Site,
    made_before,
    site_in,
)


@pytest.mark.parametrize("days", [DAYS, DAYS[:2]], ids=["all", "some"])
def test_a_published_hole_survives_another_key_and_a_clock_set_back(site: Site, days: Sequence[date]) -> None:
    site.publish(days)
    before = site.files()
    site.publish(days, HALF_OVER - timedelta(days=400), KEY)
    assert site.files() == before
    site.publish(DAYS, HALF_OVER, KEY)
    files = site.files()
    assert {path: files[path] for path in before if path != INDEX_PATH} == {
        path: data for path, data in before.items() if path != INDEX_PATH
    }


def test_a_published_hole_survives_a_newer_policy(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.publish()
    before = site.files()
    monkeypatch.setattr(module, "make_daily", lambda day, **_: made_before(day, KEY))
    site.publish()
    assert site.files() == before


def as_the_hole_of(day: date, monkeypatch: pytest.MonkeyPatch, *others: date) -> None:
    """Make `choose` return the hole of one date for other dates too."""

    def twin(wanted: date, key: bytes | None, _watch: object) -> DailyHole:
        return dataclasses.replace(choose(day if wanted in others else wanted, key), day=wanted)

    monkeypatch.setattr(module, "choose", twin)
    monkeypatch.setattr(module, "make_daily", make_daily)


def test_two_dates_of_one_run_never_get_one_puzzle(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    as_the_hole_of(DAYS[0], monkeypatch, DAYS[1])
    with pytest.raises(CheckError, match=rf"{DAYS[1]} was not .*/{DAYS[0]}\.json already has its puzzle"):
        site.publish()
    assert published_days(site.root) == (DAYS[0], *DAYS[2:])
    assert tuple(parse_index(site.root.read(INDEX_PATH))) == (DAYS[0], *DAYS[2:])


def test_a_date_never_gets_a_published_puzzle(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.publish([DAYS[2]])
    as_the_hole_of(DAYS[2], monkeypatch, DAYS[0])
    with pytest.raises(CheckError, match=rf"{DAYS[0]} was not .*/{DAYS[2]}\.json already has its puzzle"):
        site.publish()
    assert published_days(site.root) == DAYS[1:]


@pytest.mark.parametrize("line", ["D", "1" * 35])
def test_a_hole_whose_line_fails_its_replay_is_not_published(
    site: Site, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    hole = choose(DAYS[0], None)
    wrong = dataclasses.replace(hole, certified=dataclasses.replace(hole.certified, line=line))
    monkeypatch.setattr(module, "choose", lambda *_: wrong)
    monkeypatch.setattr(module, "make_daily", make_daily)
    with pytest.raises(CheckError, match=f"the hole of {DAYS[0]} failed its checks and was not published"):
        site.publish(DAYS[:1])
    assert site.files() == {INDEX_PATH: EMPTY_INDEX}


# Damage


def test_an_edited_daily_stays_and_the_index_keeps_its_hash(site: Site) -> None:
    site.publish(DAYS[:2])
    index = parse_index(site.root.read(INDEX_PATH))
    site.edit(daily_path(DAYS[0]), attempt=99)
    edited = site.root.read(daily_path(DAYS[0]))
    with pytest.raises(DamagedError, match=rf"daily/{DAYS[0]}\.json has changed since daily/index\.json"):
        site.publish()
    assert site.root.read(daily_path(DAYS[0])) == edited
    assert published_days(site.root) == DAYS
    assert parse_index(site.root.read(INDEX_PATH))[DAYS[0]] == index[DAYS[0]]


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\xff", b'{"schema":"fairway-daily/1.0"}\n'])
def test_a_damaged_daily_does_not_block_publishing_and_is_not_replaced(site: Site, content: bytes) -> None:
    site.root.create(daily_path(DAYS[1]), content)
    with pytest.raises(DamagedError, match=rf"daily/{DAYS[1]}\.json"):
        site.publish()
    assert site.root.read(daily_path(DAYS[1])) == content
    assert tuple(parse_index(site.root.read(INDEX_PATH))) == (DAYS[0], *DAYS[2:])


def test_a_daily_under_another_date_is_not_listed(site: Site) -> None:
    site.root.create(daily_path(DAYS[1]), made_before(DAYS[0], None).daily)
    with pytest.raises(DamagedError, match=r"\$\.date: 2026-11-27 is not the date in the file name"):
        site.publish()
    assert DAYS[1] not in parse_index(site.root.read(INDEX_PATH))


def test_a_missing_daily_is_published_again_with_the_same_bytes(site: Site) -> None:
    site.publish()
    before = site.files()
    site.root.remove(daily_path(DAYS[1]))
    site.publish()
    assert site.files() == before


def test_a_missing_daily_is_not_replaced_by_another_hole(site: Site) -> None:
    site.publish()
    site.root.remove(daily_path(DAYS[1]))
    before = site.files()
    with pytest.raises(
        CheckError,
        match=f"^{daily_path(DAYS[1])} is missing, and the key in force",
    ):
        site.publish(key=KEY)
    assert site.files() == before


def test_a_missing_daily_stays_listed_and_is_reported(site: Site) -> None:
    site.publish()
    site.root.remove(daily_path(DAYS[0]))
    before = site.files()
    with pytest.raises(DamagedError, match=rf"daily/{DAYS[0]}\.json is missing, but daily/index"):
        site.publish(DAYS[1:])
    assert site.files() == before


@pytest.mark.parametrize("content", [None, b"", b"[]", b'{"schema":"fairway-index/2.0"}\n'])
def test_a_lost_index_is_rebuilt_to_the_same_bytes(site: Site, content: bytes | None) -> None:
    site.publish()
    before = site.files()
    site.root.remove(INDEX_PATH)
    if content is not None:
        site.root.create(INDEX_PATH, content)
    site.publish(())
    assert site.files() == before


# Solutions


@pytest.mark.parametrize(
    ("now", "released"),
    [
        (datetime(2026, 11, 28, 11, 59, 59, tzinfo=UTC), ()),
        (datetime(2026, 11, 28, 12, tzinfo=UTC), DAYS[:1]),
        (datetime(2026, 11, 29, 11, 59, tzinfo=UTC), DAYS[:1]),
        (ALL_OVER, DAYS),
    ],
    ids=str,
)
def test_solutions_are_released_at_noon_utc_of_the_next_day(
    site: Site, now: datetime, released: tuple[date, ...]
) -> None:
    site.publish(now=NONE_OVER)
    assert site.publish(now=now) == Published((), len(DAYS), released)
    assert list(site.root.list("daily/solutions/")) == [solution_path(day) for day in released]
    waiting = [day for day in DAYS if day not in released]
    assert list(site.root.list("private/")) == [private_solution_path(day) for day in waiting]
    entries = parse_index(site.root.read(INDEX_PATH))
    assert [day for day, entry in entries.items() if entry["solution"]] == list(released)


def test_releasing_one_by_one_gives_the_files_that_publishing_late_gives(site: Site, tmp_path: Path) -> None:
    for hours in range(0, 24 * 6, 6):
        site.publish(now=NONE_OVER + timedelta(hours=hours))
    late = site_in(tmp_path / "late")
    late.publish(now=ALL_OVER)
    assert site.files() == late.files()


@pytest.mark.parametrize("content", [b"", b"{}\n", b"D" * 100_000])
def test_a_wrong_solution_is_not_released(site: Site, content: bytes) -> None:
    site.publish(DAYS[:3], NONE_OVER)
    site.root.replace(private_solution_path(DAYS[0]), content)
    with pytest.raises(DamagedError, match=rf"neither .* has the hash in daily/{DAYS[0]}\.json"):
        site.publish(now=ALL_OVER)
    assert site.root.read(private_solution_path(DAYS[0])) == content
    assert published_days(site.root) == DAYS
    entries = parse_index(site.root.read(INDEX_PATH))
    assert [entry["solution"] is not None for entry in entries.values()] == [False, True, True, True]


def test_a_lost_solution_is_reported_when_it_is_due(site: Site) -> None:
    site.publish(now=NONE_OVER)
    site.root.remove(private_solution_path(DAYS[1]))
    site.publish(now=NONE_OVER)
    with pytest.raises(DamagedError, match=rf"neither .* has the hash in daily/{DAYS[1]}\.json"):
        site.publish(now=ALL_OVER)
    assert solution_path(DAYS[0]) in site.files()


def test_a_wrong_public_solution_is_replaced_by_the_right_private_one(site: Site) -> None:
    site.publish(now=NONE_OVER)
    site.root.create(solution_path(DAYS[0]), b"wrong")
    site.publish(now=ALL_OVER)
    assert sha256_of(site.root.read(solution_path(DAYS[0]))) == sha256_of(made_before(DAYS[0], None).solution)


def test_no_key_ever_reaches_a_file(site: Site) -> None:
    site.publish(key=KEY)
    everything = b"".join(site.files().values())
    assert KEY.hex().encode() not in everything
    assert KEY not in everything


def test_all_damage_is_one_line(site: Site) -> None:
    for day in DAYS:
        site.root.create(daily_path(day), b"")
    with pytest.raises(DamagedError, match="and 1 more") as caught:
        site.publish()
    assert "\n" not in str(caught.value)


def test_a_lost_hole_of_another_key_is_one_fault_whose_cause_comes_first(site: Site) -> None:
    site.publish()
    site.root.remove(daily_path(DAYS[1]))
    with pytest.raises(CheckError) as caught:
        site.publish(key=KEY)
    assert str(caught.value) == (
        f"{daily_path(DAYS[1])} is missing, and the key in force gives another hole than the one published:"
        " restore a copy, or run `fairway repair` with the key of that time"
    )
