"""The hole of a date is the frozen one, depends only on date and key, and exists for every date."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.daily.calendar import FIRST_DAY, hole_number, is_over
from pipeline.daily.checks import daily_faults, solution_faults
from pipeline.daily.hole import choose, daily_bytes, key_id, solution_bytes
from pipeline.deals import levels
from pipeline.deals.shuffle import daily_candidate
from pipeline.store.documents import parse
from solver.errors import UsageError
from solver.players.steady import rate
from solver.search.exact import solve
from solver.table.rules import RULES
from tests.support.reference import REFERENCE, daily_v2, frozen

KEY = bytes(range(32))
LAST_DAY = date(9999, 12, 31)
REFERENCE_DAY = date(2026, 11, 30)


def days_between(first: date, last: date) -> list[date]:
    return [date.fromordinal(day) for day in range(first.toordinal(), last.toordinal() + 1)]


any_day = st.dates(FIRST_DAY, LAST_DAY)


def test_the_reference_files_are_reproduced_byte_for_byte() -> None:
    hole = choose(REFERENCE_DAY, None)
    assert daily_bytes(hole) == (REFERENCE / "daily-2026-11-30.json").read_bytes()
    assert solution_bytes(hole) == (REFERENCE / "solution-2026-11-30.json").read_bytes()


@pytest.mark.parametrize("expected", frozen()["daily_holes"], ids=lambda row: row["date"])
def test_the_frozen_holes_are_reproduced(
    expected: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "DAILY_V2_FROM", date.max)  # daily v1, whatever the date
    hole = choose(date.fromisoformat(str(expected["date"])), None)
    certified = hole.certified
    assert {
        "date": hole.day.isoformat(),
        "attempt": hole.attempt,
        "deal": certified.deal.notation,
        "par": certified.par,
        "best_score": certified.best_score,
        "steady_mean": pytest.approx(certified.distribution.mean, abs=1e-12),
        "puzzle_id": certified.deal.puzzle_id,
    } == expected


@pytest.mark.parametrize("expected", daily_v2(), ids=lambda row: row["date"])
def test_the_frozen_holes_from_2027_on_are_reproduced(expected: dict[str, object]) -> None:
    certified = choose(date.fromisoformat(str(expected["date"])), None).certified
    assert {
        "date": expected["date"],
        "attempt": certified.deal_number,
        "deal": certified.deal.notation,
        "puzzle_id": certified.deal.puzzle_id,
        "par": certified.par,
        "cleared_mass": str(certified.clear_mass),
        "difficulty": certified.difficulty,
    } == expected


@pytest.mark.parametrize("n", range(7))
def test_from_2027_on_the_weekday_says_how_difficult_a_hole_is(n: int) -> None:
    day = date(2027, 1, 4) + timedelta(n)  # from a Monday
    daily = parse(daily_bytes(choose(day, KEY)), "daily")
    assert (daily["schema"], daily["versions"]["daily"]) == ("fairway-daily/1.1", 2)
    assert daily["difficulty"] == (1, 1, 2, 2, 3, 3, 4)[n]
    assert daily_faults(daily) == ()
    before = parse(daily_bytes(choose(date(2026, 12, 31), KEY)), "daily")
    assert (before["schema"], before["versions"]["daily"]) == ("fairway-daily/1.0", 1)
    assert daily.keys() - before.keys() == {"difficulty", "clear_chance"}


@pytest.mark.parametrize("key", [None, KEY], ids=["without a key", "with a key"])
@pytest.mark.parametrize("day", [date(2026, 1, 1), date(2026, 3, 1), date(2026, 12, 31)], ids=str)
def test_the_hole_is_the_first_shuffle_that_the_policy_admits(day: date, key: bytes | None) -> None:
    golf = RULES["golf"]
    for attempt in count():
        deal = daily_candidate(day, attempt, key)
        mean = Fraction(rate(deal, golf).mean_exact)
        if solve(deal, golf).cleared and Fraction(5, 2) <= mean < Fraction(11, 2):
            break
    hole = choose(day, key)
    assert (hole.attempt, hole.certified.deal) == (attempt, deal)


def test_a_key_gives_other_holes_with_its_id() -> None:
    keyed = parse(daily_bytes(choose(REFERENCE_DAY, KEY)), "keyed")
    open_one = parse(daily_bytes(choose(REFERENCE_DAY, None)), "open")
    assert (keyed["keyed"], keyed["key_id"]) == (True, key_id(KEY))
    assert (open_one["keyed"], open_one["key_id"]) == (False, None)
    assert keyed["deal"] != open_one["deal"]
    assert KEY.hex() not in json.dumps(keyed)
    assert daily_faults(keyed) == ()


def test_the_key_id_is_eight_digits_of_a_hash() -> None:
    assert key_id(KEY) == "e9303e2d"  # computed with sha256sum
    assert key_id(KEY) != key_id(bytes(32))


def test_a_key_of_another_size_is_refused() -> None:
    with pytest.raises(UsageError, match="the daily key has 31 bytes"):
        choose(REFERENCE_DAY, bytes(31))


@pytest.mark.parametrize(
    "day",
    [
        date(2026, 1, 1),
        date(2026, 12, 31),
        date(2027, 1, 1),
        date(2028, 2, 29),
        date(2100, 2, 28),
        date(2100, 3, 1),
        date(2400, 2, 29),
        LAST_DAY,
    ],
    ids=str,
)
def test_first_and_last_days_leap_days_and_centuries_have_valid_holes(day: date) -> None:
    hole = choose(day, None)
    daily = parse(daily_bytes(hole), "daily")
    assert daily_faults(daily) == ()
    assert solution_faults(parse(solution_bytes(hole), "solution"), daily) == ()


def test_other_threads_and_another_order_give_the_same_bytes() -> None:
    days = days_between(date(2027, 2, 26), date(2027, 3, 3))
    alone = [daily_bytes(choose(day, None)) for day in days]
    with ThreadPoolExecutor(3) as executor:
        together = list(executor.map(lambda day: daily_bytes(choose(day, None)), reversed(days)))
    assert together == alone[::-1]


@pytest.mark.parametrize(("day", "hole"), [("2026-01-01", 1), ("2026-11-30", 334), ("2027-01-01", 366)])
def test_holes_are_counted_from_the_first_day(day: str, hole: int) -> None:
    assert hole_number(date.fromisoformat(day)) == hole


@given(any_day.filter(lambda day: day < LAST_DAY))
def test_each_day_has_the_next_number(day: date) -> None:
    assert hole_number(day + timedelta(days=1)) == hole_number(day) + 1


@pytest.mark.parametrize("day", [date(2025, 12, 31), date(1, 1, 1)], ids=str)
def test_there_is_no_hole_before_the_first_day(day: date) -> None:
    with pytest.raises(UsageError, match=f"there is no hole for {day}; the first one is for 2026-01-01"):
        choose(day, None)


@given(any_day.filter(lambda day: day < LAST_DAY - timedelta(days=1)))
def test_a_date_is_over_when_it_has_ended_on_the_last_clock_on_earth(day: date) -> None:
    westernmost = timezone(timedelta(hours=-12))
    midnight_there = datetime.combine(day + timedelta(days=1), datetime.min.time(), westernmost)
    assert is_over(day, midnight_there)
    assert is_over(day, midnight_there.astimezone(UTC))
    assert is_over(day, midnight_there.astimezone(timezone(timedelta(hours=14))))
    assert not is_over(day, midnight_there - timedelta(microseconds=1))


def test_the_last_date_of_the_calendar_is_not_over_before_it_ends() -> None:
    assert not is_over(LAST_DAY, datetime(9999, 12, 31, 23, 59, tzinfo=UTC))


@pytest.mark.soak
def test_ten_years_of_dates_have_a_hole_each_and_no_puzzle_twice() -> None:
    days = days_between(date(2026, 1, 1), date(2035, 12, 31))
    with ThreadPoolExecutor(2) as executor:
        puzzles = list(executor.map(lambda day: choose(day, None).certified.deal.puzzle_id, days))
    assert len(puzzles) == 3652
    assert len(set(puzzles)) == len(puzzles)
