"""The still picture that a graph alone in a cell shows."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ElementTree

import pytest

import workbench as wb
from tests.widgets.graphs import newton
from workbench.widgets.graph.graph_still import MOST_NODES, still_picture
from workbench.widgets.graph.model.picture import graph_model

SVG = "{http://www.w3.org/2000/svg}"


def chain(count: int) -> wb.Graph:
    """Ops in an order in which nothing repeats, so that no block is folded."""
    rng = random.Random(5)
    b = wb.GraphBuilder("chain")
    x = first = b.placeholder("x", "float64", ())
    for _ in range(count):
        x = getattr(b, rng.choice(("add", "multiply", "subtract", "maximum")))(x, first)
    return b.build({"y": x})


def test_it_has_each_box_frame_line_and_word_of_the_view():
    graph = newton()
    drawing, model = ElementTree.fromstring(still_picture(graph)), graph_model(graph)
    count = {kind: len(drawing.findall(SVG + kind)) for kind in ("rect", "polyline", "polygon")}
    edges = len(model["edges"])
    assert count == {"rect": len(model["nodes"]) + len(model["frames"]), "polyline": edges, "polygon": edges}
    said = [element.text or "" for element in drawing.findall(SVG + "text")]
    assert [box["title"] for box in model["nodes"] if box["title"] not in said] == []
    assert any("while" in words for words in said)
    width, height = (float(drawing.attrib[side]) for side in ("width", "height"))
    for box in drawing.findall(SVG + "rect"):
        x, y, w, h = (float(box.attrib[key]) for key in ("x", "y", "width", "height"))
        assert x >= 0 and y >= 0 and x + w <= width + 1 and y + h <= height + 1


def test_words_take_the_colour_of_the_page_so_that_they_are_read_on_dark_ground_too():
    picture = still_picture(newton())
    assert 'fill="currentColor"' in picture
    assert all("fill" not in words for words in re.findall(r"<text[^>]*>", picture))
    opacities = re.findall(r'<rect[^>]*fill-opacity="([\d.]+)"', picture)
    assert opacities and all(float(value) < 0.3 for value in opacities)


def test_names_are_escaped():
    b = wb.GraphBuilder("<b>")
    x = b.placeholder("<script>alert(1)</script>", "float64", ())
    html = b.build({'"><img src=x>': b.tanh(x, name="a&b")})._repr_html_()
    assert "<script" not in html and "<img" not in html and "<b><b>" not in html
    drawing = ElementTree.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
    assert any("<script>" in (element.text or "") for element in drawing.iter())


def test_a_graph_that_takes_long_to_lay_out_is_told_and_not_drawn():
    html = chain(MOST_NODES)._repr_html_()
    assert "<svg" not in html and "graph.view()" in html and len(html) < 2_000
    assert f"{MOST_NODES + 1} nodes" in html


@pytest.mark.parametrize("count", [55, 500, MOST_NODES - 1])
def test_no_picture_has_more_bytes_than_a_saved_notebook_bears(count):
    assert 5_000 < len(chain(count)._repr_html_()) < 100_000


def test_the_plain_text_stays():
    assert repr(newton()).startswith("<Graph 'newton'")
