"""A player's rounds, averages and streaks agree with a slow count of the same results."""

import random
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.deals.levels import LEVELS
from pipeline.play.player import (
    Average,
    PlayedRound,
    Streak,
    best_of,
    places_in,
    played_rounds,
    player_page,
    rounds_in,
    streak_of,
)
from pipeline.play.rounds import Place, places, round_of
from pipeline.pools.catalog import load_catalog
from pipeline.pools.parts import read_named_part
from tests.support.doubles import MemoryStorage
from tests.support.played import made_up
from tests.support.pools import regenerated, with_nights

FIRST = date(2026, 1, 1)
DAYS = st.sets(st.integers(0, 40).map(lambda n: FIRST + timedelta(n)))
COURSE = LEVELS["medium"].course


def back_from(day: date, days: set[date]) -> int:
    """Number of consecutive dates that end with this one."""
    return 1 + back_from(day - timedelta(1), days) if day in days else 0


@given(DAYS)
def test_streaks_agree_with_counting_back_from_each_date(days: set[date]) -> None:
    if not days:
        assert streak_of(days) == Streak(0, 0, 0, None)
        return
    last = max(days)
    longest = max(back_from(day, days) for day in days)
    assert streak_of(days) == Streak(len(days), longest, back_from(last, days), last)


def slowly_played(scores: dict[int, list[int]], found: dict[int, Place]) -> Counter[tuple[int, int]]:
    """Slow twin: take a score from each hole of a round while all nine have one left."""
    totals: Counter[tuple[int, int]] = Counter()
    left = {number: list(each) for number, each in scores.items()}
    for wanted in {place.round for place in found.values()}:
        deals = {place.hole: number for number, place in found.items() if place.round == wanted}
        while set(deals) == set(range(1, 10)) and all(left[number] for number in deals.values()):
            totals[wanted, sum(left[number].pop(0) for number in deals.values())] += 1
    return totals


@given(st.integers(0, 2**32), st.integers(0, 40), st.integers(1, 4))
def test_rounds_consist_of_the_results_in_turn(dice_number: int, deals: int, most: int) -> None:
    dice = random.Random(dice_number)
    pars = [dice.choice([3, 4, 5]) for _ in range(deals)]
    found = {n: place for n, place in enumerate(places(pars, COURSE)) if place is not None}
    scores = {n: [dice.randrange(-3, 9) for _ in range(dice.randrange(1, most + 1))] for n in found}
    rounds = list(rounds_in("medium", LEVELS["medium"].course, scores, found))
    assert Counter((each.round, each.score) for each in rounds) == slowly_played(scores, found)
    assert all((each.level, each.par) == ("medium", sum(COURSE)) for each in rounds)
    assert [each.round for each in rounds] == sorted(each.round for each in rounds)


def test_a_round_is_won_at_par_and_the_best_is_furthest_under_it() -> None:
    rounds = [
        PlayedRound("medium", 1, 36, 36),
        PlayedRound("hard", 2, 40, 41),
        PlayedRound("hard", 9, 42, 41),
    ]
    assert [each.is_won for each in rounds] == [True, True, False]
    assert [each.against_par for each in rounds] == [0, -1, 1]
    assert best_of(rounds) == rounds[1]
    assert best_of([*rounds, PlayedRound("easy", 1, 27, 28)]) == rounds[1]
    assert best_of([]) is None


@pytest.mark.parametrize("grown", [False, True], ids=["nights", "regenerated"])
def test_places_agree_with_the_rounds_of_the_pool(grown: bool) -> None:
    storage = MemoryStorage()
    catalog = with_nights(storage, [40, 35, 50])
    if grown:
        catalog = regenerated(storage, 80, first=7)
    pool = catalog.pool("medium")
    rounds = [round_of(storage, pool, number) for number in (1, 2, 3)]
    wanted = {hole.deal_number: Place(each.number, hole.hole) for each in rounds for hole in each.holes}
    assert places_in(storage, pool, wanted) == wanted
    numbers = set(read_named_part(storage, pool.parts[0])["deal_number"].to_pylist())
    assert places_in(storage, pool, {max(numbers) + 10**6}) == {}
    some = dict(random.Random(1).sample(sorted(wanted.items()), 5))
    assert places_in(storage, pool, some) == some


def test_only_parts_that_can_contain_a_number_are_read() -> None:
    storage = MemoryStorage()
    pool = with_nights(storage, [40, 35, 50]).pool("medium")
    wanted = {hole.deal_number: hole.hole for hole in round_of(storage, pool, 1).holes}
    before = places_in(storage, pool, wanted)
    storage.remove(pool.parts[2].path)
    assert max(wanted) <= pool.parts[0].last
    storage.remove(pool.parts[1].path)
    assert places_in(storage, pool, wanted) == before


def test_results_on_all_deals_of_a_round_complete_it_whatever_else_was_played() -> None:
    storage = MemoryStorage()
    with_nights(storage, [40])
    catalog = load_catalog(storage)
    one = round_of(storage, catalog.pool("medium"), 1)
    results = [made_up(hole.par, hole.par, number=hole.deal_number) for hole in reversed(one.holes)]
    elsewhere = [
        made_up(-5, day=FIRST),
        made_up(-5, level="hard", number=one.holes[0].deal_number),
        made_up(-5),
        made_up(-5, number=10**9),
    ]
    assert played_rounds([*elsewhere, *results], storage, catalog) == (PlayedRound("medium", 1, 36, 36),)
    assert played_rounds([*results[1:], *elsewhere], storage, catalog) == ()
    again = [made_up(hole.par - 1, hole.par, number=hole.deal_number) for hole in one.holes]
    assert [each.score for each in played_rounds([*results, *again], storage, catalog)] == [36, 27]


def test_a_page_without_results() -> None:
    page = player_page([], [])
    assert (page.holes, page.cleared, page.rounds, page.rounds_won) == (0, 0, 0, 0)
    assert page.by_par == {}
    assert {page.best_round, page.overall, page.longest_run, page.best_seconds} == {None}
    assert page.dailies == page.dailies_cleared == Streak(0, 0, 0, None)


def test_the_figures_of_a_page() -> None:
    results = [
        made_up(-2, 3, seconds=90.5, moves=48, run=7),
        made_up(0, 3, seconds=60, moves=51, run=6),
        # Not cleared, so neither the best time nor the fewest moves.
        made_up(5, 5, seconds=10, moves=20, run=12),
        made_up(4, 3, day=FIRST),
        made_up(9, 3, day=FIRST),
        made_up(4, 3, day=FIRST + timedelta(2)),
        made_up(-1, 3, day=FIRST + timedelta(2)),  # played again
    ]
    rounds = [PlayedRound("easy", 1, 28, 28), PlayedRound("easy", 2, 30, 28)]
    page = player_page(results, rounds)
    assert (page.holes, page.cleared, page.longest_run) == (7, 3, 12)
    assert (page.best_seconds, page.fewest_moves) == (60, 48)
    assert (page.rounds, page.rounds_won, page.best_round) == (2, 1, rounds[0])
    assert page.by_par == {3: Average(6, -4 / 6), 5: Average(1, 0.0)}
    assert page.dailies == Streak(2, 1, 1, FIRST + timedelta(2))
    assert page.dailies_cleared == Streak(1, 1, 1, FIRST + timedelta(2))


@given(DAYS, DAYS)
def test_dailies_played_and_dailies_cleared_have_streaks_of_their_own(
    left: set[date], cleared: set[date]
) -> None:
    results = [made_up(3, day=day) for day in left] + [made_up(-3, day=day) for day in cleared]
    elsewhere = [made_up(-3), made_up(-3, number=7)]  # no Daily holes
    page = player_page([*results, *elsewhere], [])
    assert page.dailies == streak_of(left | cleared)
    assert page.dailies_cleared == streak_of(cleared)


def test_whether_holes_were_cleared_is_never_read_off_their_scores() -> None:
    done = replace(made_up(3, day=FIRST, seconds=60, moves=50), cleared=True)
    not_done = replace(made_up(-3, day=FIRST + timedelta(1), seconds=50, moves=40), cleared=False)
    page = player_page([done, not_done], [])
    assert (page.holes, page.cleared, page.best_seconds, page.fewest_moves) == (2, 1, 60, 50)
    assert page.dailies == Streak(2, 2, 2, FIRST + timedelta(1))
    assert page.dailies_cleared == Streak(1, 1, 1, FIRST)


@given(st.lists(st.tuples(st.integers(-16, 35), st.integers(3, 5)), min_size=1))
def test_averages_agree_with_a_plain_computation(results: list[tuple[int, int]]) -> None:
    page = player_page([made_up(*each) for each in results], [])
    assert page.overall is not None
    assert page.overall.against_par == float(Fraction(sum(s - p for s, p in results), len(results)))
    assert sum(average.holes for average in page.by_par.values()) == len(results)
    for par, average in page.by_par.items():
        against = [score - par for score, of in results if of == par]
        assert average == Average(len(against), float(Fraction(sum(against), len(against))))
