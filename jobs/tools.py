"""What a job is handed by whoever runs it: the moment, the listener, the kernels."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from pipeline.progress import Progress


@dataclass(frozen=True, slots=True)
class Tools:
    """The outside world, as values.

    Attributes:
        clock: tells the moment, aware of its time zone.
        load_kernels: finds the place of compiled kernels; to be called before any module that has some is
            imported.
        progress: is told how far the work is.
        version: of Fairway.
    """

    clock: Callable[[], datetime]
    load_kernels: Callable[[], None]
    progress: Progress
    version: str
