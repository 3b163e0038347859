"""Deals as users write them: one alone, or one per line of a file, which is read line by line."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from pipeline.deals.shuffle import MOST_DEAL_NUMBER, deal_numbered
from pipeline.store.text import shortened
from solver.errors import UsageError
from solver.table.deal import Deal, parse_deal

_COMMENT: Final = "#"
_MAX_LINE_BYTES: Final = 4000  # a deal has 171, a result some 300
_MAX_SHOWN: Final = 40
_MAX_DIGITS: Final = len(str(MOST_DEAL_NUMBER))


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
        number: its deal number; None if it was given in notation.
        deal: the cards.
    """

    number: int | None
    deal: Deal

    @property
    def name(self) -> str:
        """What to call it in text for people."""
        return "a deal" if self.number is None else f"deal {self.number}"


def lines_of(stream: BinaryIO, name: str, what: str, *, blank: bool = False) -> Iterator[Line]:
    """Yield the lines of a stream, except blank lines and comments, which begin with #.

    Only one line is in memory at a time.

    Args:
        stream: bytes of UTF-8.
        name: of the stream, for messages.
        what: each line holds, such as `deal`, for messages.
        blank: yield blank lines too.

    Raises:
        UsageError: a line is too long or not UTF-8.
    """
    number = 0
    while data := stream.readline(_MAX_LINE_BYTES + 1):
        number += 1
        if len(data) > _MAX_LINE_BYTES:
            raise UsageError(
                f"{name}, line {number}: longer than {_MAX_LINE_BYTES} bytes, so it is not a {what}"
            )
        try:
            text = data.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            raise UsageError(
                f"{name}, line {number}: byte {error.start + 1}, 0x{data[error.start]:02x}, is not UTF-8;"
                " save the file as UTF-8 text"
            ) from error
        if (text or blank) and not text.startswith(_COMMENT):
            yield Line(number, text)


def parse_given(text: str) -> GivenDeal:
    """Read a deal number or a notation.

    Raises:
        UsageError: it is neither. For a notation, the message lists every fault.
    """
    word = text.strip()
    if word.isascii() and word.isdecimal():
        if len(word.lstrip("0")) > _MAX_DIGITS:
            raise UsageError(
                f"deal number {shortened(word, _MAX_SHOWN)} is out of range;"
                f" it must be from 0 to {MOST_DEAL_NUMBER}"
            )
        return GivenDeal(int(word), deal_numbered(int(word)))
    if word and len(word) <= _MAX_SHOWN and not any(mark in word for mark in " \t|"):
        raise UsageError(
            f"{word!r} is neither a deal number from 0 to {MOST_DEAL_NUMBER} nor a deal in notation"
        )
    return GivenDeal(None, parse_deal(text))


def parse_line(line: Line, name: str) -> GivenDeal:
    """Read the deal on a line.

    Args:
        line: of a file.
        name: of the file, for messages.

    Raises:
        UsageError: it is not a deal. The message names the line and lists every fault.
    """
    try:
        return parse_given(line.text)
    except UsageError as error:
        raise UsageError(f"{name}, line {line.number}: {error}") from error
