"""Hints are exact: every move has its true value, and following the hints gives the best score."""

import random
from collections import Counter

import pytest

from pipeline.deals.shuffle import deal_numbered
from solver.coach.analysis import Analysis, MoveValue, analyse, best_from
from solver.coach.hint import hint, hint_from
from solver.coach.runs import longest_runs
from solver.search.exact import solve_position
from solver.table.deal import parse_deal
from solver.table.moves import DRAW, Position, start
from solver.table.replay import replay
from solver.table.rules import RULES, Rules
from solver.table.score import score_of
from tests.support.examples import examples
from tests.support.holes import any_position, random_position
from tests.twins import naive, naive_hint

every_rules = pytest.mark.parametrize("rules", RULES.values(), ids=RULES)

SMALL = 12  # cards left; the naive solver takes a millisecond
SOAKED = 20_000


def naively(position: Position, rules: str) -> int:
    return naive.solve(position, rules).best_score


def by_search(position: Position, rules: str) -> int:
    return best_from(position, RULES[rules]).score


def check_values(analysis: Analysis, line: str) -> None:
    """Compare an analysis with a search from its own position, and each score with a replay."""
    position, rules = analysis.position, analysis.rules
    solution = solve_position(position, rules)
    assert (analysis.best_score, analysis.clearable) == (solution.best_score, solution.cleared)
    assert "".join(value.move for value in analysis.moves) == position.legal_moves(rules)
    for value in analysis.moves:
        best = solve_position(position.play(value.move), rules).line
        assert best is not None
        done = replay(position.deal, rules, line + value.move + best)
        assert (done.score, done.cleared) == (value.best_score, value.clearable)
        assert value.gives_away == value.best_score - analysis.best_score >= 0


def check_values_naively(analysis: Analysis) -> None:
    for value in analysis.moves:
        found = naively(analysis.position.play(value.move), analysis.rules.name)
        assert value.best_score == found


def check_hint(analysis: Analysis, solve: naive_hint.Solve) -> None:
    """Compare a hint and its reason with the slow twin."""
    found = hint_from(analysis)
    expected = naive_hint.expected(analysis.position, analysis.rules.name, solve)
    code, values = next(iter(expected.true.items()))
    assert (found.move, found.best_score, found.clearable) == (
        expected.move,
        expected.best_score,
        expected.best_score <= 0,
    )
    assert (found.reason.code, found.reason.values) == (code, values), analysis.position


# -- values -----------------------------------------------------------------------------------------------


@every_rules
def test_the_value_of_every_move_is_what_its_line_replays_to_and_the_naive_solver_finds(rules: Rules) -> None:
    dice = random.Random("values of moves")
    for _ in range(examples(150)):
        position, line = random_position(rules, dice)
        check_values(analyse(position, rules), line)
        check_values_naively(analyse(any_position(dice, dice.randrange(SMALL + 1)), rules))


@every_rules
def test_a_hole_that_is_over_has_no_moves_and_its_current_score(rules: Rules) -> None:
    dice = random.Random("over")
    over = [any_position(dice, 0), Position(deal_numbered(1), (5,) * 7, deal_numbered(1).stock[-1], 16)]
    for position in over:
        expected = score_of(position.cards_left, position.draws)
        if not position.legal_moves(rules):
            assert analyse(position, rules) == Analysis(
                position, rules, expected, not position.cards_left, ()
            )
            assert (hint(position, rules).move, hint(position, rules).best_score) == (None, expected)


# -- the chosen move --------------------------------------------------------------------------------------


@every_rules
def test_hints_are_those_of_the_slow_twin(rules: Rules) -> None:
    dice = random.Random("hints")
    for _ in range(examples(100)):
        check_hint(analyse(any_position(dice, dice.randrange(SMALL + 1)), rules), naively)
    for _ in range(examples(150)):
        check_hint(analyse(random_position(rules, dice)[0], rules), by_search)


@every_rules
def test_following_the_hints_gives_the_best_score(rules: Rules) -> None:
    for number in range(examples(8)):
        deal, line = deal_numbered(number), ""
        position = start(deal)
        best = solve_position(position, rules).best_score
        while (found := hint(position, rules)).move is not None:
            assert found.best_score == best
            position, line = position.play(found.move), line + found.move
        assert replay(deal, rules, line).score == best == found.best_score


@every_rules
def test_equal_moves_are_ranked_by_play_then_run_then_openness_then_column(
    rules: Rules,
) -> None:
    dice = random.Random("equal moves")
    decided: Counter[int] = Counter()
    for _ in range(examples(400)):
        position, _ = random_position(rules, dice)
        moves = position.legal_moves(rules)
        if len(moves) < 2:
            continue
        ranking = sorted(ranked(position, move, rules.name) for move in moves)
        equal = Analysis(position, rules, 0, True, tuple(MoveValue(move, 0, 0, True) for move in moves))
        assert hint_from(equal).move == ranking[0][-1]
        decided[next(place for place in range(4) if ranking[0][place] != ranking[1][place])] += 1
    assert min(decided[place] for place in range(4)) > 0


def ranked(position: Position, move: str, rules: str) -> tuple[bool, int, int, str]:
    """Return a key for the order of preference, the best first, by trying every run."""
    if move == DRAW:
        return True, 0, 0, move
    ends = naive_hint.ends_of_runs(position.play(move), rules)
    length, openness = max((1 + length, naive_hint.openness(end, rules)) for length, end in ends)
    return False, -length, -openness, move


@every_rules
def test_a_worse_move_is_never_preferred(rules: Rules) -> None:
    dice = random.Random("worse moves")
    for _ in range(examples(300)):
        position, _ = random_position(rules, dice)
        moves = position.legal_moves(rules)
        if moves:
            best = dice.choice(moves)
            worse = {move: int(move != best) for move in moves}
            values = tuple(MoveValue(move, lost, lost, not lost) for move, lost in worse.items())
            assert hint_from(Analysis(position, rules, 0, True, values)).move == best


def test_the_longest_of_millions_of_runs_is_found() -> None:
    # Found by hill climbing: 32,201,386 runs begin with its two plays; the longest clear the columns.
    deal = parse_deal(
        "TC 9C 4S 3D 2D | KD QH JD 7H 6D | KS QS 9D 8S 5D | 8H 9H TH JC TS | AH KH JH TD 4C |"
        " 9S 8D 5C 4H 3H | 2S QC 7C 6S 3C | 2H | 6H AD AS 5S AC KC JS 2C 7D 6C 8C 4D 5H 7S QD 3S"
    )
    runs = longest_runs(start(deal), RULES["relaxed"])
    assert {move: (run.length, run.openness) for move, run in runs.items()} == {"6": (35, 0), "7": (35, 0)}


# -- soak -------------------------------------------------------------------------------------------------


@pytest.mark.soak
def test_twenty_thousand_random_positions_agree_with_the_solver() -> None:
    dice = random.Random("twenty thousand positions")
    for count in range(SOAKED):
        rules = list(RULES.values())[count % len(RULES)]
        position, line = random_position(rules, dice)
        analysis = analyse(position, rules)
        check_values(analysis, line)
        check_hint(analysis, by_search)
        if position.cards_left <= SMALL:
            check_values_naively(analysis)
            check_hint(analysis, naively)
