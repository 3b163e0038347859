"""Dates are parsed in one form only, and dates too far ahead are rejected."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.days import LAST_DAY, check_not_future, days_between, parse_day
from solver.errors import UsageError

TODAY = date(2026, 11, 30)


@given(st.dates(max_value=LAST_DAY))
def test_a_date_is_parsed_from_its_text(day: date) -> None:
    assert parse_day(day.isoformat()) == day


@pytest.mark.parametrize(
    "text",
    ["", "today", "20261130", "2026-W48-1", "30.11.2026", "2026-11-30T00:00", "2026-1-1", "²026-11-30"],
)
def test_another_form_of_a_date_is_rejected(text: str) -> None:
    with pytest.raises(UsageError, match="is not a date; write it as YYYY-MM-DD"):
        parse_day(text)


@pytest.mark.parametrize(
    "text", ["2026-02-29", "2026-02-30", "2026-13-01", "2026-00-10", "2026-04-31", "0000-01-01"]
)
def test_a_date_that_does_not_exist_is_rejected(text: str) -> None:
    with pytest.raises(UsageError, match=f"the date {text} does not exist"):
        parse_day(text)


def test_a_date_too_late_to_add_days_to_is_rejected() -> None:
    assert parse_day(str(LAST_DAY)) == LAST_DAY
    with pytest.raises(UsageError, match="9999-12-31 is after 9989-12-31"):
        parse_day("9999-12-31")


def test_a_date_further_ahead_than_holes_are_published_is_rejected() -> None:
    check_not_future(date(2026, 12, 2), TODAY, 2, "--to")
    with pytest.raises(UsageError, match=r"--to 2026-12-03 is after 2026-12-02.*--allow-future"):
        check_not_future(date(2026, 12, 3), TODAY, 2, "--to")


def test_days_between_includes_both_ends() -> None:
    assert days_between(date(2028, 2, 28), date(2028, 3, 1)) == (
        date(2028, 2, 28),
        date(2028, 2, 29),
        date(2028, 3, 1),
    )
    assert days_between(TODAY, TODAY) == (TODAY,)
    assert days_between(TODAY, date(2026, 11, 29)) == ()
