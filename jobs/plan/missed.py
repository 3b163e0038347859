"""Which nights were missed: a pure function of the moment and of the run records."""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta

from jobs.days import days_between
from jobs.plan.due import night_of
from pipeline.work.records import RunRecord

_DAY = timedelta(days=1)


def missed_nights(now: datetime, nightly_at: time, records: Iterable[RunRecord]) -> tuple[date, ...]:
    """The nights since the last run that went well whose next one has come too.

    The latest night is none of them: it may be in the making. Nor are nights before the first good run, of
    which nobody knows whether they were wanted.

    Args:
        now: an aware moment.
        nightly_at: when a date's night is made, in UTC.
        records: of the nightly job, the newest first; they are read back to the last good run. Those that
            began later than now were made while the clock was wrong, and say nothing.
    """
    good = (record for record in records if record.outcome.is_good and record.started <= now)
    last = next(good, None)
    if last is None:
        return ()
    return days_between(night_of(last.started, nightly_at) + _DAY, night_of(now, nightly_at) - _DAY)
