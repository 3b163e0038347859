"""The winnability study: what it asks, what it counts, and the statistics derived from the counts.

A study takes consecutive deal numbers and counts how many deals can be cleared and how often each best score
(golf scoring) occurs. The numbers name shuffles (shuffle v1), so they are a random sample of all deals.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
from solver.table.score import CLEARED_SCORES, HIGHEST_SCORE, LOWEST_SCORE, SCORE_COUNT

BLOCK_NUMBERS: Final = 10_000  # some ten seconds of work
MAX_NUMBERS: Final = 1_000_000_000

SCORES: Final = range(LOWEST_SCORE, HIGHEST_SCORE + 1)
"""How many of `SCORES`, from the first, belong to cleared holes: -16 .. 0."""


@dataclass(frozen=True, slots=True)
class Study:
    """Consecutive deal numbers under one King rule.

    Attributes:
        rules: name of the rules.
        fewest: whether to find the fewest cards left for deals that cannot be cleared.
        first: the first deal number.
        count: how many deal numbers, 1 .. `MAX_NUMBERS`.

    Raises:
        UsageError: the rules are unknown or the numbers are out of range.
    """

    rules: str
    fewest: bool
    first: int
    count: int

    def __post_init__(self) -> None:
        rules_named(self.rules)
        if not 1 <= self.count <= MAX_NUMBERS:
            raise UsageError(f"{self.count} deals are out of range; give 1 .. {MAX_NUMBERS}")
        if not 0 <= self.first <= self.last <= MOST_DEAL_NUMBER:
            raise UsageError(
                f"{self.count} deals from number {self.first} on are not in 0 .. {MOST_DEAL_NUMBER}"
            )

    @property
    def last(self) -> int:
        """The last deal number."""
        return self.first + self.count - 1

    def split(self, size: int) -> Iterator["Study"]:
        """Split at the multiples of a number; the first and the last piece may be smaller."""
        first = self.first
        while first <= self.last:
            end = min((first // size + 1) * size, self.last + 1)
            yield Study(self.rules, self.fewest, first, end - first)
            first = end


@dataclass(frozen=True, slots=True)
class Block:
    """Counts over the deal numbers of a study.

    Attributes:
        study: the numbers and the rules.
        cleared: how many of the deals can be cleared.
        scores: how many deals have each best score, -16 .. 35. Without `fewest`, deals that cannot be
            cleared are not counted here.

    Raises:
        ValueError: the counts contradict one another or the study.
    """

    study: Study
    cleared: int
    scores: tuple[int, ...]

    def __post_init__(self) -> None:
        is_sound = (
            len(self.scores) == SCORE_COUNT
            and min(self.scores) >= 0
            and sum(self.scores[:CLEARED_SCORES]) == self.cleared <= self.study.count
            and sum(self.scores) == (self.study.count if self.study.fewest else self.cleared)
        )
        if not is_sound:
            raise ValueError(
                f"the counts from number {self.study.first} on do not add up to {self.study.count} deals"
            )


@dataclass(frozen=True, slots=True)
class Published:
    """A share published by others: the source, and the deals that can be cleared, of all that were tried."""

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
    """The difference of a study's share from a published one, by the test of two proportions."""

    published: Published
    difference: Difference


@dataclass(frozen=True, slots=True)
class Findings:
    """Statistics derived from the counts of a study.

    Attributes:
        whole: the counts over all numbers.
        share: of deals that can be cleared.
        interval: Wilson 95 % interval of that share.
        cleared_mean: mean best score of deals that can be cleared; None if there are none.
        mean: mean best score of all deals; None without `fewest`.
        comparison: with a published share; None if we know of none.
    """

    whole: Block
    share: float
    interval: Interval
    cleared_mean: Mean | None
    mean: Mean | None
    comparison: Comparison | None


def findings(whole: Block) -> Findings:
    """Derive the statistics of a study from its counts."""
    sample = Sample(whole.cleared, whole.study.count)
    counts = dict(zip(SCORES, whole.scores, strict=True))
    cleared_counts = {score: counts[score] for score in SCORES[:CLEARED_SCORES]}
    published = PUBLISHED.get(whole.study.rules)
    return Findings(
        whole=whole,
        share=sample.share,
        interval=wilson_interval(sample),
        cleared_mean=mean_of(cleared_counts),
        mean=mean_of(counts) if whole.study.fewest else None,
        comparison=Comparison(published, difference(sample, published.sample)) if published else None,
    )


def joined(blocks: Sequence[Block]) -> Block:
    """Add up the counts of consecutive blocks.

    Raises:
        ValueError: there are no blocks, or they are not consecutive or have different rules.
    """
    if not blocks:
        raise ValueError("there are no blocks to join")
    start = blocks[0].study
    first = start.first
    for block in blocks:
        if block.study != Study(start.rules, start.fewest, first, block.study.count):
            raise ValueError(f"the block from number {block.study.first} on does not follow; {first} is next")
        first = block.study.last + 1
    counts = zip(*(block.scores for block in blocks), strict=True)
    return Block(
        Study(start.rules, start.fewest, start.first, first - start.first),
        sum(block.cleared for block in blocks),
        tuple(map(sum, counts)),
    )
