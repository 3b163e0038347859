"""Results are checked: lines are replayed, impossible scores refused, and each hole is rated once."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from fractions import Fraction

import pytest

from pipeline.deals.levels import par_of_mean
from pipeline.deals.shuffle import deal_numbered
from pipeline.errors import CheckError, DamagedError
from pipeline.play import results
from pipeline.play.results import Hole, Played, Result, checked, played, rated_daily, rated_deal
from pipeline.work.executors import Work
from solver.errors import LineError, UsageError
from solver.players.steady import rate
from solver.search.exact import solve
from solver.table.deal import Deal
from solver.table.moves import after
from solver.table.rules import RULES, Rules
from tests.support.doubles import MemoryStorage
from tests.support.holes import random_deal, random_line
from tests.support.reference import REFERENCE

GOLF = RULES["golf"]
DAY = date(2026, 11, 30)
WORK = Work(ThreadPoolExecutor(2), ahead=4)
STORAGE = MemoryStorage()
STORAGE.create(f"daily/{DAY}.json", (REFERENCE / f"daily-{DAY}.json").read_bytes())


def result(
    hole: Hole = DAY,
    line: str | None = None,
    score: int | None = None,
    *,
    number: int | None = None,
    where: str = "here",
    seconds: float | None = None,
) -> Result:
    return Result(where, hole, number, line, score, seconds)


def check(*given: Result) -> list[Played]:
    return list(checked(given, STORAGE, WORK))


def longest_run(line: str) -> int:
    """Slow twin: the plays up to the next draw, from each move on."""
    return max((len(line[at:].split("D")[0]) for at in range(len(line))), default=0)


@pytest.mark.parametrize("rules", RULES.values(), ids=list(RULES))
def test_a_line_gives_score_moves_and_longest_run(rules: Rules) -> None:
    dice = random.Random(7)
    for _ in range(20):
        deal = random_deal(dice)
        whole = random_line(deal, rules, dice, 0.2)
        line = whole[: dice.randrange(len(whole) + 1)]
        (found,) = check(result((deal, rules), line, seconds=3.5))
        position = after(deal, rules, line)
        assert found.score == (position.cards_left or -position.stock_left)
        assert found.cleared == (position.cards_left == 0)
        assert (found.moves, found.longest_run, found.seconds) == (len(line), longest_run(line), 3.5)


@pytest.mark.parametrize("rules", RULES.values(), ids=list(RULES))
def test_a_hole_is_rated_with_the_steady_player(rules: Rules) -> None:
    deal = deal_numbered(617)
    hole, distribution = rated_deal(deal, rules), rate(deal, rules)
    assert hole.par == par_of_mean(distribution.mean_exact)
    assert hole.steady_mean == distribution.mean_exact
    assert hole.steady_at_par == distribution.at_most(hole.par)
    assert distribution.at_most(hole.reached - 1) == 0 < distribution.at_most(hole.reached)


def test_a_possible_score_without_a_line_is_accepted() -> None:
    deal = deal_numbered(617)
    best = solve(deal, GOLF)
    assert best.best_score is not None
    (found,) = check(result((deal, GOLF), score=best.best_score, number=617))
    assert (found.score, found.number, found.moves, found.longest_run) == (best.best_score, 617, None, None)
    assert check(result((deal, GOLF), best.line, best.best_score)) == check(result((deal, GOLF), best.line))
    with pytest.raises(UsageError, match=r"here: a score of -6 is not possible; the best is -5$"):
        check(result((deal, GOLF), score=best.best_score - 1))


@pytest.mark.parametrize("rules", RULES.values(), ids=list(RULES))
def test_exactly_the_scores_from_the_best_one_on_are_accepted(rules: Rules) -> None:
    for number in range(30):
        hole = rated_deal(deal_numbered(number), rules)
        best = solve(hole.deal, rules).best_score
        assert best is not None
        assert best <= hole.reached
        for score in (best, hole.reached):
            assert played(result(score=score), hole).score == score
        with pytest.raises(UsageError, match=f"the best is {best}$"):
            played(result(score=best - 1), hole)


def test_a_score_must_agree_with_its_line() -> None:
    with pytest.raises(UsageError, match=r"here: the score is given as 3, but the line scores 34; omit one"):
        check(result((deal_numbered(617), GOLF), "D6", 3))


def test_the_place_of_an_illegal_move_is_reported() -> None:
    words = r"^a\.jsonl, line 3: move 1 of the line, '7', is not legal; legal there: D$"
    with pytest.raises(LineError, match=words) as caught:
        check(result((deal_numbered(617), GOLF), "7", where="a.jsonl, line 3"))
    assert (caught.value.index, caught.value.move, caught.value.legal) == (0, "7", "D")


def test_a_result_needs_a_line_or_a_score() -> None:
    with pytest.raises(UsageError, match=r"^here: neither a line nor a score; give one of them$"):
        played(result(), rated_daily(STORAGE, DAY))


def test_a_daily_is_compared_with_the_published_figures() -> None:
    hole = rated_daily(STORAGE, DAY)
    rated = rated_deal(hole.deal, hole.rules)
    assert (hole.par, hole.reached) == (rated.par, solve(hole.deal, hole.rules).best_score) == (4, 0)
    assert abs(hole.steady_mean - rated.steady_mean) < Fraction(1, 10**9)
    assert hole.steady_at_par == pytest.approx(rated.steady_at_par, abs=1e-8)
    (found,) = check(result(DAY, score=0))
    assert (found.day, found.number, found.against_par) == (DAY, None, -4)


def test_a_daily_that_is_not_published_is_reported_with_its_line() -> None:
    with pytest.raises(CheckError, match=r"^line 2: the Daily hole of 2026-12-01 is not published"):
        check(result(date(2026, 12, 1), score=3, where="line 2"))


def test_a_damaged_daily_is_refused() -> None:
    storage = MemoryStorage()
    data = STORAGE.read(f"daily/{DAY}.json")
    storage.create(f"daily/{DAY}.json", data.replace(b'"par":4', b'"par":5'))
    with pytest.raises(DamagedError, match="par"):
        rated_daily(storage, DAY)


def test_each_hole_is_rated_once_and_results_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    rated: list[tuple[Deal, str]] = []

    def counted(deal: Deal, rules: Rules) -> results.RatedHole:
        rated.append((deal, rules.name))
        return rated_deal(deal, rules)

    monkeypatch.setattr(results, "rated_deal", counted)
    monkeypatch.setattr(results, "_CHUNK", 5)
    dice = random.Random(5)
    holes = [(deal_numbered(number), rules) for number in range(3) for rules in RULES.values()]
    given = [result(dice.choice(holes), score=dice.randrange(10, 36)) for _ in range(60)]
    found = check(*given)
    assert [each.score for each in found] == [each.score for each in given]
    assert [(each.hole.deal, each.hole.rules) for each in found] == [each.hole for each in given]
    assert len(rated) == len(set(rated)) == len({each.hole for each in given})


def test_the_first_fault_is_reported_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty() -> Iterator[Result]:
        yield result(score=3)
        yield result(score=-9, where="line 2")
        raise UsageError("line 3 is not JSON")

    with pytest.raises(UsageError, match="line 2"):
        list(checked(faulty(), STORAGE, WORK))
    with pytest.raises(UsageError, match="line 2"):
        check(result(score=-9, where="line 2"), result(date(2026, 12, 1), score=3))
    monkeypatch.setattr(results, "played", lambda each, _: each)
    seen: list[Played] = []
    with pytest.raises(UsageError, match="line 3"):
        seen.extend(checked(faulty(), STORAGE, WORK))
    assert len(seen) == 2


def test_results_are_read_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "_CHUNK", 10)
    taken = 0

    def endless() -> Iterator[Result]:
        nonlocal taken
        while True:
            taken += 1
            yield result(score=3)

    found = checked(endless(), STORAGE, WORK)
    assert [next(found).score for _ in range(11)] == [3] * 11
    assert taken == 20
