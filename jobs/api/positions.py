"""Positions as users write them, one per line: a deal number, a notation, a date, or a JSON object."""

from dataclasses import dataclass
from typing import Final

from jobs.api.fields import deal_in, line_in, mistyped, object_in, rules_in
from jobs.api.reading import GivenDeal, HoleOf, given_hole, parse_given
from solver.errors import UsageError
from solver.table.rules import Rules

_OBJECT: Final = "{"


@dataclass(frozen=True, slots=True)
class GivenPosition:
    """A position that a user gave: a deal, the rules, and the line so far, unchecked."""

    given: GivenDeal
    rules: Rules
    line: str = ""


def is_object(text: str) -> bool:
    """Whether a line is meant to be a JSON object."""
    return text.startswith(_OBJECT)


def parse_position(text: str, rules: Rules, hole_of: HoleOf) -> GivenPosition:
    """Read the position on a line.

    A JSON object has `deal` (a number, or a number or notation as text) or `date`, and may have `rules` and
    `line`. Unknown fields are ignored; null counts as missing. Any other text is a deal or a date.

    Args:
        text: the line.
        rules: for a line that names none.
        hole_of: looks up the hole of a date.

    Raises:
        UsageError: it is not a position; the line of moves is not checked.
        FairwayError: the hole of the date is not published or cannot be read.
    """
    if not is_object(text):
        return GivenPosition(parse_given(text, hole_of), rules)
    document = object_in(text, "it")
    deal, day = document.get("deal"), document.get("date")
    if (deal is None) == (day is None):
        raise UsageError("give either 'deal' (a number or a notation) or 'date'")
    if day is not None and not isinstance(day, str):
        raise mistyped("date", day, "text, as YYYY-MM-DD")
    given = deal_in(deal) if day is None else given_hole(day, hole_of)
    return GivenPosition(given, rules_in(document) or rules, line_in(document) or "")
