"""What a job is handed by whoever runs it: the moment, the listener, the kernels."""

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
        load_kernels: finds the place of compiled kernels; to be called before any module that has some is
            imported.
        progress: is told how far the work is.
        version: of Fairway.
        stopwatch: seconds from any fixed moment, which the stages of the work are timed with.
        variables: of the environment, for the operator's own commands; no secret is among them.
    """

    clock: Callable[[], datetime]
    load_kernels: Callable[[], None]
    progress: Progress
    version: str
    stopwatch: Clock = perf_counter
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
