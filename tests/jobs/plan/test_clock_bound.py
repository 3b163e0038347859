"""A clock that is far off is not trusted, and the operator learns why and what to do."""

from datetime import date, timedelta

import pytest

from jobs.plan.clock_bound import MAX_HOLES, RELEASED, ClockDoubt, check_hole_count, clock_doubt
from jobs.settings.model import Settings
from pipeline.errors import CheckError

SIGN = date(2028, 2, 29)
BOUND = 400
LAST = SIGN + timedelta(days=BOUND)
SETTINGS = Settings(clock_bound_days=BOUND, publish_ahead_days=2)


def doubt_about(night: date, last_night: date | None) -> ClockDoubt | None:
    return clock_doubt(night, [last_night], [], SETTINGS)


@pytest.mark.parametrize(
    ("nights", "holes", "last"),
    [
        ([None, SIGN, SIGN - timedelta(3)], [SIGN - timedelta(9), SIGN + timedelta(1)], LAST),
        ([None, SIGN], [SIGN, SIGN + timedelta(9)], LAST + timedelta(7)),
        ([None], [SIGN], LAST - timedelta(2)),
    ],
)
def test_the_days_count_from_the_last_night_or_the_last_hole_less_the_days_ahead(
    nights: list[date | None], holes: list[date], last: date
) -> None:
    assert clock_doubt(last, nights, holes, SETTINGS) is None
    assert clock_doubt(last + timedelta(1), nights, holes, SETTINGS) is not None


@pytest.mark.parametrize(
    "night", [SIGN, SIGN + timedelta(1), LAST, SIGN - timedelta(700), date(2026, 1, 1)], ids=str
)
def test_a_clock_that_is_not_far_ahead_is_trusted(night: date) -> None:
    assert doubt_about(night, SIGN) is None


@pytest.mark.parametrize("night", [LAST + timedelta(1), SIGN.replace(year=2128)], ids=str)
def test_a_clock_far_ahead_is_not_trusted_and_the_reason_names_both_dates(night: date) -> None:
    doubt = doubt_about(night, SIGN)
    assert doubt is not None
    assert f"the clock says {night}, which is after {LAST}" in doubt.what
    assert str(SIGN) in doubt.what
    assert doubt.remedy == f"set the clock; if it is right, run `fairway nightly --date {night}` once"


def test_a_clock_that_was_never_set_is_not_trusted() -> None:
    doubt = doubt_about(date(1970, 1, 1), None)
    assert doubt is not None
    assert (doubt.what, doubt.remedy) == (
        "the clock says 1970-01-01, which is before the first hole, 2026-01-01",
        "set the clock",
    )


def test_a_version_can_be_installed_years_but_not_a_century_after_its_release() -> None:
    assert doubt_about(RELEASED.replace(year=RELEASED.year + 9), None) is None
    doubt = doubt_about(RELEASED.replace(year=RELEASED.year + 100), None)
    assert doubt is not None
    assert f"the release of this version on {RELEASED}" in doubt.what


def test_with_an_old_data_root_the_days_count_from_the_release() -> None:
    old = RELEASED - timedelta(days=200)
    assert doubt_about(RELEASED + timedelta(days=BOUND), old) is None
    assert doubt_about(RELEASED + timedelta(days=BOUND + 1), old) is not None


def test_by_default_the_clock_is_trusted_for_a_month_after_the_latest_night() -> None:
    assert clock_doubt(SIGN + timedelta(30), [SIGN], [], Settings()) is None
    assert clock_doubt(SIGN + timedelta(31), [SIGN], [], Settings()) is not None


@pytest.mark.parametrize(("days", "option"), [(MAX_HOLES, ""), (MAX_HOLES + 1, " --allow-many")])
def test_the_advice_for_a_long_pause_allows_many_holes_if_that_is_needed(days: int, option: str) -> None:
    night = SIGN + timedelta(days)
    doubt = clock_doubt(night, [SIGN], [SIGN + timedelta(2)], Settings())
    assert doubt is not None
    assert doubt.remedy.endswith(f"`fairway nightly --date {night}{option}` once")


def test_many_holes_at_once_are_refused_unless_they_are_the_first() -> None:
    days = [SIGN + timedelta(n) for n in range(MAX_HOLES + 1)]
    check_hole_count(days, [])
    check_hole_count(days[1:], days[:1])
    with pytest.raises(CheckError, match=f"61 Daily holes .* {days[0]} to {days[-1]}.* --allow-many"):
        check_hole_count(days, [SIGN])
