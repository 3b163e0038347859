"""Answers for a file of deals: one line of JSON for each, in the order of the file, in bounded memory."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

from jobs.api.deal_text import GivenDeal, parse_line
from jobs.api.lines import lines_of
from jobs.terminal.line_file import opened
from jobs.terminal.output import json_line
from jobs.terminal.progress import shown_progress
from pipeline.work.executors import local_work
from solver.errors import UsageError

_TASK: Final = "lines"
_CHUNK: Final = 16  # deals; still a few milliseconds

Answer = Callable[[GivenDeal], dict[str, Any]]


def answer_file(file: Path, answer: Answer, workers: int) -> None:
    """Answer each deal of a file on standard output; how far it is goes to standard error.

    Args:
        file: the file; `-` is standard input.
        answer: makes the document for a deal; it runs in threads.
        workers: how many threads.

    Raises:
        UsageError: the file cannot be read, or a line holds no deal; every deal before it has been answered.
    """
    # Where the answers themselves run over the terminal, they show how far it is, and a bar would break them.
    has_bars = not sys.stdout.isatty()
    faults: list[UsageError] = []

    def answered(chunk: list[tuple[int, GivenDeal]]) -> tuple[int, bytes]:
        return chunk[-1][0], b"".join(json_line(answer(given)) for _, given in chunk)

    with (
        opened(file) as (stream, name, total),
        shown_progress(bars=has_bars) as progress,
        local_work(workers) as work,
        closing(
            work.in_order(answered, _chunks(_up_to_fault(stream, name, faults), _CHUNK if total else 1))
        ) as answers,
    ):
        for number, lines in answers:
            sys.stdout.buffer.write(lines)
            sys.stdout.buffer.flush()  # whoever waits for this answer at the other end of a pipe has it
            progress.update(_TASK, number, total)
    if faults:
        raise faults[0]


def _chunks(items: Iterator[tuple[int, GivenDeal]], size: int) -> Iterator[list[tuple[int, GivenDeal]]]:
    """So many at a time: handing each deal alone to a thread takes a tenth of the time of solving it."""
    while chunk := list(islice(items, size)):
        yield chunk


def _up_to_fault(stream: BinaryIO, name: str, faults: list[UsageError]) -> Iterator[tuple[int, GivenDeal]]:
    """The deals up to the first faulty line, each with its line; the fault is put by, to be raised last."""
    try:
        for line in lines_of(stream, name, "deal"):
            yield line.number, parse_line(line, name)
    except UsageError as error:
        faults.append(error)
