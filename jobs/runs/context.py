"""What a job is handed by whoever runs it: the moment and the listener."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter

from pipeline.work.counts import Clock
from pipeline.work.progress import Progress


@dataclass(frozen=True, slots=True)
class Tools:
    """The outside world, as values.

    Attributes:
        clock: tells the moment, aware of its time zone.
        progress: is told how far the work is.
        version: of Fairway.
        stopwatch: seconds from any fixed moment, which the stages of the work are timed with.
        variables: of the environment, for the operator's own commands; no secret is among them.
    """

    clock: Callable[[], datetime]
    progress: Progress
    version: str
    stopwatch: Clock = perf_counter
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
