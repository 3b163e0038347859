"""A clock and alarm that take no time: waiting sets the clock, and the last wait raises a signal."""

import signal
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

_EVER = datetime(9999, 1, 1, tzinfo=UTC)


def at(text: str) -> datetime:
    """Return a time in UTC, from text like `2026-11-30 00:05`."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


class Sleeper:
    """Clock and alarm in one.

    Args:
        now: time on the clock.
        waits: number of waits; the next one raises SIGTERM.
        jumps: how far the clock is off when a wait ends, by the number of the wait.
        before: called before each wait with its number.
        end: a wait beyond this time raises SIGTERM too.
        naps: start and end of each time that the machine sleeps.

    Attributes:
        now: time on the clock.
    """

    def __init__(
        self,
        now: datetime,
        waits: int | None = None,
        jumps: Mapping[int, timedelta] | None = None,
        before: Callable[[int], None] | None = None,
        *,
        end: datetime = _EVER,
        naps: Mapping[datetime, datetime] | None = None,
    ) -> None:
        self.now = now
        self._waits = waits
        self._jumps = jumps or {}
        self._before = before
        self._end = end
        self._naps = naps or {}
        self._waited = 0

    def clock(self) -> datetime:
        """Return the time on the clock."""
        return self.now

    def wait(self, until: datetime) -> None:
        """See `Alarm.wait`."""
        if self._waited == self._waits or until > self._end:
            signal.raise_signal(signal.SIGTERM)
        if self._before is not None:
            self._before(self._waited)
        woken = [end for start, end in self._naps.items() if start < until <= end]
        self.now = max((until, *woken)) + self._jumps.get(self._waited, timedelta())
        self._waited += 1
