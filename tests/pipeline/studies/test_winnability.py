"""Studies are split and joined without loss, and findings are derived from the counts alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.studies.statistics import Z_95, Sample
from pipeline.studies.winnability import (
    BLOCK_NUMBERS,
    MAX_NUMBERS,
    PUBLISHED,
    SCORES,
    Block,
    Study,
    findings,
    joined,
)
from solver.errors import UsageError
from solver.table.rules import RULES
from solver.table.score import CLEARED_SCORES


def block(study: Study) -> Block:
    """Made-up counts; those of a study are the sum of those of its pieces."""
    counts = dict.fromkeys(SCORES, 0)
    for number in range(study.first, study.last + 1):
        score = number * number % len(SCORES) + SCORES[0]
        if study.fewest or score <= 0:
            counts[score] += 1
    return Block(study, sum(list(counts.values())[:CLEARED_SCORES]), tuple(counts.values()))


SPANS = st.tuples(st.integers(0, 4 * BLOCK_NUMBERS), st.integers(1, 2 * BLOCK_NUMBERS))


@given(SPANS, st.sampled_from([7, 50, BLOCK_NUMBERS]))
def test_a_study_is_split_at_the_multiples_of_a_number(span: tuple[int, int], size: int) -> None:
    study = Study("golf", True, *span)
    pieces = list(study.split(size))
    assert [piece.first for piece in pieces[1:]] == list(range(*grid(study, size)))
    assert [piece.last + 1 for piece in pieces[:-1]] == [piece.first for piece in pieces[1:]]
    assert (pieces[0].first, pieces[-1].last) == (study.first, study.last)
    assert {(piece.rules, piece.fewest) for piece in pieces} == {("golf", True)}


def grid(study: Study, size: int) -> tuple[int, int, int]:
    """The multiples within a study, as arguments of `range`."""
    return (study.first // size + 1) * size, study.last + 1, size


@pytest.mark.parametrize("fewest", [False, True])
def test_joining_the_pieces_of_a_study_gives_its_counts(fewest: bool) -> None:
    study = Study("golf", fewest, 30, 500)
    assert joined([block(piece) for piece in study.split(70)]) == block(study)


def test_only_consecutive_blocks_are_joined() -> None:
    first, second = block(Study("golf", True, 0, 10)), block(Study("golf", True, 10, 5))
    other = block(Study("relaxed", True, 10, 5))
    for wrong in ([], [second, first], [first, first], [first, other]):
        with pytest.raises(ValueError, match=r"no blocks|does not follow"):
            joined(wrong)


@pytest.mark.parametrize(
    ("rules", "first", "count", "words"),
    [
        ("blue", 0, 1, "unknown rules 'blue'"),
        ("golf", 0, 0, "0 deals"),
        ("golf", 0, MAX_NUMBERS + 1, "deals are out of range"),
        ("golf", -1, 1, "from number -1 on"),
        ("golf", MOST_DEAL_NUMBER, 2, f"are not in 0 .. {MOST_DEAL_NUMBER}"),
    ],
)
def test_studies_that_are_out_of_range_are_refused(rules: str, first: int, count: int, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Study(rules, False, first, count)


def test_the_highest_deal_numbers_can_be_studied() -> None:
    study = Study("golf", False, MOST_DEAL_NUMBER - 1, 2)
    assert list(study.split(BLOCK_NUMBERS)) == [study]


def scores(*counts: tuple[int, int]) -> tuple[int, ...]:
    return tuple(dict(counts).get(score, 0) for score in SCORES)


@pytest.mark.parametrize(
    ("fewest", "cleared", "counted"),
    [
        (True, 9, scores((0, 9))),
        (True, 11, scores((0, 11))),
        (False, 11, scores((0, 11))),
        (False, 9, scores((0, 9), (1, 1))),
        (True, 11, scores((0, 11), (1, -1))),
        (True, 8, scores((0, 9), (1, 1))),
        (True, 10, (10,)),
    ],
)
def test_contradictory_counts_are_refused(fewest: bool, cleared: int, counted: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="add up"):
        Block(Study("golf", fewest, 0, 10), cleared, counted)


def test_findings_of_four_deals() -> None:
    found = findings(Block(Study("relaxed", True, 0, 4), 2, scores((-3, 1), (0, 1), (2, 2))))
    assert found.share == 0.5
    assert found.interval.low + found.interval.high == pytest.approx(1)
    assert found.cleared_mean is not None
    assert (found.cleared_mean.size, found.cleared_mean.value) == (2, -1.5)
    assert found.mean is not None
    assert (found.mean.size, found.mean.value) == (4, 0.25)
    assert found.comparison is None


def test_there_is_no_mean_of_all_deals_without_fewest() -> None:
    found = findings(Block(Study("golf", False, 0, 4), 1, scores((-3, 1))))
    assert found.mean is None
    assert found.cleared_mean is not None
    assert findings(Block(Study("golf", False, 0, 4), 0, scores())).cleared_mean is None


def test_the_published_share_has_the_published_interval() -> None:
    """45.109 % +- 0.032 %: the half-width that 10^7 deals give is 0.031 %."""
    sample = PUBLISHED["golf"].sample
    assert sample == Sample(4_510_900, 10**7)
    half_width = Z_95 * (sample.share * (1 - sample.share) / sample.trials) ** 0.5
    assert half_width == pytest.approx(0.00032, abs=0.000015)
    assert set(PUBLISHED) <= set(RULES)


@pytest.mark.parametrize(("cleared", "agrees"), [(451_000, True), (452_500, False), (449_000, False)])
def test_a_million_deals_distinguish_a_wrong_share_from_the_published_one(cleared: int, agrees: bool) -> None:
    found = findings(Block(Study("golf", False, 0, 1_000_000), cleared, scores((0, cleared))))
    assert found.comparison is not None
    assert (found.comparison.difference.p > 0.05) == agrees
