"""What is due depends on the moment and on what is there, and on nothing else."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.due import Due, due, night_of

NIGHT = date(2026, 11, 30)
FIRST = date(2026, 11, 29)
DAYS = st.dates(date(2026, 1, 1), date(2028, 12, 31))


def ago(days: int) -> date:
    return NIGHT - timedelta(days=days)


@pytest.mark.parametrize(
    ("moment", "night"),
    [
        (datetime(2026, 11, 30, 0, 5, tzinfo=UTC), date(2026, 11, 30)),
        (datetime(2026, 11, 30, 0, 4, 59, tzinfo=UTC), date(2026, 11, 29)),
        (datetime(2026, 11, 30, 23, 59, tzinfo=UTC), date(2026, 11, 30)),
        (datetime(2028, 2, 29, 12, tzinfo=UTC), date(2028, 2, 29)),
        (datetime(2027, 1, 1, 0, 0, tzinfo=UTC), date(2026, 12, 31)),
        (datetime(2026, 12, 1, 1, 0, tzinfo=timezone(timedelta(hours=14))), date(2026, 11, 30)),
        (datetime(2026, 11, 30, 20, 0, tzinfo=timezone(timedelta(hours=-10))), date(2026, 12, 1)),
    ],
)
def test_a_night_comes_at_five_past_midnight_in_utc(moment: datetime, night: date) -> None:
    assert night_of(moment) == night


@pytest.mark.parametrize(
    ("last_nights", "nights"),
    [
        ([None, None, None], [NIGHT]),
        ([ago(1)] * 3, [NIGHT]),
        ([ago(3)] * 3, [ago(2), ago(1), NIGHT]),
        ([NIGHT] * 3, []),
        ([NIGHT + timedelta(days=9)] * 3, []),
        ([ago(1), ago(2), NIGHT], [ago(1), NIGHT]),
        ([None, NIGHT, NIGHT], [NIGHT]),
        ([None, ago(2), NIGHT], [ago(1), NIGHT]),
    ],
)
def test_the_nights_due_are_those_that_a_level_lacks(
    last_nights: list[date | None], nights: list[date]
) -> None:
    assert due(NIGHT, last_nights, [], FIRST, 2).nights == tuple(nights)


def test_the_dailies_due_are_those_not_out_up_to_some_days_ahead() -> None:
    published = [FIRST, date(2026, 12, 1), date(2030, 1, 1)]
    assert due(NIGHT, [NIGHT], published, FIRST, 2) == Due((), (NIGHT, date(2026, 12, 2)))


@given(DAYS, st.lists(st.none() | DAYS, min_size=1, max_size=3), st.sets(DAYS, max_size=5), DAYS)
def test_once_made_nothing_is_due_any_more(
    night: date, last_nights: list[date | None], published: set[date], first: date
) -> None:
    todo = due(night, last_nights, published, first, 2)
    made = [max(last or night, night) for last in last_nights]
    assert not due(night, made, published | set(todo.dailies), first, 2)
    assert not set(todo.dailies) & published
    assert list(todo.nights) == sorted(set(todo.nights))
