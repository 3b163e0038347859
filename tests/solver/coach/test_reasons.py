"""A reason is given if it applies, and not if one of its conditions is missing."""

import random
import re
from typing import NamedTuple

import pytest

from pipeline.deals.shuffle import deal_numbered
from solver.coach.analysis import best_from
from solver.coach.hint import hint
from solver.coach.reasons import SENTENCES, Reason
from solver.search.exact import solve_position
from solver.table.moves import DRAW, Position, after
from solver.table.rules import RULES, Rules
from tests.support.command import ROOT
from tests.support.examples import examples
from tests.support.holes import any_position
from tests.twins import naive_hint

every_rules = pytest.mark.parametrize("rules", RULES.values(), ids=RULES)


class At(NamedTuple):
    """A position: deal number, rules, line so far."""

    number: int
    rules: str
    line: str = ""

    @property
    def position(self) -> Position:
        return after(deal_numbered(self.number), RULES[self.rules], self.line)


# Positions where a reason applies, with the move.
RIGHT = [
    (
        At(457, "relaxed", "25D3D543235565D126666D32147D77734414211D7"),
        None,
        Reason("cleared", {"score": -10}, "the columns are cleared, with a score of -10"),
    ),
    (
        At(804, "dead_king", "16D4DDD6DDD5D43DDDDDD6DD"),
        None,
        Reason("stuck", {"cards_left": 27}, "no card fits and the stock is used up, with 27 cards left"),
    ),
    (
        At(2889, "relaxed", "33D126D4563373DD56D1D2247D1756554D4D4DDD11DD6D727D"),
        None,
        Reason("stuck", {"cards_left": 1}, "no card fits and the stock is used up, with 1 card left"),
    ),
    (
        At(137, "dead_king"),
        "D",
        Reason(
            "cannot_clear",
            {"cards_left": 13},
            "the columns cannot be cleared; this leaves 13 cards, the fewest possible",
        ),
    ),
    (
        At(2889, "relaxed", "33D126D4563373DD56D1D2247D1756554D4D4DDD11DD6D72"),
        "7",
        Reason(
            "cannot_clear",
            {"cards_left": 1},
            "the columns cannot be cleared; this leaves 1 card, the fewest possible",
        ),
    ),
    (At(904, "dead_king"), "7", Reason("only_clear", {}, "it is the only move that still clears")),
    (At(1727, "relaxed", "712"), "D", Reason("only_clear", {}, "it is the only move that still clears")),
    (At(596, "relaxed"), "D", Reason("nothing_fits", {}, "no card fits")),
    (
        At(792, "relaxed", "D7416D36D12277D4D25DD37DDD5D16D52265DD5DD"),
        "1",
        Reason("only_move", {}, "it is the only legal move"),
    ),
    (
        # The other play gives away 2.
        At(991, "relaxed", "D"),
        "D",
        Reason(
            "draw_better",
            {"gives_away": 1},
            "drawing now is better than playing: the best play gives away 1",
        ),
    ),
    (
        At(758, "golf", "244472D1D3437577D6D1"),
        "6",
        Reason(
            "uncovers",
            {"rank": "Q", "needed_by_rank": "K", "column": 2},
            "it uncovers the Queen that the King on column 2 needs",
        ),
    ),
    (
        # A second Queen is buried under the King that needs one, and the others are gone.
        At(302, "golf", "D2DDD5DD2D4D7252426D7D5"),
        "6",
        Reason(
            "uncovers",
            {"rank": "Q", "needed_by_rank": "K", "column": 3},
            "it uncovers the Queen that the King on column 3 needs",
        ),
    ),
    (
        # The Jack is in the column of the play itself, under the 10 that it needs.
        At(397, "relaxed", "3D13114D6D1774732DD4516475D4D6555D"),
        "2",
        Reason(
            "uncovers",
            {"rank": "T", "needed_by_rank": "J", "column": 2},
            "it uncovers the 10 that the Jack on column 2 needs",
        ),
    ),
    (
        # The waste top is another 6, but will be covered when the 5 can be played.
        At(343, "golf", "37D41715D3D56375672D51D5D13D6DDD32476"),
        "2",
        Reason(
            "uncovers",
            {"rank": "6", "needed_by_rank": "5", "column": 2},
            "it uncovers the 6 that the 5 on column 2 needs",
        ),
    ),
    (
        At(821, "golf", "2D1"),
        "5",
        Reason(
            "run_ender",
            {"rank": "K", "column": 3, "gives_away": 1},
            "the King on column 3 would end the run, so play it last",
        ),
    ),
    (
        # Any card can end a run, not only a King.
        At(155, "relaxed", "4"),
        "1",
        Reason(
            "run_ender",
            {"rank": "7", "column": 4, "gives_away": 8},
            "the 7 on column 4 would end the run, so play it last",
        ),
    ),
    (
        At(1067, "relaxed", "42DD3DD4746DD3D77D25DDDD4D132D16557626D31525D7"),
        "1",
        Reason(
            "run_ender",
            {"rank": "T", "column": 6, "gives_away": 4},
            "the 10 on column 6 would end the run, so play it last",
        ),
    ),
    (
        At(453, "relaxed"),
        "6",
        Reason("longest_run", {"length": 4}, "it starts a run of 4, longer than any other"),
    ),
    (At(406, "golf", "1D2"), "1", Reason("saves_stock", {"stock_cards": 1}, "it saves a stock card")),
    (At(835, "relaxed"), "5", Reason("saves_stock", {"stock_cards": 3}, "it saves 3 stock cards")),
    (
        At(305, "relaxed"),
        "6",
        Reason("keeps_best", {"best_score": -5}, "it keeps the best score still possible, -5"),
    ),
]

# A reason that must not be given, the missing condition, the position, and the reason given instead.
NOT_RIGHT = [
    (
        "cleared",
        "one card is left",
        At(457, "relaxed", "25D3D543235565D126666D32147D77734414211D"),
        "saves_stock",
    ),
    ("stuck", "a stock card is left", At(804, "dead_king", "16D4DDD6DDD5D43DDDDDD6D"), "cannot_clear"),
    ("cannot_clear", "it can, if only with the stock used up", At(380, "golf"), "keeps_best"),
    ("only_clear", "another move clears too, with a worse score", At(216, "golf"), "keeps_best"),
    ("nothing_fits", "a card fits", At(923, "golf"), "draw_better"),
    ("nothing_fits", "drawing does not clear either", At(208, "dead_king"), "cannot_clear"),
    ("only_move", "the one card that fits need not be played", At(305, "relaxed"), "keeps_best"),
    ("draw_better", "it is as good as the best play", At(305, "relaxed"), "keeps_best"),
    ("draw_better", "all plays lose the clear", At(1727, "relaxed", "712"), "only_clear"),
    ("uncovers", "the stock has another that fits", At(89, "dead_king"), "keeps_best"),
    ("uncovers", "the columns have another that fits", At(406, "golf", "1D2"), "saves_stock"),
    ("uncovers", "it fits on the card that is played", At(450, "dead_king", "1152"), "saves_stock"),
    ("uncovers", "it fits on the waste top", At(653, "golf", "3677DDDDD5D74DD24623DD4"), "keeps_best"),
    ("run_ender", "another card fits on it", At(309, "relaxed", "D74"), "saves_stock"),
    ("run_ender", "to play it now costs nothing", At(909, "dead_king"), "keeps_best"),
    ("run_ender", "the run goes on after it", At(102, "relaxed", "D47DD"), "longest_run"),
    ("run_ender", "the run ends with a card beneath it", At(2846, "golf", "3D"), "longest_run"),
    ("run_ender", "it is not played in this run", At(465, "relaxed", "61"), "keeps_best"),
    ("longest_run", "another play begins one as long", At(122, "golf"), "keeps_best"),
    ("longest_run", "it is not best to play it to its end", At(205, "golf"), "keeps_best"),
    ("saves_stock", "a draw is as good", At(305, "relaxed"), "keeps_best"),
    ("saves_stock", "a draw loses the clear", At(122, "golf"), "keeps_best"),
    (
        "saves_stock",
        "the stock is used up",
        At(932, "relaxed", "DD7DD42DDD41DDDD13355D45D2175D2676772D5642D6"),
        "keeps_best",
    ),
    ("keeps_best", "there is more to say", At(406, "golf", "1D2"), "saves_stock"),
]


@pytest.mark.parametrize(("at", "move", "reason"), RIGHT, ids=[case[2].code for case in RIGHT])
def test_a_reason_is_given_if_it_applies(at: At, move: str | None, reason: Reason) -> None:
    found = hint(at.position, RULES[at.rules])
    assert (found.move, found.reason) == (move, reason)


@pytest.mark.parametrize(
    ("code", "at", "given"),
    [(code, at, given) for code, _, at, given in NOT_RIGHT],
    ids=[f"{code}: {missing}" for code, missing, *_ in NOT_RIGHT],
)
def test_a_reason_is_not_given_if_a_condition_is_missing(code: str, at: At, given: str) -> None:
    assert hint(at.position, RULES[at.rules]).reason.code == given != code


def test_every_reason_has_a_position_with_it_and_one_without_it() -> None:
    assert {reason.code for _, _, reason in RIGHT} == {code for code, *_ in NOT_RIGHT} == set(SENTENCES)


def test_the_documentation_lists_every_reason_in_order_of_precedence_with_its_values() -> None:
    lines = (ROOT / "docs" / "playing.md").read_text().splitlines()
    rows = [[cell.strip(" `") for cell in line.split("|")[1:4]] for line in lines if line.startswith("| `")]
    listed = {code: (values, sentence) for code, values, sentence in rows if code in SENTENCES}
    assert list(listed) == list(SENTENCES) == ["cleared", "stuck", *naive_hint.CODES]
    for _, _, reason in RIGHT:
        values, sentence = listed[reason.code]
        assert values.split("`, `") == (list(reason.values) or [""])
        assert pattern(sentence) == pattern(reason.text)


def pattern(sentence: str) -> str:
    """Return a sentence with all numbers and ranks replaced, in the plural."""
    alike = re.sub(r"-?\d+|King|Queen|Jack|a(?= stock)", "n", sentence)
    return re.sub(r"card\b", "cards", alike)


# -- what happens when the hints are followed --------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "reason"),
    [(at, reason) for at, _, reason in RIGHT if reason.code in ("longest_run", "run_ender")],
)
def test_a_run_has_the_stated_length_and_ends_with_the_named_card(at: At, reason: Reason) -> None:
    run = followed_run(at.position, RULES[at.rules])
    assert len(run) == reason.values.get("length", len(run))
    named = str(reason.values.get("column", run[-1]))
    assert run.rindex(named) == len(run) - 1


def followed_run(position: Position, rules: Rules) -> str:
    """Follow the hints until the next draw or the end of the hole; return the plays."""
    run = ""
    while (move := hint(position, rules).move) not in (DRAW, None):
        run += str(move)
        position = position.play(run[-1])
    return run


# -- the card that another one needs ----------------------------------------------------------------------


@every_rules
def test_a_card_cannot_be_played_without_the_uncovered_card_that_it_needs(rules: Rules) -> None:
    dice = random.Random("needed cards")
    count = 0
    while count < examples(12):
        position = any_position(dice, dice.randrange(4, 10))
        if not solve_position(position, rules, fewest=False).cleared:
            continue
        needing = naive_hint.Twin(position, rules.name, by_search).needing()
        if needing is not None:
            support, card, _ = needing
            assert clears(position, rules.name, None)
            assert not clears(position, rules.name, (card, support)), position
            count += 1


def by_search(position: Position, rules: str) -> int:
    return best_from(position, RULES[rules]).score


def clears(position: Position, rules: str, forbidden: tuple[int, int] | None) -> bool:
    """Whether the columns can be cleared without playing the first card on the second; tries everything."""
    hopeless: set[Position] = set()

    def can(at: Position) -> bool:
        if at.cards_left == 0:
            return True
        if at in hopeless:
            return False
        after = [at.play(move) for move in naive_hint.legal(at, rules)]
        if any(can(next_) for next_ in after if (next_.top, at.top) != forbidden):
            return True
        hopeless.add(at)
        return False

    return can(position)
