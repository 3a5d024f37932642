"""Outlines of boxes and lines of edges as plotly traces: boxes of one look share a trace, separated by NaN."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.widgets.base import theme

Box = Mapping[str, Any]
Trace = dict[str, Any]

KINDS = ("input", "op", "variable", "control", "output", "foreign", "collapsed")
COLOURS = {
    "input": theme.GREEN,
    "op": theme.SKY,
    "variable": theme.ORANGE,
    "control": theme.ORANGE,
    "output": theme.BLUE,
    "foreign": theme.PURPLE,
    "collapsed": theme.YELLOW,
}
#: colour, width and dash of the lines
LINES = {
    "data": (theme.GREY, 1.5, "solid"),
    "dead": (theme.GREY, 0.8, "dot"),
    "back": (theme.ORANGE, 1.8, "solid"),
    "control": (theme.PURPLE, 1.0, "dash"),
    "taken": (theme.BLUE, 2.8, "solid"),
    "older": (theme.GREY, 2.2, "dashdot"),
}
#: shades of nested frames
MAX_DEPTH = 4


def outlines(
    boxes: Iterable[Box], colour: str, fill: float, *, grow: float = 0.0, width: float = 1.3, dash: str = "solid"
) -> Trace:
    """Rectangles, ``grow`` pixels larger than the boxes; ``fill`` is an opacity."""
    x: list[float] = []
    y: list[float] = []
    for box in boxes:
        left, right = box["x"] - box["w"] / 2 - grow, box["x"] + box["w"] / 2 + grow
        top, bottom = box["y"] - box["h"] / 2 - grow, box["y"] + box["h"] / 2 + grow
        x += [left, right, right, left, left, np.nan]
        y += [top, top, bottom, bottom, top, np.nan]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.array(x[:-1]),
        "y": np.array(y[:-1]),
        "hoverinfo": "skip",
        "fill": "toself" if fill else "none",
        "fillcolor": theme.tint(colour, fill),
        "line": {"color": colour, "width": width, "dash": dash},
    }


def frame_around(box: Box) -> dict[str, Any]:
    """The dashed line around the selection, as a shape of the layout."""
    half, tall = box["w"] / 2 + 6.0, box["h"] / 2 + 6.0
    return {
        "type": "rect",
        "x0": box["x"] - half,
        "x1": box["x"] + half,
        "y0": box["y"] - tall,
        "y1": box["y"] + tall,
        "line": {"color": theme.PURPLE, "width": 2.5, "dash": "dash"},
        "fillcolor": "rgba(0,0,0,0)",
    }


def frames(found: Sequence[Box], depth: int) -> Trace:
    """The open groups of one depth; the last trace holds all deeper ones."""
    mine = [f for f in found if f["depth"] == depth or (depth == MAX_DEPTH and f["depth"] > depth)]
    return outlines(mine, theme.GREY, 0.07, width=1.2, dash="dash")


def looks(dead: Iterable[int], taken: Iterable[int], older: Iterable[int]) -> dict[int, str]:
    """Index of an edge -> its look in ``LINES``, if it differs from that of its kind."""
    return {**dict.fromkeys(older, "older"), **dict.fromkeys(taken, "taken"), **dict.fromkeys(dead, "dead")}


def lines(edges: Sequence[Box], dead: Iterable[int], taken: Iterable[int], older: Iterable[int]) -> list[Trace]:
    """The edges in six traces: data, dead, back, control, on the branch taken, and taken in an earlier iteration."""
    look = looks(dead, taken, older)
    groups: dict[str, list[Any]] = {name: [] for name in LINES}
    for index, edge in enumerate(edges):
        kind: str = look.get(index) or edge["kind"]
        groups[kind].append(edge["points"])
    out = []
    for name, (colour, width, dash) in LINES.items():
        x: list[float] = []
        y: list[float] = []
        for points in groups[name]:
            x += [p[0] for p in points] + [np.nan]
            y += [p[1] for p in points] + [np.nan]
        out.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": np.array(x[:-1]),
                "y": np.array(y[:-1]),
                "hoverinfo": "skip",
                "line": {"color": colour, "width": width, "dash": dash},
            }
        )
    return out


def arrows(edges: Sequence[Box], dead: Iterable[int], taken: Iterable[int], right: bool, scale: float) -> Trace:
    """A triangle at the end of each edge."""
    gone, bold = set(dead), set(taken)
    ends = [(e["points"][-1], e["kind"] == "back", k) for k, e in enumerate(edges)]
    colours = [
        theme.GREY if k in gone else theme.ORANGE if back else theme.BLUE if k in bold else theme.GREY
        for _, back, k in ends
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "hoverinfo": "skip",
        "x": np.array([p[0] - (4.0 if right else 0.0) for p, _, _ in ends]),
        "y": np.array([p[1] - (0.0 if right else 4.0) for p, _, _ in ends]),
        "marker": {
            "symbol": "triangle-right" if right else "triangle-down",
            "size": 8 * scale,
            "color": colours,
            "opacity": [0.35 if k in gone else 1.0 for _, _, k in ends],
            "line": {"width": 0},
        },
    }
