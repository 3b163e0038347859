"""Bar charts as small multiples in SVG: panels one below the other on the same scales.

A few lines of our own: a drawing library would be larger than everything that is drawn with it. The picture
brings its own background and follows the reader's preference for light or dark.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree import ElementTree as Xml

_WIDTH: Final = 760
_LEFT: Final = 52  # of the plots: room for the numbers on the vertical axis
_RIGHT: Final = 744
_TOP: Final = 124  # of the first plot: room for the title, the first heading and its captions
_PLOT: Final = 125  # height of a plot
_STEP: Final = 206  # from the top of a plot to that of the next
_BELOW: Final = 52  # the horizontal axis and its label
_GAP: Final = 0.12  # between two bars, of the room for one
_TITLE_Y: Final = 30
_SUBTITLE_Y: Final = 50
_HEADING: Final = 34  # baseline of a heading above its plot
_CAPTION: Final = 11  # baseline of a caption above its plot
_BORDER_TOP: Final = 23  # of the line between the captions, above the plot
_TICK: Final = 16  # baseline of a number below the horizontal axis
_LABEL: Final = 38  # baseline of the label below the horizontal axis
_BESIDE: Final = 8  # between a number or a caption and the line that it belongs to
_TEXT_DROP: Final = 4  # from the middle of a number to its baseline
_X_EVERY: Final = 5
_Y_STEPS: Final = (1, 2, 5, 10, 20)  # percent between two lines of the grid; the largest reaches 100
_MOST_Y_STEPS: Final = 5

_STYLE: Final = """
text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2328 }
.title { font-size: 17px; font-weight: 600 }
.heading { font-size: 14px; font-weight: 600 }
.quiet { fill: #59636e }
.page { fill: #ffffff }
.grid { stroke: #d8dee4 }
.axis { stroke: #818b98 }
.low { fill: #1a7441 }
.high { fill: #a5adb8 }
.low-text { fill: #1a7441; font-weight: 600 }
.high-text { fill: #59636e; font-weight: 600 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.quiet { fill: #9198a1 }
.page { fill: #0d1117 }
.grid { stroke: #2b323b }
.axis { stroke: #656c76 }
.low { fill: #4cc27f }
.high { fill: #59636e }
.low-text { fill: #4cc27f }
.high-text { fill: #9198a1 }
}
"""


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot.

    Attributes:
        heading: what it shows.
        low_caption: what is said of the bars up to the border.
        high_caption: what is said of the bars beyond it.
        bars: the height of each bar, in percent, by its place on the horizontal axis.
    """

    heading: str
    low_caption: str
    high_caption: str
    bars: dict[int, float]


@dataclass(frozen=True, slots=True)
class Chart:
    """Panels on the same scales.

    Attributes:
        title: above them.
        subtitle: below the title.
        x_label: what the horizontal axis holds.
        x_range: places on it, in steps of 1.
        border: the last place of the low bars, which are coloured; those beyond are grey.
        panels: from the top, at least one.
    """

    title: str
    subtitle: str
    x_label: str
    x_range: range
    border: int
    panels: Sequence[Panel]


def svg(chart: Chart) -> str:
    """The chart as an SVG document, the same for the same chart."""
    height = _TOP + _STEP * (len(chart.panels) - 1) + _PLOT + _BELOW
    size = {"width": str(_WIDTH), "height": str(height), "viewBox": f"0 0 {_WIDTH} {height}"}
    root = Xml.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", **size})
    _element(root, "title", text=chart.title)
    _element(root, "desc", text=_description(chart))
    _element(root, "style", text=_STYLE)
    _element(root, "rect", {"class": "page", "width": str(_WIDTH), "height": str(height)})
    _text(root, _LEFT, _TITLE_Y, chart.title, "title")
    _text(root, _LEFT, _SUBTITLE_Y, chart.subtitle, "quiet")
    scale = _Scale(chart)
    for number, panel in enumerate(chart.panels):
        _draw_panel(root, scale, panel, _TOP + _STEP * number)
    _text(root, (_LEFT + _RIGHT) / 2, height - _BELOW + _LABEL, chart.x_label, "quiet", "middle")
    Xml.indent(root, "")
    return f"{Xml.tostring(root, encoding='unicode')}\n"


class _Scale:
    """Where places and heights lie in the picture."""

    def __init__(self, chart: Chart) -> None:
        self.places: Final = chart.x_range
        self.border: Final = chart.border
        self.room: Final = (_RIGHT - _LEFT) / len(chart.x_range)  # for one bar
        heights = [height for panel in chart.panels for height in panel.bars.values()]
        highest = max(heights, default=0)
        self.step: Final = next(step for step in _Y_STEPS if highest <= step * _MOST_Y_STEPS)
        self.top: Final = max(
            self.step, -int(-highest // self.step) * self.step
        )  # the highest line of the grid

    def x(self, place: float) -> float:
        """The middle of a bar."""
        return _LEFT + (place - self.places[0] + 0.5) * self.room

    def drop(self, height: float) -> float:
        """How far a height lies below the top of its plot."""
        return _PLOT * (1 - height / self.top)

    @property
    def border_x(self) -> float:
        """Between the low bars and the high ones."""
        return self.x(self.border + 0.5)


def _draw_panel(root: Xml.Element, scale: _Scale, panel: Panel, top: int) -> None:
    group = _element(root, "g")
    bottom = top + _PLOT
    for percent in range(0, scale.top + 1, scale.step):
        y = top + scale.drop(percent)
        _line(group, (_LEFT, y), (_RIGHT, y), "grid" if percent else "axis")
        _text(group, _LEFT - _BESIDE, y + _TEXT_DROP, f"{percent} %", "quiet", "end")
    for place, height in _shown(scale, panel):
        _draw_bar(group, scale, place, height, top)
    _line(group, (scale.border_x, top - _BORDER_TOP), (scale.border_x, bottom), "axis")
    for place in scale.places:
        if place % _X_EVERY == 0:
            _text(group, scale.x(place), bottom + _TICK, _signed(place), "quiet", "middle")
    _text(group, _LEFT, top - _HEADING, panel.heading, "heading")
    baseline = top - _CAPTION
    _text(group, scale.border_x - _BESIDE, baseline, panel.low_caption, "low-text", "end")
    _text(group, scale.border_x + _BESIDE, baseline, panel.high_caption, "high-text")


def _draw_bar(group: Xml.Element, scale: _Scale, place: int, height: float, top: int) -> None:
    width, drop = scale.room * (1 - _GAP), scale.drop(height)
    bar = _element(
        group,
        "rect",
        {
            "class": "low" if place <= scale.border else "high",
            "x": _number(scale.x(place) - width / 2),
            "y": _number(top + drop),
            "width": _number(width),
            "height": _number(_PLOT - drop),
        },
    )
    _element(bar, "title", text=f"{_signed(place)}: {height:.3f} %")


def _shown(scale: _Scale, panel: Panel) -> Iterator[tuple[int, float]]:
    return ((place, height) for place, height in sorted(panel.bars.items()) if place in scale.places)


def _description(chart: Chart) -> str:
    """The chart in words, for whoever cannot see it."""
    panels = (f"{panel.heading}: {panel.low_caption}; {panel.high_caption}." for panel in chart.panels)
    return f"Bars of how likely each is. {chart.x_label}. {' '.join(panels)}"


def _signed(place: int) -> str:
    return str(place).replace("-", "\N{MINUS SIGN}")


def _element(
    parent: Xml.Element, name: str, attributes: dict[str, str] | None = None, text: str | None = None
) -> Xml.Element:
    element = Xml.SubElement(parent, name, attributes or {})
    element.text = text
    return element


def _text(parent: Xml.Element, x: float, y: float, text: str, kind: str, anchor: str = "start") -> None:
    place = {"x": _number(x), "y": _number(y), "class": kind}
    _element(parent, "text", place if anchor == "start" else {**place, "text-anchor": anchor}, text)


def _line(parent: Xml.Element, start: tuple[float, float], end: tuple[float, float], kind: str) -> None:
    (x1, y1), (x2, y2) = start, end
    ends = {"x1": _number(x1), "y1": _number(y1), "x2": _number(x2), "y2": _number(y2)}
    _element(parent, "line", {"class": kind, **ends})


def _number(value: float) -> str:
    """A coordinate to a hundredth, without needless zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
