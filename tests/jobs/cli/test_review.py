"""Reviews: JSON for programs, a table for people."""

import json
from typing import Any

import pytest

from pipeline.deals.shuffle import deal_numbered
from solver.cards import card_name
from solver.coach.review import review
from solver.players.distribution import TOTAL_MASS
from solver.players.steady import rate
from solver.search.exact import solve
from solver.table.rules import RULES
from solver.table.score import score_name
from tests.support.command import done, fairway

NUMBER = 617
FINISHED = "D6233535377DD6D1DD245557DDD71DD12413DDD7D22D461"  # its 14th move loses the clear
ABANDONED = FINISHED[:13]
KEYS = ["deal_number", "deal", "rules", "line", "par", "score", "against_par", "name", "steady_chance"]
KEYS += ["best_score", "clearable", "cleared", "lost_at", "finished", "best_left", "given_up", "moves"]


def answer(*arguments: object) -> dict[str, Any]:
    (line,) = done("review", *arguments, "--json").text.splitlines()
    document: dict[str, Any] = json.loads(line)
    return document


def rows_of(text: str) -> list[str]:
    """The table's rows, blanks made one."""
    _, _, table = text.partition("─\n")
    return [" ".join(row.split()) for row in table.splitlines()]


@pytest.mark.parametrize("line", ["", ABANDONED, FINISHED])
@pytest.mark.parametrize("rules", ["golf", "relaxed"])
def test_programs_get_the_whole_review(line: str, rules: str) -> None:
    document = answer(NUMBER, "--rules", rules, "--line", line)
    found = review(deal_numbered(NUMBER), RULES[rules], line)
    assert list(document) == KEYS
    assert (document["deal"], document["line"]) == (deal_numbered(NUMBER).notation, line)
    for key in (
        "best_score",
        "score",
        "clearable",
        "cleared",
        "lost_at",
        "finished",
        "best_left",
        "given_up",
    ):
        assert document[key] == getattr(found, key)
    assert document["moves"] == [
        {
            "index": move.index,
            "move": move.move,
            "card": card_name(move.card),
            "best_before": move.best_before,
            "best_after": move.best_after,
            "cost": move.best_after - move.best_before,
            "lost_clear": move.index == found.lost_at,
            "best_move": move.best_move,
            "best_card": None if move.best_card is None else card_name(move.best_card),
        }
        for move in found.moves
    ]


def test_the_score_is_held_against_par_and_the_steady_player() -> None:
    document = answer(NUMBER, "--line", FINISHED)
    rating = json.loads(done("deal", "rate", NUMBER, "--json").text)
    par, score = document["par"], document["score"]
    assert (par, score) == (rating["par"], 4)
    assert (
        (document["against_par"], document["name"]) == (score - par, score_name(score, par)) == (1, "Bogey")
    )
    masses = rate(deal_numbered(NUMBER), RULES["golf"]).masses
    assert document["steady_chance"] == sum(masses[: 16 + score + 1]) / TOTAL_MASS
    assert document["steady_chance"] == pytest.approx(sum(rating["steady_scores"][: 16 + score + 1]))


def test_a_deal_in_notation_has_the_same_review_and_no_number() -> None:
    by_number = answer(NUMBER, "--line", ABANDONED)
    assert by_number.pop("deal_number") == NUMBER
    assert answer(deal_numbered(NUMBER).notation, "--line", ABANDONED) == by_number


def test_mistakes_are_marked_with_what_was_better() -> None:
    text = done("review", NUMBER, "--line", FINISHED).text
    assert "clear          lost with move 14\nend            the hole is over\n" in text
    assert "mistakes       3, which cost 9\n" in text
    rows = rows_of(text)
    assert len(rows) == len(FINISHED)
    assert rows[:2] == ["1 draw, 4D -5 -5", "2 column 6, 5D -5 -5"]
    assert rows[13] == "14 column 6, QC -5 1 6 lost the clear; better: draw, 7C"
    assert [row for row in rows if "better" in row] == [
        rows[13],
        "21 column 5, 3D 1 2 1 better: column 4, AD",
        "22 column 5, 4C 2 4 2 better: column 2, 2D",
    ]


BEST = None  # stands for the line of the solution


@pytest.mark.parametrize(
    ("number", "line", "clear", "end"),
    [
        (617, BEST, "made", "the hole is over"),
        (617, ABANDONED, "still possible at the end", "abandoned with -5 still possible, which gave up 30"),
        (1, "", "never possible", "abandoned with 3 still possible, which gave up 32"),
        (0, BEST, "never possible", "abandoned with nothing better possible"),
    ],
    ids=["cleared", "given up", "not begun", "stopped at its best"],
)
def test_the_text_shows_how_a_hole_without_mistakes_ended(
    number: int, line: str | None, clear: str, end: str
) -> None:
    played = solve(deal_numbered(number), RULES["golf"]).line or "" if line is BEST else line
    text = done("review", number, "--line", played).text
    assert f"clear          {clear}\nend            {end}\nmistakes       none\n" in text
    assert len(rows_of(text)) == len(played)


def test_a_move_that_is_not_legal_is_one_line_and_exit_code_2() -> None:
    outcome = fairway("review", NUMBER, "--line", "D623D1")
    assert outcome.complaint == "move 6 of the line, '1', is not legal; legal there: 3, D"
    assert outcome.code == 2
