"""Counts agree with the other solvers, and Parquet files of counts are read as they were written."""

import pyarrow.parquet
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.deals.shuffle import MOST_DEAL_NUMBER, deal_numbered
from pipeline.errors import DamagedError
from pipeline.studies.study import count_numbers
from pipeline.studies.study_schema import blocks_bytes, read_blocks
from pipeline.studies.winnability import SCORES, Block, Study
from solver.table.moves import start
from solver.table.rules import RULES
from solver.table.score import CLEARED_SCORES
from tests.support.examples import examples
from tests.support.reference import table
from tests.twins import naive

COUNT = examples(200)
SOME = Study("golf", True, 100, 100)


@pytest.mark.parametrize("fewest", [False, True])
@pytest.mark.parametrize("rules", RULES)
def test_cleared_deals_agree_with_the_yardstick(rules: str, fewest: bool) -> None:
    best = [row[rules] for row in table("yardstick_v1.csv")[:COUNT]]
    found = count_numbers(Study(rules, fewest, 0, COUNT))
    assert found.scores[:CLEARED_SCORES] == tuple(best.count(str(score)) for score in SCORES[:CLEARED_SCORES])
    assert COUNT - found.cleared == best.count("-")
    assert sum(found.scores) == (COUNT if fewest else found.cleared)


@pytest.mark.parametrize(
    "rules", ["dead_king", *(pytest.param(name, marks=pytest.mark.soak) for name in ("golf", "relaxed"))]
)
def test_fewest_cards_left_agree_with_the_reference_solver(rules: str) -> None:
    number = next(int(row["deal_number"]) for row in table("yardstick_v1.csv") if row[rules] == "-")
    left = naive.solve(start(deal_numbered(number)), rules).best_score
    assert left > 0
    assert count_numbers(Study(rules, True, number, 1)).scores == tuple(score == left for score in SCORES)


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    fewest = draw(st.booleans())
    size = len(SCORES) if fewest else CLEARED_SCORES
    counts = draw(st.lists(st.integers(0, 1000), min_size=size, max_size=size))
    unknown = 0 if fewest else draw(st.integers(0, 1000))
    count = sum(counts) + unknown
    assume(count)
    rules, first = draw(st.sampled_from(list(RULES))), draw(st.integers(0, MOST_DEAL_NUMBER - count + 1))
    study = Study(rules, fewest, first, count)
    return Block(study, sum(counts[:CLEARED_SCORES]), (*counts, *[0] * (len(SCORES) - size)))


@given(st.lists(blocks(), max_size=4))
def test_blocks_are_read_as_they_were_written(given_blocks: list[Block]) -> None:
    assert read_blocks(blocks_bytes(given_blocks), "x") == tuple(given_blocks)


def test_unknown_counts_are_null_and_every_column_is_described() -> None:
    block = Block(Study("golf", False, 0, 10), 5, (1,) * 5 + (0,) * 47)
    found = pyarrow.parquet.read_table(pyarrow.BufferReader(blocks_bytes([block])))
    (row,) = found.to_pylist()
    assert row["scores"] == [1] * 5 + [0] * 12 + [None] * 35
    assert (row["cleared"], row["count"]) == (5, 10)
    for field in found.schema:
        assert field.metadata[b"description"]
        assert field.metadata[b"unit"]


@pytest.mark.parametrize(
    ("column", "wrong"), [("cleared", 7), ("count", 7), ("scores", [1] * 52), ("rules", "x")]
)
def test_contradictory_counts_are_reported_as_damage(column: str, wrong: object) -> None:
    whole = pyarrow.parquet.read_table(pyarrow.BufferReader(blocks_bytes([count_numbers(SOME)])))
    at = whole.schema.get_field_index(column)
    field = whole.schema.field(at)
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(whole.set_column(at, field, [pyarrow.array([wrong], field.type)]), sink)
    with pytest.raises(DamagedError, match=r"x\.parquet is damaged: "):
        read_blocks(sink.getvalue().to_pybytes(), "x.parquet")
