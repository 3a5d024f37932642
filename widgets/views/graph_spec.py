"""The drawing of a graph as plotly traces: a fixed number of them, however many nodes, because each redraw costs.

Boxes of one kind are one filled trace of polygons separated by NaN, edges likewise. Coordinates are pixels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.widgets import theme
from workbench.widgets.views.spec import Spec, base_layout, text

KINDS = ("input", "op", "control", "output", "foreign", "collapsed")
COLOURS = {
    "input": theme.GREEN, "op": theme.SKY, "control": theme.ORANGE, "output": theme.BLUE, "foreign": theme.PURPLE,
    "collapsed": theme.YELLOW,
}  # fmt: skip
MAX_DEPTH = 4
MIN_SCALE = 0.8
FONT = 11.5

# indexes of the traces, in drawing order
FRAMES = 0
EDGES = MAX_DEPTH
DEAD_EDGES = EDGES + 1
BACK_EDGES = EDGES + 2
CONTROL_EDGES = EDGES + 3
BOXES = EDGES + 4
DEAD_BOXES = BOXES + len(KINDS)
CURRENT = DEAD_BOXES + 1
SELECTED = DEAD_BOXES + 2
ARROWS = DEAD_BOXES + 3
TITLES = DEAD_BOXES + 4
DEAD_TITLES = DEAD_BOXES + 5
VALUES = DEAD_BOXES + 6
POINTER = DEAD_BOXES + 7
HIT = DEAD_BOXES + 8


def graph_spec(picture: Mapping[str, Any], state: Mapping[str, Any], selected: str | None, height: int) -> Spec:
    """Data and layout; ``height`` in pixels is the room that the figure would like to fill."""
    width, tall = picture["width"], max(picture["height"], 80.0)
    scale = min(1.0, max(MIN_SCALE, height / tall))
    boxes = picture["nodes"]
    dead = set(state["dead"])
    data = [_frames(picture["frames"], depth) for depth in range(1, MAX_DEPTH + 1)]
    data += _edges(picture["edges"], set(state["dead_edges"]))
    for kind in KINDS:
        data.append(_polygons((b for b in boxes if b["kind"] == kind and b["id"] not in dead), COLOURS[kind], 0.22))
    data.append(_polygons((b for b in boxes if b["id"] in dead), theme.GREY, 0.10, dash="dot"))
    current = [b for b in boxes if b["id"] == state["current"]]
    data.append(_polygons(current, theme.VERMILION, 0.0, grow=3.0, width=3.0))
    chosen = [b for b in boxes if selected and b["name"] == selected]
    data.append(_polygons(chosen, theme.PURPLE, 0.0, grow=6.0, width=1.5))
    data.append(_arrows(picture["edges"], boxes, set(state["dead_edges"]), scale))
    live = [b for b in boxes if b["id"] not in dead]
    data.append(_titles(live, picture["frames"], scale, None))
    data.append(_titles([b for b in boxes if b["id"] in dead], [], scale, theme.GREY))
    data.append(_values(live, picture["edges"], state["values"], scale))
    data.append(_pointer(current, scale))
    data.append(_hit(boxes, picture["frames"], state["values"]))
    layout = base_layout(
        int(tall * scale),
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        # one unit is one pixel at scale 1; a wider container shows more room beside the graph
        yaxis={"range": [tall, 0], "visible": False, "fixedrange": False},
        xaxis={"range": [0, width], "visible": False, "scaleanchor": "y", "scaleratio": 1, "constrain": "range"},
        dragmode="pan",
        hoverdistance=24,
        meta={
            "min_width": int(width * scale),
            "ranges": {"xaxis.range": [0, width], "yaxis.range": [tall, 0]},
            "focus": [current[0]["x"], current[0]["y"]] if current else None,
        },
    )
    return {"data": data, "layout": layout}


def _outline(boxes: Iterable[Mapping[str, Any]], grow: float) -> tuple[np.ndarray, np.ndarray]:
    x: list[float] = []
    y: list[float] = []
    for box in boxes:
        left, right = box["x"] - box["w"] / 2 - grow, box["x"] + box["w"] / 2 + grow
        top, bottom = box["y"] - box["h"] / 2 - grow, box["y"] + box["h"] / 2 + grow
        x += [left, right, right, left, left, np.nan]
        y += [top, top, bottom, bottom, top, np.nan]
    return np.array(x[:-1]), np.array(y[:-1])


def _polygons(
    boxes: Iterable[Mapping[str, Any]], colour: str, fill: float, *,
    grow: float = 0.0, width: float = 1.3, dash: str = "solid",
) -> dict[str, Any]:  # fmt: skip
    x, y = _outline(boxes, grow)
    return {
        "type": "scatter", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip",
        "fill": "toself" if fill else "none", "fillcolor": theme.tint(colour, fill),
        "line": {"color": colour, "width": width, "dash": dash},
    }  # fmt: skip


def _frames(frames: Sequence[Mapping[str, Any]], depth: int) -> dict[str, Any]:
    mine = [f for f in frames if f["depth"] == depth or (depth == MAX_DEPTH and f["depth"] > depth)]
    return _polygons(mine, theme.GREY, 0.07, width=1.2, dash="dash")


def _path(points: Iterable[Sequence[tuple[float, float]]]) -> tuple[np.ndarray, np.ndarray]:
    x: list[float] = []
    y: list[float] = []
    for line in points:
        x += [p[0] for p in line] + [np.nan]
        y += [p[1] for p in line] + [np.nan]
    return np.array(x[:-1]), np.array(y[:-1])


def _edges(edges: Sequence[Mapping[str, Any]], dead: set[int]) -> list[dict[str, Any]]:
    groups: dict[str, list[Any]] = {"data": [], "dead": [], "back": [], "control": []}
    for index, edge in enumerate(edges):
        groups["dead" if index in dead else edge["kind"]].append(edge["points"])
    looks = {
        "data": (theme.GREY, 1.5, "solid"), "dead": (theme.GREY, 0.8, "dot"),
        "back": (theme.ORANGE, 1.8, "solid"), "control": (theme.PURPLE, 1.0, "dash"),
    }  # fmt: skip
    out = []
    for kind, (colour, width, dash) in looks.items():
        x, y = _path(groups[kind])
        out.append(
            {
                "type": "scatter", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip",
                "line": {"color": colour, "width": width, "dash": dash},
            }
        )  # fmt: skip
    return out


def _arrows(
    edges: Sequence[Mapping[str, Any]], boxes: Sequence[Mapping[str, Any]], dead: set[int], scale: float
) -> dict[str, Any]:
    ends = [(e["points"][-1], e["kind"] == "back", k in dead) for k, e in enumerate(edges)]
    return {
        "type": "scatter", "mode": "markers", "hoverinfo": "skip",
        "x": np.array([p[0] for p, _, _ in ends]),
        "y": np.array([p[1] - 4.0 for p, _, _ in ends]),
        "marker": {
            "symbol": "triangle-down",
            "size": 8 * scale,
            "color": [theme.ORANGE if back and not gone else theme.GREY for _, back, gone in ends],
            "opacity": [0.35 if gone else 1.0 for _, _, gone in ends],
            "line": {"width": 0},
        },
    }  # fmt: skip


def _titles(
    boxes: Sequence[Mapping[str, Any]], frames: Sequence[Mapping[str, Any]], scale: float, colour: str | None
) -> dict[str, Any]:
    x = [b["x"] for b in boxes]
    y = [b["y"] for b in boxes]
    words = ["<br>".join([f"<b>{text(b['title'])}</b>", *map(text, b["lines"])]) for b in boxes]
    places = ["middle center"] * len(boxes)
    for frame in frames:
        x.append(frame["x"] - frame["w"] / 2 + 6)
        y.append(frame["y"] - frame["h"] / 2 + 12)
        words.append(f"\u25be {text(frame['caption'])}")
        places.append("middle right")
    font: dict[str, Any] = {"size": round(FONT * scale, 1)}
    if colour:
        font["color"] = colour
    return {
        "type": "scatter", "mode": "text", "x": np.array(x), "y": np.array(y), "text": words, "textposition": places,
        "textfont": font, "hoverinfo": "skip", "cliponaxis": False,
    }  # fmt: skip


def _values(
    boxes: Sequence[Mapping[str, Any]], edges: Sequence[Mapping[str, Any]], values: Mapping[str, str], scale: float
) -> dict[str, Any]:
    """The live value to the right of its box, and the sides of each Switch at its lines."""
    shown = [b for b in boxes if b["id"] in values]
    x = [b["x"] + b["w"] / 2 + 5 for b in shown]
    y = [b["y"] for b in shown]
    words = [f"<b>{text(values[b['id']])}</b>" for b in shown]
    places = ["middle right"] * len(shown)
    ops = {b["id"]: b["op"] for b in boxes}
    told: set[tuple[str, int]] = set()
    for edge in edges:
        key = (edge["source"], edge["refs"][0].index)
        if ops.get(edge["source"]) != "Switch" or len(edge["refs"]) > 1 or key in told:
            continue
        told.add(key)
        start = edge["points"][0]
        x.append(start[0] + (8.0 if key[1] else -8.0))
        y.append(start[1] + 7.0)
        words.append("true" if key[1] else "false")
        places.append("middle right" if key[1] else "middle left")
    return {
        "type": "scatter", "mode": "text", "x": np.array(x), "y": np.array(y), "text": words, "textposition": places,
        "hoverinfo": "skip", "textfont": {"size": round(10.5 * scale, 1)}, "cliponaxis": False,
    }  # fmt: skip


def _pointer(current: Sequence[Mapping[str, Any]], scale: float) -> dict[str, Any]:
    """A triangle left of the node that fires next, so that it is not told by colour alone."""
    return {
        "type": "scatter", "mode": "markers", "hoverinfo": "skip",
        "x": np.array([b["x"] - b["w"] / 2 - 10 for b in current]), "y": np.array([b["y"] for b in current]),
        "marker": {"symbol": "triangle-right", "size": 13 * scale, "color": theme.VERMILION, "line": {"width": 0}},
    }  # fmt: skip


def _hit(
    boxes: Sequence[Mapping[str, Any]], frames: Sequence[Mapping[str, Any]], values: Mapping[str, str]
) -> dict[str, Any]:
    """Invisible points every 24 pixels along each box, which take hover and clicks."""
    x: list[float] = []
    y: list[float] = []
    keys: list[list[str]] = []
    words: list[str] = []

    def add(left: float, width: float, at: float, key: list[str], lines: Iterable[str]) -> None:
        steps = max(1, int(width // 24))
        for k in range(steps):
            x.append(left + width * (k + 0.5) / steps)
            y.append(at)
            keys.append(key)
            words.append("<br>".join(map(text, lines)))

    for box in boxes:
        lines = list(box["hover"])
        if box["id"] in values:
            lines.append(f"value {values[box['id']]}")
        key = ["node", box["name"]] if box["name"] is not None else ["frame", "\n".join(box["path"])]
        add(box["x"] - box["w"] / 2, box["w"], box["y"], key, lines)
    for frame in frames:
        add(frame["x"] - frame["w"] / 2, min(frame["w"], 140.0), frame["y"] - frame["h"] / 2 + 12,
            ["frame", "\n".join(frame["path"])], [frame["caption"], "click to collapse"])  # fmt: skip
    return {
        "type": "scatter", "mode": "markers", "x": np.array(x), "y": np.array(y), "hovertext": words,
        "hoverinfo": "text", "customdata": keys, "marker": {"size": 22, "symbol": "square", "opacity": 0},
    }  # fmt: skip
