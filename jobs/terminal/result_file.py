"""Results read from files, a line at a time, and checked: in the order of the files and their lines."""

from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path

from jobs.api.lines import lines_of
from jobs.api.result_text import parse_result
from jobs.terminal.line_file import opened
from jobs.terminal.progress import shown_progress
from pipeline.play.results import Played, Result, checked
from pipeline.store.storage import Storage
from pipeline.work.executors import local_work
from pipeline.work.progress import Progress


def read_results(files: Sequence[Path], storage: Storage, workers: int) -> list[Played]:
    """Read and check results; how far it is goes to standard error.

    Args:
        files: `-` is standard input.
        storage: the data root with the Daily holes.
        workers: threads that solve and rate deals; kernels must have been loaded.

    Raises:
        UsageError: a file cannot be read, or a line holds no result that can be.
        CheckError: the Daily hole of a date is not published.
        DamagedError: a Daily hole is not what it must be.
    """
    with (
        shown_progress() as progress,
        local_work(workers) as work,
        closing(_told(files, progress)) as results,
    ):
        return list(checked(results, storage, work))


def _told(files: Sequence[Path], progress: Progress) -> Generator[Result, None, None]:
    for file in files:
        with opened(file) as (stream, name, total):
            for line in lines_of(stream, name, "result"):
                progress.update(name, line.number, total)
                yield parse_result(line, name)
            if total:
                progress.update(name, total, total)
