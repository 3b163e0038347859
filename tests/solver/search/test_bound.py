"""The bound of the search is Hall's condition, and never refutes a position that can be cleared."""

import random

import numpy as np
import numpy.typing as npt
import pytest

from solver.cards import DECK_SIZE, rank_of
from solver.search.bound import bound_weights, useful_arcs
from solver.search.buffers import packed, rule_tables, thread_buffers
from solver.search.sweep_kernel import LOW_TABLES, fill_columns, fill_stock
from solver.search.vector import BOUND_BYTES, CELL_BYTES
from solver.table.deal import STOCK_SIZE, TABLEAU_SIZE
from solver.table.moves import Position
from solver.table.rules import RULES, Rules
from tests.support.holes import any_position
from tests.twins import naive

every_rules = pytest.mark.parametrize("rules", RULES.values(), ids=RULES)


def slacks(position: Position, rules: Rules, last: int, spare: int) -> npt.NDArray[np.int8]:
    """Return the slack of each arc from the search's own tables, with `spare` added."""
    buffers, tables = thread_buffers(), rule_tables(rules)
    ranks = np.frombuffer(position.deal.ranks, dtype=np.uint8)
    fill_columns(ranks, tables, buffers)
    fill_stock(ranks, np.int64(last), np.int64(spare), tables, buffers)
    high, low = divmod(packed(position.heights), LOW_TABLES)
    top = rank_of(position.top)
    entry = (STOCK_SIZE + 1 - position.draws) * CELL_BYTES + top
    # A row of `change` is for a play: the card is on the waste and no longer in its column.
    rows = (
        buffers.low[low * BOUND_BYTES :],
        buffers.high[high * BOUND_BYTES :],
        buffers.change[entry * BOUND_BYTES :],
        tables.column_weights[top * BOUND_BYTES :],
    )
    return sum((row[:BOUND_BYTES] for row in rows), start=np.zeros(BOUND_BYTES, dtype=np.int8))


def slow_slack(position: Position, rules: Rules, last: int, arc: tuple[int, ...]) -> int:
    """Return Hall's condition literally: supporters for the ranks of an arc, less the cards that need one."""
    columns = [
        rank_of(card)
        for column, height in zip(position.deal.columns, position.heights, strict=True)
        for card in column[:height]
    ]
    undrawn = [rank_of(card) for card in position.deal.stock[position.draws : last]]
    supporters = [*columns, *undrawn, rank_of(position.top)]
    useful = sum(any(rules.allows(rank, top) for rank in arc) for top in supporters)
    return useful - sum(rank in arc for rank in columns)


@every_rules
def test_the_packed_bound_is_halls_condition_for_each_arc(rules: Rules) -> None:
    dice = random.Random(f"arcs {rules.name}")
    arcs = useful_arcs(rules)[:BOUND_BYTES]
    for _ in range(60):
        position = any_position(dice, dice.randrange(1, 36))
        last, spare = dice.randrange(position.draws, STOCK_SIZE + 1), dice.randrange(10)
        expected = [slow_slack(position, rules, last, arc) + spare for arc in arcs]
        assert slacks(position, rules, last, spare)[: len(arcs)].tolist() == expected


@every_rules
def test_a_position_that_can_be_cleared_is_never_refuted(rules: Rules) -> None:
    dice = random.Random(f"sound {rules.name}")
    refuted = 0
    for _ in range(400):
        position = any_position(dice, dice.randrange(1, 9))
        answer = naive.solve(position, rules.name)
        excluded = bool((slacks(position, rules, STOCK_SIZE, 0) < 0).any())
        refuted += excluded
        assert not (excluded and answer.cleared), position
        if answer.cleared:
            last = position.draws + answer.draws
            assert (slacks(position, rules, last, 0) >= 0).all(), "within the fewest draws"
    assert refuted > 20, "a bound that refutes nothing would pass"


@every_rules
def test_a_bound_loosened_by_the_fewest_cards_left_refutes_no_position(rules: Rules) -> None:
    dice = random.Random(f"spare {rules.name}")
    for _ in range(200):
        position = any_position(dice, dice.randrange(1, 9))
        answer = naive.solve(position, rules.name)
        left = 0 if answer.cleared else answer.best_score
        assert (slacks(position, rules, STOCK_SIZE, left) >= 0).all(), position


def test_no_slack_overflows_its_byte_at_the_extremes() -> None:
    # Every card adds at most 1 to a slack, which is loosened by at most 1 per column card.
    for rules in RULES.values():
        column, supply = bound_weights(rules)
        assert np.abs(column).max() <= 1
        assert set(np.unique(supply)) <= {0, 1}
    assert np.iinfo(np.int8).max >= DECK_SIZE + TABLEAU_SIZE
