"""What `fairway deal show`, `solve` and `rate` share: one deal, or a file of deals in bounded memory."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

from jobs.api.reading import GivenDeal, lines_of, parse_given, parse_line
from jobs.terminal.files import opened
from jobs.terminal.output import json_line, put_json, say
from jobs.terminal.progress import shown_progress
from pipeline.work.executors import local_work
from solver.errors import UsageError

_TASK: Final = "lines"
_BATCH: Final = 16  # deals; solving them takes a few milliseconds

Answer = Callable[[GivenDeal], dict[str, Any]]


def for_deals(
    text: str | None,
    file: Path | None,
    answer: Answer,
    show: Callable[[GivenDeal, dict[str, Any]], None],
    workers: int,
    *,
    as_json: bool,
) -> None:
    """Answer for one deal, or for each deal of a file.

    Args:
        text: a deal number or a notation.
        file: the file to read instead.
        answer: makes the document for a deal.
        show: prints the document of a single deal for people.
        workers: threads for a file.
        as_json: whether to print the document of a single deal as JSON.

    Raises:
        UsageError: neither or both of `text` and `file` are given, or one cannot be read.
    """
    if (text is None) == (file is None):
        raise UsageError("give either a deal (a number or a notation) or --file FILE")
    if file is not None:
        _answer_file(file, answer, workers)
        return
    given = parse_given(text or "")
    document = answer(given)
    if as_json:
        put_json(document)
        return
    say(f"{given.name}, puzzle {given.deal.puzzle_id}\n")
    show(given, document)


def _answer_file(file: Path, answer: Answer, workers: int) -> None:
    """Print one line of JSON per deal of a file, in order.

    Raises:
        UsageError: the file cannot be read, or a line is not a deal. Every deal before it has been answered.
    """
    faults: list[UsageError] = []

    def answered(batch: list[tuple[int, GivenDeal]]) -> tuple[int, bytes]:
        return batch[-1][0], b"".join(json_line(answer(given)) for _, given in batch)

    with (
        opened(file) as (stream, name, total),
        # Answers printed on the terminal would break a bar, and show the progress themselves.
        shown_progress(with_bars=not sys.stdout.isatty()) as progress,
        local_work(workers) as work,
        closing(
            work.in_order(answered, _batches(_up_to_fault(stream, name, faults), _BATCH if total else 1))
        ) as answers,
    ):
        for number, lines in answers:
            sys.stdout.buffer.write(lines)
            sys.stdout.buffer.flush()  # a program at the other end of a pipe may be waiting for it
            progress.update(_TASK, number, total)
    if faults:
        raise faults[0]


def _batches(items: Iterator[tuple[int, GivenDeal]], size: int) -> Iterator[list[tuple[int, GivenDeal]]]:
    """Yield lists of items: handing over each deal alone takes a tenth of the time of solving it."""
    while batch := list(islice(items, size)):
        yield batch


def _up_to_fault(stream: BinaryIO, name: str, faults: list[UsageError]) -> Iterator[tuple[int, GivenDeal]]:
    """Yield the deals before the first faulty line, each with its line number, then record the fault."""
    try:
        for line in lines_of(stream, name, "deal"):
            yield line.number, parse_line(line, name)
    except UsageError as error:
        faults.append(error)
