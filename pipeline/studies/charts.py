"""Charts of best scores, players and calibrations, as SVG or PNG; the only module that imports matplotlib.

Matplotlib is an optional dependency that is slow to load, so callers import this module only to draw. It uses
figures directly, never `pyplot`: no window opens, and no state outlives a chart. With one version of
matplotlib the same data give the same bytes: user settings are ignored, the font is the one that ships with
matplotlib, SVG ids are derived from a fixed salt, and no date is written.
"""

import io
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import log10, nan
from typing import Any, Final, Literal, TypeAlias

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator

from pipeline.studies.calibration import Calibration
from pipeline.studies.players import (
    CELLS_PER_CARD,
    CELLS_PER_TENFOLD,
    LAST_CHANCE_CELL,
    PlayersFindings,
)
from pipeline.studies.winnability import SCORES, Block, Study, findings
from solver.errors import UsageError
from solver.players.difficulty import DIFFICULTY_NAMES, TRIES
from solver.table.rules import rules_named
from solver.table.score import CLEARED_SCORES

Format: TypeAlias = Literal["svg", "png"]

_STYLE: Final[dict[Any, Any]] = {  # the types of matplotlib list every key
    "svg.hashsalt": "fairway",
    "figure.constrained_layout.h_pad": 0.1,  # inches
    "figure.constrained_layout.w_pad": 0.1,
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#818b98",
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "grid.color": "#d8dee4",
    "text.color": "#1f2328",
    "axes.labelcolor": "#59636e",
    "xtick.color": "#818b98",
    "ytick.color": "#818b98",
    "xtick.labelcolor": "#59636e",
    "ytick.labelcolor": "#59636e",
}
_GREEN: Final = "#1a7441"
_GREY: Final = "#a5adb8"
_DARK_GREY: Final = "#59636e"
_PNG_DPI: Final = 144
# Sizes in inches.
_WIDTH: Final = 8.4
_PANEL_HEIGHT: Final = 2.0
_STUDY_MARGIN: Final = 1.0  # title and horizontal axis
_CALIBRATION_HEIGHT: Final = 5.2
_CALIBRATION_MARGIN: Final = 1.2
_COLUMN_WIDTH: Final = 1.35  # one level and par: the longest verdict fits

_PLAYERS_HEIGHT: Final = 5.4
_PLAYERS_PANEL: Final = 3.3
_PLAYERS_MARGIN: Final = 0.9

_FAINTEST: Final = 0.08  # opacity of a cell with next to no deals
_CARDS_A_TICK: Final = 5

_MIN_SHOWN: Final = 0.1  # percent; a shorter bar would be invisible
_MIN_LAST_SCORE: Final = 14  # leaves room for the caption on the right
_HEADROOM: Final = 1.12  # above the highest bar, for the captions
_SCORE_LABEL: Final = (
    "best score: cards left, or, if all are cleared, minus the number of stock cards not drawn"
)
_RANK_NAMES: Final = {"A": "Ace", "J": "Jack", "Q": "Queen", "K": "King"}
_MIN_COLUMNS: Final = 4  # so that the legend fits
_OFFSET: Final = 0.12  # of the two marks, from the middle of their column


def study_chart(studies: Sequence[Block], format_: Format) -> bytes:
    """Draw the distribution of best scores of studies, one panel each on shared axes, from the top.

    Raises:
        UsageError: there are no studies, or they are not of the same deal numbers.
    """
    first, last = _numbers([study.study for study in studies])
    title = "The best score that a deal allows, found by exhaustive search"
    with _figure(_WIDTH, _STUDY_MARGIN + _PANEL_HEIGHT * len(studies)) as figure:
        figure.suptitle(title, weight="bold", size=13)
        panels = figure.subplots(len(studies), sharex=True, sharey=True, squeeze=False)[:, 0]
        for panel, study in zip(panels, studies, strict=True):
            _draw_panel(panel, study)
        panels[0].set_xlim(*_score_limits(studies))
        panels[0].set_ylim(0, _HEADROOM * panels[0].get_ylim()[1])
        deals = f"{last - first + 1:,} deals, numbers {first:,} to {last:,}"
        figure.supxlabel(f"{_SCORE_LABEL}\n{deals}", size=9.5, color=_DARK_GREY)
        return _picture(figure, format_, title)


def players_chart(studies: Sequence[PlayersFindings], format_: Format) -> bytes:
    """Draw how many tries a clear takes against the steady mean, one panel per study on shared axes.

    Raises:
        UsageError: there are no studies, or they are not of the same deal numbers.
    """
    first, last = _numbers([study.study for study in studies])
    title = "How hard a deal is to clear, and how many cards the steady player leaves"
    width = _PLAYERS_MARGIN + _PLAYERS_PANEL * len(studies)
    with _figure(width, _PLAYERS_HEIGHT) as figure:
        figure.suptitle(title, weight="bold", size=13)
        panels = figure.subplots(1, len(studies), sharex=True, sharey=True, squeeze=False)[0]
        for panel, study in zip(panels, studies, strict=True):
            _draw_cells(panel, study)
        panels[0].set_xlim(*_mean_limits(studies))
        panels[0].set_ylim((LAST_CHANCE_CELL + 1) / CELLS_PER_TENFOLD, 0)
        panels[0].set_ylabel("tries that a clear takes the varied player")
        deals = f"those of {last - first + 1:,} deals, numbers {first:,} to {last:,}, that can be cleared"
        label = f"the steady player's mean score; the darker, the more deals\n{deals}"
        figure.supxlabel(label, size=9.5, color=_DARK_GREY)
        return _picture(figure, format_, title)


def calibration_chart(rows: Sequence[Calibration], format_: Format) -> bytes:
    """Draw mean scores against par, of players and of the steady player; at least one row, from the left.

    The bar around the players' mean is the 95 % interval of the difference that the verdict is about: it
    reaches the steady player's mark if the two cannot be distinguished.
    """
    title = "Players against par"
    places = range(len(rows))
    columns = max(len(rows), _MIN_COLUMNS)
    width = _CALIBRATION_MARGIN + _COLUMN_WIDTH * columns
    with _figure(width, _CALIBRATION_HEIGHT) as figure:
        axes = figure.subplots()
        axes.axhline(0, color="black", linewidth=1)
        players = axes.errorbar(
            [place - _OFFSET for place in places],
            [row.score.value - row.par for row in rows],
            yerr=[nan if row.apart.spread is None else row.apart.spread.margin for row in rows],
            fmt="o",
            capsize=4,
            color=_GREEN,
            label="players: mean, with the 95 % interval of its distance from the steady player's",
        )
        (steady,) = axes.plot(
            [place + _OFFSET for place in places],
            [row.steady_mean - row.par for row in rows],
            "D",
            color=_DARK_GREY,
            markerfacecolor="none",
            label="the steady player: mean on the same holes",
        )
        axes.set_xticks(places, [_calibration_label(row) for row in rows])
        middle = (len(rows) - 1) / 2
        axes.set_xlim(middle - columns / 2, middle + columns / 2)
        axes.set_ylabel("score against par")
        axes.set_title(title)
        axes.yaxis.grid(visible=True)
        figure.legend(handles=[players, steady], frameon=False, loc="outside lower left")
        return _picture(figure, format_, title)


def _numbers(studies: Sequence[Study]) -> tuple[int, int]:
    """Return the first and the last deal number of studies, which must be the same for all."""
    ranges = sorted({(study.first, study.last) for study in studies})
    if len(ranges) != 1:
        given = ", ".join(f"{first} to {last}" for first, last in ranges) or "none"
        raise UsageError(f"a chart compares studies of the same deal numbers; the numbers are {given}")
    return ranges[0]


@contextmanager
def _figure(width: float, height: float) -> Iterator[Figure]:
    """An empty figure; inside the block nothing but our style is in force."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield Figure(figsize=(width, height), layout="constrained")


def _picture(figure: Figure, format_: Format, title: str) -> bytes:
    metadata = {"Date": None, "Creator": "Fairway"} if format_ == "svg" else {"Software": "Fairway"}
    stream = io.BytesIO()
    figure.savefig(stream, format=format_, dpi=_PNG_DPI, metadata=metadata | {"Title": title})
    return stream.getvalue()


def _draw_panel(axes: Axes, block: Block) -> None:
    """Draw the distribution of one study: deals that can be cleared in green, the others in grey."""
    shares = [100 * count / block.study.count for count in block.scores]
    for part, color in ((slice(CLEARED_SCORES), _GREEN), (slice(CLEARED_SCORES, None), _GREY)):
        axes.bar(SCORES[part], shares[part], width=0.86, color=color)
    border = SCORES[CLEARED_SCORES] - 0.5
    axes.axvline(border, color=axes.spines["left"].get_edgecolor(), linewidth=0.8)
    axes.set_title(_rules_label(block.study.rules))
    axes.yaxis.grid(visible=True)
    axes.tick_params(length=0)
    axes.xaxis.set_tick_params(labelbottom=True)
    axes.xaxis.set_major_locator(MultipleLocator(5))
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10], integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda percent, _: f"{percent:.0f} %"))
    cleared, others = _captions(block)
    for caption, gap, align, color in ((cleared, -7, "right", _GREEN), (others, 7, "left", _DARK_GREY)):
        axes.annotate(
            caption,
            (border, 1),
            (gap, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            horizontalalignment=align,
            verticalalignment="top",
            color=color,
            weight="bold",
        )


def _draw_cells(axes: Axes, found: PlayersFindings) -> None:
    """Draw the cells of one study, and the borders of the difficulties with their shares."""
    means = range(min((mean for mean, *_ in found.cells), default=0), _next_mean(found))
    most = max((deals for *_, deals in found.cells), default=1)
    shades = [[0.0] * len(means) for _ in range(LAST_CHANCE_CELL + 1)]
    for mean, chance, deals in found.cells:
        shades[chance][mean - means.start] = _FAINTEST + (1 - _FAINTEST) * (deals / most) ** 0.5
    # One picture of all cells: a shape for each would make an SVG twenty times as large.
    axes.imshow(
        [[to_rgba(_GREEN, shade) for shade in row] for row in shades],
        extent=(
            means.start / CELLS_PER_CARD,
            means.stop / CELLS_PER_CARD,
            (LAST_CHANCE_CELL + 1) / CELLS_PER_TENFOLD,
            0,
        ),
        aspect="auto",
        interpolation="nearest",
    )
    axes.set_title(found.study.rules)
    axes.tick_params(length=0)
    axes.xaxis.set_major_locator(MultipleLocator(_CARDS_A_TICK))
    axes.yaxis.set_major_locator(MultipleLocator(2))
    axes.yaxis.set_major_formatter(FuncFormatter(_tries))
    borders = [0.0, *(log10(tries) for tries in TRIES)]
    for border in borders[1:]:
        axes.axhline(border, color=_DARK_GREY, linewidth=0.8)
    for (difficulty, name), border, deals in zip(
        DIFFICULTY_NAMES.items(), borders, found.difficulties, strict=True
    ):
        axes.annotate(
            f"{difficulty} {name}, {100 * deals / max(1, found.cleared):.0f} %",
            (0 if border else 1, border),  # where there are few deals
            (4 if border else -4, -3),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            horizontalalignment="left" if border else "right",
            verticalalignment="top",
            size=9,
            weight="bold",
        )


def _next_mean(found: PlayersFindings) -> int:
    return max((mean for mean, *_ in found.cells), default=0) + 1


def _mean_limits(studies: Sequence[PlayersFindings]) -> tuple[float, float]:
    """Ends of the horizontal axis: from the lowest to the highest mean that is not rare in some panel."""
    shown = []
    for study in studies:
        deals: Counter[int] = Counter()
        for mean, _, count in study.cells:
            deals[mean] += count
        shown += [mean for mean, count in deals.items() if 100 * count >= _MIN_SHOWN * study.cleared]
    return min(shown, default=0) / CELLS_PER_CARD, (max(shown, default=0) + 1) / CELLS_PER_CARD


def _tries(tenfold: float, _: int) -> str:
    if tenfold * CELLS_PER_TENFOLD == LAST_CHANCE_CELL:
        return "$\\geq 10^{10}$"
    return f"$10^{{{tenfold:.0f}}}$" if tenfold else "1"


def _captions(block: Block) -> tuple[str, str]:
    """Captions of the deals that can be cleared and of the others."""
    found = findings(block)
    margin = max(found.share - found.interval.low, found.interval.high - found.share)
    cleared = f"{100 * found.share:.2f} % (\N{PLUS-MINUS SIGN}{100 * margin:.2f}) can be cleared"
    others = f"{100 * (1 - found.share):.2f} % cannot"
    if found.mean is None:
        return cleared, f"{others}; their cards left were not counted"
    mean = f"{found.mean.value:+.2f}".replace("-", "\N{MINUS SIGN}")
    return cleared, f"{others}; mean best score of all {mean}"


def _rules_label(name: str) -> str:
    rules = rules_named(name)
    return f"{name} (on a King: {_rank_names(rules.on_king)}; on an Ace: {_rank_names(rules.on_ace)})"


def _rank_names(letters: str) -> str:
    return " or ".join(_RANK_NAMES.get(letter, letter) for letter in letters) or "nothing"


def _score_limits(studies: Sequence[Block]) -> tuple[float, float]:
    """Ends of the horizontal axis: from the lowest to the highest score with a visible bar in any panel."""
    shown = [
        score
        for study in studies
        for score, count in zip(SCORES, study.scores, strict=True)
        if 100 * count >= _MIN_SHOWN * study.study.count
    ]
    return min([0, *shown]) - 0.6, max([_MIN_LAST_SCORE, *shown]) + 0.6


def _calibration_label(row: Calibration) -> str:
    results = "1 result" if row.score.size == 1 else f"{row.score.size:,} results"
    return f"{row.level}, par {row.par}\n{results}\n{row.verdict}"
