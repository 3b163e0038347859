"""Certifying meets the frozen reference, is pure, and stores nothing that the replay does not confirm."""

import dataclasses
import json
import pickle
from collections.abc import Sequence
from typing import Any

import pytest

from pipeline.deals.batches import certify_batch
from pipeline.deals.certify import certify
from pipeline.deals.columns import Row, row_of
from pipeline.deals.levels import LEVELS, POLICIES_V1, Level, level_named
from pipeline.deals.shuffle import MOST_DEAL_NUMBER, deal_numbered
from pipeline.errors import CheckError
from solver.errors import UsageError
from solver.search import exact as search
from solver.search.exact import Solution
from solver.table.deal import Deal, parse_deal
from solver.table.rules import Rules
from tests.support.reference import REFERENCE

FROZEN = json.loads((REFERENCE / "frozen_v1.json").read_text())["deals"]


@pytest.mark.parametrize(
    "level", [Level(name, policy) for name, policy in POLICIES_V1.items()], ids=POLICIES_V1
)
def test_certified_deals_are_those_of_the_frozen_reference(level: Level) -> None:
    for row in FROZEN:
        expected = row[level.rules.name]
        number = int(row["deal_number"])
        certified = certify(level, parse_deal(row["deal"]), number)
        if expected["admitted_by"] is None:
            assert certified is None, number
            continue
        assert certified is not None, number
        assert (certified.level, certified.deal_number, certified.rules) == (
            level.name,
            number,
            level.rules.name,
        )
        assert (certified.par, certified.best_score, certified.line) == (
            expected["par"],
            expected["best_score"],
            expected["line"],
        )
        assert certified.draws == expected["line"].count("D")
        assert [str(mass) for mass in certified.distribution.masses] == expected["steady_mass"]
        assert certified.deal.puzzle_id == row["puzzle_id"]


@pytest.fixture(scope="module")
def batch() -> tuple[Row, ...]:
    return certify_batch(LEVELS["medium"], 3, 20).rows


def test_a_batch_is_its_deals_one_by_one(batch: tuple[Row, ...]) -> None:
    level = level_named("medium")
    singly = [certify(level, deal_numbered(number), number) for number in range(3, 23)]
    assert batch == tuple(row_of(one) for one in singly if one is not None)
    assert batch


def test_a_batch_does_not_depend_on_where_it_is_cut(batch: tuple[Row, ...]) -> None:
    assert certify_batch(LEVELS["medium"], 3, 7).rows + certify_batch(LEVELS["medium"], 10, 13).rows == batch


def test_a_batch_travels_between_processes(batch: tuple[Row, ...]) -> None:
    assert pickle.loads(pickle.dumps(batch)) == batch
    assert pickle.loads(pickle.dumps(certify_batch)) is certify_batch


@pytest.mark.parametrize(
    ("first", "count"), [(-1, 5), (0, 0), (5, -1), (MOST_DEAL_NUMBER, 2), (MOST_DEAL_NUMBER + 1, 1)]
)
def test_numbers_out_of_range_are_refused(first: int, count: int) -> None:
    with pytest.raises(UsageError, match="are not in 0"):
        certify_batch(LEVELS["medium"], first, count)


def test_the_last_deal_number_is_in_range() -> None:
    assert len(certify_batch(LEVELS["easy"], MOST_DEAL_NUMBER, 1).rows) <= 1


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        ({"line": "1234567D"}, "fails its replay: move"),
        ({"line": ""}, "cards_left=35"),
        ({"line": None}, "cards_left=35"),
        ({"best_score": -16}, "the search claims score"),
        ({"draws": 0}, "the search claims score"),
    ],
)
def test_a_search_that_errs_stops_everything(
    monkeypatch: pytest.MonkeyPatch, lie: dict[str, Any], message: str
) -> None:
    def lying(deals: Sequence[Deal], rules: Rules, *, fewest: bool = True) -> list[Solution]:
        return [dataclasses.replace(solution, **lie) for solution in honest(deals, rules, fewest=fewest)]

    honest = search.solve_each
    number = certify_batch(LEVELS["medium"], 0, 20).rows[0].deal_number
    monkeypatch.setattr(search, "solve_each", lying)
    with pytest.raises(CheckError, match=f"^medium deal {number}: .*{message}") as caught:
        certify_batch(LEVELS["medium"], number, 1)
    assert "\n" not in str(caught.value)
