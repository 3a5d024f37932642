"""Geometry of a graph's picture (boxes, frames, lines): one layered layout per open group, inside out.

Flow coordinates: u runs across and v along the flow of data. If data flows downwards (u, v) is (x, y), to the right (y,
x).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from workbench.widgets.graph.model.captions import ASIDE, CHAR, place_captions
from workbench.widgets.graph.model.group import ROOT
from workbench.widgets.graph.model.layered.layout import GraphLayout, Point, layered
from workbench.widgets.graph.model.scene import Scene
from workbench.widgets.graph.model.structure import NOW

PAD = 18.0
HEAD = 24.0
#: space between rows, for arrows and the sides of a Switch
GAP_DOWN, GAP_RIGHT = 20.0, 40.0
#: placeholders that pull Enters up and Exits down while a loop is laid out; not drawn
TOP, BOTTOM, DEEP = "\ntop", "\nbottom", "\ndeep"
#: and placeholders that keep the present values of a loop's variables in one row, above their readers
ROWS = tuple(f"\nrow {k}" for k in range(8))
STAND_INS = (TOP, BOTTOM, DEEP, *ROWS)
#: lines that enter and leave a group around its boxes
MAX_PORTS = 30
#: space in a caption for the present iteration
STATE_CHARS = 18
LANE = 9.0

Box = dict[str, Any]


class Places:
    """Computes x, y, w, h of each box and frame, and the points of each edge."""

    def __init__(
        self, scene: Scene, boxes: dict[str, Box], frames: dict[str, Box], edges: list[Box], rough: bool = False
    ) -> None:
        self.scene, self.boxes, self.frames, self.edges, self.rough = scene, boxes, frames, edges, rough
        self.right = scene.direction == "right"
        self.gap = GAP_RIGHT if self.right else GAP_DOWN
        #: the groups around a box or frame, outermost first
        self.chain = {key: scene.around(key) for key in (*boxes, *frames)}
        self.inside: dict[str, list[str]] = {ROOT: [], **{key: [] for key in frames}}
        for key, chain in self.chain.items():
            self.inside[chain[-1] if chain else ROOT].append(key)
        self.level: dict[int, str] = {}  # edge -> innermost group that contains both ends
        self.ends: dict[int, tuple[str, str]] = {}  # and the items of that group that contain them
        self.by_level: dict[str, list[int]] = {key: [] for key in self.inside}
        #: items of a group with inputs from outside, and with readers there
        self.entered: dict[str, dict[str, None]] = {key: {} for key in self.inside}
        self.left: dict[str, dict[str, None]] = {key: {} for key in self.inside}
        self.layouts: dict[str, GraphLayout] = {}
        # centres in flow coordinates
        self.u: dict[str, float] = {}
        self.v: dict[str, float] = {}
        #: edge that leads around the boxes -> its side of the group (-1, 1), its index from the boxes outwards, and
        #: their number
        self.lanes: dict[int, tuple[int, int, int]] = {}
        self.room: dict[str, float] = {}  # space of a group for those at its left
        #: distance from the left side of its frame at which a line to an item enters it, if that is not above the item
        self.entries: dict[tuple[str, str], float] = {}

    def place(self) -> Point:
        """Place all items; returns the width and height of the picture."""
        for index, edge in enumerate(self.edges):
            self._part(index, edge)
        for box in self.boxes.values():
            box["fu"], box["fv"] = (box["h"], box["w"]) if self.right else (box["w"], box["h"])
        u, v = self._size(ROOT, self.scene.across)
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
        place_captions(self.frames, self.edges, {key: _words(frame) for key, frame in self.frames.items()})
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
    def _size(self, key: str, across: float) -> Point:
        """Lay out one group, if possible no wider than ``across``; returns its bordered size in flow coordinates."""
        lanes = sum(self.edges[i]["kind"] == "back" for i in self.by_level[key])  # at most
        room = across - 2 * PAD - (LANE + 3.0) * lanes
        sizes: dict[str, Point] = {}
        for item in self.inside[key]:
            sizes[item] = (
                (self.boxes[item]["fu"], self.boxes[item]["fv"]) if item in self.boxes else self._size(item, room)
            )
        inner = self.by_level[key]
        pairs = [self.ends[i] for i in inner if self.edges[i]["kind"] != "back"]
        ports: dict[tuple[str, str], list[Point]] = {}
        for i in inner:
            if self.edges[i]["kind"] != "back":
                ports.setdefault(self.ends[i], []).append((self._leaves(i), self._enters(i)))
        kind = self.scene.groups[key].kind
        pulls: list[tuple[str, str]] = []
        if kind != "root":
            sizes |= dict.fromkeys(STAND_INS, (0.0, 0.0))
        if kind == "loop":
            # inputs are at the top and outputs at the bottom, so that no line crosses a box inside
            ops = {k: self.boxes[k]["op"] for k in sizes if k in self.boxes}
            pulls = [(TOP, k) for k, op in ops.items() if op in ("Enter", "Switch")]
            pulls += [(row, k) for k in sizes if k in self.boxes and self._row(k) == NOW for row in ROWS]
            # two placeholders: ranks minimise the length of all lines, and two lines down outweigh the one from the
            # Switch
            pulls += [(k, low) for k, op in ops.items() if op in ("Exit", "NextIteration") for low in (BOTTOM, DEEP)]
        if kind == "branch":
            ops = {k: self.boxes[k]["op"] for k in sizes if k in self.boxes}
            pulls = [(TOP, k) for k, op in ops.items() if op == "Switch"]
            pulls += [(k, low) for k, op in ops.items() if op == "Merge" for low in (BOTTOM, DEEP)]
        if kind != "root" and len(self.entered[key]) + len(self.left[key]) <= MAX_PORTS:
            # lines from outside lead around the boxes inside, unless there are too many
            if kind not in ("loop", "branch"):
                pulls += _first_and_last(pairs)  # before placeholders are added to pairs
            pairs += [(TOP, k) for k in self.entered[key]] + [(k, BOTTOM) for k in self.left[key]]
        backs = [self.ends[i] for i in inner if self.edges[i]["kind"] == "back"]
        layout = self.layouts[key] = layered(sizes, pairs, pulls, self.gap, room, ports, backs, self.rough)
        if kind != "root":
            _without_stand_ins(layout, sizes)
        if key == ROOT:
            return layout.width + 2 * PAD, layout.height + 2 * PAD
        frame = self.frames[key]
        left, right = self._assign_lanes(key, layout)
        self.room[key] = (LANE + 3.0) * left
        words = _words(frame) + 2 * PAD
        wide, long = layout.width + 2 * PAD + (LANE + 3.0) * (left + right), layout.height + 2 * PAD
        # the caption is above, which is across the flow if data flows to the right
        frame["fu"], frame["fv"] = (wide + HEAD, max(long, words)) if self.right else (max(wide, words), long + HEAD)
        self._pass_caption(key)
        return frame["fu"], frame["fv"]

    def _origin(self, key: str) -> float:
        """Distance of the layout of a group from the side of its frame."""
        return PAD + self.room.get(key, 0.0) + (HEAD if self.right else 0.0)

    def _leaves(self, index: int) -> float:
        """The distance from the centre of the item that contains its source at which a line leaves that item."""
        edge, item = self.edges[index], self.ends[index][0]
        source = self.boxes[edge["source"]]
        side = side_of(source, edge)
        off = 0.0 if side is None else (0.25 if side else -0.25) * source["fu"]
        inner = [*self.chain[source["id"]], source["id"]]
        for key, at in reversed(list(pairwise(inner[inner.index(item) :]))):
            bends = self.layouts[key].bends.get((at, BOTTOM))
            off += self.layouts[key].centres[at][0]
            off = (bends[-1][0] if bends else off) + self._origin(key) - self.frames[key]["fu"] / 2
        return off

    def _enters(self, index: int) -> float:
        """The distance from the centre of the item that contains its target at which a line enters that item."""
        item, target = self.ends[index][1], self.edges[index]["target"]
        inner = [*self.chain[target], target]
        off = 0.0
        for key, at in reversed(list(pairwise(inner[inner.index(item) :]))):
            entry = self.entries.get((key, at))
            if entry is None:
                bends = self.layouts[key].bends.get((TOP, at))
                entry = self._origin(key) + (bends[0][0] if bends else self.layouts[key].centres[at][0] + off)
            off = entry - self.frames[key]["fu"] / 2
        return off

    def _pass_caption(self, key: str) -> None:
        """Let lines enter a frame to the right of its caption, in the order of their target items."""
        if self.right:
            return
        frame, layout = self.frames[key], self.layouts[key]
        end = ASIDE + _words(frame) + ASIDE
        found = []
        for item in self.entered[key]:
            bends = layout.bends.get((TOP, item))
            found.append((self._origin(key) + (bends[0][0] if bends else layout.centres[item][0]), item))
        for at, item in sorted(found):
            if at < end:
                self.entries[key, item] = min(end, frame["fu"] - ASIDE)
                end += 6.0

    def _assign_lanes(self, key: str, layout: GraphLayout) -> tuple[int, int]:
        """Assign to each line that leads back a lane at the nearer side; returns the number of lanes left and right.

        The line whose end is outermost takes the innermost lane, above the others on its way down and below them on its
        way up, so that none cross.
        """
        around: dict[int, list[tuple[float, int]]] = {-1: [], 1: []}
        found = []
        for i in self.by_level[key]:
            one, two = self.ends[i]
            back = self.edges[i]["kind"] == "back" and (one, two) not in layout.bends
            if back or layout.centres[two][1] <= layout.centres[one][1]:
                found.append(((layout.centres[one][0] + layout.centres[two][0]) / 2, i))
        for at, i in found:
            side = layout.sides.get(self.ends[i]) or (-1 if len(found) > 1 and at < layout.width / 2 else 1)
            around[side].append((-side * at, i))
        for side, edges in around.items():
            for k, (_, i) in enumerate(sorted(edges)):
                self.lanes[i] = (side, k + 1, len(edges))
        return len(around[-1]), len(around[1])

    def _row(self, key: str) -> str:
        """The row of the loop variable to which a box belongs, if any."""
        structure = self.scene.folding.structure
        return structure.rows.get(key, ("", ""))[0] if structure is not None else ""

    def _shift(self, key: str, left: float, top: float) -> None:
        """Turn positions within the group into positions on the page."""
        layout = self.layouts[key]
        head = HEAD if key != ROOT else 0.0
        left, top = left + (self._origin(key) if key != ROOT else PAD), top + PAD + (0.0 if self.right else head)
        for item, (u, v) in layout.centres.items():
            self.u[item], self.v[item] = left + u, top + v
            if item in self.frames:
                frame = self.frames[item]
                self._shift(item, left + u - frame["fu"] / 2, top + v - frame["fv"] / 2)
        layout.bends = {e: [(left + u, top + v) for u, v in bend] for e, bend in layout.bends.items()}
        layout.rows = {item: (top + v, top + w) for item, (v, w) in layout.rows.items()}

    # -- lines ------------------------------------------------------------------------------------------------------
    def _route(self, index: int, edge: Box) -> list[Point]:
        source, target = self.boxes[edge["source"]], self.boxes[edge["target"]]
        su, sv = self.u[source["id"]], self.v[source["id"]] + source["fv"] / 2
        tu, tv = self.u[target["id"]], self.v[target["id"]] - target["fv"] / 2
        if edge["kind"] == "back" or tv <= sv:
            return self._around(index, (su, sv), (tu, tv), target)
        side = side_of(source, edge)
        if side is not None:
            su += (0.25 if side else -0.25) * source["fu"]
        level, (one, two) = self.level[index], self.ends[index]
        # lines turn only between rows: beside a box there may be a tall frame, which lines must not cross
        points = [(su, sv)]
        inner = [*self.chain[source["id"]], source["id"]]
        for key, item in reversed(list(zip(inner, inner[1:], strict=False))):
            if key != level and key not in self.chain.get(level, ()):
                points.append((points[-1][0], self.layouts[key].rows[item][1]))
                points += self.layouts[key].bends.get((item, BOTTOM), [])
        last: list[Point] = [(tu, tv)]
        inner = [*self.chain[target["id"]], target["id"]]
        for key, item in reversed(list(zip(inner, inner[1:], strict=False))):
            if key != level and key not in self.chain.get(level, ()):
                last.insert(0, (last[0][0], self.layouts[key].rows[item][0]))
                last = self.layouts[key].bends.get((TOP, item), []) + last
                last = self._past_caption(key, item) + last
        rows = self.layouts[level].rows
        points.append((points[-1][0], rows[one][1]))
        points += self.layouts[level].bends.get((one, two), [])
        return _plain([*points, (last[0][0], rows[two][0]), *last])

    def _past_caption(self, key: str, item: str) -> list[Point]:
        """Points by which a line enters a frame to the right of the caption, if it would otherwise cross that."""
        if (key, item) not in self.entries:
            return []
        frame = self.frames[key]
        u, top = self.u[key] - frame["fu"] / 2 + self.entries[key, item], self.v[key] - frame["fv"] / 2
        return [(u, top), (u, top + HEAD)]

    def _around(self, index: int, start: Point, end: Point, target: Mapping[str, Any]) -> list[Point]:
        """The points of a line out at the end, back along a side of the frame, and into the target from above."""
        key = self.level[index]
        way, lane, count = self.lanes.get(index, (1, 1, 1))
        near, (one, two) = min(lane, 4), self.ends[index]
        rows = self.layouts[key].rows
        start_low = max(start[1], rows[one][1])
        turn = min(end[1], rows[two][0]) - 6.0 - 3.0 * near
        inner = self.layouts[key].bends.get((one, two), [])
        if inner:
            low, into = start_low + 3.0 + 3.0 * near, end[0] + math.copysign(target["fu"] / 4, inner[-1][0] - end[0])
            path = [(start[0], low), (inner[0][0], low), *inner, (inner[-1][0], turn), (into, turn), (into, end[1])]
            return _plain([start, *path])
        into = end[0] + way * target["fu"] / 4
        if key in self.frames:
            frame = self.frames[key]
            side = self.u[key] + way * (frame["fu"] / 2 - 2.0 - LANE * (count - lane + 1))
            floor = self.v[key] + frame["fv"] / 2 - PAD
        else:
            side, floor = max(start[0], end[0]) + target["fu"], start[1]
        below = [
            self.boxes.get(k) or self.frames[k] for k in self.inside[key] if self.layouts[key].rows[k][0] > start_low
        ]
        free = all(abs(self.u[b["id"]] - start[0]) > b["fu"] / 2 + 6.0 for b in below)
        low = max(start_low, floor if self.edges[index]["kind"] == "back" and free else start_low) + 3.0 + 3.0 * near
        return [start, (start[0], low), (side, low), (side, turn), (into, turn), (into, end[1])]


def side_of(source: Mapping[str, Any], edge: Mapping[str, Any]) -> int | None:
    """The output of a Switch at which a line starts: 0 (false) on one side, 1 (true) on the other."""
    sides = {ref.index for ref in edge["refs"]}
    return sides.pop() if source["op"] == "Switch" and len(sides) == 1 else None


def _words(frame: Box) -> float:
    """Width of a caption, with the iteration of a loop."""
    return (len(frame["caption"]) + (STATE_CHARS if frame["kind"] == "loop" else 2)) * CHAR


def _first_and_last(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Edges that keep the placeholders above the first and below the last item of the longest path."""
    below: dict[str, list[str]] = {}
    for one, two in pairs:
        below.setdefault(one, []).append(two)
    length: dict[str, int] = {}
    follow: dict[str, str] = {}
    for start in below:
        stack = [start]
        while stack:
            item = stack[-1]
            fresh = [k for k in below.get(item, ()) if k not in length]
            if item not in length:
                length[item] = 0  # also ends a cycle
                stack += fresh
                if fresh:
                    continue
            stack.pop()
            best = max(below.get(item, ()), key=length.__getitem__, default=None)
            if best is not None and length[best] + 1 > length[item]:
                length[item], follow[item] = length[best] + 1, best
    if not length:
        return []
    first = last = max(length, key=length.__getitem__)
    for _ in range(length[first]):
        last = follow.get(last, last)
    return [(TOP, first), (last, BOTTOM)]


def _plain(points: list[Point]) -> list[Point]:
    """The points without those on a straight line between their neighbours."""
    found: list[Point] = []
    for point in points:
        if found and point == found[-1]:
            continue
        if len(found) > 1 and found[-2][0] == found[-1][0] == point[0]:
            found.pop()
        found.append(point)
    return found


def _without_stand_ins(layout: GraphLayout, sizes: Mapping[str, Point]) -> None:
    """Remove the placeholders, with the rows that contain nothing else."""
    layout.centres = {k: at for k, at in layout.centres.items() if k not in STAND_INS}
    if not layout.centres:
        layout.width = layout.height = 0.0
        return
    first = min(v - sizes[k][1] / 2 for k, (_, v) in layout.centres.items())
    last = max(v + sizes[k][1] / 2 for k, (_, v) in layout.centres.items())
    layout.height = last - first
    layout.centres = {k: (u, v - first) for k, (u, v) in layout.centres.items()}
    layout.rows = {k: (max(v, first) - first, min(w, last) - first) for k, (v, w) in layout.rows.items()}
    layout.bends = {e: [(u, v - first) for u, v in bend] for e, bend in layout.bends.items()}
