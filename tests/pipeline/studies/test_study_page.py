"""The committed results of the study: the page and the chart show the counts, and the counts are right."""

import re
from collections import Counter
from pathlib import Path

import pytest

from pipeline.deals.shuffle import deal_numbered
from pipeline.studies.statistics import Mean
from pipeline.studies.study import count_numbers
from pipeline.studies.study_schema import read_blocks, read_whole
from pipeline.studies.winnability import SCORES, Block, Findings, Study, findings
from solver.table.rules import RULES
from solver.table.score import CLEARED_SCORES
from tests.support.reference import REFERENCE
from tests.twins.yardstick import best_scores, build, compiler

FOLDER = REFERENCE / "study"
DEALS = 1_000_000
SOAK_BLOCKS = (0, 49, 99)


@pytest.fixture(scope="module")
def results() -> dict[str, Findings]:
    return {rules: findings(read_whole((FOLDER / f"{rules}.parquet").read_bytes(), rules)) for rules in RULES}


def minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def percent(share: float) -> str:
    return f"{100 * share:.3f} %"


def test_each_king_rule_was_studied_over_the_same_million_deals(results: dict[str, Findings]) -> None:
    studies = {rules: found.whole.study for rules, found in results.items()}
    assert studies == {rules: Study(rules, fewest=True, first=0, count=DEALS) for rules in RULES}


def test_golf_agrees_with_the_published_share(results: dict[str, Findings]) -> None:
    comparison = results["golf"].comparison
    assert comparison is not None
    assert comparison.difference.p > 0.05


def test_the_page_shows_every_figure_of_the_counts(results: dict[str, Findings]) -> None:
    page = (FOLDER / "README.md").read_text("utf-8")
    for rules, found in results.items():
        interval = f"{percent(found.interval.low)} to {percent(found.interval.high)}"
        assert re.search(
            rf"\| `{rules}` \|.*\| {found.whole.cleared:,} \| {percent(found.share)} \| {interval} \|", page
        )
        seen = [score for score, count in zip(SCORES, found.whole.scores, strict=True) if count]
        assert (
            f"| `{rules}` | {mean_cells(found.cleared_mean)} | {mean_cells(found.mean)}"
            f" | {minus(str(seen[0]))} | {minus(str(seen[-1]))} |"
        ) in page
    counts = [found.whole.scores for found in results.values()]
    for score, row in zip(SCORES, zip(*counts, strict=True), strict=True):
        cells = " | ".join(f"{count:,} | {percent(count / DEALS)}" for count in row)
        assert (f"| {minus(str(score))} | {cells} |" in page) == any(row)


def mean_cells(mean: Mean | None) -> str:
    assert mean is not None
    assert mean.spread is not None
    return f"{minus(f'{mean.value:+.4f}')} ± {mean.spread.margin:.4f} | {mean.spread.sd:.3f}"


def test_the_chart_shows_the_counts(results: dict[str, Findings]) -> None:
    chart = (FOLDER / "chart.svg").read_text("utf-8")
    for rules, found in results.items():
        assert f"<!-- {rules} (on a King: " in chart
        assert f"<!-- {100 * found.share:.2f} % (" in chart


def blocks_of(rules: str) -> list[Block]:
    path = FOLDER / f"{rules}.parquet"
    return list(read_blocks(path.read_bytes(), str(path)))


@pytest.mark.soak
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("at", SOAK_BLOCKS)
def test_counting_a_block_again_gives_the_same_counts(rules: str, at: int) -> None:
    block = blocks_of(rules)[at]
    assert count_numbers(block.study) == block


@pytest.mark.soak
@pytest.mark.parametrize("rules", RULES)
def test_the_yardstick_gives_the_same_counts(rules: str, tmp_path: Path) -> None:
    if compiler() is None:
        pytest.skip("this machine has no C compiler")
    block = blocks_of(rules)[SOAK_BLOCKS[1]]
    deals = [deal_numbered(number) for number in range(block.study.first, block.study.last + 1)]
    best = Counter(best_scores(build(tmp_path), rules, deals))
    assert block.scores[:CLEARED_SCORES] == tuple(best[str(score)] for score in SCORES[:CLEARED_SCORES])
    assert block.study.count - block.cleared == best["-"]
