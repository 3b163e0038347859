"""Deals as they are given on the command line: a number or a notation, one alone or one a line of a file."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from pipeline.shuffle import MOST_DEAL_NUMBER, deal_numbered
from solver.deal import Deal, parse_deal
from solver.errors import UsageError

STANDARD_INPUT: Final = Path("-")
_COMMENT: Final = "#"
_MOST_SHOWN: Final = 40
_MOST_DIGITS: Final = len(str(MOST_DEAL_NUMBER))
_MOST_LINE_BYTES: Final = 4000  # a deal has 171; what is longer is no text of deals
_COUNTED_BYTES: Final = 2**20


@dataclass(frozen=True, slots=True)
class GivenDeal:
    """A deal as it was given.

    Attributes:
        number: its deal number, where it was given by one.
        deal: the cards.
    """

    number: int | None
    deal: Deal


@dataclass(frozen=True, slots=True)
class Line:
    """One line that holds a deal.

    Attributes:
        number: of the line, from 1.
        text: without the blanks around it.
    """

    number: int
    text: str


def parse_given(text: str) -> GivenDeal:
    """Read a deal number or a notation.

    Raises:
        UsageError: it is neither; of a notation all faults are told.
    """
    word = text.strip()
    if word.isascii() and word.isdecimal():
        if len(word.lstrip("0")) > _MOST_DIGITS:
            shown = word if len(word) <= _MOST_SHOWN else f"{word[:_MOST_SHOWN]}.."
            raise UsageError(
                f"deal number {shown} is out of range; it must be one of 0 .. {MOST_DEAL_NUMBER}"
            )
        return GivenDeal(int(word), deal_numbered(int(word)))
    if word and len(word) <= _MOST_SHOWN and not any(mark in word for mark in " \t|"):
        raise UsageError(
            f"{word!r} is neither a deal number, 0 .. {MOST_DEAL_NUMBER}, nor a deal in notation"
        )
    return GivenDeal(None, parse_deal(text))


def deal_lines(stream: BinaryIO, name: str) -> Iterator[Line]:
    """The lines that hold a deal; blank lines and those that begin with # are passed over.

    Only one line is held at a time, however long the stream is.

    Args:
        stream: bytes of UTF-8.
        name: what the stream is called in messages.

    Raises:
        UsageError: a line is too long for a deal or is no UTF-8.
    """
    number = 0
    while data := stream.readline(_MOST_LINE_BYTES + 1):
        number += 1
        if len(data) > _MOST_LINE_BYTES:
            raise UsageError(f"{name}, line {number}: longer than {_MOST_LINE_BYTES} bytes, so no deal")
        try:
            text = data.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            raise UsageError(
                f"{name}, line {number}: byte {error.start + 1}, 0x{data[error.start]:02x}, is not UTF-8;"
                " save the file as UTF-8 text"
            ) from error
        if text and not text.startswith(_COMMENT):
            yield Line(number, text)


def parse_line(line: Line, name: str) -> GivenDeal:
    """Read the deal of a line.

    Raises:
        UsageError: with the number of the line and everything that is wrong in it.
    """
    try:
        return parse_given(line.text)
    except UsageError as error:
        raise UsageError(f"{name}, line {line.number}: {error}") from error


def line_count(stream: BinaryIO) -> int:
    """How many lines a stream has from here on; it is read to its end, a piece at a time."""
    count, last = 0, b"\n"
    while piece := stream.read(_COUNTED_BYTES):
        count += piece.count(b"\n")
        last = piece[-1:]
    return count + (last != b"\n")
