"""What `hint`, `review` and `deal ..` share: a question about one position, or about each line of a file."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

from jobs.api.positions import GivenPosition, is_object, parse_position
from jobs.api.reading import HoleOf, Line, blocks_of, parse_given
from jobs.settings.model import Settings
from jobs.terminal.context import storage_at
from jobs.terminal.files import opened
from jobs.terminal.output import json_line, put_json, say
from jobs.terminal.progress import shown_progress
from jobs.watch.logs import message_line
from pipeline.daily.checks import deal_of
from pipeline.daily.files import published_daily
from pipeline.store.storage import LocalStorage
from pipeline.work.executors import local_work
from solver.errors import FairwayError, UsageError
from solver.table.deal import Deal
from solver.table.rules import Rules

_TASK: Final = "lines"
_BATCH: Final = 16  # positions; solving a deal takes a few milliseconds

Document = dict[str, Any]
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Question:
    """What a command is asked about each position.

    Attributes:
        answer: makes the document for a position.
        show: prints the document of a single position for people.
        takes_line: whether the position may be another one than the start of its deal.
    """

    answer: Callable[[GivenPosition], Document]
    show: Callable[[GivenPosition, Document], None]
    takes_line: bool = True

    def document(self, position: GivenPosition) -> Document:
        """Answer.

        Raises:
            FairwayError: the line of the position is not legal, or not accepted.
        """
        if position.line and not self.takes_line:
            raise UsageError("'line' is not empty, but this command starts from the deal; leave 'line' out")
        return self.answer(position)


@dataclass(frozen=True, slots=True)
class _Answer:
    """The answer to a line, or the error that takes its place."""

    line: Line
    data: bytes
    error: FairwayError | None = None


def put_answers(
    question: Question,
    settings: Settings,
    rules: Rules,
    what: str | None,
    line: str,
    file: Path | None,
    *,
    as_json: bool,
) -> None:
    """Answer a question about one position, or about each position of a file.

    Args:
        question: what to answer.
        settings: of the command; a date needs a data root, and a file uses worker threads.
        rules: of the position; of a file, for the lines that name none.
        what: a deal number, a notation or a date.
        line: the moves so far.
        file: the file to read instead.
        as_json: whether to print the document of a single position as JSON.

    Raises:
        UsageError: neither or both of `what` and `file` are given, or one cannot be read.
    """
    if (what is None) == (file is None):
        raise UsageError("give either a deal (a number, a notation or a date) or --file FILE")
    hole_of = _holes_in(settings)
    if file is not None:
        if line:
            raise UsageError(
                '--line cannot be combined with --file; give lines such as {"deal":"1","line":"D"}'
            )
        _answer_file(file, question, rules, hole_of, settings.workers)
        return
    position = GivenPosition(parse_given(what or "", hole_of), rules, line)
    document = question.document(position)
    if as_json:
        put_json(document)
    else:
        question.show(position, document)


def put_heading(position: GivenPosition) -> None:
    """Print which deal it is about, and a blank line."""
    given = position.given
    say(f"{given.name}, puzzle {given.deal.puzzle_id}\n")


def _holes_in(settings: Settings) -> HoleOf:
    """Return what looks up published holes in the data root, which is opened for the first one."""

    @cache
    def storage() -> LocalStorage:
        return storage_at(settings)

    def hole_of(day: date) -> Deal:
        return deal_of(published_daily(storage(), day))

    return hole_of


def _answer_file(file: Path, question: Question, rules: Rules, hole_of: HoleOf, workers: int) -> None:
    """Print one line of JSON per position of a file, in order, as its lines arrive.

    Raises:
        FairwayError: the file cannot be read, or a line cannot be answered. Every line before it has been; so
            has every line after it if it is a JSON object, which is answered with the error.
    """
    failed: list[_Answer] = []

    def answered(batch: list[tuple[Line, GivenPosition | FairwayError]]) -> list[_Answer]:
        return [_answer(question, *asked) for asked in batch]

    with (
        opened(file) as (stream, name, total),
        # Answers printed on the terminal would break a bar, and show the progress themselves.
        shown_progress(with_bars=not sys.stdout.isatty()) as progress,
        local_work(workers) as work,
    ):
        for lines in blocks_of(stream, name, "position"):
            asked = ((line, _position(line, rules, hole_of)) for line in lines)
            with closing(work.in_order(answered, _batches(asked, _BATCH if total else 1))) as batches:
                for batch in batches:
                    _put(batch, name)
                    failed += (answer for answer in batch if answer.error is not None)
                    progress.update(_TASK, batch[-1].line.number, total)
    if failed:
        count = "1 line" if len(failed) == 1 else f"{len(failed):,} lines"
        first = f"line {failed[0].line.number}: {failed[0].error}"
        raise UsageError(f"{name}: {count} could not be answered; the first is {first}")


def _batches(items: Iterator[_Item], size: int) -> Iterator[list[_Item]]:
    """Yield lists of items: handing over each deal alone takes a tenth of the time of solving it."""
    while batch := list(islice(items, size)):
        yield batch


def _position(line: Line, rules: Rules, hole_of: HoleOf) -> GivenPosition | FairwayError:
    try:
        return parse_position(line.text, rules, hole_of)
    except FairwayError as error:
        return error


def _answer(question: Question, line: Line, position: GivenPosition | FairwayError) -> _Answer:
    try:
        if isinstance(position, FairwayError):
            raise position
        return _Answer(line, json_line(question.document(position)))
    except FairwayError as error:
        document = {"line_number": line.number, "error": message_line(str(error))}
        return _Answer(line, json_line(document), error)


def _put(batch: Sequence[_Answer], name: str) -> None:
    """Write answers at once: a program at the other end of a pipe may be waiting for them.

    Raises:
        FairwayError: a line that is not a JSON object could not be answered; those before it are written.
    """
    try:
        for answer in batch:
            if answer.error is not None and not is_object(answer.line.text):
                raise _in_line(answer.error, f"{name}, line {answer.line.number}")
            sys.stdout.buffer.write(answer.data)
    finally:
        sys.stdout.buffer.flush()


def _in_line(error: FairwayError, where: str) -> FairwayError:
    """Return an error with a prefix that says which line it is about."""
    kind = UsageError if isinstance(error, UsageError) else type(error)
    return kind(f"{where}: {error}")
