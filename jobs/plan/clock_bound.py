"""Whether the clock can be believed: what is published stays, so one that is far off must publish nothing.

When runs have been is no sign of time: a wrong clock may have written that, for a night that a person asked
for by its date.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from pipeline.daily.calendar import FIRST_DAY

RELEASED: Final = date(2026, 11, 30)  # this version; no right clock shows a date before
_IN_USE: Final = timedelta(days=3_650)  # after that, so that a version can be installed for some years


@dataclass(frozen=True, slots=True)
class ClockDoubt:
    """Why the clock is not believed.

    Attributes:
        what: what it says, and what speaks against it.
        remedy: how to go on.
    """

    what: str
    remedy: str


def latest_sign(
    last_nights: Sequence[date | None], published: Sequence[date], publish_ahead_days: int
) -> date | None:
    """The latest date that a data root proves to have come; None where it proves none.

    Args:
        last_nights: the last one of each level; None where there is none yet.
        published: the dates whose Daily hole is out.
        publish_ahead_days: how many days before its date a hole is published.
    """
    nights = [night for night in last_nights if night is not None]
    days = [max(published) - timedelta(days=publish_ahead_days)] if published else []
    return max((*nights, *days), default=None)


def clock_doubt(night: date, sign: date | None, bound_days: int) -> ClockDoubt | None:
    """Why a night is too far off to be made without a person who asks for it; None where it is not.

    Args:
        night: the latest one that has come, by the clock.
        sign: from `latest_sign`.
        bound_days: days after the sign that are believed, and after this version was made.
    """
    if night < FIRST_DAY:
        return ClockDoubt(
            f"the clock says {night}, a date before the first hole, {FIRST_DAY}", "set the clock"
        )
    last, since = _last_believed(sign, bound_days)
    if night <= last:
        return None
    return ClockDoubt(
        f"the clock says {night}, which is after {last}, the last date that is believed after {since}",
        f"set the clock; if it is right, run `fairway nightly --date {night}` once",
    )


def _last_believed(sign: date | None, bound_days: int) -> tuple[date, str]:
    """The last date that is believed, and what it is counted from."""
    if sign is None:
        return RELEASED + _IN_USE, f"this version was made, on {RELEASED}"
    if sign < RELEASED:
        return RELEASED + timedelta(days=bound_days), f"this version was made, on {RELEASED}"
    return sign + timedelta(days=bound_days), f"the latest night or hole in the data root, of {sign}"
