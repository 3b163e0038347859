"""Charts show their figures, and the same figures give the same bytes."""

import re
import struct
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.terminal.plotting import plotting
from pipeline.studies.calibration import Calibration, calibrations
from pipeline.studies.players import PlayersFindings
from pipeline.studies.winnability import SCORES, Block, Study
from solver.errors import UsageError
from tests.support.examples import examples
from tests.support.played import made_up

if TYPE_CHECKING:
    from pipeline.studies.charts import Format

NUMBER = re.compile("\N{MINUS SIGN}?[0-9.]+")
PNG = b"\x89PNG\r\n\x1a\n"
BAR = re.compile(r'<path d="M ([0-9.]+) ([0-9.]+) \nL ([0-9.]+) \2 \nL \3 ([0-9.]+) \nL \1 \4 \nz')


@pytest.fixture(autouse=True, scope="module")
def _plotting() -> Iterator[None]:
    with plotting():
        yield


def calibration_chart(rows: tuple[Calibration, ...], format_: "Format") -> bytes:
    from pipeline.studies import charts  # matplotlib is loaded within `plotting`

    return charts.calibration_chart(rows, format_)


def study_chart(studies: list[Block], format_: "Format" = "svg") -> bytes:
    from pipeline.studies import charts

    return charts.study_chart(studies, format_)


def rows(count: int = 3, size: int = 40) -> tuple[Calibration, ...]:
    """Calibrations of several pars, from results on both sides of the steady player's mean of 4."""
    return calibrations([made_up(n % 9, par) for par in range(3, 3 + count) for n in range(size)])


def block(rules: str, first: int = 0, *, fewest: bool = True, cleared: int = 60) -> Block:
    counts = dict.fromkeys(SCORES, 0)
    counts[-2] = cleared
    if fewest:
        counts[3] = 99 - cleared
        counts[30] = 1
    return Block(Study(rules, fewest, first, 100), cleared, tuple(counts.values()))


def texts(picture: bytes) -> list[str]:
    """The texts of an SVG, each a comment next to its shapes."""
    return re.findall("<!-- (.*) -->", picture.decode())


def heights(picture: bytes, start: str) -> list[float]:
    """Vertical positions of the marks in the groups of an SVG that start with a text."""
    groups = picture.decode().split(start)[1:]
    found = (re.search(r'<use [^>]* y="([0-9.]+)"', group) for group in groups)
    return [float(match[1]) for match in found if match]


@pytest.mark.parametrize("format_", [pytest.param("svg", marks=pytest.mark.soak), "png"])
def test_the_same_figures_give_the_same_bytes_whatever_the_settings(format_: "Format") -> None:
    import matplotlib

    calibration = calibration_chart(rows(), format_)
    study = study_chart([block("golf")], format_)
    assert calibration_chart(rows(size=50), format_) != calibration
    with matplotlib.rc_context({"axes.facecolor": "red", "font.size": 20.0, "svg.fonttype": "none"}):
        assert calibration_chart(rows(), format_) == calibration
        assert study_chart([block("golf")], format_) == study
        assert matplotlib.rcParams["font.size"] == 20.0


def test_a_png_grows_with_the_number_of_calibrations() -> None:
    def width(data: bytes) -> int:
        assert data.startswith(PNG)
        (pixels,) = struct.unpack(">I", data[16:20])
        return int(pixels)

    one, three, nine = (width(calibration_chart(each, "png")) for each in (rows(1), rows(3), rows() * 3))
    assert one == three < nine


def test_one_result_has_a_mark_without_an_interval() -> None:
    one, two = (calibration_chart(calibrations([made_up(4)] * count), "svg") for count in (1, 2))
    assert len(heights(one, '<g clip-path="')) < len(heights(two, '<g clip-path="'))
    assert "1 result" in texts(one)


@pytest.mark.parametrize("kind", ["calibration", "study"])
def test_an_svg_is_well_formed_and_has_no_date(kind: str) -> None:
    picture = calibration_chart(rows(), "svg") if kind == "calibration" else study_chart([block("golf")])
    assert Xml.fromstring(picture.decode()).tag.endswith("svg")
    assert b"<dc:date>" not in picture


def test_the_texts_of_a_calibration_chart() -> None:
    found = texts(calibration_chart(rows(), "svg"))
    for text in ("medium, par 3", "medium, par 5", "40 results", "score against par", "as rated"):
        assert text in found


@given(st.lists(st.integers(-9, 20), min_size=2, max_size=9), st.integers(-5, 9))
@settings(max_examples=examples(5))
def test_every_mark_of_a_calibration_is_as_high_as_its_figure(scores: list[int], mean: int) -> None:
    (row,) = calibrations([made_up(score, mean=Fraction(mean)) for score in scores])
    picture = calibration_chart((row,), "svg")
    ticks = heights(picture, '<g id="ytick_')
    labels = [float(text.replace("\N{MINUS SIGN}", "-")) for text in texts(picture) if NUMBER.fullmatch(text)]
    scale = (labels[-1] - labels[0]) / (ticks[-1] - ticks[0])
    low, high, steady, players = (
        labels[0] + (height - ticks[0]) * scale for height in heights(picture, '<g clip-path="')
    )
    assert row.apart.spread is not None
    interval = row.apart.spread.interval
    assert players == pytest.approx(row.score.value - row.par, abs=1e-3)
    assert steady == pytest.approx(row.steady_mean - row.par, abs=1e-3)
    assert low == pytest.approx(row.steady_mean - row.par + interval.low, abs=1e-3)
    assert high == pytest.approx(row.steady_mean - row.par + interval.high, abs=1e-3)


def test_the_bars_of_all_panels_are_on_one_scale() -> None:
    picture = study_chart([block("relaxed"), block("golf", cleared=30)]).decode()
    heights = sorted(float(match[2]) - float(match[4]) for match in BAR.finditer(picture))
    *bars, _, _, _ = (height for height in heights if height)  # the largest are the backgrounds
    unit = bars[-1] / 69
    assert bars == pytest.approx([unit * count for count in (1, 1, 30, 39, 60, 69)], rel=1e-4)


def test_the_texts_of_a_study_chart() -> None:
    found = texts(study_chart([block("relaxed"), block("golf", cleared=30, fewest=False)]))
    for text in (
        "relaxed (on a King: Queen or Ace; on an Ace: 2 or King)",
        "golf (on a King: Queen; on an Ace: 2)",
        "60.00 % (±9.80) can be cleared",
        "40.00 % cannot; mean best score of all +0.27",
        "70.00 % cannot; their cards left were not counted",
        "100 deals, numbers 0 to 99",
    ):
        assert text in found


def test_rare_scores_do_not_stretch_a_chart() -> None:
    counts = dict.fromkeys(SCORES, 0)
    counts.update({-3: 600_000, 2: 399_999, 35: 1})
    rare = Block(Study("golf", True, 0, 1_000_000), 600_000, tuple(counts.values()))
    assert "15" not in texts(study_chart([rare]))
    assert "15" in texts(study_chart([block("golf")]))


def test_studies_of_different_numbers_are_not_compared() -> None:
    with pytest.raises(UsageError, match="0 to 99, 100 to 199"):
        study_chart([block("golf"), block("relaxed", 100)])
    with pytest.raises(UsageError, match="none"):
        study_chart([])


def found(rules: str, cells: tuple[tuple[int, int, int], ...], first: int = 0) -> PlayersFindings:
    """Findings of which only the cells and the difficulties matter; all deals are gentle."""
    deals = sum(count for *_, count in cells)
    return PlayersFindings(
        Study(rules, False, first, 100), (), (), (deals, 0, 0, 0, 0), "", (0, 0, 0, 0, 0), cells
    )


def players_chart(studies: list[PlayersFindings], format_: "Format" = "svg") -> bytes:
    from pipeline.studies import charts

    return charts.players_chart(studies, format_)


def test_the_texts_of_a_players_chart() -> None:
    picture = players_chart([found("relaxed", ((3, 0, 4), (8, 40, 1))), found("golf", ())])
    for text in ("relaxed", "golf", "1 gentle, 100 %", "1 gentle, 0 %", "5 extreme, 0 %"):
        assert text in texts(picture)
    assert "those of 100 deals, numbers 0 to 99, that can be cleared" in texts(picture)
    assert Xml.fromstring(picture.decode()).tag.endswith("svg")


def test_a_players_chart_shows_its_cells_and_the_same_cells_give_the_same_bytes() -> None:
    one, other = found("golf", ((3, 0, 4), (8, 40, 1))), found("golf", ((3, 0, 4), (8, 39, 1)))
    assert players_chart([one], "png") == players_chart([one], "png") != players_chart([other], "png")


def test_players_studies_of_different_numbers_are_not_compared() -> None:
    with pytest.raises(UsageError, match="0 to 99, 100 to 199"):
        players_chart([found("golf", ()), found("relaxed", (), 100)])
    with pytest.raises(UsageError, match="none"):
        players_chart([])
