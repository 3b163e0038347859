"""A clock and an alarm that take no time: waiting sets the clock, and after the last wait a signal comes."""

import signal
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

_EVER = datetime(9999, 1, 1, tzinfo=UTC)


def at(text: str) -> datetime:
    """A moment in UTC, from `2026-11-30 00:05`."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


class Sleeper:
    """Clock and alarm in one.

    Args:
        now: what the clock shows.
        waits: how often the service waits; the time after that it gets SIGTERM instead.
        jumps: by the number of a wait how far the clock is from the moment that was waited for when it ends.
        before: called with the number of a wait before it begins.
        end: a wait for a later moment gets SIGTERM, too.
        naps: when the machine is asleep: from when until when.

    Attributes:
        now: what the clock shows.
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
        """What the clock shows."""
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
