"""A plot of calibrations is the same bytes for the same figures, and holds what it promises."""

import re
import struct
from collections.abc import Iterator
from fractions import Fraction
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.terminal.plotting import plotting
from pipeline.studies.calibration import Calibration, calibrations
from pipeline.studies.calibration_plot import Kind, calibration_plot
from tests.support.played import made_up

NUMBER = re.compile("\N{MINUS SIGN}?[0-9.]+")
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True, scope="module")
def _plotting() -> Iterator[None]:
    with plotting():
        yield


def rows(count: int = 3, size: int = 40) -> tuple[Calibration, ...]:
    """Of as many pars, from results that are spread about the steady player's 4."""
    return calibrations([made_up(n % 9, par) for par in range(3, 3 + count) for n in range(size)])


def drawn(kind: Kind, **changes: int) -> bytes:
    return calibration_plot(rows(**changes), kind)


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_same_figures_give_the_same_bytes(kind: Kind) -> None:
    first = drawn(kind)
    drawn(kind, count=1)
    assert drawn(kind) == first
    assert drawn(kind, size=50) != first


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_settings_that_were_found_change_nothing_and_stay_as_they_are(kind: Kind) -> None:
    import matplotlib  # once it has its place to keep things in

    before = drawn(kind)
    with matplotlib.rc_context({"axes.facecolor": "red", "font.size": 20.0, "svg.fonttype": "none"}):
        assert drawn(kind) == before
        assert matplotlib.rcParams["font.size"] == 20.0


def test_a_png_is_one_and_grows_with_what_it_shows() -> None:
    def width(data: bytes) -> int:
        assert data.startswith(PNG)
        (pixels,) = struct.unpack(">I", data[16:20])
        return int(pixels)

    assert (
        width(drawn("png", count=1))
        == width(drawn("png", count=3))
        < width(calibration_plot(rows() * 3, "png"))
    )


def test_one_result_has_a_mark_and_no_bar() -> None:
    alone, two = (calibration_plot(calibrations([made_up(4)] * count), "svg") for count in (1, 2))
    assert len(heights(alone, '<g clip-path="')) < len(heights(two, '<g clip-path="'))
    assert "1 result" in texts(alone)


def texts(picture: bytes) -> list[str]:
    """What is written in an SVG, in its order; each line is a comment beside its shapes."""
    return re.findall("<!-- (.*) -->", picture.decode())


def heights(picture: bytes, within: str) -> list[float]:
    """Where the marks lie in each group that begins with this text, from the top of an SVG."""
    groups = picture.decode().split(within)[1:]
    found = (re.search(r'<use [^>]* y="([0-9.]+)"', group) for group in groups)
    return [float(match[1]) for match in found if match]


def test_an_svg_is_well_formed_and_says_what_it_shows() -> None:
    picture = drawn("svg")
    assert Xml.fromstring(picture.decode()).tag.endswith("svg")
    said = texts(picture)
    for text in ("medium, par 3", "medium, par 5", "40 results", "score against par", "as rated"):
        assert text in said
    assert b"<dc:date>" not in picture
    assert "1 result" in texts(calibration_plot(calibrations([made_up(3)]), "svg"))


@given(st.lists(st.integers(-9, 20), min_size=2, max_size=9), st.integers(-5, 9))
@settings(max_examples=10, deadline=None)
def test_every_mark_lies_as_high_as_its_figure(scores: list[int], mean: int) -> None:
    (row,) = calibrations([made_up(score, mean=Fraction(mean)) for score in scores])
    picture = calibration_plot([row], "svg")
    ticks = heights(picture, '<g id="ytick_')
    labels = [float(text.replace("\N{MINUS SIGN}", "-")) for text in texts(picture) if NUMBER.fullmatch(text)]
    scale = (labels[-1] - labels[0]) / (ticks[-1] - ticks[0])
    low, high, steady, players = (
        labels[0] + (height - ticks[0]) * scale for height in heights(picture, '<g clip-path="')
    )
    assert row.apart.spread is not None
    bar = row.apart.spread.interval
    assert players == pytest.approx(row.score.value - row.par, abs=1e-3)
    assert steady == pytest.approx(row.steady_mean - row.par, abs=1e-3)
    assert low == pytest.approx(row.steady_mean - row.par + bar.low, abs=1e-3)
    assert high == pytest.approx(row.steady_mean - row.par + bar.high, abs=1e-3)
