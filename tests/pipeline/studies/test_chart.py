"""A chart is well-formed, true to its figures, and the same bytes for the same figures."""

from itertools import pairwise
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.studies.chart import Chart, Panel, svg
from pipeline.studies.study_chart import study_chart
from pipeline.studies.winnability import SCORES, Block, Study
from solver.errors import UsageError

SVG = "{http://www.w3.org/2000/svg}"


def chart(*bars: dict[int, float], title: str = "Title") -> Chart:
    panels = [Panel("heading", "low", "high", each) for each in bars]
    return Chart(title, "subtitle", "label", range(-5, 8), 0, panels)


def drawn(picture: Chart) -> Xml.Element:
    return Xml.fromstring(svg(picture))


def bars_of(group: Xml.Element) -> list[dict[str, float]]:
    shapes = group.findall(f"{SVG}rect")
    return [{name: float(shape.attrib[name]) for name in ("x", "y", "width", "height")} for shape in shapes]


PERCENT = st.floats(0, 100)


@given(st.lists(st.dictionaries(st.integers(-5, 7), PERCENT, min_size=1), min_size=1, max_size=4))
def test_every_bar_is_as_high_as_its_figure_on_one_scale(bars: list[dict[int, float]]) -> None:
    groups = drawn(chart(*bars)).findall(f"{SVG}g")
    assert len(groups) == len(bars)
    tops = max(height for panel in bars for height in panel.values())
    scale = None
    for group, panel in zip(groups, bars, strict=True):
        shapes = bars_of(group)
        assert len(shapes) == len(panel)
        lines = [
            float(line.attrib["y1"])
            for line in group.findall(f"{SVG}line")
            if line.attrib["y1"] == line.attrib["y2"]
        ]
        top, bottom = min(lines), max(lines)
        labels = [text.text or "" for text in group.findall(f"{SVG}text")]
        most = max(int(text.removesuffix(" %")) for text in labels if text.endswith(" %"))
        assert most >= tops
        assert scale in (None, (bottom - top) / most)
        scale = (bottom - top) / most
        for shape, place in zip(shapes, sorted(panel), strict=True):
            assert shape["height"] == pytest.approx(panel[place] * scale, abs=0.011)
            assert shape["y"] + shape["height"] == pytest.approx(bottom, abs=0.011)
            assert shape["y"] >= top - 0.011


def test_bars_stand_beside_one_another_in_order_with_the_border_between() -> None:
    (group,) = drawn(chart(dict.fromkeys(range(-5, 8), 1.0))).findall(f"{SVG}g")
    shapes = bars_of(group)
    gaps = [after["x"] - before["x"] - before["width"] for before, after in pairwise(shapes)]
    assert all(0 < gap < shapes[0]["width"] for gap in gaps)
    kinds = [shape.attrib["class"] for shape in group.findall(f"{SVG}rect")]
    assert kinds == ["low"] * 6 + ["high"] * 7
    (border,) = (
        float(line.attrib["x1"])
        for line in group.findall(f"{SVG}line")
        if line.attrib["x1"] == line.attrib["x2"]
    )
    assert shapes[5]["x"] + shapes[5]["width"] < border < shapes[6]["x"]


def test_all_lies_within_the_picture() -> None:
    root = drawn(chart({-5: 100.0, 7: 3.0}, {0: 0.2}))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for element in root.iter():
        for name, most in (
            ("x", width),
            ("x1", width),
            ("x2", width),
            ("y", height),
            ("y1", height),
            ("y2", height),
        ):
            assert 0 <= float(element.attrib.get(name, 0)) <= most


def test_text_is_escaped_and_told_to_who_cannot_see_it() -> None:
    root = drawn(chart({0: 1.0}, title="<b> & more"))
    assert root.findtext(f"{SVG}title") == "<b> & more"
    assert "heading: low; high." in (root.findtext(f"{SVG}desc") or "")
    assert svg(chart({0: 1.0})) == svg(chart({0: 1.0}))


def test_nothing_counted_is_still_a_chart() -> None:
    (group,) = drawn(chart({})).findall(f"{SVG}g")
    assert bars_of(group) == []


def block(rules: str, first: int = 0, *, fewest: bool = True, cleared: int = 60) -> Block:
    counts = dict.fromkeys(SCORES, 0)
    counts[-2] = cleared
    if fewest:
        counts[3] = 99 - cleared
        counts[30] = 1
    return Block(Study(rules, fewest, first, 100), tuple(counts.values()))


def test_a_chart_of_studies_tells_rules_shares_and_means() -> None:
    root = Xml.fromstring(study_chart([block("relaxed"), block("golf", cleared=30, fewest=False)]))
    texts = [element.text for element in root.iter(f"{SVG}text")]
    for text in (
        "relaxed (on a King: Queen or Ace; on an Ace: 2 or King)",
        "golf (on a King: Queen; on an Ace: 2)",
        "60.00 % (±9.80) can be cleared",
        "40.00 % cannot; mean best score +0.27",
        "70.00 % cannot: their cards left were not counted",
        "Share of the 100 deals with numbers 0 to 99",
    ):
        assert text in texts
    first, second = root.findall(f"{SVG}g")
    assert (len(bars_of(first)), len(bars_of(second))) == (3, 1)


def test_rare_scores_do_not_stretch_the_chart() -> None:
    counts = dict.fromkeys(SCORES, 0)
    counts.update({-3: 600_000, 2: 399_999, 35: 1})
    root = Xml.fromstring(study_chart([Block(Study("golf", True, 0, 1_000_000), tuple(counts.values()))]))
    (group,) = root.findall(f"{SVG}g")
    assert len(bars_of(group)) == 2


def test_studies_of_different_numbers_are_not_compared() -> None:
    with pytest.raises(UsageError, match="0 to 99, 100 to 199"):
        study_chart([block("golf"), block("relaxed", 100)])
    with pytest.raises(UsageError, match="none"):
        study_chart([])
