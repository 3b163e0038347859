"""A clock and alarm that take no time: waiting sets the clock, and the last wait raises a signal."""

import signal
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime, timedelta

_NEVER = datetime.max.replace(tzinfo=UTC)


def at(text: str) -> datetime:
    """Return a time in UTC, from text like `2026-11-30 00:05`."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass
class Sleeper:
    """Clock and alarm in one.

    Attributes:
        now: time on the clock.
        waits: number of waits; the next one raises SIGTERM.
        jumps: how far the clock is off when a wait ends, by the number of the wait.
        before: called before each wait with its number.
        end: a wait beyond this time raises SIGTERM too.
        naps: start and end of each time that the machine sleeps.
    """

    now: datetime
    waits: int | None = None
    jumps: Mapping[int, timedelta] = field(default_factory=dict)
    before: Callable[[int], None] = lambda _number: None
    _: KW_ONLY
    end: datetime = _NEVER
    naps: Mapping[datetime, datetime] = field(default_factory=dict)
    _waited: int = field(default=0, init=False)

    def clock(self) -> datetime:
        """Return the time on the clock."""
        return self.now

    def wait(self, until: datetime) -> None:
        """See `Alarm.wait`."""
        if self._waited == self.waits or until > self.end:
            signal.raise_signal(signal.SIGTERM)
        self.before(self._waited)
        ends = [end for start, end in self.naps.items() if start < until <= end]
        self.now = max((until, *ends)) + self.jumps.get(self._waited, timedelta())
        self._waited += 1
