"""Answers for a file of deals: one line of JSON for each, in the order of the file, in bounded memory."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from jobs.cli.deal_text import STANDARD_INPUT, GivenDeal, deal_lines, line_count, parse_line
from jobs.cli.output import json_line
from jobs.cli.progress import shown_progress
from pipeline.executors import batches_ahead, local_executor
from pipeline.ordered import in_order
from solver.errors import UsageError

_TASK: Final = "lines"

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

    def answered(item: tuple[int, GivenDeal]) -> tuple[int, bytes]:
        number, given = item
        return number, json_line(answer(given))

    with (
        _opened(file) as (stream, name, total),
        shown_progress(bars=has_bars) as progress,
        local_executor(workers) as executor,
        closing(
            in_order(executor, answered, _up_to_fault(stream, name, faults), batches_ahead(workers))
        ) as answers,
    ):
        for number, line in answers:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()  # whoever waits for this answer at the other end of a pipe has it
            progress.update(_TASK, number, total)
    if faults:
        raise faults[0]


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
