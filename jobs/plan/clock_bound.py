"""Whether the clock can be trusted: published holes never change, so a wrong clock must not publish any.

The times of earlier runs prove nothing: the clock may have been wrong then, or a user may have asked for a
night by its date.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from pipeline.daily.calendar import FIRST_DAY

RELEASED: Final = date(2026, 11, 30)  # of this version; a correct clock shows no earlier date
_IN_USE: Final = timedelta(days=3_650)  # how long after its release a version can be installed


@dataclass(frozen=True, slots=True)
class ClockDoubt:
    """Why the clock is not trusted.

    Attributes:
        what: what the clock says, and why that is doubtful.
        remedy: what the operator should do.
    """

    what: str
    remedy: str


def latest_sign(
    last_nights: Sequence[date | None], published: Sequence[date], publish_ahead_days: int
) -> date | None:
    """Return the latest date that a data root shows to have come; None if it shows none.

    Args:
        last_nights: the last night of each level; None before its first.
        published: the dates whose Daily hole is published.
        publish_ahead_days: number of days before its date that a hole is published.
    """
    nights = [night for night in last_nights if night is not None]
    days = [max(published) - timedelta(days=publish_ahead_days)] if published else []
    return max((*nights, *days), default=None)


def clock_doubt(night: date, sign: date | None, bound_days: int) -> ClockDoubt | None:
    """Return why a night is too far off to be made unless a user asks for it by date; None if it is not.

    Args:
        night: the latest night that is due by the clock.
        sign: from `latest_sign`.
        bound_days: number of days after the sign, and after the release, for which the clock is trusted.
    """
    if night < FIRST_DAY:
        return ClockDoubt(
            f"the clock says {night}, which is before the first hole, {FIRST_DAY}", "set the clock"
        )
    last, reference = _last_trusted(sign, bound_days)
    if night <= last:
        return None
    return ClockDoubt(
        f"the clock says {night}, which is after {last}, the last date that is trusted given {reference}",
        f"set the clock; if it is right, run `fairway nightly --date {night}` once",
    )


def _last_trusted(sign: date | None, bound_days: int) -> tuple[date, str]:
    """Return the last date that is trusted, and what it is counted from."""
    if sign is None:
        return RELEASED + _IN_USE, f"the release of this version on {RELEASED}"
    if sign < RELEASED:
        return RELEASED + timedelta(days=bound_days), f"the release of this version on {RELEASED}"
    return sign + timedelta(days=bound_days), f"the latest night or hole in the data root, {sign}"
