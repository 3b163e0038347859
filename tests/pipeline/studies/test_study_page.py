"""The results page of the study says what its counts say, and the counts are those of the solver."""

import re
from collections import Counter
from pathlib import Path

import pytest

from pipeline.deals.shuffle import deal_numbered
from pipeline.studies.study import count_numbers
from pipeline.studies.study_schema import read_blocks
from pipeline.studies.winnability import CLEARED_COUNT, SCORES, Block, Study
from solver.table.rules import RULES
from tests.support.study_page import FOLDER, Results, chart, page, results
from tests.twins.yardstick import best_scores, build, compiler

DEALS = 1_000_000
SOAK_BLOCKS = (0, 49, 99)


@pytest.fixture(scope="module")
def studied() -> Results:
    return results()


def test_the_page_and_its_chart_are_written_from_the_counts(studied: Results) -> None:
    assert (FOLDER / "README.md").read_text("utf-8") == page(studied)
    assert (FOLDER / "chart.svg").read_text("utf-8") == chart(studied)


def test_each_rules_was_studied_over_the_same_million_deals(studied: Results) -> None:
    asked = {rules: found.whole.study for rules, found in studied.items()}
    assert asked == {rules: Study(rules, fewest=True, first=0, count=DEALS) for rules in RULES}


def test_golf_agrees_with_what_others_have_published(studied: Results) -> None:
    compared = studied["golf"].comparison
    assert compared is not None
    assert compared.difference.p > 0.05


def test_the_page_shows_every_share_and_every_score_seen(studied: Results) -> None:
    text = page(studied)
    for found in studied.values():
        assert f"| {found.whole.cleared:,} | {100 * found.share:.3f} % |" in text
        for count in found.whole.scores:
            assert not count or re.search(rf"\| {count:,} \|", text)


def blocks_of(rules: str) -> list[Block]:
    path = FOLDER / f"{rules}.parquet"
    return list(read_blocks(path.read_bytes(), str(path)))


@pytest.mark.soak
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("at", SOAK_BLOCKS)
def test_a_block_counted_anew_is_the_same(rules: str, at: int) -> None:
    block = blocks_of(rules)[at]
    assert count_numbers(block.study) == block


@pytest.mark.soak
@pytest.mark.parametrize("rules", RULES)
def test_a_block_is_that_of_the_yardstick(rules: str, tmp_path: Path) -> None:
    if compiler() is None:
        pytest.skip("this machine has no C compiler")
    block = blocks_of(rules)[SOAK_BLOCKS[1]]
    deals = [deal_numbered(number) for number in range(block.study.first, block.study.last + 1)]
    best = Counter(best_scores(build(tmp_path), rules, deals))
    assert block.scores[:CLEARED_COUNT] == tuple(best[str(score)] for score in SCORES if score <= 0)
    assert block.study.count - block.cleared == best["-"]
