"""A still picture of a graph as SVG, shown by notebooks without a kernel or scripts.

It has the boxes, frames and lines of :class:`GraphView` without a run. Words have the colour of the page's text and
boxes are tinted, so that it is readable on light and dark pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from workbench.ir.graph import Graph
from workbench.widgets.base import theme
from workbench.widgets.graph.graph_shapes import COLOURS, LINES
from workbench.widgets.graph.graph_texts import FONT, INSET
from workbench.widgets.graph.model.picture import LINE, OPENED, draw
from workbench.widgets.graph.model.scene import Scene
from workbench.widgets.text.numerals import numeral

#: the layout of a larger graph would delay a cell's result too much
MOST_NODES = 5_000
#: shapes of a line in SVG by their names in plotly
DASHES = {"dash": "6 4", "dot": "2 3"}


def still_picture(graph: Graph) -> str:
    """The picture as an ``<svg>`` element; for a graph of more than 5,000 nodes a sentence in a ``<p>``.

    Loops, name scopes and repeated blocks of a large graph are closed boxes, as in a new ``GraphView``: at most about
    60 boxes are drawn.

    Examples
    --------
    >>> import workbench as wb
    >>> b = wb.GraphBuilder("halving")
    >>> still_picture(b.build(b.placeholder("x") * 0.5))[:4]
    '<svg'
    """
    count = len(graph.nodes)
    if count > MOST_NODES:
        return f"<p>{numeral(count)} nodes are too many for a still picture: graph.view() shows them.</p>"
    return _svg(draw(Scene(graph)))


def _svg(picture: Mapping[str, Any]) -> str:
    width, height = max(picture["width"], 120.0), picture["height"]
    parts = [
        *(_rectangle(f, theme.GREY, 0.07, dash="dash") for f in picture["frames"]),
        *(_line(e["points"], e["kind"], picture["direction"] == "right") for e in picture["edges"]),
        *(_rectangle(b, COLOURS[b["kind"]], 0.22) for b in picture["nodes"]),
        *_words(picture),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" style="max-width:100%;height:auto" font-family="{escape(theme.FONT)}" '
        f'font-size="{FONT:g}" fill="currentColor">{"".join(parts)}</svg>'
    )


def _rectangle(box: Mapping[str, Any], colour: str, fill: float, dash: str = "") -> str:
    left, top = box["x"] - box["w"] / 2, box["y"] - box["h"] / 2
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{box["w"]:.1f}" height="{box["h"]:.1f}" fill="{colour}" '
        f'fill-opacity="{fill:g}" stroke="{colour}" stroke-width="1.3"{_dashes(dash)}/>'
    )


def _dashes(dash: str) -> str:
    return f' stroke-dasharray="{DASHES[dash]}"' if dash in DASHES else ""


def _line(points: Iterable[tuple[float, float]], kind: str, right: bool) -> str:
    """A line with a triangle at its end."""
    colour, width, dash = LINES[kind]
    places = list(points)
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    x, y = places[-1]
    tip = [(x - 8, y - 4), (x - 8, y + 4), (x, y)] if right else [(x - 4, y - 8), (x + 4, y - 8), (x, y)]
    end = " ".join(f"{a:.1f},{b:.1f}" for a, b in tip)
    return (
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"{_dashes(dash)}/>'
        f'<polygon points="{end}" fill="{colour}"/>'
    )


def _words(picture: Mapping[str, Any]) -> Iterator[str]:
    for box in picture["nodes"]:
        lines = [box["title"], *box["lines"]]
        top = box["y"] - (len(lines) - 1) * LINE / 2 + FONT / 3
        for number, line in enumerate(lines):
            bold = ' font-weight="bold"' if not number else ""
            at = f'x="{box["x"] - box["w"] / 2 + INSET:.1f}" y="{top + number * LINE:.1f}"'
            yield f"<text {at}{bold}>{escape(line)}</text>"
    for frame in picture["frames"]:
        at = f'x="{frame["caption_x"]:.1f}" y="{frame["y"] - frame["h"] / 2 + 12 + FONT / 3:.1f}"'
        yield f"<text {at}>{OPENED} {escape(frame['caption'])}</text>"
