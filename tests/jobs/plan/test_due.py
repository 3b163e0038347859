"""What is due, and which nights were missed, depends only on the time and on what exists."""

from datetime import UTC, date, datetime, time, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.plan.due import Due, RootState, due, missed_nights, night_of
from jobs.settings.model import Settings
from pipeline.daily.calendar import is_over
from pipeline.work.records import Outcome, RunRecord
from tests.support.run_records import run_at

AT = time(0, 5)
NIGHT = date(2026, 11, 30)
NOW = datetime(2026, 11, 30, 0, 5, tzinfo=UTC)
FIRST = date(2026, 11, 29)
ALL_OUT = tuple(FIRST + timedelta(days=n) for n in range(4))
DAYS = st.dates(date(2026, 1, 1), date(2028, 12, 31))
SOME_DAYS = st.lists(DAYS, max_size=5, unique=True).map(tuple)
STATES = st.builds(
    RootState, st.lists(st.none() | DAYS, min_size=1, max_size=3).map(tuple), SOME_DAYS, SOME_DAYS
)


def due_on(night: date, now: datetime, state: RootState, first: date = FIRST) -> Due:
    return due(night, night, now, state, Settings(daily_from=first, publish_ahead_days=2))


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
def test_a_night_is_due_from_its_time_of_day_in_utc(moment: datetime, night: date) -> None:
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
def test_nights_that_a_level_lacks_are_due(last_nights: list[date | None], nights: list[date]) -> None:
    assert due_on(NIGHT, NOW, RootState(tuple(last_nights), ALL_OUT)).nights == tuple(nights)


def test_unpublished_dailies_are_due_up_to_the_last_one_wanted() -> None:
    published = (FIRST, date(2026, 12, 1), date(2030, 1, 1))
    todo = due_on(NIGHT, NOW, RootState((NIGHT,), published))
    assert todo == Due((), (NIGHT, date(2026, 12, 2)))


def test_solutions_are_due_once_their_date_is_over_everywhere() -> None:
    state = RootState((NIGHT,), (*ALL_OUT, ago(7)), (NIGHT, FIRST, ago(7)))
    noon = NOW.replace(hour=12, minute=0)
    assert due_on(NIGHT, noon - timedelta(seconds=1), state).solutions == (ago(7),)
    assert due_on(NIGHT, noon, state).solutions == (ago(7), FIRST)


def test_a_solution_without_a_published_hole_is_not_due() -> None:
    assert not due_on(NIGHT, NOW, RootState((NIGHT,), ALL_OUT, (ago(7),)))


def test_after_a_failed_run_a_retry_is_due_even_if_nothing_is_missing() -> None:
    assert not due_on(NIGHT, NOW, RootState((NIGHT,), ALL_OUT))
    assert due_on(NIGHT, NOW, RootState((NIGHT,), ALL_OUT, has_failed=True))


@given(DAYS, STATES, DAYS)
def test_nothing_is_due_once_everything_due_is_made(night: date, state: RootState, first: date) -> None:
    now = datetime.combine(night, AT, UTC)
    todo = due_on(night, now, state, first)
    assert not set(todo.dailies) & set(state.published)
    assert set(todo.solutions) <= set(state.waiting) & set(state.published)
    assert list(todo.nights) == sorted(set(todo.nights))
    made = RootState(
        tuple(max(each or night, night) for each in state.last_nights),
        (*state.published, *todo.dailies),
        tuple(set(state.waiting) - set(todo.solutions) - {day for day in todo.dailies if is_over(day, now)}),
    )
    assert not due_on(night, now, made, first)


@given(STATES, DAYS, st.integers(0, 40))
def test_what_is_due_stays_due_until_it_is_made(state: RootState, night: date, later: int) -> None:
    def at(day: date) -> Due:
        return due_on(day, datetime.combine(day, AT, UTC), state)

    early, late = at(night), at(night + timedelta(days=later))
    assert set(early.dailies) <= set(late.dailies)
    assert set(early.solutions) <= set(late.solutions)
    if all(state.last_nights):
        assert set(early.nights) <= set(late.nights)


# Missed nights

DAY = timedelta(days=1)
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def night(days_ago: int, outcome: Outcome = Outcome.DONE) -> RunRecord:
    return run_at(datetime(2026, 11, 30, 0, 5, tzinfo=UTC) - days_ago * DAY, outcome)


def missed(*records: RunRecord, now: datetime = NOON) -> list[str]:
    return [str(day) for day in missed_nights(now, AT, records)]


def test_no_night_is_missed_if_each_had_a_successful_run() -> None:
    assert missed(night(0), night(1)) == []
    assert missed(night(1)) == []  # the latest may be in progress


def test_nights_of_a_week_without_runs_are_missed_except_the_latest() -> None:
    assert missed(night(7)) == [f"2026-11-{day}" for day in range(24, 30)]


def test_a_night_whose_runs_failed_or_were_stopped_is_missed() -> None:
    for outcome in (Outcome.FAILED, Outcome.STOPPED):
        assert missed(night(0, outcome), night(1, outcome), night(2)) == ["2026-11-29"]


def test_a_night_made_late_but_before_the_next_is_not_missed() -> None:
    late = run_at(datetime(2026, 11, 30, 0, 4, tzinfo=UTC))
    assert missed(late, night(1, Outcome.FAILED)) == []


def test_nights_before_the_first_successful_run_are_not_missed() -> None:
    assert missed() == []
    assert missed(night(0, Outcome.FAILED), night(9, Outcome.FAILED)) == []


def test_the_end_of_a_year_and_a_leap_day_are_ordinary_nights() -> None:
    before = run_at(datetime(2027, 12, 30, 0, 5, tzinfo=UTC))
    assert missed(before, now=datetime(2028, 1, 1, 7, tzinfo=UTC)) == ["2027-12-31"]
    before = run_at(datetime(2028, 2, 28, 0, 5, tzinfo=UTC))
    assert missed(before, now=datetime(2028, 3, 1, 7, tzinfo=UTC)) == ["2028-02-29"]


def test_a_record_from_the_future_neither_hides_nor_causes_missed_nights() -> None:
    assert missed(night(-900), night(3)) == ["2026-11-28", "2026-11-29"]
    assert missed(night(-900)) == []
    assert missed(night(0), now=NOON - 300 * DAY) == []


@given(st.integers(0, 60), st.lists(st.sampled_from(Outcome), max_size=5))
def test_missed_nights_lie_between_the_last_successful_run_and_the_latest_night(
    days_ago: int, since: list[Outcome]
) -> None:
    bad = [night(0, outcome) for outcome in since if not outcome.is_good]
    last = date(2026, 11, 30) - days_ago * DAY
    expected = [str(last + n * DAY) for n in range(1, days_ago)]
    assert missed(*bad, night(days_ago)) == expected
