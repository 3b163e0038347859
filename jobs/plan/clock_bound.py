"""Whether the clock can be trusted: published holes never change, so a wrong clock must not publish any.

The times of earlier runs prove nothing: the clock may have been wrong then, or a user may have asked for a
night by its date.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from jobs.settings.model import Settings
from pipeline.daily.calendar import FIRST_DAY
from pipeline.errors import CheckError

RELEASED: Final = date(2026, 11, 30)  # of this version; a correct clock shows no earlier date
MAX_HOLES: Final = 60  # at once, unless a user allows more: two months, which nobody catches up on unawares
_IN_USE: Final = timedelta(days=3_650)  # how long after its release a version can be installed


@dataclass(frozen=True, slots=True)
class ClockDoubt:
    """Why the clock is not trusted, and what the operator should do."""

    what: str
    remedy: str


def clock_doubt(
    night: date, last_nights: Sequence[date | None], published: Sequence[date], settings: Settings
) -> ClockDoubt | None:
    """Return why a night is too far off to be made unless a user asks for it by date; None if it is not.

    Args:
        night: the latest night that is due by the clock.
        last_nights: the last night of each level; None before its first.
        published: the dates whose Daily hole is published.
        settings: the clock is trusted for `clock_bound_days` after the latest night or hole, or the release.
    """
    if night < FIRST_DAY:
        return ClockDoubt(
            f"the clock says {night}, which is before the first hole, {FIRST_DAY}", "set the clock"
        )
    ahead = timedelta(days=settings.publish_ahead_days)
    signs = [last for last in last_nights if last is not None] + [day - ahead for day in published]
    last, reference = _last_trusted(max(signs, default=None), timedelta(days=settings.clock_bound_days))
    if night <= last:
        return None
    many = " --allow-many" if published and night > max(signs) + timedelta(days=MAX_HOLES) else ""
    return ClockDoubt(
        f"the clock says {night}, which is after {last}, the last trusted date, counting from {reference}",
        f"set the clock; if it is right, run `fairway nightly --date {night}{many}` once",
    )


def check_hole_count(missing: Sequence[date], published: Sequence[date]) -> None:
    """Check that a data root that has Daily holes does not get very many more at once.

    They can never be withdrawn, and so many are due at once only after a long pause or a wrong date.

    Args:
        missing: the dates whose Daily hole would be published, ascending.
        published: the dates whose Daily hole is published.

    Raises:
        CheckError: if there are more than `MAX_HOLES`.
    """
    if published and len(missing) > MAX_HOLES:
        raise CheckError(
            f"nothing was done: {len(missing):,} Daily holes would be published at once, {missing[0]} to"
            f" {missing[-1]}, which cannot be undone; check the dates, and add --allow-many if they are right"
        )


def _last_trusted(sign: date | None, bound: timedelta) -> tuple[date, str]:
    """Return the last date that is trusted, given the latest date that the data root proves has passed."""
    if sign is not None and sign >= RELEASED:
        return sign + bound, f"the latest night or hole in the data root, {sign}"
    return RELEASED + (_IN_USE if sign is None else bound), f"the release of this version on {RELEASED}"
