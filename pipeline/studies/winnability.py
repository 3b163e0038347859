"""The study of winnability: what is asked, what is counted, and what the counts say.

It asks of consecutive deal numbers how many can be cleared, and how the best scores are distributed. The
numbers name shuffles (shuffle v1), so they are a random sample of all deals.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from pipeline.deals.shuffle import MOST_DEAL_NUMBER
from pipeline.studies.statistics import (
    Difference,
    Interval,
    Mean,
    Sample,
    difference,
    mean_of,
    wilson_interval,
)
from solver.errors import UsageError
from solver.table.rules import rules_named
from solver.table.score import HIGHEST_SCORE, LOWEST_SCORE, SCORE_COUNT

BLOCK_NUMBERS: Final = 10_000  # some ten seconds of work: what a stop can lose
MOST_NUMBERS: Final = 1_000_000_000

SCORES: Final = range(LOWEST_SCORE, HIGHEST_SCORE + 1)
CLEARED_COUNT: Final = 1 - LOWEST_SCORE  # a cleared hole scores at most 0, any other at least 1


@dataclass(frozen=True, slots=True)
class Study:
    """What is asked: consecutive deal numbers under one King rule.

    Attributes:
        rules: name of the rules.
        fewest: whether the fewest cards left are found where a deal cannot be cleared.
        first: the first deal number.
        count: how many, 1 .. `MOST_NUMBERS`.

    Raises:
        UsageError: unknown rules, or numbers out of range.
    """

    rules: str
    fewest: bool
    first: int
    count: int

    def __post_init__(self) -> None:
        rules_named(self.rules)
        if not 1 <= self.count <= MOST_NUMBERS:
            raise UsageError(f"{self.count} deals are out of range; give 1 .. {MOST_NUMBERS}")
        if not 0 <= self.first <= self.last <= MOST_DEAL_NUMBER:
            raise UsageError(
                f"{self.count} deals from number {self.first} on are not in 0 .. {MOST_DEAL_NUMBER}"
            )

    @property
    def last(self) -> int:
        """The last deal number."""
        return self.first + self.count - 1


@dataclass(frozen=True, slots=True)
class Block:
    """What was counted over consecutive deal numbers.

    Attributes:
        study: which numbers, under which rules.
        scores: how many deals have each best score, -16 .. 35. Without `fewest`, those that cannot be
            cleared are counted in none of them.

    Raises:
        ValueError: the counts cannot be those of the study.
    """

    study: Study
    scores: tuple[int, ...]

    def __post_init__(self) -> None:
        counted = sum(self.scores)
        whole = counted == self.study.count if self.study.fewest else counted <= self.study.count
        known = self.study.fewest or not any(self.scores[CLEARED_COUNT:])
        if len(self.scores) != SCORE_COUNT or min(self.scores) < 0 or not whole or not known:
            raise ValueError(f"the counts do not add up to {self.study.count} deals")

    @property
    def cleared(self) -> int:
        """How many of the deals can be cleared."""
        return sum(self.scores[:CLEARED_COUNT])


@dataclass(frozen=True, slots=True)
class Published:
    """Somebody else's figure, to be held against ours.

    Attributes:
        source: where it was published.
        sample: deals that can be cleared, of all that were tried.
    """

    source: str
    sample: Sample


# 45.109 % +- 0.032 % (95 %) of 10^7 random deals. The share is given to five digits, so the count is known
# to 50 deals, a thirtieth of the interval. We know of no exact figures for other rules.
PUBLISHED: Final = {
    "golf": Published(
        "Blake and Gent, JAIR 85 (2026), arXiv 1906.12314", Sample(successes=4_510_900, trials=10_000_000)
    ),
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Ours held against a published figure by the test of two proportions.

    Attributes:
        published: theirs.
        difference: of ours from theirs.
    """

    published: Published
    difference: Difference


@dataclass(frozen=True, slots=True)
class Findings:
    """What the counts of a study say.

    Attributes:
        whole: the counts over all its numbers.
        share: of deals that can be cleared.
        interval: Wilson 95 % interval of that share.
        cleared_mean: of the best scores of deals that can be cleared; None where there are none.
        mean: of the best scores of all deals; None without `fewest`.
        comparison: with what others have published; None where we know of nothing.
    """

    whole: Block
    share: float
    interval: Interval
    cleared_mean: Mean | None
    mean: Mean | None
    comparison: Comparison | None


def findings(whole: Block) -> Findings:
    """What counts say."""
    sample = Sample(whole.cleared, whole.study.count)
    counts = dict(zip(SCORES, whole.scores, strict=True))
    theirs = PUBLISHED.get(whole.study.rules)
    return Findings(
        whole=whole,
        share=sample.share,
        interval=wilson_interval(sample),
        cleared_mean=mean_of({score: count for score, count in counts.items() if score <= 0}),
        mean=mean_of(counts) if whole.study.fewest else None,
        comparison=Comparison(theirs, difference(sample, theirs.sample)) if theirs else None,
    )


def joined(blocks: Sequence[Block]) -> Block:
    """The counts over several blocks, each of which goes on where the one before ends.

    Raises:
        ValueError: there are none, or they do not go on from one another under the same rules.
    """
    if not blocks:
        raise ValueError("there are no blocks to join")
    start = blocks[0].study
    whole = Study(start.rules, start.fewest, start.first, sum(block.study.count for block in blocks))
    at = start.first
    for block in blocks:
        if block.study != Study(start.rules, start.fewest, at, block.study.count):
            raise ValueError(f"the block from number {block.study.first} on does not follow; {at} would")
        at += block.study.count
    scores = zip(*(block.scores for block in blocks), strict=True)
    return Block(whole, tuple(sum(counts) for counts in scores))


def aligned(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The same counts cut at the multiples of `BLOCK_NUMBERS` alone, however they were made.

    Args:
        blocks: as for `joined`, none of them beyond such a multiple.
    """
    cells = groupby(blocks, key=lambda block: block.study.first // BLOCK_NUMBERS)
    return tuple(joined(list(cell)) for _, cell in cells)


def pieces(study: Study, there: Sequence[Study]) -> Iterator[tuple[Study, bool]]:
    """Cut a study into blocks, those that are there already where they fit.

    Args:
        study: what is asked.
        there: finished blocks under the same rules, in any order.

    Yields:
        Blocks in number order that make up the study, each with whether it is there. New ones end at a
        multiple of `BLOCK_NUMBERS`, or where the study ends, or where one that fits begins.
    """
    fitting = {span.first: span for span in sorted(there, key=lambda span: span.count) if _fits(span, study)}
    starts = sorted(fitting, reverse=True)
    at = study.first
    while at <= study.last:
        while starts and starts[-1] < at:
            starts.pop()  # it begins within a longer one
        if at in fitting:
            yield fitting[at], True
            at = fitting[at].last + 1
            continue
        ends = [(at // BLOCK_NUMBERS + 1) * BLOCK_NUMBERS, study.last + 1, *starts[-1:]]
        count = min(ends) - at
        yield Study(study.rules, study.fewest, at, count), False
        at += count


def _fits(span: Study, study: Study) -> bool:
    same = (span.rules, span.fewest) == (study.rules, study.fewest)
    within = study.first <= span.first and span.last <= study.last
    return same and within and span.first // BLOCK_NUMBERS == span.last // BLOCK_NUMBERS
