"""The text to share tells how a hole went, and nothing of its cards."""

import json
import random
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.daily.checks import deal_of
from pipeline.play.share import BLOCKS, PlayedDaily, played_daily
from pipeline.store.documents import render
from solver.errors import LineError
from solver.table.moves import DRAW
from solver.table.rules import RULES
from tests.support.holes import random_line
from tests.support.reference import REFERENCE

DAILY = json.loads((REFERENCE / "daily-2026-11-30.json").read_bytes())
LINE = json.loads((REFERENCE / "solution-2026-11-30.json").read_bytes())["line"]


def test_the_text_of_the_reference_hole() -> None:
    played = played_daily(DAILY, LINE)
    assert played.text(played.bar).splitlines() == [
        "Fairway Daily hole 334, 2026-11-30",
        "-4 against par",
        "···▁··▄·▅·▂··█·▅·▂·▂·▅···▁",
    ]
    assert played.plain_bar == "...|..||||.|||||.||..||||||||.|||||.||.||.|||||...|"


def test_the_document_holds_the_text_and_what_it_is_made_of() -> None:
    played = played_daily(DAILY, "DD")
    assert render(played.document()).decode() == (
        '{"date":"2026-11-30","hole":334,"par":4,"score":35,"against_par":31,"name":"+31","bar":"··",'
        '"text":"Fairway Daily hole 334, 2026-11-30\\n+31 against par\\n··"}\n'
    )


@pytest.mark.parametrize(
    ("score", "words"),
    [
        *((0, "-4 against par"), (2, "Eagle (-2)"), (3, "Birdie (-1)"), (4, "Par (E)"), (5, "Bogey (+1)")),
        *((6, "Double bogey (+2)"), (7, "+3 against par"), (-12, "-16 against par")),
    ],
)
def test_the_result_has_its_name_or_its_number(score: int, words: str) -> None:
    played = PlayedDaily(date(2026, 11, 30), 334, 4, score, (1,))
    assert played.text("").splitlines()[1] == words


@given(st.lists(st.integers(0, 35), min_size=1, max_size=17))
def test_a_bar_has_a_block_for_each_run_and_a_dot_for_each_draw(runs: list[int]) -> None:
    played = PlayedDaily(date(2026, 11, 30), 334, 4, 3, tuple(runs))
    blocks, strokes = played.bar.split("·"), played.plain_bar.split(".")
    assert len(blocks) == len(strokes) == len(runs)
    for run, block, stroke in zip(runs, blocks, strokes, strict=True):
        assert stroke == "|" * run
        assert block == ("" if run == 0 else BLOCKS[run - 1] if run <= 8 else "█")


def shuffled_daily(dice: random.Random) -> tuple[dict[str, Any], dict[int, int]]:
    """The reference hole with its columns and suits changed about, and where each column has gone."""
    order = dice.sample(range(7), 7)
    suits = str.maketrans("CDHS", "".join(dice.sample("CDHS", 4)))

    def changed(cards: list[str]) -> list[str]:
        return [card[0] + card[1].translate(suits) for card in cards]

    return DAILY | {
        "columns": [changed(DAILY["columns"][column]) for column in order],
        "waste": changed([DAILY["waste"]])[0],
        "stock": changed(DAILY["stock"]),
    }, {column: place for place, column in enumerate(order)}


def test_neither_columns_nor_suits_show() -> None:
    dice = random.Random(1)
    for _ in range(50):
        line = random_line(deal_of(DAILY), RULES["golf"], dice, drawing=0.1)
        daily, places = shuffled_daily(dice)
        moved = "".join(move if move == DRAW else str(places[int(move) - 1] + 1) for move in line)
        assert played_daily(daily, moved) == played_daily(DAILY, line)


def test_nothing_but_date_hole_result_and_rhythm_is_told() -> None:
    known = {"day", "hole", "par", "score", "runs"}
    assert set(PlayedDaily.__dataclass_fields__) == known
    other = DAILY | {"best_score": -16, "puzzle_id": "0" * 16, "solution_sha256": "0" * 64}
    assert played_daily(other, LINE) == played_daily(DAILY, LINE)


def test_an_illegal_move_is_told_as_everywhere() -> None:
    with pytest.raises(LineError) as error:
        played_daily(DAILY, "D8")
    assert (error.value.index, error.value.move) == (1, "8")
