"""The context of a job for tests: a fixed or given clock, no progress, no environment."""

from collections.abc import Callable, Mapping
from datetime import datetime

from jobs.runs.context import JobContext
from pipeline.work.progress import SILENT


def context_at(
    now: datetime | Callable[[], datetime],
    version: str = "0.1.0",
    variables: Mapping[str, str] | None = None,
) -> JobContext:
    """Return a context whose clock shows one time, or that of a callable."""
    clock = now if callable(now) else lambda: now
    return JobContext(clock, SILENT, version, variables=variables or {})
