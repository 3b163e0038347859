"""Rounds agree with the plain walk through the pool, and a growing pool only adds to them."""

import dataclasses
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.deals.levels import HIGHEST_PAR, LEVELS, LOWEST_PAR
from pipeline.errors import CheckError, DamagedError
from pipeline.play import rounds
from pipeline.play.rounds import Place, Round, full_rounds, places, round_of
from pipeline.pools.catalog import Part, Pool, empty_catalog, load_catalog
from pipeline.pools.compact import compact
from pipeline.pools.parts import read_named_part
from pipeline.work.progress import SILENT
from solver.errors import UsageError
from tests.support.doubles import MemoryStorage
from tests.support.pools import LEVEL, regenerated, rows_of, with_nights

COURSES = {name: level.course for name, level in LEVELS.items()}
PARS = st.lists(st.integers(LOWEST_PAR, HIGHEST_PAR), max_size=120)
LEVEL_NAMES = st.sampled_from(list(LEVELS))


def walked(pars: list[int], course: tuple[int, ...]) -> list[Place | None]:
    """Slow twin: look through all rounds, oldest first, for one that still needs the par."""
    cards: list[list[bool]] = []
    found: list[Place | None] = []
    for par in pars:
        if par not in course:
            found.append(None)
            continue
        cards.append([False] * len(course))  # there is always room in a new one
        place = next(
            Place(number, hole)
            for number, card in enumerate(cards, start=1)
            for hole, (taken, of) in enumerate(zip(card, course, strict=True), start=1)
            if of == par and not taken
        )
        cards[place.round - 1][place.hole - 1] = True
        found.append(place)
    return found


@given(PARS, LEVEL_NAMES)
def test_places_agree_with_the_plain_walk(pars: list[int], level: str) -> None:
    assert list(places(pars, COURSES[level])) == walked(pars, COURSES[level])


@given(PARS, LEVEL_NAMES, st.data())
def test_places_can_be_continued_from_any_deal(pars: list[int], level: str, data: st.DataObject) -> None:
    course, cut = COURSES[level], data.draw(st.integers(0, len(pars)))
    rest = places(pars[cut:], course, before=Counter(pars[:cut]))
    assert [*places(pars[:cut], course), *rest] == list(places(pars, course))


@given(PARS, LEVEL_NAMES)
def test_the_number_of_full_rounds(pars: list[int], level: str) -> None:
    taken = Counter(place.round for place in walked(pars, COURSES[level]) if place)
    full = [number for number, holes in sorted(taken.items()) if holes == 9]
    assert full == list(range(1, len(full) + 1)), "older rounds are full before younger ones"
    assert full_rounds(Counter(pars), COURSES[level]) == len(full)


def test_the_courses_are_frozen() -> None:
    assert COURSES == {
        "easy": (3, 3, 3, 3, 4, 3, 3, 3, 3),
        "medium": (3, 5, 3, 5, 4, 5, 3, 5, 3),
        "hard": (5, 4, 5, 4, 5, 4, 5, 4, 5),
    }
    assert {name: sum(course) for name, course in COURSES.items()} == {"easy": 28, "medium": 36, "hard": 41}


def rounds_of(storage: MemoryStorage, pool: Pool) -> list[Round]:
    found: list[Round] = []
    while True:
        try:
            found.append(round_of(storage, pool, len(found) + 1))
        except CheckError:
            return found


@pytest.mark.parametrize("level", LEVELS)
def test_a_round_is_nine_different_deals_of_the_pool_with_the_pars_of_the_course(level: str) -> None:
    storage = MemoryStorage()
    pool = with_nights(storage, (40, 3, 25), level).pool(level)
    rows = {row["deal_number"]: row for row in rows_of(storage, pool.parts).to_pylist()}
    found = rounds_of(storage, pool)
    assert len(found) > 1
    for round_ in found:
        assert tuple(hole.par for hole in round_.holes) == COURSES[level]
        assert [hole.hole for hole in round_.holes] == list(range(1, 10))
        for hole in round_.holes:
            row = rows[hole.deal_number]
            assert (hole.deal, hole.par, hole.best_score) == (row["deal"], row["par"], row["best_score"])
        assert round_.best_score == sum(rows[hole.deal_number]["best_score"] for hole in round_.holes)
    numbers = [hole.deal_number for round_ in found for hole in round_.holes]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("level", LEVELS)
def test_rounds_read_from_parts_agree_with_the_plain_walk(level: str) -> None:
    storage = MemoryStorage()
    pool = with_nights(storage, (1, 30, 2, 9, 14), level).pool(level)
    rows = rows_of(storage, pool.parts).to_pylist()
    for round_ in rounds_of(storage, pool):
        expected = [
            (place.hole, row["deal_number"])
            for place, row in zip(walked([row["par"] for row in rows], COURSES[level]), rows, strict=True)
            if place and place.round == round_.number
        ]
        assert [(hole.hole, hole.deal_number) for hole in round_.holes] == sorted(expected)


def test_growth_and_compaction_keep_the_rounds_and_a_new_generation_has_its_own() -> None:
    storage = MemoryStorage()
    young = rounds_of(storage, with_nights(storage, (20, 20)).pool(LEVEL))
    grown = rounds_of(storage, with_nights(storage, (35,)).pool(LEVEL))
    assert len(grown) > len(young) > 1
    assert grown[: len(young)] == young
    compacted = compact(storage, load_catalog(storage), LEVEL, SILENT)
    assert rounds_of(storage, compacted.pool(LEVEL)) == grown
    first = round_of(storage, regenerated(storage, 40, first=1000).pool(LEVEL), 1)
    assert (first.generation, first.number) == (2, 1)
    assert min(hole.deal_number for hole in first.holes) >= 1000


def test_only_parts_with_deals_of_the_round_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = MemoryStorage()
    pool = with_nights(storage, [10] * 12).pool(LEVEL)
    read: list[Part] = []

    def recorded(storage: MemoryStorage, part: Part, columns: list[str]) -> object:
        read.append(part)
        return read_named_part(storage, part, columns)

    monkeypatch.setattr(rounds, "read_named_part", recorded)
    for number, round_ in enumerate(rounds_of(storage, pool), start=1):
        read.clear()
        assert round_of(storage, pool, number) == round_
        holding = {
            part.path
            for part in pool.parts
            if any(part.first <= hole.deal_number <= part.last for hole in round_.holes)
        }
        assert {part.path for part in read} == holding


def test_a_round_that_does_not_exist_is_refused_with_the_deals_it_needs() -> None:
    storage = MemoryStorage()
    pool = with_nights(storage, (20,)).pool(LEVEL)
    counts = Counter(rows_of(storage, pool.parts)["par"].to_pylist())
    full = full_rounds(counts, COURSES[LEVEL])
    with pytest.raises(
        CheckError, match=rf"level medium has no round 99 yet: its pool is enough for {full};"
    ):
        round_of(storage, pool, 99)
    missing = {par: (full + 1) * n - counts[par] for par, n in Counter(COURSES[LEVEL]).items()}
    words = ", ".join(f"{n} of par {par}" for par, n in sorted(missing.items()) if n > 0)
    with pytest.raises(CheckError, match=rf"the next one needs more deals: {words}; each night adds some"):
        round_of(storage, pool, full + 1)
    with pytest.raises(CheckError, match=r"enough for 0; .*: 8 of par 3, 1 of par 4; each night adds some"):
        round_of(storage, empty_catalog().pool("easy"), 1)
    for number in (0, -1):
        with pytest.raises(UsageError, match=f"there is no round {number}; the first round is 1"):
            round_of(storage, pool, number)


def test_a_part_whose_pars_differ_from_the_catalog_is_damaged() -> None:
    storage = MemoryStorage()
    pool = with_nights(storage, (20,)).pool(LEVEL)
    wrong = dataclasses.replace(pool.parts[0], pars={3: 10, 4: 5, 5: 5})
    with pytest.raises(DamagedError, match="the pars differ from those in catalog"):
        round_of(storage, dataclasses.replace(pool, parts=(wrong,)), 1)
