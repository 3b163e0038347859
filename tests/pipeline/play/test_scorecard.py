"""Scorecards count as golfers do and accept only possible scores; shared texts do not spoil a hole."""

import json
import random
from datetime import date
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.daily.checks import deal_of
from pipeline.deals.levels import LEVELS
from pipeline.deals.shuffle import deal_numbered
from pipeline.play.rounds import Hole, Round, round_of
from pipeline.play.scorecard import BLOCKS, PlayedDaily, Scorecard, played_daily, scorecard_of
from pipeline.pools.catalog import load_catalog
from pipeline.store.documents import render
from solver.errors import LineError, UsageError
from solver.table.deal import parse_deal
from solver.table.moves import DRAW
from solver.table.replay import replay
from solver.table.rules import RULES
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE
from tests.support.doubles import MemoryStorage
from tests.support.holes import random_line
from tests.support.pools import with_nights
from tests.support.reference import REFERENCE

PARS = LEVELS["medium"].course
DAILY = json.loads((REFERENCE / "daily-2026-11-30.json").read_bytes())
LINE = json.loads((REFERENCE / "solution-2026-11-30.json").read_bytes())["line"]


def round_with(best_scores: list[int]) -> Round:
    holes = zip(PARS, best_scores, strict=True)
    return Round(
        "medium",
        1,
        "golf",
        7,
        tuple(Hole(n, 100 + n, "", par, best) for n, (par, best) in enumerate(holes, start=1)),
    )


ROUND = round_with([LOWEST_SCORE] * 9)


@given(st.lists(st.integers(LOWEST_SCORE, HIGHEST_SCORE), max_size=9))
def test_the_card_adds_up(scores: list[int]) -> None:
    card = Scorecard(ROUND, tuple(scores))
    over = [score - par for score, par in zip(scores, PARS, strict=False)]
    assert [entry.against_par for entry in card.entries] == over
    assert [entry.running for entry in card.entries] == list(accumulate(over))
    assert (card.total, card.against_par) == (sum(scores), sum(over))
    assert card.won == (sum(scores) <= 36 if len(scores) == 9 else None)
    marks = {None: 0, "circle": -1, "box": 1}
    assert [marks[entry.mark] for entry in card.entries] == [(o > 0) - (o < 0) for o in over]


def test_a_round_is_won_at_par_and_not_one_over() -> None:
    assert Scorecard(ROUND, PARS).won is True
    assert Scorecard(ROUND, (PARS[0] - 1, *PARS[1:])).won is True
    assert Scorecard(ROUND, (PARS[0] + 1, *PARS[1:])).won is False
    assert Scorecard(ROUND, PARS[:8]).won is None


def test_the_document_has_null_scores_for_holes_that_were_not_played() -> None:
    document = Scorecard(ROUND, (1, 4)).document()
    first, second, third = document["holes"][:3]
    assert list(first) == [
        *("hole", "deal_number", "deal", "par", "best_score"),
        *("score", "cleared", "against_par", "name", "mark", "running"),
    ]
    assert list(first.values())[5:] == [1, False, -2, "Eagle", "circle", -2]
    assert list(second.values())[5:] == [4, False, -1, "Birdie", "circle", -3]
    assert list(third.values())[5:] == [None] * 6
    assert list(third) == list(first)
    assert len(document["holes"]) == 9
    assert [document[key] for key in ("round", "par", "played", "total", "against_par", "won")] == [
        *(7, 36, 2, 5, -3, None),
    ]


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ((3, 36), r"hole 2: 36 is not a score; scores are -16 \.\. 35"),
        ((-17,), r"hole 1: -17 is not a score"),
        ((3, 3, -6), r"hole 3: -6 is better than -5, the best score that can be reached on deal 103"),
        ((3,) * 10, r"more scores than holes; a round has 9 holes"),
    ],
)
def test_an_impossible_score_is_refused_with_its_hole(scores: tuple[int, ...], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Scorecard(round_with([-5] * 9), scores)


def test_a_best_score_is_accepted() -> None:
    assert Scorecard(round_with([-5] * 9), (-5,) * 9).total == -45


@pytest.mark.parametrize("level", LEVELS)
def test_lines_are_scored_by_replay_under_the_rules_of_the_level(level: str) -> None:
    storage = MemoryStorage()
    with_nights(storage, (40,), level)
    found, rules = round_of(storage, load_catalog(storage).pool(level), 1), LEVELS[level].rules
    deals, dice = [parse_deal(hole.deal) for hole in found.holes], random.Random(1)
    lines = [random_line(deal, rules, dice, drawing=0.1) for deal in deals]
    lines[3], lines[6] = "", lines[6][:5]  # given up at once, and on the way
    expected = [replay(deal, rules, line) for deal, line in zip(deals, lines, strict=True)]
    card = scorecard_of(found, lines)
    assert card.scores == tuple(each.score for each in expected)
    assert [entry.cleared for entry in card.entries] == [each.cleared for each in expected]
    assert card.scores[3] == 35
    assert scorecard_of(found, lines[:4]).scores == card.scores[:4]
    with pytest.raises(UsageError, match="a round has 9 holes"):
        scorecard_of(found, [*lines, ""])
    words = r"hole 5: move 3 of the line, 'x', is not legal; legal there: [1-7, ]*D"
    with pytest.raises(LineError, match=words) as caught:
        scorecard_of(found, [*lines[:4], "DDx"])
    assert (caught.value.index, caught.value.move, caught.value.where) == (2, "x", "hole 5")


def test_a_card_of_lines_says_what_was_cleared_whatever_the_scores_are() -> None:
    card = Scorecard(ROUND, (1, 0, -2), (True, False, True))
    assert [entry.cleared for entry in card.entries] == [True, False, True]
    cleared = [hole["cleared"] for hole in card.document()["holes"]]
    assert cleared == [True, False, True, *[None] * 6]
    with pytest.raises(ValueError, match="zip"):
        _ = Scorecard(ROUND, (1, 0, -2), (True, False)).entries


@given(st.lists(st.integers(LOWEST_SCORE, HIGHEST_SCORE), max_size=9))
def test_where_only_scores_are_known_they_say_what_was_cleared(scores: list[int]) -> None:
    entries = Scorecard(ROUND, tuple(scores)).entries
    assert [entry.cleared for entry in entries] == [score not in range(1, 36) for score in scores]


def test_the_shared_text_of_the_reference_hole() -> None:
    played = played_daily(DAILY, LINE)
    assert played.text(played.bar).splitlines() == [
        "Fairway Daily hole 334, 2026-11-30",
        "cleared, 0",
        "···▁··▄·▅·▂··█·▅·▂·▂·▅···▁",
    ]
    assert played.plain_bar == "...|..||||.|||||.||..||||||||.|||||.||.||.|||||...|"


def test_the_document_of_a_shared_text() -> None:
    played = played_daily(DAILY, "DD")
    assert render(played.document()).decode() == (
        '{"date":"2026-11-30","hole":334,"par":4,"score":35,"cleared":false,"finished":false,'
        '"against_par":31,"name":"+31","bar":"··",'
        '"text":"Fairway Daily hole 334, 2026-11-30\\nunfinished, 35 left\\n··"}\n'
    )


@pytest.mark.parametrize(
    ("score", "cleared", "finished", "words"),
    [
        (0, True, True, "cleared, 0"),
        (-12, True, True, "cleared, -12"),
        (2, False, True, "2 left, Eagle"),
        (3, False, True, "3 left, Birdie"),
        (4, False, True, "4 left, Par"),
        (6, False, True, "6 left, Double bogey"),
        (7, False, True, "7 left, +3"),
        (3, False, False, "unfinished, 3 left"),
    ],
)
def test_a_shared_text_says_cleared_or_how_many_are_left_or_that_it_is_unfinished(
    score: int, cleared: bool, finished: bool, words: str
) -> None:
    played = PlayedDaily(date(2026, 11, 30), 334, 4, score, cleared, finished, (1,))
    assert played.text("").splitlines()[1] == words


def test_a_hole_is_finished_when_it_is_cleared_or_no_move_is_left() -> None:
    dice = random.Random(3)
    deal, rules = deal_of(DAILY), RULES["golf"]
    ends = [random_line(deal, rules, dice, drawing=0.1) for _ in range(20)]
    for line in (LINE, *ends):
        played = played_daily(DAILY, line)
        assert (played.cleared, played.finished) == (replay(deal, rules, line).cleared, True)
        assert not played_daily(DAILY, line[:-1]).finished


def test_a_cleared_hole_is_finished_even_with_stock_left() -> None:
    *columns, waste, stock = deal_numbered(617).notation.split(" | ")
    daily = DAILY | {"columns": [text.split() for text in columns], "waste": waste, "stock": stock.split()}
    line = "D6231D3535377D61DDD552412413D1642574DD7647D6D2"
    played = played_daily(daily, line)
    assert (played.score, played.cleared, played.finished) == (-5, True, True)
    assert played.result == "cleared, -5"
    assert played_daily(daily, line[:-1]).result == "unfinished, 1 left"


@given(st.lists(st.integers(0, 35), min_size=1, max_size=17))
def test_a_bar_has_one_block_per_run_and_one_dot_per_draw(runs: list[int]) -> None:
    played = PlayedDaily(date(2026, 11, 30), 334, 4, 3, False, True, tuple(runs))
    blocks, strokes = played.bar.split("·"), played.plain_bar.split(".")
    assert len(blocks) == len(strokes) == len(runs)
    for run, block, stroke in zip(runs, blocks, strokes, strict=True):
        assert stroke == "|" * run
        assert block == ("" if run == 0 else BLOCKS[run - 1] if run <= 8 else "█")


def shuffled_daily(dice: random.Random) -> tuple[dict[str, Any], dict[int, int]]:
    """The reference hole with its columns and suits permuted, and the new place of each column."""
    order = dice.sample(range(7), 7)
    suits = str.maketrans("CDHS", "".join(dice.sample("CDHS", 4)))

    def changed(cards: list[str]) -> list[str]:
        return [card[0] + card[1].translate(suits) for card in cards]

    return DAILY | {
        "columns": [changed(DAILY["columns"][column]) for column in order],
        "waste": changed([DAILY["waste"]])[0],
        "stock": changed(DAILY["stock"]),
    }, {column: place for place, column in enumerate(order)}


def test_a_shared_text_reveals_neither_columns_nor_suits() -> None:
    dice = random.Random(1)
    for _ in range(50):
        line = random_line(deal_of(DAILY), RULES["golf"], dice, drawing=0.1)
        daily, places = shuffled_daily(dice)
        moved = "".join(move if move == DRAW else str(places[int(move) - 1] + 1) for move in line)
        assert played_daily(daily, moved) == played_daily(DAILY, line)


def test_a_shared_text_depends_only_on_date_hole_result_and_runs() -> None:
    known = {"day", "hole", "par", "score", "cleared", "finished", "runs"}
    assert set(PlayedDaily.__dataclass_fields__) == known
    other = DAILY | {"best_score": -16, "puzzle_id": "0" * 16, "solution_sha256": "0" * 64}
    assert played_daily(other, LINE) == played_daily(DAILY, LINE)


def test_an_illegal_move_is_reported() -> None:
    with pytest.raises(LineError) as error:
        played_daily(DAILY, "D8")
    assert (error.value.index, error.value.move) == (1, "8")
