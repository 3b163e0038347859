"""Faults that a schema cannot express are found: another date, other cards, another puzzle, wrong sums."""

import re
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from pipeline.daily.checks import daily_faults, deal_of, solution_faults
from pipeline.daily.files import checked_daily
from pipeline.errors import DamagedError
from pipeline.store.documents import DAILY_SCHEMA, RATED_DAILY_SCHEMA, Document, parse, render, schema_faults
from solver.table.deal import parse_deal
from tests.support.reference import REFERENCE


@pytest.fixture
def daily() -> Document:
    return parse((REFERENCE / "daily-2026-11-30.json").read_bytes(), "daily")


@pytest.fixture
def solution() -> Document:
    return parse((REFERENCE / "solution-2026-11-30.json").read_bytes(), "solution")


def test_the_reference_is_valid(daily: Document, solution: Document) -> None:
    assert daily_faults(daily) == ()
    assert solution_faults(solution, daily) == ()
    assert deal_of(daily) == parse_deal(daily["deal"])


def swap_in(first: str, second: str) -> Callable[[Document], None]:
    """Swap two cards in the columns, waste and stock, so that the deck stays whole."""

    def change(daily: Document) -> None:
        new = {first: second, second: first}
        daily["columns"] = [[new.get(card, card) for card in column] for column in daily["columns"]]
        daily["stock"] = [new.get(card, card) for card in daily["stock"]]
        daily["waste"] = new.get(daily["waste"], daily["waste"])

    return change


def put(*path: Any, value: Any) -> Callable[[Document], None]:
    def change(daily: Document) -> None:
        holder = daily
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value

    return change


def swap_suits_everywhere(daily: Document) -> None:
    swap_in("2C", "2S")(daily)
    daily["deal"] = daily["deal"].replace("2C", "xx").replace("2S", "2C").replace("xx", "2S")


FAULTS: list[tuple[Callable[[Document], None], str]] = [
    (put("date", value="2027-02-29"), "$.date: 2027-02-29 does not exist"),
    (put("date", value="2026-12-01"), "$.hole: 334 is not 335, the hole number of 2026-12-01"),
    (put("hole", value=333), "$.hole: 333 is not 334, the hole number of 2026-11-30"),
    (swap_in("2C", "KH"), "$.deal: not the cards of the columns, waste and stock"),
    (swap_in("2C", "2S"), "$.deal: not the cards of the columns, waste and stock"),
    (
        put("puzzle_id", value="0" * 16),
        "$.puzzle_id: 0000000000000000 is not 243f8b18d5796b58",
    ),
    (put("rules", "plays_on", "K", value=["Q", "A"]), "$.rules: not the rules golf"),
    (put("rules", "name", value="relaxed"), "$.rules: not the rules relaxed"),
    (put("rules", "draw_any_time", value=False), "$.rules: not the rules golf"),
    (
        put("steady", "probabilities", 20, value=0.942158136),
        "$.steady.probabilities: their sum is 1.000000101, not 1",
    ),
    (
        put("steady", "mean", value=3.941046165),
        "$.steady.mean: 3.941046165 is not 3.941045177, the mean",
    ),
    (put("steady", "clear_rate", value=0.1), "$.steady.clear_rate: 0.1 is not 0.000000000, as the"),
    (put("par", value=3), "$.par: 3 does not match a mean of 3.941045165"),
    (put("par", value=5), "$.par: 5 does not match a mean of 3.941045165"),
]


@pytest.mark.parametrize(("change", "fault"), FAULTS, ids=[fault for _, fault in FAULTS])
def test_faults_that_the_schema_allows_are_found(
    change: Callable[[Document], None], fault: str, daily: Document
) -> None:
    change(daily)
    assert schema_faults(daily, DAILY_SCHEMA) == ()
    assert any(found.startswith(fault) for found in daily_faults(daily)), daily_faults(daily)


@pytest.mark.parametrize(
    ("chance", "difficulty", "is_right"),
    [
        (0.02, 1, True),
        (0.02, 2, True),  # it may have been rounded up
        (0.02, 3, False),
        (0.001, 3, True),
        (0.001, 4, False),
        (0.0, 5, True),
        (0.0, 4, False),
        (1.0, 1, True),
    ],
)
def test_a_difficulty_that_does_not_match_its_clear_chance_is_found(
    daily: Document, chance: float, difficulty: int, is_right: bool
) -> None:
    rated = daily | {"schema": RATED_DAILY_SCHEMA, "difficulty": difficulty, "clear_chance": chance}
    wrong = f"$.difficulty: {difficulty} does not match a clear chance of {chance}"
    assert daily_faults(rated) == (() if is_right else (wrong,))


def test_a_daily_of_a_version_to_come_is_refused(daily: Document) -> None:
    [fault] = daily_faults(daily | {"schema": "fairway-daily/2.0"})
    assert fault.startswith("$.schema: 'fairway-daily/2.0' is not ")


def test_other_suits_make_another_deal_but_not_another_puzzle(daily: Document) -> None:
    swap_suits_everywhere(daily)
    assert daily_faults(daily) == ()


def test_the_message_of_a_daily_with_thousands_of_faults_has_a_few(daily: Document) -> None:
    daily["steady"]["probabilities"] = ["x"] * 5000
    with pytest.raises(DamagedError, match=r"probabilities\[28\].*; and 4,9\d\d more$") as caught:
        checked_daily(render(daily), date(2026, 11, 30))
    assert len(str(caught.value)) < 3000


def test_after_faults_of_the_schema_nothing_else_is_checked(daily: Document) -> None:
    daily["columns"] = []
    assert daily_faults(daily) == schema_faults(daily, DAILY_SCHEMA) != ()


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"schema": "fairway-daily/1.0"}, r"\$\.schema: .*"),
        ({"date": "2026-12-01"}, r"\$\.date: 2026-12-01 is not 2026-11-30, as in the daily"),
        ({"puzzle_id": "0" * 16}, r"\$\.puzzle_id: 0{16} is not 243f8b18d5796b58, as in the daily"),
        ({"best_score": -1}, r"\$\.best_score: -1 is not 0, as in the daily"),
        ({"line": "1" * 35}, r"\$\.line: move 1 of the line, '1', is not legal; legal there: D"),
        ({"line": "7" * 35}, r"\$\.line: move .* is not legal; .*"),
    ],
    ids=str,
)
def test_a_solution_of_another_daily_is_found(
    change: Document, fault: str, daily: Document, solution: Document
) -> None:
    faults = solution_faults(solution | change, daily)
    assert any(re.fullmatch(fault, found) for found in faults), faults


def test_a_line_that_ends_with_another_score_is_found(daily: Document, solution: Document) -> None:
    better = {"best_score": -1}
    assert solution_faults(solution | better, daily | better) == (
        "$.line: it ends with a score of 0, not -1",
    )
