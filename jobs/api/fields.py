"""Fields of JSON objects that users write, one object per line; a wrong one is refused by name."""

from typing import Any, Final

from jobs.api.reading import GivenDeal, parse_given
from pipeline.errors import DamagedError
from pipeline.store.documents import Document, parse
from pipeline.store.text import shortened
from solver.errors import UsageError
from solver.table.rules import Rules, rules_named

_MAX_SHOWN: Final = 40


def object_in(text: str, where: str) -> Document:
    """Read a JSON object.

    Args:
        text: a line.
        where: what to call the line in messages.

    Raises:
        UsageError: it is not a JSON object.
    """
    try:
        return parse(text.encode(), where)
    except DamagedError as error:
        raise UsageError(f"{error}; each line must be one JSON object") from error


def deal_in(deal: Any) -> GivenDeal:
    """Read the value of the field `deal`: a deal number, or a number or a notation as text."""
    if isinstance(deal, bool) or not isinstance(deal, int | str):
        raise mistyped("deal", deal, "a number, or a notation as text")
    return parse_given(str(deal))


def rules_in(document: Document) -> Rules | None:
    """Return the rules that the field `rules` names; None if it is missing."""
    name = document.get("rules")
    if name is not None and not isinstance(name, str):
        raise mistyped("rules", name, "text")
    return None if name is None else rules_named(name)


def line_in(document: Document) -> str | None:
    """Return the line of moves in the field `line`, unchecked; None if it is missing."""
    moves = document.get("line")
    if moves is not None and not isinstance(moves, str):
        raise mistyped("line", moves, 'text, as in "D31"')
    return moves


def mistyped(field: str, value: Any, wanted: str) -> UsageError:
    """Return the error for a field with a value of another kind."""
    return UsageError(f"{field!r} is {shortened(repr(value), _MAX_SHOWN)}; it must be {wanted}")
