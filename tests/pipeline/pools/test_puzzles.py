"""The packed set of puzzle ids behaves like a Python set, in a bounded number of bytes."""

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.pools.puzzles import PuzzleIds

MOST = 2**64 - 1
ids = st.integers(0, MOST).map(lambda number: f"{number:016x}")
# Ids that begin their walk at the same few slots, as no hashes would.
crowded = st.integers(0, 20).flatmap(lambda high: st.integers(0, 3).map(lambda low: f"{high:013x}{low:03x}"))


@given(st.lists(ids | crowded), st.lists(ids | crowded), st.sampled_from([0, 1, 5000]))
def test_it_behaves_like_a_set(beginning: list[str], added: list[str], expected: int) -> None:
    packed, plain = PuzzleIds(beginning, expected), set(beginning)
    for puzzle in added:
        assert (puzzle in packed) == (puzzle in plain)
        packed.add(puzzle)
        plain.add(puzzle)
        assert puzzle in packed
    assert len(packed) == len(plain)
    assert all(puzzle in packed for puzzle in plain)


@pytest.mark.parametrize("expected", [0, 50_000])
def test_it_holds_many_ids_with_and_without_growing(expected: int) -> None:
    numbers = random.Random(1)
    there = [f"{numbers.getrandbits(64):016x}" for _ in range(50_000)]
    others = [f"{numbers.getrandbits(64):016x}" for _ in range(10_000)]
    packed = PuzzleIds(there, expected)
    assert len(packed) == len(there)
    assert all(puzzle in packed for puzzle in there)
    assert not any(puzzle in packed for puzzle in others)


@pytest.mark.parametrize(("count", "megabytes"), [(1_000_000, 17), (10_000_000, 135)])
def test_its_size_in_memory_is_bounded(count: int, megabytes: int) -> None:
    tracemalloc.start()
    try:
        packed = PuzzleIds(expected=count)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(packed) == 0
    assert held < megabytes * 1e6


@pytest.mark.parametrize("puzzle", ["0" * 16, "f" * 16, f"{1:016x}"])
def test_the_ends_of_the_range_are_ids_too(puzzle: str) -> None:
    packed = PuzzleIds()
    assert puzzle not in packed
    packed.add(puzzle)
    packed.add(puzzle)
    assert puzzle in packed
    assert len(packed) == 1
