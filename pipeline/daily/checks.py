"""What is wrong with a daily or its solution: first by the JSON Schema, then in what a schema cannot say.

The same checks stand before publishing and in `verify`. They read nothing but the documents, so they hold for
whatever was published, by whatever version and key.
"""

from collections.abc import Iterator
from datetime import date
from math import floor
from typing import Final

from pipeline.daily.hole import hole_of
from pipeline.deals.fragments import rules_document
from pipeline.deals.levels import HIGHEST_PAR, LOWEST_PAR
from pipeline.store.documents import DAILY_SCHEMA, SOLUTION_SCHEMA, Document, schema_faults
from solver.cards import parse_card
from solver.errors import LineError
from solver.table.deal import Deal
from solver.table.replay import replay
from solver.table.rules import rules_named
from solver.table.score import LOWEST_SCORE

_ROUNDING: Final = 0.5e-9  # what one number loses when it is rounded to nine decimals
_SLACK: Final = 1e-12  # the error of adding up some fifty floats


def daily_faults(document: Document) -> tuple[str, ...]:
    """Everything that is wrong with a daily by itself; nothing where it may be published."""
    faults = schema_faults(document, DAILY_SCHEMA)
    if faults:
        return faults
    return (*_date_faults(document), *_deal_faults(document), *_steady_faults(document))


def solution_faults(document: Document, daily: Document) -> tuple[str, ...]:
    """Everything that is wrong with a solution as that of a faultless daily; its line is replayed."""
    faults = schema_faults(document, SOLUTION_SCHEMA)
    if faults:
        return faults
    return (*_other_hole_faults(document, daily), *_line_faults(document, daily))


def deal_of(daily: Document) -> Deal:
    """The deal of a daily whose cards are those of one deck."""
    cards = (*(card for column in daily["columns"] for card in column), daily["waste"], *daily["stock"])
    return Deal(tuple(parse_card(card) for card in cards))


def _date_faults(daily: Document) -> Iterator[str]:
    try:
        day = date.fromisoformat(daily["date"])
    except ValueError:
        yield f"$.date: {daily['date']} does not exist"
        return
    if daily["hole"] != hole_of(day):
        yield f"$.hole: {daily['hole']} is not {hole_of(day)}, the hole of {day}"


def _deal_faults(daily: Document) -> Iterator[str]:
    deal = deal_of(daily)
    if daily["deal"] != deal.notation:
        yield "$.deal: not the cards of columns, waste and stock"
    if daily["puzzle_id"] != deal.puzzle_id:
        yield f"$.puzzle_id: {daily['puzzle_id']} is not {deal.puzzle_id}, that of the cards"
    if daily["rules"] != rules_document(rules_named(daily["rules"]["name"])):
        yield f"$.rules: not the rules named {daily['rules']['name']}"


def _steady_faults(daily: Document) -> Iterator[str]:
    steady = daily["steady"]
    probabilities = steady["probabilities"]
    scores = range(LOWEST_SCORE, LOWEST_SCORE + len(probabilities))
    total = sum(probabilities)
    if abs(total - 1) > len(probabilities) * _ROUNDING + _SLACK:
        yield f"$.steady.probabilities: they add up to {total:.9f}, not to 1"
    mean = sum(score * probability for score, probability in zip(scores, probabilities, strict=True))
    if abs(mean - steady["mean"]) > (sum(map(abs, scores)) + 1) * _ROUNDING + _SLACK:
        yield f"$.steady.mean: {steady['mean']} is not {mean:.9f}, the mean of the probabilities"
    cleared = sum(probabilities[: 1 - LOWEST_SCORE])
    if abs(cleared - steady["clear_rate"]) > (2 - LOWEST_SCORE) * _ROUNDING + _SLACK:
        yield f"$.steady.clear_rate: {steady['clear_rate']} is not {cleared:.9f}, that of the probabilities"
    # A mean that was rounded onto a border between two pars may belong to either.
    pars = {_par(steady["mean"] + error) for error in (-_ROUNDING, _ROUNDING)}
    if daily["par"] not in pars:
        yield f"$.par: {daily['par']} does not follow from a mean of {steady['mean']}"


def _par(mean: float) -> int:
    return min(HIGHEST_PAR, max(LOWEST_PAR, floor(mean + 0.5)))


def _other_hole_faults(solution: Document, daily: Document) -> Iterator[str]:
    for field in ("date", "puzzle_id", "best_score"):
        if solution[field] != daily[field]:
            yield f"$.{field}: {solution[field]} is not {daily[field]}, that of the daily"


def _line_faults(solution: Document, daily: Document) -> Iterator[str]:
    try:
        played = replay(deal_of(daily), rules_named(daily["rules"]["name"]), solution["line"])
    except LineError as error:
        yield f"$.line: {error}"
        return
    if not played.cleared or played.score != solution["best_score"]:
        yield f"$.line: it ends with a score of {played.score}, not of {solution['best_score']}"
