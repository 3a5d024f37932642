"""Geometry of a graph's picture (boxes, frames, lines): one layered layout per open group, inside out.

Flow coordinates: u runs across and v along the flow of data. Downwards that is (x, y), to the right (y, x).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.widgets.graph.model.group import ROOT
from workbench.widgets.graph.model.layout import GraphLayout, Point, layered
from workbench.widgets.graph.model.scene import Scene

PAD = 18.0
HEAD = 24.0
CHAR = 7.0
#: between rows: the value at the line has to fit, below its box or beside it
GAP_DOWN, GAP_RIGHT = 30.0, 62.0
#: stand-ins that pull Enters up and Exits down while a loop is laid out; not drawn
TOP, BOTTOM, DEEP = "\ntop", "\nbottom", "\ndeep"
STAND_INS = (TOP, BOTTOM, DEEP)
#: lines that are led into and out of a group around its boxes
MAX_PORTS = 14
#: room in a caption for the present iteration
STATE_CHARS = 18
LANE = 9.0

Box = dict[str, Any]


class Places:
    """Gives each box and frame x, y, w, h, and each edge its points."""

    def __init__(self, scene: Scene, boxes: dict[str, Box], frames: dict[str, Box], edges: list[Box]) -> None:
        self.scene, self.boxes, self.frames, self.edges = scene, boxes, frames, edges
        self.right = scene.direction == "right"
        self.gap = GAP_RIGHT if self.right else GAP_DOWN
        #: what a box or frame stands in, outermost first
        self.chain = {key: scene.around(key) for key in (*boxes, *frames)}
        self.inside: dict[str, list[str]] = {ROOT: [], **{key: [] for key in frames}}
        for key, chain in self.chain.items():
            self.inside[chain[-1] if chain else ROOT].append(key)
        self.level: dict[int, str] = {}  # edge -> group in which its ends part
        self.ends: dict[int, tuple[str, str]] = {}  # and the items of that group which hold them
        self.by_level: dict[str, list[int]] = {key: [] for key in self.inside}
        #: items of a group that are reached from outside, and that are read there
        self.entered: dict[str, dict[str, None]] = {key: {} for key in self.inside}
        self.left: dict[str, dict[str, None]] = {key: {} for key in self.inside}
        self.layouts: dict[str, GraphLayout] = {}
        # centres in flow coordinates
        self.u: dict[str, float] = {}
        self.v: dict[str, float] = {}
        self.lanes: dict[str, int] = {}

    def place(self) -> Point:
        """Place everything; returns width and height of the whole."""
        for index, edge in enumerate(self.edges):
            self._part(index, edge)
        for box in self.boxes.values():
            box["fu"], box["fv"] = (box["h"], box["w"]) if self.right else (box["w"], box["h"])
        u, v = self._size(ROOT)
        self._shift(ROOT, 0.0, 0.0)
        for index, edge in enumerate(self.edges):
            edge["points"] = self._route(index, edge)
        for key, item in (*self.boxes.items(), *self.frames.items()):
            size, at = (item.pop("fu"), item.pop("fv")), (self.u[key], self.v[key])
            item["x"], item["y"] = at[::-1] if self.right else at
            item["w"], item["h"] = size[::-1] if self.right else size
        if self.right:
            for edge in self.edges:
                edge["points"] = [(v, u) for u, v in edge["points"]]
        return (v, u) if self.right else (u, v)

    def _part(self, index: int, edge: Box) -> None:
        one = [*self.chain[edge["source"]], edge["source"]]
        two = [*self.chain[edge["target"]], edge["target"]]
        k = next(k for k, (a, b) in enumerate(zip(one, two, strict=False)) if a != b)
        self.level[index] = one[k - 1]
        self.ends[index] = (one[k], two[k])
        self.by_level[one[k - 1]].append(index)
        for key, item in zip(one[k:], one[k + 1 :], strict=False):
            self.left[key][item] = None
        for key, item in zip(two[k:], two[k + 1 :], strict=False):
            self.entered[key][item] = None

    # -- sizes and positions ----------------------------------------------------------------------------------------
    def _size(self, key: str) -> Point:
        """Lay out one group; its size in flow coordinates, with borders."""
        sizes: dict[str, Point] = {}
        for item in self.inside[key]:
            sizes[item] = (self.boxes[item]["fu"], self.boxes[item]["fv"]) if item in self.boxes else self._size(item)
        pairs = [self.ends[i] for i in self.by_level[key] if self.edges[i]["kind"] != "back"]
        kind = self.scene.groups[key].kind
        pulls: list[tuple[str, str]] = []
        if kind != "root":
            sizes |= dict.fromkeys(STAND_INS, (0.0, 0.0))
        if kind == "loop":
            # what enters stands at the top and what leaves at the bottom, so that no line crosses a box inside
            ops = {k: self.boxes[k]["op"] for k in sizes if k in self.boxes}
            pulls = [(TOP, k) for k, op in ops.items() if op in ("Enter", "Switch")]
            # two stand-ins: ranks minimise the length of all lines, and two lines down outweigh the one from the Switch
            pulls += [(k, low) for k, op in ops.items() if op in ("Exit", "NextIteration") for low in (BOTTOM, DEEP)]
        elif kind != "root" and len(self.entered[key]) + len(self.left[key]) <= MAX_PORTS:
            # lines from outside lead around the boxes inside, as long as they are not too many
            pairs += [(TOP, k) for k in self.entered[key]] + [(k, BOTTOM) for k in self.left[key]]
        layout = self.layouts[key] = layered(sizes, pairs, pulls, gap=self.gap)
        if kind != "root":
            _without_stand_ins(layout, sizes)
        if key == ROOT:
            return layout.width + 2 * PAD, layout.height + 2 * PAD
        frame = self.frames[key]
        # room on the far side for the lines that lead back
        around = sum(1 for i in self.by_level[key] if self.edges[i]["kind"] == "back")
        words = (len(frame["caption"]) + (STATE_CHARS if frame["kind"] == "loop" else 2)) * CHAR + 2 * PAD
        u, v = layout.width + 2 * PAD + (LANE + 3.0) * around, layout.height + 2 * PAD
        # the caption stands above, which is across the flow where that leads to the right
        frame["fu"], frame["fv"] = (u + HEAD, max(v, words)) if self.right else (max(u, words), v + HEAD)
        return frame["fu"], frame["fv"]

    def _shift(self, key: str, left: float, top: float) -> None:
        """Turn positions within the group into positions on the page."""
        layout = self.layouts[key]
        head = HEAD if key != ROOT else 0.0
        left, top = left + PAD + (head if self.right else 0.0), top + PAD + (0.0 if self.right else head)
        for item, (u, v) in layout.centres.items():
            self.u[item], self.v[item] = left + u, top + v
            if item in self.frames:
                frame = self.frames[item]
                self._shift(item, left + u - frame["fu"] / 2, top + v - frame["fv"] / 2)
        layout.bends = {e: [(left + u, top + v) for u, v in bend] for e, bend in layout.bends.items()}

    # -- lines ------------------------------------------------------------------------------------------------------
    def _route(self, index: int, edge: Box) -> list[Point]:
        source, target = self.boxes[edge["source"]], self.boxes[edge["target"]]
        su, sv = self.u[source["id"]], self.v[source["id"]] + source["fv"] / 2
        tu, tv = self.u[target["id"]], self.v[target["id"]] - target["fv"] / 2
        if edge["kind"] == "back" or tv <= sv:
            return self._around(index, (su, sv), (tu, tv), target)
        if source["op"] == "Switch" and len(edge["refs"]) == 1:
            # output 0 (false) leaves on one side, output 1 (true) on the other
            su += {0: -0.25, 1: 0.25}.get(edge["refs"][0].index, 0.0) * source["fu"]
        level, (one, two) = self.level[index], self.ends[index]
        points = [(su, sv)]
        inner = [*self.chain[source["id"]], source["id"]]
        for key, item in reversed(list(zip(inner, inner[1:], strict=False))):
            if key != level and key not in self.chain.get(level, ()):
                points += self.layouts[key].bends.get((item, BOTTOM), [])
        points += self.layouts[level].bends.get((one, two), [])
        inner = [*self.chain[target["id"]], target["id"]]
        for key, item in zip(inner, inner[1:], strict=False):
            if key != level and key not in self.chain.get(level, ()):
                points += self.layouts[key].bends.get((TOP, item), [])
        return [*points, (tu, tv)]

    def _around(self, index: int, start: Point, end: Point, target: Mapping[str, Any]) -> list[Point]:
        """Out at the end, back along the far side of the frame, and into the target from before it."""
        key = self.level[index]
        lane = self.lanes[key] = self.lanes.get(key, 0) + 1
        near = min(lane, 4)
        turn, into = end[1] - 6.0 - 3.0 * near, end[0] + target["fu"] / 4
        if key in self.frames:
            frame = self.frames[key]
            side = self.u[key] + frame["fu"] / 2 - 2.0 - LANE * lane
            floor = self.v[key] + frame["fv"] / 2 - PAD
        else:
            side, floor = max(start[0], end[0]) + target["fu"], start[1]
        low = max(start[1], floor if self.edges[index]["kind"] == "back" else start[1]) + 3.0 + 3.0 * near
        return [start, (start[0], low), (side, low), (side, turn), (into, turn), (into, end[1])]


def _without_stand_ins(layout: GraphLayout, sizes: Mapping[str, Point]) -> None:
    """Take the stand-ins out again, with the rows that they alone filled."""
    layout.centres = {k: at for k, at in layout.centres.items() if k not in STAND_INS}
    if not layout.centres:
        layout.width = layout.height = 0.0
        return
    first = min(v - sizes[k][1] / 2 for k, (_, v) in layout.centres.items())
    last = max(v + sizes[k][1] / 2 for k, (_, v) in layout.centres.items())
    layout.height = last - first
    layout.centres = {k: (u, v - first) for k, (u, v) in layout.centres.items()}
    layout.bends = {e: [(u, v - first) for u, v in bend] for e, bend in layout.bends.items()}
