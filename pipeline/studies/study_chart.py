"""The chart of studies: the distribution of best scores under each rules, one below the other."""

from collections.abc import Sequence
from typing import Final

from pipeline.studies.chart import Chart, Panel, svg
from pipeline.studies.winnability import SCORES, Block, findings
from solver.errors import UsageError
from solver.table.rules import rules_named

_X_LABEL: Final = (
    "best score: cards left in the columns; once they are cleared, minus the stock cards not drawn"
)
_PERCENT: Final = 100
_LEAST_SHOWN: Final = 0.1  # percent: a bar of less is half a pixel high
_LAST_AT_LEAST: Final = 14  # so that what is said of deals that cannot be cleared finds room
_RANKS: Final = {"A": "Ace", "J": "Jack", "Q": "Queen", "K": "King"}  # others are read as they are written


def study_chart(studies: Sequence[Block]) -> str:
    """The best scores of studies as SVG.

    Args:
        studies: the counts, each over all of a study's numbers, from the top.

    Raises:
        UsageError: there are none, or they are not of the same deal numbers.
    """
    numbers = sorted({(study.study.first, study.study.last) for study in studies})
    if len(numbers) != 1:
        spans = ", ".join(f"{first} to {last}" for first, last in numbers) or "none"
        raise UsageError(f"a chart compares studies of the same deal numbers; these are of {spans}")
    first, last = numbers[0]
    panels = [_panel(study) for study in studies]
    chart = Chart(
        title="The best score that a deal allows, by exhaustive search",
        subtitle=f"Share of the {last - first + 1:,} deals with numbers {first:,} to {last:,}",
        x_label=_X_LABEL,
        x_range=_range(panels),
        border=0,
        panels=panels,
    )
    return svg(chart)


def _panel(block: Block) -> Panel:
    found = findings(block)
    margin = max(found.share - found.interval.low, found.interval.high - found.share) * _PERCENT
    cleared = f"{found.share * _PERCENT:.2f} % (\N{PLUS-MINUS SIGN}{margin:.2f}) can be cleared"
    others = f"{(1 - found.share) * _PERCENT:.2f} % cannot"
    if found.mean is None:
        others += ": their cards left were not counted"
    else:
        others += f"; mean best score {found.mean.value:+.2f}".replace("-", "\N{MINUS SIGN}")
    shares = {
        score: count / block.study.count * _PERCENT
        for score, count in zip(SCORES, block.scores, strict=True)
        if count
    }
    return Panel(_heading(block.study.rules), cleared, others, shares)


def _heading(name: str) -> str:
    """The rules, with what sets them apart."""
    rules = rules_named(name)
    return f"{name} (on a King: {_ranks(rules.on_king)}; on an Ace: {_ranks(rules.on_ace)})"


def _ranks(letters: str) -> str:
    return " or ".join(_RANKS.get(letter, letter) for letter in letters) or "nothing"


def _range(panels: Sequence[Panel]) -> range:
    """The scores that are shown: those that some panel has a visible bar for, and all between."""
    seen = [score for panel in panels for score, share in panel.bars.items() if share >= _LEAST_SHOWN]
    return range(min([0, *seen]), max([_LAST_AT_LEAST, *seen]) + 1)
