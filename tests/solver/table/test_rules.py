"""The King rules allow the ranks of a table that is written out here."""

import pytest

from solver.cards import RANK_COUNT, RANK_LETTERS
from solver.errors import UsageError
from solver.table.rules import RULES, Rules, rules_named

# The rules written out: what may be played on each rank of the waste, A to K.
BETWEEN = ["A3", "24", "35", "46", "57", "68", "79", "8T", "9J", "TQ", "JK"]
TABLE = {
    "relaxed": ["2K", *BETWEEN, "AQ"],
    "golf": ["2", *BETWEEN, "Q"],
    "dead_king": ["2", *BETWEEN, ""],
}


def test_the_rules_are_those_of_the_table() -> None:
    letters = {
        name: ["".join(RANK_LETTERS[rank] for rank in row) for row in rules.plays_on]
        for name, rules in RULES.items()
    }
    assert letters == TABLE


@pytest.mark.parametrize("rules", RULES.values(), ids=str)
def test_plays_on_and_supporters_are_the_same_relation(rules: Rules) -> None:
    ranks = range(RANK_COUNT)
    allowed = {(rank, top) for rank in ranks for top in ranks if rules.allows(rank, top)}
    assert allowed == {(rank, top) for top in ranks for rank in rules.plays_on[top]}
    assert allowed == {(rank, top) for rank in ranks for top in rules.supporters[rank]}
    rows = (*rules.plays_on, *rules.supporters)
    assert all(list(row) == sorted(set(row)) for row in rows)


def test_each_rule_allows_everything_that_the_harder_one_allows() -> None:
    relaxed, golf, dead_king = (RULES[name].plays_on for name in ("relaxed", "golf", "dead_king"))
    for easy, middle, hard in zip(relaxed, golf, dead_king, strict=True):
        assert set(easy) >= set(middle) >= set(hard)


def test_a_new_king_rule_is_a_row() -> None:
    any_on_king = Rules("any_on_king", on_king=RANK_LETTERS, on_ace="K2")
    assert any_on_king.plays_on[-1] == tuple(range(RANK_COUNT))
    assert any_on_king.plays_on[0] == (1, 12)


def test_rules_are_found_by_name() -> None:
    assert [rules_named(name).name for name in TABLE] == list(RULES) == list(TABLE)


@pytest.mark.parametrize("name", ["", "Golf", "golf ", "medium", "\uff47olf", "golf\0"])
def test_the_error_for_an_unknown_name_lists_the_rules(name: str) -> None:
    with pytest.raises(UsageError, match="the rules are relaxed, golf, dead_king") as caught:
        rules_named(name)
    assert repr(name) in str(caught.value)
