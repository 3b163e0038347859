"""What is due depends on the moment and on what is there, and on nothing else."""

from datetime import UTC, date, datetime, time, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.plan.due import Due, Standing, due, night_of
from pipeline.daily.calendar import is_over

AT = time(0, 5)
NIGHT = date(2026, 11, 30)
NOW = datetime(2026, 11, 30, 0, 5, tzinfo=UTC)
FIRST = date(2026, 11, 29)
LAST = date(2026, 12, 2)
ALL_OUT = tuple(FIRST + timedelta(days=n) for n in range(4))
DAYS = st.dates(date(2026, 1, 1), date(2028, 12, 31))
SOME_DAYS = st.lists(DAYS, max_size=5, unique=True).map(tuple)
STANDINGS = st.builds(
    Standing, st.lists(st.none() | DAYS, min_size=1, max_size=3).map(tuple), SOME_DAYS, SOME_DAYS
)


def ago(days: int) -> date:
    return NIGHT - timedelta(days=days)


@pytest.mark.parametrize(
    ("moment", "night"),
    [
        (datetime(2026, 11, 30, 0, 5, tzinfo=UTC), date(2026, 11, 30)),
        (datetime(2026, 11, 30, 0, 4, 59, tzinfo=UTC), date(2026, 11, 29)),
        (datetime(2026, 11, 30, 23, 59, tzinfo=UTC), date(2026, 11, 30)),
        (datetime(2028, 2, 29, 0, 4, tzinfo=UTC), date(2028, 2, 28)),
        (datetime(2028, 2, 29, 12, tzinfo=UTC), date(2028, 2, 29)),
        (datetime(2028, 3, 1, 0, 0, tzinfo=UTC), date(2028, 2, 29)),
        (datetime(2027, 1, 1, 0, 0, tzinfo=UTC), date(2026, 12, 31)),
        (datetime(2026, 12, 1, 1, 0, tzinfo=timezone(timedelta(hours=14))), date(2026, 11, 30)),
        (datetime(2026, 11, 30, 20, 0, tzinfo=timezone(timedelta(hours=-10))), date(2026, 12, 1)),
    ],
)
def test_a_night_comes_at_its_time_of_the_day_in_utc(moment: datetime, night: date) -> None:
    assert night_of(moment, AT) == night


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
        ([], []),
    ],
)
def test_the_nights_due_are_those_that_a_level_lacks(
    last_nights: list[date | None], nights: list[date]
) -> None:
    assert due(NIGHT, NOW, Standing(tuple(last_nights), ALL_OUT), FIRST, LAST).nights == tuple(nights)


def test_the_dailies_due_are_those_not_out_up_to_the_last_one_wanted() -> None:
    published = (FIRST, date(2026, 12, 1), date(2030, 1, 1))
    todo = due(NIGHT, NOW, Standing((NIGHT,), published), FIRST, LAST)
    assert todo == Due((), (NIGHT, date(2026, 12, 2)))


def test_the_solutions_due_are_those_whose_date_is_over_everywhere() -> None:
    standing = Standing((NIGHT,), (*ALL_OUT, ago(7)), (NIGHT, FIRST, ago(7)))
    noon = NOW.replace(hour=12, minute=0)
    assert due(NIGHT, noon - timedelta(seconds=1), standing, FIRST, LAST).solutions == (ago(7),)
    assert due(NIGHT, noon, standing, FIRST, LAST).solutions == (ago(7), FIRST)


def test_a_solution_that_no_hole_promises_makes_no_run_due() -> None:
    assert not due(NIGHT, NOW, Standing((NIGHT,), ALL_OUT, (ago(7),)), FIRST, LAST)


def test_after_a_run_that_failed_one_is_due_though_nothing_is_lacking() -> None:
    assert not due(NIGHT, NOW, Standing((NIGHT,), ALL_OUT), FIRST, LAST)
    assert due(NIGHT, NOW, Standing((NIGHT,), ALL_OUT, has_failed=True), FIRST, LAST)


@given(DAYS, STANDINGS, DAYS)
def test_once_made_nothing_is_due_any_more(night: date, standing: Standing, first: date) -> None:
    now = datetime.combine(night, AT, UTC)
    last = night + timedelta(days=2)
    todo = due(night, now, standing, first, last)
    assert not set(todo.dailies) & set(standing.published)
    assert set(todo.solutions) <= set(standing.waiting) & set(standing.published)
    assert list(todo.nights) == sorted(set(todo.nights))
    made = Standing(
        tuple(max(each or night, night) for each in standing.last_nights),
        (*standing.published, *todo.dailies),
        tuple(
            set(standing.waiting) - set(todo.solutions) - {day for day in todo.dailies if is_over(day, now)}
        ),
    )
    assert not due(night, now, made, first, last)


@given(STANDINGS, DAYS, st.integers(0, 40))
def test_what_is_due_stays_due_until_it_is_made(standing: Standing, night: date, later: int) -> None:
    def at(day: date) -> Due:
        return due(day, datetime.combine(day, AT, UTC), standing, FIRST, day + timedelta(days=2))

    early, late = at(night), at(night + timedelta(days=later))
    assert set(early.dailies) <= set(late.dailies)
    assert set(early.solutions) <= set(late.solutions)
    if all(standing.last_nights):
        assert set(early.nights) <= set(late.nights)
