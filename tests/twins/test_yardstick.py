"""The yardstick reproduces the reference data and agrees with the exact search."""

from pathlib import Path

import pytest

from pipeline.deals.shuffle import deal_numbered
from solver.search.exact import solve
from solver.table.rules import RULES, Rules
from tests.support.reference import REFERENCE, table
from tests.twins import yardstick

FIRST_OF_MANY, MANY = 10_000_000, 20_000


def test_the_reference_data_have_every_number_and_the_known_shares_of_cleared_deals() -> None:
    rows = table("yardstick_v1.csv")
    assert [int(row["deal_number"]) for row in rows] == list(range(yardstick.COUNT))
    cleared = {
        name: sum(row[name] != "-" for row in rows) / len(rows) for name in ("relaxed", "golf", "dead_king")
    }
    # Published shares are about 93 %, 45 % and 26 %; three standard errors of 1,000 deals are at most 5 %.
    assert cleared == pytest.approx({"relaxed": 0.93, "golf": 0.45, "dead_king": 0.26}, abs=0.05)


@pytest.mark.soak
@pytest.mark.skipif(yardstick.compiler() is None, reason="this machine has no C compiler")
def test_the_reference_data_are_what_the_yardstick_prints(tmp_path: Path) -> None:
    made = yardstick.reference_data(yardstick.build(tmp_path))
    assert made == (REFERENCE / "yardstick_v1.csv").read_text("ascii")


@pytest.mark.soak
@pytest.mark.skipif(yardstick.compiler() is None, reason="this machine has no C compiler")
@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_twenty_thousand_deals_agree_with_the_yardstick(rules: Rules, tmp_path: Path) -> None:
    deals = [deal_numbered(number) for number in range(FIRST_OF_MANY, FIRST_OF_MANY + MANY)]
    expected = yardstick.best_scores(yardstick.build(tmp_path), rules.name, deals)
    found = [solve(deal, rules, fewest=False) for deal in deals]
    assert [str(one.best_score) if one.cleared else "-" for one in found] == expected
