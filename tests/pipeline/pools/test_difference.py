"""The comparison of two pools agrees with a plain count of their rows."""

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import DamagedError
from pipeline.pools.catalog import Pool, load_catalog
from pipeline.pools.difference import Summary, difference
from pipeline.pools.history import generations, states
from pipeline.store.storage import Storage
from solver.table.score import LOWEST_SCORE, SCORE_COUNT
from tests.support.doubles import MemoryStorage, row_with_puzzle_of
from tests.support.pools import LEVEL, admitted, regenerated, rows_of, with_nights


def two_pools(sizes: list[int], size: int, first: int) -> tuple[MemoryStorage, Pool, Pool]:
    """The first generation with these nights, and a second one."""
    storage = MemoryStorage()
    with_nights(storage, sizes)
    regenerated(storage, size, first)
    found = generations(states(storage, load_catalog(storage), LEVEL))
    return storage, found[1].pool, found[2].pool


def check_summary(summary: Summary, rows: list[dict[str, Any]]) -> None:
    """Hold a summary against a plain count; fake deals have all their mass on one score."""
    assert summary.deals == len(rows)
    assert summary.pars == dict(sorted(Counter(row["par"] for row in rows).items()))
    scores = [row["steady_scores"].index(1.0) + LOWEST_SCORE for row in rows]
    mean = Fraction(sum(scores), len(scores))
    variance = sum((score - mean) ** 2 for score in scores) / len(scores)
    assert summary.mean == pytest.approx(float(mean))
    assert summary.sd == pytest.approx(math.sqrt(variance), abs=1e-9)
    assert summary.clear_rate == pytest.approx(sum(score <= 0 for score in scores) / len(scores))
    counts = Counter(scores)
    assert summary.score_distribution == pytest.approx(
        [counts[score] / len(rows) for score in range(LOWEST_SCORE, LOWEST_SCORE + SCORE_COUNT)]
    )
    against = Counter(score - row["par"] for score, row in zip(scores, rows, strict=True))
    found = {score: chance for score, chance in summary.against_par.items() if chance}
    assert found == pytest.approx({score: count / len(rows) for score, count in against.items()})


def rows(storage: Storage, pool: Pool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rows_of(storage, pool.parts).to_pylist()
    return found


@settings(max_examples=15)
@given(
    st.lists(st.integers(1, 20), min_size=1, max_size=3),
    st.integers(1, 30),
    st.sampled_from([0, 7, 50, 9999]),
)
def test_it_agrees_with_a_plain_count(sizes: list[int], size: int, first: int) -> None:
    storage, one, other = two_pools(sizes, size, first)
    found = difference(storage, one, other)
    one_rows, other_rows = rows(storage, one), rows(storage, other)
    check_summary(found.first, one_rows)
    check_summary(found.second, other_rows)
    assert (found.first.generation, found.second.generation) == (1, 2)
    for name, both in (("deal_number", found.same_numbers), ("puzzle_id", found.same_puzzles)):
        assert both == len({row[name] for row in one_rows} & {row[name] for row in other_rows})


def test_a_pool_is_the_same_as_itself() -> None:
    storage, one, _ = two_pools([9, 4], 3, 0)
    found = difference(storage, one, one)
    assert found.first == found.second
    assert (found.same_numbers, found.same_puzzles) == (13, 13)


def test_one_puzzle_under_two_numbers_is_one_puzzle_in_both(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = MemoryStorage()
    with_nights(storage, [5])
    rows = admitted(LEVEL, 0, 2)
    moved = [row_with_puzzle_of(LEVEL, 900 + place, row.deal_number) for place, row in enumerate(rows)]
    monkeypatch.setattr("tests.support.pools.admitted", lambda level, first, count: moved)
    regenerated(storage, 2, 900)
    found = generations(states(storage, load_catalog(storage), LEVEL))
    both = difference(storage, found[1].pool, found[2].pool)
    assert (both.same_numbers, both.same_puzzles) == (0, 2)


def test_a_damaged_part_is_an_error_that_names_it() -> None:
    storage, one, other = two_pools([3], 3, 0)
    storage.files[other.parts[0].path] = b"PAR1"
    with pytest.raises(DamagedError, match=f"^{other.parts[0].path} is damaged"):
        difference(storage, one, other)
