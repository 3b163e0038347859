"""A study is cut into blocks that make it up exactly, and what is found depends on the counts alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.studies.statistics import Z_95, Sample
from pipeline.studies.winnability import (
    BLOCK_NUMBERS,
    CLEARED_COUNT,
    MOST_NUMBERS,
    PUBLISHED,
    SCORES,
    Block,
    Study,
    aligned,
    findings,
    joined,
    pieces,
)
from solver.errors import UsageError
from solver.table.rules import RULES


def block(study: Study) -> Block:
    """Counts made up from each number by itself: those of a study are the sum of those of its parts."""
    counts = dict.fromkeys(SCORES, 0)
    for number in range(study.first, study.last + 1):
        score = number * number % len(SCORES) + SCORES[0]
        if study.fewest or score <= 0:
            counts[score] += 1
    return Block(study, tuple(counts.values()))


SPANS = st.tuples(st.integers(0, 4 * BLOCK_NUMBERS), st.integers(1, 2 * BLOCK_NUMBERS))


@given(SPANS, st.lists(SPANS, max_size=12))
def test_the_pieces_make_up_the_study_whatever_is_there(
    span: tuple[int, int], spans: list[tuple[int, int]]
) -> None:
    study = Study("golf", True, *span)
    there = [Study("golf", True, *each) for each in spans]
    cut = list(pieces(study, there))
    at = study.first
    for piece, is_there in cut:
        assert piece.first == at
        assert (piece.rules, piece.fewest) == (study.rules, study.fewest)
        assert piece.first // BLOCK_NUMBERS == piece.last // BLOCK_NUMBERS
        assert is_there == (piece in there)
        at = piece.last + 1
    assert at == study.last + 1


@given(SPANS, st.data())
def test_no_block_that_fits_between_the_others_is_made_again(
    span: tuple[int, int], data: st.DataObject
) -> None:
    """Whatever blocks of a finished study are left, all of them are taken."""
    study = Study("relaxed", False, *span)
    whole = [piece for piece, _ in pieces(study, [])]
    there = data.draw(st.lists(st.sampled_from(whole), unique=True))
    assert {piece for piece, is_there in pieces(study, there) if is_there} == set(there)
    assert [piece for piece, _ in pieces(study, there)] == whole


def test_a_smaller_study_is_taken_up_by_a_larger_one() -> None:
    small = [piece for piece, _ in pieces(Study("golf", False, 3, 24_000), [])]
    large = list(pieces(Study("golf", False, 0, 30_000), small))
    assert [(piece.first, piece.last, is_there) for piece, is_there in large] == [
        (0, 2, False),
        (3, 9_999, True),
        (10_000, 19_999, True),
        (20_000, 24_002, True),
        (24_003, 29_999, False),
    ]


@pytest.mark.parametrize("other", [Study("golf", True, 0, 10), Study("relaxed", False, 0, 10)])
def test_blocks_of_another_question_are_none_of_ours(other: Study) -> None:
    study = Study("golf", False, 0, 10)
    assert list(pieces(study, [other])) == [(study, False)]


@given(SPANS, st.lists(SPANS, max_size=6), st.booleans())
def test_counts_do_not_depend_on_how_they_were_cut(
    span: tuple[int, int], spans: list[tuple[int, int]], fewest: bool
) -> None:
    study = Study("golf", fewest, *span)
    there = [Study("golf", fewest, *each) for each in spans]
    blocks = [block(piece) for piece, _ in pieces(study, there)]
    assert joined(blocks) == block(study)
    assert aligned(blocks) == tuple(block(piece) for piece, _ in pieces(study, []))


def test_only_blocks_that_follow_one_another_are_joined() -> None:
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
        ("golf", 0, MOST_NUMBERS + 1, "deals are out of range"),
        ("golf", -1, 1, "from number -1 on"),
        ("golf", MOST_DEAL_NUMBER, 2, f"are not in 0 .. {MOST_DEAL_NUMBER}"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(
    rules: str, first: int, count: int, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        Study(rules, False, first, count)


def test_the_last_numbers_there_are_can_be_studied() -> None:
    study = Study("golf", False, MOST_DEAL_NUMBER - 1, 2)
    assert list(pieces(study, [])) == [(study, False)]


def scores(*counts: tuple[int, int]) -> tuple[int, ...]:
    return tuple(dict(counts).get(score, 0) for score in SCORES)


@pytest.mark.parametrize(
    ("fewest", "counted"),
    [
        (True, scores((0, 9))),
        (True, scores((0, 11))),
        (False, scores((0, 11))),
        (False, scores((0, 9), (1, 1))),
        (True, scores((0, 11), (1, -1))),
        (True, (10,)),
    ],
)
def test_counts_that_do_not_add_up_are_refused(fewest: bool, counted: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="add up"):
        Block(Study("golf", fewest, 0, 10), counted)


def test_cleared_deals_are_those_that_score_at_most_0() -> None:
    assert list(SCORES)[:CLEARED_COUNT] == [score for score in SCORES if score <= 0]
    assert Block(Study("golf", True, 0, 10), scores((-3, 2), (0, 3), (1, 5))).cleared == 5


def test_what_is_found_in_four_deals() -> None:
    found = findings(Block(Study("relaxed", True, 0, 4), scores((-3, 1), (0, 1), (2, 2))))
    assert found.share == 0.5
    assert found.interval.low + found.interval.high == pytest.approx(1)
    assert found.cleared_mean is not None
    assert (found.cleared_mean.size, found.cleared_mean.value) == (2, -1.5)
    assert found.mean is not None
    assert (found.mean.size, found.mean.value) == (4, 0.25)
    assert found.comparison is None


def test_without_the_fewest_cards_left_there_is_no_mean_of_all() -> None:
    found = findings(Block(Study("golf", False, 0, 4), scores((-3, 1))))
    assert found.mean is None
    assert found.cleared_mean is not None
    assert findings(Block(Study("golf", False, 0, 4), scores())).cleared_mean is None


def test_the_published_share_has_the_published_interval() -> None:
    """45.109 % +- 0.032 %: the half-width that 10^7 deals give is 0.031 %."""
    sample = PUBLISHED["golf"].sample
    assert sample == Sample(4_510_900, 10**7)
    half_width = Z_95 * (sample.share * (1 - sample.share) / sample.trials) ** 0.5
    assert half_width == pytest.approx(0.00032, abs=0.000015)
    assert set(PUBLISHED) <= set(RULES)


@pytest.mark.parametrize(("cleared", "agrees"), [(451_000, True), (452_500, False), (449_000, False)])
def test_a_million_deals_tell_a_wrong_share_from_the_published_one(cleared: int, agrees: bool) -> None:
    found = findings(Block(Study("golf", False, 0, 1_000_000), scores((0, cleared))))
    assert found.comparison is not None
    assert (found.comparison.difference.p > 0.05) == agrees
