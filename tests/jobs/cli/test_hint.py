"""Hints on the command line: the answer for programs, the table and one line why for people."""

import json
from typing import Any

import pytest

from jobs.terminal.drawing import draw_table
from pipeline.deals.shuffle import deal_numbered
from solver.cards import card_name
from solver.coach.analysis import analyse
from solver.coach.hint import hint
from solver.table.moves import after, start
from solver.table.replay import replay
from solver.table.rules import RULES, Rules
from tests.support.command import done, fairway

KEYS = ["deal_number", "deal", "rules", "line", "move", "best_score", "clearable", "reason"]
GOLF = RULES["golf"]
NUMBER = 617
LINE = "D61335353761D7DD2DD1721344"
TO_THE_END = f"{LINE}25D1642254DD4677D6D5"


def answer(*arguments: object) -> dict[str, Any]:
    (line,) = done("hint", *arguments, "--json").text.splitlines()
    document: dict[str, Any] = json.loads(line)
    return document


def test_a_hint_agrees_with_the_solver() -> None:
    document = answer(NUMBER, "--line", LINE)
    expected = hint(after(deal_numbered(NUMBER), GOLF, LINE), GOLF)
    assert list(document) == KEYS
    assert (document["deal"], document["line"]) == (deal_numbered(NUMBER).notation, LINE)
    assert (document["move"], document["best_score"], document["clearable"]) == ("2", -5, True)
    assert document["reason"] == {
        "code": "saves_stock",
        "values": {"stock_cards": 3},
        "text": "it saves 3 stock cards",
    }
    assert (expected.move, expected.reason.text) == (document["move"], document["reason"]["text"])


def test_without_a_line_the_position_is_the_start() -> None:
    assert answer(NUMBER, "--rules", "relaxed") == answer(NUMBER, "--rules", "relaxed", "--line", "")


def test_a_deal_in_notation_has_the_same_hint_and_no_number() -> None:
    by_number = answer(NUMBER, "--line", LINE, "--all")
    assert by_number.pop("deal_number") == NUMBER
    assert answer(deal_numbered(NUMBER).notation, "--line", LINE, "--all") == by_number


def test_all_legal_moves_come_with_their_exact_scores() -> None:
    document = answer(NUMBER, "--line", LINE, "--all")
    assert list(document) == [*KEYS, "moves"]
    values = analyse(after(deal_numbered(NUMBER), GOLF, LINE), GOLF).moves
    assert [value.move for value in values] == ["2", "D"]
    assert document["moves"] == [
        {
            "move": value.move,
            "best_score": value.best_score,
            "clearable": value.clearable,
            "gives_away": value.gives_away,
        }
        for value in values
    ]


def test_a_hole_that_is_over_has_no_move() -> None:
    document = answer(NUMBER, "--line", TO_THE_END, "--all")
    assert (document["move"], document["best_score"], document["clearable"]) == (None, -5, True)
    assert (document["reason"]["code"], document["moves"]) == ("cleared", [])
    assert document["best_score"] == replay(deal_numbered(NUMBER), GOLF, TO_THE_END).score


def test_an_illegal_move_is_reported_with_its_place_and_the_legal_moves() -> None:
    outcome = fairway("hint", NUMBER, "--line", "D6133x")
    assert outcome.complaint == "move 6 of the line, 'x', is not legal; legal there: 5, D"
    assert outcome.code == 2
    beyond = fairway("hint", NUMBER, "--line", f"{TO_THE_END}D")
    assert (
        beyond.complaint == "move 47 of the line, 'D', is not legal; legal there: nothing: the hole is over"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give either a deal (a number, a notation or a date) or --file FILE"),
        (["617", "--rules", "blue"], "unknown rules 'blue'"),
        (["x"], "'x' is neither a deal number"),
        (["617", "--line", "d"], "move 1 of the line, 'd', is not legal; legal there: D"),
        (["617", "--line", "1" * 10_000], "move 1 of the line, '1', is not legal; legal there: D"),
    ],
    ids=["nothing", "rules", "deal", "letter", "long"],
)
def test_wrong_usage_is_one_line(arguments: list[str], words: str) -> None:
    outcome = fairway("hint", *arguments)
    assert words in outcome.complaint
    assert outcome.code == 2


def test_people_get_the_table_and_one_line_why() -> None:
    text = done("hint", NUMBER, "--line", LINE).text
    assert text.startswith(f"deal {NUMBER}, after {LINE}, 26 moves\n\n ╭────╮ ╭────╮        ╭────╮")
    assert text.endswith("\n\nplay column 2: it saves 3 stock cards\nbest score still possible: -5\n")
    assert done("hint", NUMBER).text.startswith(f"deal {NUMBER}, at the start\n")
    assert done("hint", NUMBER, "--line", "D").text.startswith(f"deal {NUMBER}, after D, 1 move\n")
    over = done("hint", deal_numbered(NUMBER).notation, "--line", TO_THE_END, "--all").text
    assert over.startswith("a deal, after")
    assert over.endswith("the hole is over: the columns are cleared, with a score of -5\n")


def test_people_get_every_legal_move_and_the_hint_marked() -> None:
    assert table_of("hint", NUMBER, "--line", LINE, "--all") == ["column 2, 2D -5 the hint", "draw, 8D -2 3"]
    assert table_of("hint", 904, "--rules", "dead_king", "--all") == [
        "column 1, JD 2 4 loses the clear",
        "column 7, KS -2 the hint",
        "draw, 2S 2 4 loses the clear",
    ]


def table_of(*arguments: object) -> list[str]:
    """The rows of the table that ends what is printed."""
    _, rows = done(*arguments).text.rsplit("─\n", 1)
    return [" ".join(row.split()) for row in rows.splitlines()]


# -- the table in the middle of a hole --------------------------------------------------------------------


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_the_table_shows_what_lies_there_at_every_position(rules: Rules) -> None:
    deal = deal_numbered(NUMBER)
    position = start(deal)
    while (move := hint(position, rules).move) is not None:
        position = position.play(move)
        lines = draw_table(position, rules, symbols=False).plain.splitlines()
        assert all(line == line.rstrip() for line in lines)
        numbers = lines.index("   1      2      3      4      5      6      7")
        for column, height in enumerate(position.heights):
            drawn = [line[1 + 7 * column :][:6].strip() for line in lines[:numbers]]
            cards = [f"| {card_name(card)} |" for card in deal.columns[column][:height]]
            edges = ["+----+"] * (height > 0)
            assert [part for part in drawn if part] == [*edges, *cards, *edges]
            assert drawn[: len(cards) + 2 * len(edges)] == [*edges, *cards, *edges]
        stock = " ".join(map(card_name, position.undrawn))
        assert f" waste   {card_name(position.top)}" in lines
        assert f" stock   {stock}   (drawn from the left)" in lines or (
            not stock and " stock   used up" in lines
        )
