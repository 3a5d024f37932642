"""The drawing of a graph as plotly traces; their number does not grow with the graph, because each redraw of a trace
costs.

Coordinates are pixels at zoom 1. The figure is as large as the picture; a container around it scrolls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.widgets.base import theme
from workbench.widgets.base.spec import Spec, base_layout
from workbench.widgets.graph import graph_shapes as shapes
from workbench.widgets.graph import graph_texts as texts
from workbench.widgets.graph.graph_shapes import COLOURS, KINDS, MAX_DEPTH
from workbench.widgets.graph.model.captions import caption_box

# indexes of the traces, in drawing order
FRAMES = 0
EDGES = MAX_DEPTH
DEAD_EDGES, BACK_EDGES, CONTROL_EDGES, TAKEN_EDGES, OLDER_EDGES = (EDGES + k for k in range(1, 6))
BOXES = OLDER_EDGES + 1
DEAD_BOXES = BOXES + len(KINDS)
(BAD, MATCHES, CURRENT, ARROWS, TITLES, DEAD_TITLES, VALUES, BAD_VALUES, POINTER, BREAKPOINTS, HIT) = (
    DEAD_BOXES + k for k in range(1, 12)
)
MIN_HEIGHT = 80.0


@dataclass(frozen=True)
class Marks:
    """Marks set by the user: ids of boxes selected and found, breakpoints (see ``breakpoint_marks``), the zoom, and
    whether the picture shows a moment other than the session's present one."""

    selected: str | None = None
    matches: frozenset[str] = frozenset()
    points: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    zoom: float = 1.0
    elsewhere: bool = False


class Still:
    """The traces that do not change between updates as long as boxes and branches do not."""

    def __init__(self) -> None:
        self._key: tuple[Any, ...] = ()
        self._data: list[dict[str, Any]] = []

    def traces(self, picture: Mapping[str, Any], state: Mapping[str, Any], scale: float) -> list[dict[str, Any]]:
        """Frames, lines, boxes and, last, arrows."""
        key = (picture, state["dead"], state["dead_edges"], state["taken_edges"], state["older_edges"], scale)
        if not self._key or self._key[0] is not picture or self._key[1:] != key[1:]:
            self._key, self._data = key, _still(picture, state, scale)
        return self._data


def _still(picture: Mapping[str, Any], state: Mapping[str, Any], scale: float) -> list[dict[str, Any]]:
    frames, edges, dead = picture["frames"], picture["edges"], set(state["dead"])
    lost, taken = state["dead_edges"], state["taken_edges"]
    data = [shapes.frames(frames, depth) for depth in range(1, MAX_DEPTH + 1)]
    data += shapes.lines(edges, lost, taken, state["older_edges"])
    live = [b for b in picture["nodes"] if b["id"] not in dead]
    for kind in KINDS:
        data.append(shapes.outlines((b for b in live if b["kind"] == kind), COLOURS[kind], 0.22))
    gone = [b for b in picture["nodes"] if b["id"] in dead]
    data.append(shapes.outlines(gone, theme.GREY, 0.10, dash="dot"))
    data.append(shapes.arrows(edges, lost, taken, picture["direction"] == "right", scale))
    return data


def sight(picture: Mapping[str, Any], box: str | None, zoom: float) -> dict[str, float] | None:
    """Position of a box, to which the container scrolls, and the height of the figure for which it holds."""
    found = next((b for b in (*picture["nodes"], *picture["frames"]) if b["id"] == box), None)
    if found is None:
        return None
    across, top = found["x"], found["y"]
    if "op" not in found:  # for a frame that of its caption, which may be far from the middle
        across, top = caption_box(found, "")["x"], top - found["h"] / 2 + 12.0
    return {"x": across, "y": top, "height": int(max(picture["height"], MIN_HEIGHT) * zoom)}


def graph_spec(picture: Mapping[str, Any], state: Mapping[str, Any], marks: Marks, still: Still | None = None) -> Spec:
    """Data and layout of a picture (``graph_model``) in a state (``graph_state``)."""
    width, tall = max(picture["width"], 120.0), max(picture["height"], MIN_HEIGHT)
    scale, right = marks.zoom, picture["direction"] == "right"
    boxes, frames, edges = picture["nodes"], picture["frames"], picture["edges"]
    by_id = {b["id"]: b for b in boxes}
    dead = set(state["dead"])
    live = [b for b in boxes if b["id"] not in dead]
    gone = [b for b in boxes if b["id"] in dead]
    *data, arrows = (still or Still()).traces(picture, state, scale)
    current = [by_id[state["current"]]] if state["current"] in by_id else []
    current += [caption_box(f, state["loops"].get(f["id"], "")) for f in frames if f["id"] == state.get("caption")]
    chosen = [by_id[marks.selected]] if marks.selected in by_id else []
    data.append(shapes.outlines((b for b in live if b["id"] in state["bad"]), theme.BAD, 0.0, width=3.0))
    data.append(
        shapes.outlines(
            (b for b in boxes if b["id"] in marks.matches), theme.GREEN, 0.0, grow=4.0, width=2.5, dash="dot"
        )
    )
    data.append(shapes.outlines(current, theme.VERMILION, 0.0, grow=3.0, width=3.0))
    data.append(arrows)
    data.append(texts.words(texts.titles(live, frames, state["loops"]), scale))
    data.append(texts.words(texts.titles(gone, (), {}), scale, theme.GREY))
    plain, bad = texts.values(live, edges, state, right)
    data.append(texts.words(plain, scale))
    data.append(texts.words(bad, scale, theme.BAD))
    data.append(texts.pointer(current, scale, marks.elsewhere))
    data.append(texts.breakpoints(by_id, marks.points, scale))
    data.append(texts.hits(boxes, frames, state, marks.points))
    layout = base_layout(
        int(tall * scale),
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        # one unit is one pixel at zoom 1; a wider container shows more space beside the graph
        yaxis={"range": [tall, 0], "visible": False, "fixedrange": True},
        xaxis={
            "range": [0, width],
            "visible": False,
            "fixedrange": True,
            "scaleanchor": "y",
            "scaleratio": 1,
            "constrain": "range",
        },
        dragmode=False,
        # a shape, because plotly redraws shapes alone: with 500 boxes visible a selection must not redraw all of them
        shapes=[shapes.frame_around(b) for b in chosen],
        hoverdistance=24,
        meta={"min_width": int(width * scale), "ranges": {"xaxis.range": [0, width], "yaxis.range": [tall, 0]}},
    )
    return {"data": data, "layout": layout}
