"""Results as they are told: one JSON object a line, read strictly; fields that are not known are let be."""

from datetime import date
from typing import Any, Final

from jobs.api.deal_text import parse_given
from jobs.api.lines import Line
from jobs.days import parse_day
from pipeline.daily.calendar import hole_number
from pipeline.deals.levels import DAILY
from pipeline.errors import DamagedError
from pipeline.play.results import Hole, Result
from pipeline.store.documents import Document, parse
from pipeline.store.text import shortened
from solver.errors import UsageError
from solver.table.rules import Rules, rules_named
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE

_MAX_SHOWN: Final = 40
_MOST_SECONDS: Final = 1_000_000_000  # thirty years: more is some other unit


def parse_result(line: Line, name: str) -> Result:
    """Read the result of a line.

    Args:
        line: the line.
        name: what it is from, for messages.

    Raises:
        UsageError: it is no JSON object, or a field is missing or not what it must be; with the number of the
            line and how to mend it.
    """
    where = f"{name}, line {line.number}"
    try:
        document = parse(line.text.encode(), where)
    except DamagedError as error:
        raise UsageError(f"{error}; each line is one JSON object") from error
    try:
        hole, number = _hole(document)
        moves, score = _moves(document), _score(document)
        if moves is None and score is None:
            raise UsageError("neither 'line' nor 'score'; give one of the two, or both")
        return Result(where, hole, number, moves, score, _seconds(document))
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


def _hole(document: Document) -> tuple[Hole, int | None]:
    """What was played, and the deal's number where it has one."""
    deal, day, rules = document.get("deal"), document.get("date"), _rules(document)
    if (deal is None) == (day is None):
        raise UsageError("give one of the two: 'deal' (a number or a notation), or 'date'")
    if day is not None:
        return _day(day, rules), None
    if rules is None:
        raise UsageError('a deal without \'rules\'; say by which it was played, as in "rules": "golf"')
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
    hole_number(day)  # there is none before the first
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
    if not is_number or not 0 <= seconds <= _MOST_SECONDS:
        raise _mistyped("seconds", seconds, f"a number from 0 to {_MOST_SECONDS:,}")
    return abs(float(seconds))  # JSON has a -0 too


def _mistyped(field: str, value: Any, wanted: str) -> UsageError:
    return UsageError(f"{field!r} is {shortened(repr(value), _MAX_SHOWN)}; it must be {wanted}")
