"""A card counts as golfers do, holds only scores that can be, and scores lines as the replay does."""

import random
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.deals.levels import LEVELS
from pipeline.play.rounds import Hole, Round, round_of
from pipeline.play.scorecard import Scorecard, scores_of
from pipeline.pools.catalog import load_catalog
from solver.errors import LineError, UsageError
from solver.table.deal import parse_deal
from solver.table.replay import replay
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE
from tests.support.doubles import MemoryStorage
from tests.support.holes import random_line
from tests.support.pools import with_nights

PARS = LEVELS["medium"].course


def round_with(best_scores: list[int]) -> Round:
    holes = zip(PARS, best_scores, strict=True)
    return Round(
        "medium", 1, 7, tuple(Hole(n, 100 + n, "", par, best) for n, (par, best) in enumerate(holes, start=1))
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


def test_the_document_holds_every_hole_and_null_where_none_was_played() -> None:
    told = Scorecard(ROUND, (1, 4)).document()
    first, second, third = told["holes"][:3]
    assert list(first) == [
        *("hole", "deal_number", "deal", "par", "best_score"),
        *("score", "against_par", "name", "mark", "running"),
    ]
    assert list(first.values())[5:] == [1, -2, "Eagle", "circle", -2]
    assert list(second.values())[5:] == [4, -1, "Birdie", "circle", -3]
    assert list(third.values())[5:] == [None] * 5
    assert list(third) == list(first)
    assert len(told["holes"]) == 9
    assert [told[key] for key in ("round", "par", "played", "total", "against_par", "won")] == [
        *(7, 36, 2, 5, -3, None),
    ]


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ((3, 36), r"hole 2: 36 is no score; scores are -16 \.\. 35"),
        ((-17,), r"hole 1: -17 is no score"),
        ((3, 3, -6), r"hole 3: -6 is better than -5, the best score that can be reached on deal 103"),
        ((3,) * 10, r"a round has 9 holes; there are scores for more"),
    ],
)
def test_a_score_that_cannot_be_is_refused_with_its_hole(scores: tuple[int, ...], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Scorecard(round_with([-5] * 9), scores)


def test_a_best_score_can_be_made() -> None:
    assert Scorecard(round_with([-5] * 9), (-5,) * 9).total == -45


@pytest.mark.parametrize("level", LEVELS)
def test_lines_score_what_their_replays_do_under_the_rules_of_the_level(level: str) -> None:
    storage = MemoryStorage()
    with_nights(storage, (40,), level)
    found, rules = round_of(storage, load_catalog(storage).pool(level), 1), LEVELS[level].rules
    deals, dice = [parse_deal(hole.deal) for hole in found.holes], random.Random(1)
    lines = [random_line(deal, rules, dice, drawing=0.1) for deal in deals]
    lines[3], lines[6] = "", lines[6][:5]  # given up at once, and on the way
    expected = tuple(replay(deal, rules, line).score for deal, line in zip(deals, lines, strict=True))
    assert scores_of(found, lines) == expected
    assert expected[3] == 35
    assert scores_of(found, lines[:4]) == expected[:4]
    with pytest.raises(UsageError, match="a round has 9 holes"):
        scores_of(found, [*lines, ""])
    words = r"hole 5: move 3 of the line, 'x', is not legal; legal there: [1-7, ]*D"
    with pytest.raises(LineError, match=words) as caught:
        scores_of(found, [*lines[:4], "DDx"])
    assert (caught.value.index, caught.value.move, caught.value.where) == (2, "x", "hole 5")
