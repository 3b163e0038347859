"""Deals and results as users write them: one alone, or one per line of a file, read line by line."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, BinaryIO, Final

from jobs.days import parse_day
from pipeline.daily.calendar import hole_number
from pipeline.deals.levels import DAILY
from pipeline.deals.shuffle import MOST_DEAL_NUMBER, deal_numbered
from pipeline.errors import DamagedError
from pipeline.play.results import Hole, Result
from pipeline.store.documents import Document, parse
from pipeline.store.text import shortened
from solver.errors import UsageError
from solver.table.deal import Deal, parse_deal
from solver.table.rules import Rules, rules_named
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE

_COMMENT: Final = "#"
_MAX_LINE_BYTES: Final = 4000  # a deal has 171, a result some 300
_MAX_SHOWN: Final = 40
_MAX_DIGITS: Final = len(str(MOST_DEAL_NUMBER))
_MAX_SECONDS: Final = 1_000_000_000  # thirty years; a larger number is in some other unit


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


def parse_result(line: Line, name: str) -> Result:
    """Read the result on a line: one JSON object. Unknown fields are ignored; null counts as missing.

    Args:
        line: of a file.
        name: of the file, for messages.

    Raises:
        UsageError: it is not a JSON object, or a field is missing or invalid. The message names the line.
    """
    where = f"{name}, line {line.number}"
    try:
        document = parse(line.text.encode(), where)
    except DamagedError as error:
        raise UsageError(f"{error}; each line must be one JSON object") from error
    try:
        hole, number = _hole(document)
        moves, score = _moves(document), _score(document)
        if moves is None and score is None:
            raise UsageError("neither 'line' nor 'score' is given; give one of them, or both")
        return Result(where, hole, number, moves, score, _seconds(document))
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


def _hole(document: Document) -> tuple[Hole, int | None]:
    """Return what was played, and the deal's number if it has one."""
    deal, day, rules = document.get("deal"), document.get("date"), _rules(document)
    if (deal is None) == (day is None):
        raise UsageError("give either 'deal' (a number or a notation) or 'date'")
    if day is not None:
        return _day(day, rules), None
    if rules is None:
        raise UsageError("'deal' is given without 'rules'; add the rules it was played by, as in \"golf\"")
    if isinstance(deal, bool) or not isinstance(deal, int | str):
        raise _mistyped("deal", deal, "a number, or a notation as text")
    given = parse_given(str(deal))
    return (given.deal, rules), given.number


def _rules(document: Document) -> Rules | None:
    name = document.get("rules")
    if name is not None and not isinstance(name, str):
        raise _mistyped("rules", name, "text")
    return None if name is None else rules_named(name)


def _day(text: Any, rules: Rules | None) -> date:
    if not isinstance(text, str):
        raise _mistyped("date", text, "text, as YYYY-MM-DD")
    day = parse_day(text)
    hole_number(day)  # refuses dates before the first hole
    if rules not in (None, DAILY.rules):
        raise UsageError(f"Daily holes are played by the rules {DAILY.rules.name}; leave 'rules' out")
    return day


def _moves(document: Document) -> str | None:
    moves = document.get("line")
    if moves is not None and not isinstance(moves, str):
        raise _mistyped("line", moves, 'text, as in "D31"')
    return moves


def _score(document: Document) -> int | None:
    score = document.get("score")
    if score is None:
        return None
    if isinstance(score, bool) or not isinstance(score, int) or not LOWEST_SCORE <= score <= HIGHEST_SCORE:
        raise _mistyped("score", score, f"a whole number from {LOWEST_SCORE} to {HIGHEST_SCORE}")
    return score


def _seconds(document: Document) -> float | None:
    seconds = document.get("seconds")
    if seconds is None:
        return None
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not 0 <= seconds <= _MAX_SECONDS:
        raise _mistyped("seconds", seconds, f"a number from 0 to {_MAX_SECONDS:,}")
    return abs(float(seconds))  # JSON has a -0 too


def _mistyped(field: str, value: Any, wanted: str) -> UsageError:
    return UsageError(f"{field!r} is {shortened(repr(value), _MAX_SHOWN)}; it must be {wanted}")
