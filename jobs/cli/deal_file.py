"""Answers for a file of deals: one line of JSON for each, in the order of the file, in bounded memory."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

from jobs.cli.deal_text import STANDARD_INPUT, GivenDeal, deal_lines, line_count, parse_line
from jobs.cli.output import json_line
from jobs.cli.progress import shown_progress
from pipeline.executors import batches_ahead, local_executor
from pipeline.ordered import in_order
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
        _opened(file) as (stream, name, total),
        shown_progress(bars=has_bars) as progress,
        local_executor(workers) as executor,
        closing(
            in_order(
                executor,
                answered,
                _chunks(_up_to_fault(stream, name, faults), _CHUNK if total else 1),
                batches_ahead(workers),
            )
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
        for line in deal_lines(stream, name):
            yield line.number, parse_line(line, name)
    except UsageError as error:
        faults.append(error)


@contextmanager
def _opened(file: Path) -> Iterator[tuple[BinaryIO, str, int]]:
    """The bytes of a file, what to call it, and how many lines it has: 0 where that cannot be known."""
    if file == STANDARD_INPUT:
        yield sys.stdin.buffer, "standard input", 0
        return
    try:
        stream = file.open("rb")
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    with stream:
        total = 0
        if file.is_file():  # a pipe can be read but once
            total = line_count(stream)
            stream.seek(0)
        yield stream, str(file), total
