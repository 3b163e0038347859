"""Text that is read one line at a time, in bounded memory: deals and results."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from solver.errors import UsageError

_COMMENT: Final = "#"
_MOST_LINE_BYTES: Final = 4000  # a deal has 171, a result some 300; what is longer is neither
_COUNTED_BYTES: Final = 2**20


@dataclass(frozen=True, slots=True)
class Line:
    """One line that holds something.

    Attributes:
        number: of the line, from 1.
        text: without the blanks around it.
    """

    number: int
    text: str


def lines_of(stream: BinaryIO, name: str, what: str, *, blank: bool = False) -> Iterator[Line]:
    """The lines that hold something; blank lines and those that begin with # are passed over.

    Only one line is held at a time, however long the stream is.

    Args:
        stream: bytes of UTF-8.
        name: what the stream is called in messages.
        what: a line holds, such as `deal`.
        blank: give blank lines too.

    Raises:
        UsageError: a line is too long for that or is no UTF-8.
    """
    number = 0
    while data := stream.readline(_MOST_LINE_BYTES + 1):
        number += 1
        if len(data) > _MOST_LINE_BYTES:
            raise UsageError(f"{name}, line {number}: longer than {_MOST_LINE_BYTES} bytes, so no {what}")
        try:
            text = data.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            raise UsageError(
                f"{name}, line {number}: byte {error.start + 1}, 0x{data[error.start]:02x}, is not UTF-8;"
                " save the file as UTF-8 text"
            ) from error
        if (text or blank) and not text.startswith(_COMMENT):
            yield Line(number, text)


def line_count(stream: BinaryIO) -> int:
    """How many lines a stream has from here on; it is read to its end, a piece at a time."""
    count, last = 0, b"\n"
    while piece := stream.read(_COUNTED_BYTES):
        count += piece.count(b"\n")
        last = piece[-1:]
    return count + (last != b"\n")
