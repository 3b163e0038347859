"""The plot of calibrations: where players are against par, beside the steady player; as SVG or PNG.

The only module that knows matplotlib. It uses figures alone, never `pyplot`, so there is no window and no
state that outlives the plot. With one version of matplotlib the same figures give the same bytes: its
defaults take the place of whatever settings it found, its own font is used, names in an SVG follow from what
they name, and no date is written.
"""

import io
from collections.abc import Sequence
from math import nan
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from pipeline.studies.calibration import Calibration

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kind: TypeAlias = Literal["svg", "png"]

_FONT: Final = "DejaVu Sans"  # comes with matplotlib
_METADATA: Final = {
    "svg": {"Date": None, "Creator": "Fairway", "Title": "Players against par"},
    "png": {"Software": "Fairway", "Title": "Players against par"},
}
_HEIGHT: Final = 5.2  # inches, as all that follows
_MARGIN: Final = 1.2
_ROOM: Final = 1.35  # for one level and par: the longest verdict fits
_LEAST_WIDTH: Final = 6.4
_DOTS: Final = 144  # an inch of a PNG
_ASIDE: Final = 0.12  # of the marks, from the middle of their room
_PLAYERS: Final = "#1a7441"
_STEADY: Final = "#59636e"
_GRID: Final = "#d8dee4"


def calibration_plot(rows: Sequence[Calibration], kind: Kind) -> bytes:
    """Draw calibrations, one beside the other.

    The first call of a process loads matplotlib, which looks for settings, makes folders to keep things in,
    and logs what it does not like: see to it that it finds none, and has a place for that.

    Args:
        rows: at least one.
        kind: of the picture.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rc("svg", hashsalt="fairway")
        matplotlib.rc("font", family=_FONT)
        matplotlib.rc("axes.spines", top=False, right=False)
        width = max(_LEAST_WIDTH, _MARGIN + _ROOM * len(rows))
        figure = Figure(figsize=(width, _HEIGHT), layout="constrained")
        _draw(figure.add_subplot(), rows)
        figure.legend(frameon=False, loc="outside lower left")
        stream = io.BytesIO()
        figure.savefig(stream, format=kind, dpi=_DOTS, metadata=_METADATA[kind])
    return stream.getvalue()


def _draw(axes: "Axes", rows: Sequence[Calibration]) -> None:
    places = range(len(rows))
    axes.axhline(0, color="black", linewidth=1)
    axes.errorbar(
        [place - _ASIDE for place in places],
        [row.score.value - row.par for row in rows],
        # The bar reaches to the steady player's mark where the two cannot be told apart, as in the verdict.
        yerr=[nan if row.apart.spread is None else row.apart.spread.margin for row in rows],
        fmt="o",
        capsize=4,
        color=_PLAYERS,
        label="players: mean, with the 95 % interval of its distance from the steady player's",
    )
    axes.plot(
        [place + _ASIDE for place in places],
        [row.steady_mean - row.par for row in rows],
        "D",
        color=_STEADY,
        markerfacecolor="none",
        label="the steady player: mean on the same holes",
    )
    axes.set_xticks(places, [_label(row) for row in rows])
    axes.set_xlim(-0.5, len(rows) - 0.5)
    axes.set_ylabel("score against par")
    axes.set_title("Players against par", loc="left")
    axes.yaxis.grid(visible=True, color=_GRID)
    axes.set_axisbelow(True)


def _label(row: Calibration) -> str:
    results = "1 result" if row.score.size == 1 else f"{row.score.size:,} results"
    return f"{row.level}, par {row.par}\n{results}\n{row.verdict}"
