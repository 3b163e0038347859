"""Deals as they are given on the command line: a number or a notation, one alone or one a line of a file."""

from dataclasses import dataclass
from typing import Final

from jobs.api.lines import Line
from pipeline.deals.shuffle import MOST_DEAL_NUMBER, deal_numbered
from pipeline.store.text import shortened
from solver.errors import UsageError
from solver.table.deal import Deal, parse_deal

_MAX_SHOWN: Final = 40
_MOST_DIGITS: Final = len(str(MOST_DEAL_NUMBER))


@dataclass(frozen=True, slots=True)
class GivenDeal:
    """A deal as it was given.

    Attributes:
        number: its deal number, where it was given by one.
        deal: the cards.
    """

    number: int | None
    deal: Deal

    @property
    def name(self) -> str:
        """What people are told that it is."""
        return "a deal" if self.number is None else f"deal {self.number}"


def parse_given(text: str) -> GivenDeal:
    """Read a deal number or a notation.

    Raises:
        UsageError: it is neither; of a notation all faults are told.
    """
    word = text.strip()
    if word.isascii() and word.isdecimal():
        if len(word.lstrip("0")) > _MOST_DIGITS:
            shown = shortened(word, _MAX_SHOWN)
            raise UsageError(
                f"deal number {shown} is out of range; it must be one of 0 .. {MOST_DEAL_NUMBER}"
            )
        return GivenDeal(int(word), deal_numbered(int(word)))
    if word and len(word) <= _MAX_SHOWN and not any(mark in word for mark in " \t|"):
        raise UsageError(
            f"{word!r} is neither a deal number, 0 .. {MOST_DEAL_NUMBER}, nor a deal in notation"
        )
    return GivenDeal(None, parse_deal(text))


def parse_line(line: Line, name: str) -> GivenDeal:
    """Read the deal of a line.

    Raises:
        UsageError: with the number of the line and everything that is wrong in it.
    """
    try:
        return parse_given(line.text)
    except UsageError as error:
        raise UsageError(f"{name}, line {line.number}: {error}") from error
