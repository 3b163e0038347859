"""What users write: deals, dates of holes, and files of lines, which are read as they arrive."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import chain
from typing import Final, Protocol

from jobs.days import parse_day
from pipeline.deals.shuffle import MOST_DEAL_NUMBER, deal_numbered
from pipeline.store.text import shortened
from solver.errors import UsageError
from solver.table.deal import Deal, parse_deal

_COMMENT: Final = "#"
_BLOCK_BYTES: Final = 2**18
_MAX_LINE_BYTES: Final = 4000  # a deal has 171, a result some 300
_MAX_SHOWN: Final = 40
_MAX_DIGITS: Final = len(str(MOST_DEAL_NUMBER))
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)

HoleOf = Callable[[date], Deal]
"""Returns the deal of the Daily hole that is published for a date."""


class LineStream(Protocol):
    """A stream of bytes that can return those that have arrived, as buffered files and pipes can."""

    def read1(self, size: int, /) -> bytes:
        """Return up to `size` bytes; waits only while there are none, and returns none at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file that is not blank.

    Attributes:
        number: of the line, from 1.
        text: without surrounding blanks.
    """

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class GivenDeal:
    """A deal that a user gave.

    Attributes:
        number: its deal number; None if it was not given by number.
        deal: the cards.
        day: the date of the Daily hole, if it was given by its date.
    """

    number: int | None
    deal: Deal
    day: date | None = None

    @property
    def name(self) -> str:
        """What to call it in text for people."""
        if self.day is not None:
            return f"the Daily hole of {self.day}"
        return "a deal" if self.number is None else f"deal {self.number}"


def lines_of(stream: LineStream, name: str, what: str, *, blank: bool = False) -> Iterator[Line]:
    """Yield the lines of a stream, except blank lines and comments, which begin with #.

    Args:
        stream: bytes of UTF-8.
        name: of the stream, for messages.
        what: each line holds, such as `deal`, for messages.
        blank: yield blank lines too.

    Raises:
        UsageError: a line is too long or not UTF-8.
    """
    return chain.from_iterable(blocks_of(stream, name, what, blank=blank))


def blocks_of(stream: LineStream, name: str, what: str, *, blank: bool = False) -> Iterator[list[Line]]:
    """Yield the lines of a stream as `lines_of` does, in lists of those that have arrived.

    A program that writes to a pipe may wait for an answer before it writes more. So no line is waited for
    while there is one that has not been yielded. One list is in memory at a time.
    """
    first = 1
    for block in _arrived(stream):
        lines: list[Line] = []
        for number, data in enumerate(block, first):
            try:
                text = _text(data, number, name, what)
            except UsageError:
                yield lines
                raise
            if (text or blank) and not text.startswith(_COMMENT):
                lines.append(Line(number, text))
        yield lines
        first += len(block)


def _arrived(stream: LineStream) -> Iterator[list[bytes]]:
    """Yield the lines that have arrived, and last what follows the last newline or is too long for a line."""
    rest = b""
    while len(rest) <= _MAX_LINE_BYTES and (data := stream.read1(_BLOCK_BYTES)):
        *lines, rest = (rest + data).split(b"\n")
        if lines:
            yield lines
    if rest:
        yield [rest]


def _text(data: bytes, number: int, name: str, what: str) -> str:
    if len(data) > _MAX_LINE_BYTES:
        raise UsageError(f"{name}, line {number}: longer than {_MAX_LINE_BYTES} bytes, so it is not a {what}")
    try:
        return data.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{name}, line {number}: byte {error.start + 1}, 0x{data[error.start]:02x}, is not UTF-8;"
            " save the file as UTF-8 text"
        ) from error


def parse_given(text: str, hole_of: HoleOf | None = None) -> GivenDeal:
    """Read a deal number, a notation or a date.

    Args:
        text: as the user wrote it.
        hole_of: looks up the hole of a date; None if no date is accepted.

    Raises:
        UsageError: it is none of these. For a notation, the message lists every fault.
        FairwayError: the hole of the date is not published or cannot be read.
    """
    word = text.strip()
    if word.isascii() and word.isdecimal():
        if len(word.lstrip("0")) > _MAX_DIGITS:
            raise UsageError(
                f"deal number {shortened(word, _MAX_SHOWN)} is out of range;"
                f" it must be from 0 to {MOST_DEAL_NUMBER}"
            )
        return GivenDeal(int(word), deal_numbered(int(word)))
    if hole_of is not None and _DATE.fullmatch(word):
        return given_hole(word, hole_of)
    if word and len(word) <= _MAX_SHOWN and not any(mark in word for mark in " \t|"):
        a_date = " nor the date of a Daily hole" if hole_of is not None else ""
        raise UsageError(
            f"{word!r} is neither a deal number from 0 to {MOST_DEAL_NUMBER} nor a deal in notation{a_date}"
        )
    return GivenDeal(None, parse_deal(text))


def given_hole(text: str, hole_of: HoleOf) -> GivenDeal:
    """Read the date of a Daily hole.

    Raises:
        UsageError: it is not a date.
        FairwayError: its hole is not published or cannot be read.
    """
    day = parse_day(text)
    return GivenDeal(None, hole_of(day), day)
