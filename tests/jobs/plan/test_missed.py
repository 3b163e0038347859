"""Nights that were missed are worked out from the records alone: each is told of once."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

from hypothesis import given
from hypothesis import strategies as st

from jobs.plan.missed import missed_nights
from pipeline.work.records import Outcome, RunRecord
from tests.support.run_records import run_at

AT = time(0, 5)
DAY = timedelta(days=1)
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def night(days_ago: int, outcome: Outcome = Outcome.DONE) -> RunRecord:
    return run_at(datetime(2026, 11, 30, 0, 5, tzinfo=UTC) - days_ago * DAY, outcome)


def missed(*records: RunRecord, now: datetime = NOW) -> Sequence[str]:
    return [str(day) for day in missed_nights(now, AT, records)]


def test_where_each_night_had_its_run_none_was_missed() -> None:
    assert missed(night(0), night(1)) == []
    assert missed(night(1)) == []  # the latest may be in the making


def test_nights_of_a_week_of_sleep_were_missed_but_not_the_latest() -> None:
    assert missed(night(7)) == [f"2026-11-{day}" for day in range(24, 30)]


def test_a_night_that_only_failed_or_was_stopped_was_missed() -> None:
    for outcome in (Outcome.FAILED, Outcome.STOPPED):
        assert missed(night(0, outcome), night(1, outcome), night(2)) == ["2026-11-29"]


def test_a_night_made_late_but_before_the_next_was_not_missed() -> None:
    late = run_at(datetime(2026, 11, 30, 0, 4, tzinfo=UTC))
    assert missed(late, night(1, Outcome.FAILED)) == []


def test_before_the_first_good_run_none_was_missed() -> None:
    assert missed() == []
    assert missed(night(0, Outcome.FAILED), night(9, Outcome.FAILED)) == []


def test_the_end_of_a_year_and_the_day_that_most_years_lack_are_nights_like_others() -> None:
    before = run_at(datetime(2027, 12, 30, 0, 5, tzinfo=UTC))
    assert missed(before, now=datetime(2028, 1, 1, 7, tzinfo=UTC)) == ["2027-12-31"]
    before = run_at(datetime(2028, 2, 28, 0, 5, tzinfo=UTC))
    assert missed(before, now=datetime(2028, 3, 1, 7, tzinfo=UTC)) == ["2028-02-29"]


def test_a_run_of_the_future_hides_no_missed_night_and_a_clock_set_back_makes_none() -> None:
    assert missed(night(-900), night(3)) == ["2026-11-28", "2026-11-29"]
    assert missed(night(-900)) == []
    assert missed(night(0), now=NOW - 300 * DAY) == []


@given(st.integers(0, 60), st.lists(st.sampled_from(Outcome), max_size=5))
def test_it_is_the_nights_between_the_last_good_run_and_the_latest_night(
    days_ago: int, since: list[Outcome]
) -> None:
    bad = [night(0, outcome) for outcome in since if not outcome.is_good]
    last = date(2026, 11, 30) - days_ago * DAY
    expected = [str(last + n * DAY) for n in range(1, days_ago)]
    assert missed(*bad, night(days_ago)) == expected
