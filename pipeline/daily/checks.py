"""Checks of a daily and its solution: against the JSON Schema, then of what a schema cannot express.

The same checks run before publishing and in `verify`. They need only the documents, so they apply to every
published hole, whatever its version and key.
"""

from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from typing import Final

from pipeline.daily.calendar import hole_number
from pipeline.deals.fragments import rules_document
from pipeline.deals.levels import par_of_mean
from pipeline.store.documents import (
    DAILY_SCHEMA,
    RATED_DAILY_SCHEMA,
    SOLUTION_SCHEMA,
    Document,
    schema_faults,
)
from solver.cards import parse_card
from solver.errors import LineError
from solver.players.difficulty import difficulty_of
from solver.players.distribution import TOTAL_MASS
from solver.table.deal import Deal
from solver.table.replay import replay
from solver.table.rules import rules_named
from solver.table.score import CLEARED_SCORES, LOWEST_SCORE

_ROUNDING: Final = 0.5e-9  # the error of a number that is rounded to nine decimals
_SLACK: Final = 1e-12  # the error of the sum of some fifty floats


def daily_faults(document: Document) -> tuple[str, ...]:
    """Return everything that is wrong with a daily by itself; nothing if it may be published."""
    is_rated = document.get("schema") != DAILY_SCHEMA
    faults = schema_faults(document, RATED_DAILY_SCHEMA if is_rated else DAILY_SCHEMA)
    if faults:
        return faults
    return (
        *_date_faults(document),
        *_deal_faults(document),
        *_steady_faults(document),
        *(_difficulty_faults(document) if is_rated else ()),
    )


def solution_faults(document: Document, daily: Document) -> tuple[str, ...]:
    """Return everything that is wrong with the solution of a valid daily; its line is replayed."""
    faults = schema_faults(document, SOLUTION_SCHEMA)
    if faults:
        return faults
    return (*_other_hole_faults(document, daily), *_line_faults(document, daily))


def deal_of(daily: Document) -> Deal:
    """Return the deal of a daily that has the cards of one deck."""
    cards = (*(card for column in daily["columns"] for card in column), daily["waste"], *daily["stock"])
    return Deal(tuple(parse_card(card) for card in cards))


def _date_faults(daily: Document) -> Iterator[str]:
    try:
        day = date.fromisoformat(daily["date"])
    except ValueError:
        yield f"$.date: {daily['date']} does not exist"
        return
    if daily["hole"] != hole_number(day):
        yield f"$.hole: {daily['hole']} is not {hole_number(day)}, the hole number of {day}"


def _deal_faults(daily: Document) -> Iterator[str]:
    deal = deal_of(daily)
    if daily["deal"] != deal.notation:
        yield "$.deal: not the cards of the columns, waste and stock"
    if daily["puzzle_id"] != deal.puzzle_id:
        yield f"$.puzzle_id: {daily['puzzle_id']} is not {deal.puzzle_id}, the puzzle id of the cards"
    if daily["rules"] != rules_document(rules_named(daily["rules"]["name"])):
        yield f"$.rules: not the rules {daily['rules']['name']}"


def _steady_faults(daily: Document) -> Iterator[str]:
    steady = daily["steady"]
    probabilities = steady["probabilities"]
    scores = range(LOWEST_SCORE, LOWEST_SCORE + len(probabilities))
    total = sum(probabilities)
    if abs(total - 1) > len(probabilities) * _ROUNDING + _SLACK:
        yield f"$.steady.probabilities: their sum is {total:.9f}, not 1"
    mean = sum(score * probability for score, probability in zip(scores, probabilities, strict=True))
    if abs(mean - steady["mean"]) > (sum(map(abs, scores)) + 1) * _ROUNDING + _SLACK:
        yield f"$.steady.mean: {steady['mean']} is not {mean:.9f}, the mean of the probabilities"
    cleared = sum(probabilities[:CLEARED_SCORES])
    if abs(cleared - steady["clear_rate"]) > (CLEARED_SCORES + 1) * _ROUNDING + _SLACK:
        yield f"$.steady.clear_rate: {steady['clear_rate']} is not {cleared:.9f}, as the probabilities say"
    # A mean that was rounded to a boundary between two pars may have either.
    pars = {par_of_mean(Fraction(steady["mean"] + error)) for error in (-_ROUNDING, _ROUNDING)}
    if daily["par"] not in pars:
        yield f"$.par: {daily['par']} does not match a mean of {steady['mean']}"


def _difficulty_faults(daily: Document) -> Iterator[str]:
    # A chance that was rounded to a boundary between two difficulties may have either.
    chances = (daily["clear_chance"] + error for error in (-_ROUNDING, _ROUNDING))
    difficulties = {difficulty_of(round(max(0, chance) * TOTAL_MASS)) for chance in chances}
    if not min(difficulties) <= daily["difficulty"] <= max(difficulties):
        yield f"$.difficulty: {daily['difficulty']} does not match a clear chance of {daily['clear_chance']}"


def _other_hole_faults(solution: Document, daily: Document) -> Iterator[str]:
    for field in ("date", "puzzle_id", "best_score"):
        if solution[field] != daily[field]:
            yield f"$.{field}: {solution[field]} is not {daily[field]}, as in the daily"


def _line_faults(solution: Document, daily: Document) -> Iterator[str]:
    try:
        played = replay(deal_of(daily), rules_named(daily["rules"]["name"]), solution["line"])
    except LineError as error:
        yield f"$.line: {error}"
        return
    if not played.cleared or played.score != solution["best_score"]:
        yield f"$.line: it ends with a score of {played.score}, not {solution['best_score']}"
