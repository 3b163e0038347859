"""A job's dependencies: clock, progress callback, version and environment."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter

from pipeline.work.counts import Clock
from pipeline.work.progress import Progress


@dataclass(frozen=True, slots=True)
class JobContext:
    """What a job needs from its caller.

    Attributes:
        clock: returns the current time, with a time zone.
        progress: receives the progress of the work.
        version: of Fairway.
        stopwatch: returns seconds since an arbitrary moment; times the stages of the work.
        variables: environment of the operator's commands, without secrets.
    """

    clock: Callable[[], datetime]
    progress: Progress
    version: str
    stopwatch: Clock = perf_counter
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
