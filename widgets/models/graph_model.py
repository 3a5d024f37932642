"""The picture of a graph as plain data: boxes, frames, edges (this file), and what changes while it runs (graph_state).

A frame is drawn as a box with its nodes inside, or collapsed to one box. Units are CSS pixels at scale 1, y downwards.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from workbench.graph.graph import Graph
from workbench.graph.node import Ref
from workbench.widgets.models.fold import Folding, fold, label
from workbench.widgets.models.labels import short_name, shorten
from workbench.widgets.models.layout import GAP_Y, Layout, layered

Path = tuple[str, ...]
CHAR = 6.7
LINE = 15.0
PAD = 18.0
#: room to the right of each box for its live value
VALUE_ROOM = 62.0
MAX_VALUES = 80
HEAD = 24.0
CONTROL_FLOW = ("Enter", "Merge", "LoopCond", "Switch", "NextIteration", "Exit")
MAX_BOXES = 500
#: stand-ins that pull Enters up and Exits down while a frame is laid out; not drawn
TOP, BOTTOM, DEEP = "\ntop", "\nbottom", "\ndeep"


def frame_id(path: Path) -> str:
    """Identity of a frame's box; a node can never be called like it, because of the line break."""
    return "frame\n" + "\n".join(path)


def graph_model(graph: Graph, collapsed: Collection[Path] | None = None) -> dict[str, Any]:
    """Boxes, frames and edges.

    ``collapsed`` holds frame paths that are drawn as one box; None collapses the deepest frames until at most 500
    boxes are left. Result: ``nodes`` (id, name, op, kind, title, lines, hover, frame, x, y, w, h), ``frames`` (the same
    with path and caption), ``edges`` (source, target, refs, kind, points), ``home`` (node name -> id of the box that
    stands for it), ``width``, ``height``.
    """
    folding = fold(graph)
    closed = set(_default_collapsed(graph, folding) if collapsed is None else collapsed)
    builder = _Builder(graph, folding, closed)
    return builder.build()


def _default_collapsed(graph: Graph, folding: Folding) -> set[Path]:
    closed: set[Path] = set()
    weight = {path: 0 for path in graph.frames}
    for name in folding.drawn:
        weight[graph.frame_of(name)] += 1
    for path in sorted((p for p in graph.frames if p), key=lambda p: (-len(p), -weight[p])):
        if sum(n for p, n in weight.items() if not any(p[: len(c)] == c for c in closed)) <= MAX_BOXES:
            break
        closed.add(path)
    return closed


class _Builder:
    """Places one frame after the other, inside out."""

    def __init__(self, graph: Graph, folding: Folding, closed: set[Path]) -> None:
        self.graph = graph
        self.folding = folding
        self.closed = {c for c in closed if c in graph.frames and c}
        self.boxes: dict[str, dict[str, Any]] = {}
        self.frames: dict[Path, dict[str, Any]] = {}
        self.edges: list[dict[str, Any]] = []
        self.layouts: dict[Path, Layout] = {}
        self.room = 0.0

    def build(self) -> dict[str, Any]:
        self._make_boxes()
        self.room = VALUE_ROOM if len(self.boxes) <= MAX_VALUES else 0.0
        self._make_edges()
        width, height = self._place(())
        self._shift((), 0.0, 0.0)
        self._route()
        return {
            "nodes": list(self.boxes.values()),
            "frames": [self.frames[p] for p in sorted(self.frames, key=len) if p],
            "edges": self.edges,
            "home": {name: self._box_of(home) for name, home in self.folding.home.items()},
            "collapsed": sorted(self.closed),
            "width": width,
            "height": height,
        }

    # -- boxes ------------------------------------------------------------------------------------------------------
    def _hidden_by(self, path: Path) -> Path | None:
        """The outermost collapsed frame around ``path``."""
        return next((path[:d] for d in range(1, len(path) + 1) if path[:d] in self.closed), None)

    def _box_of(self, node: str) -> str:
        hidden = self._hidden_by(self.graph.frame_of(node))
        return frame_id(hidden) if hidden else node

    def _make_boxes(self) -> None:
        marks = {ref.node: name for name, ref in self.graph.outputs.items()}
        for name in self.folding.drawn:
            path = self.graph.frame_of(name)
            if self._hidden_by(path) is None:
                node = self.graph.nodes[name]
                lines = label(self.graph, node, self.folding)
                if name in marks:
                    lines = [*lines, f"\u2192 {marks[name]}"]
                types = ", ".join(map(str, node.types)) or "no outputs"
                hover = [name, f"{node.op}: {types}"]
                if node.source is not None:
                    hover.append(str(node.source))
                self._box(name, path, lines, hover, name=name, op=node.op, kind=_kind(node.op, name in marks))
        for path, frame in self.graph.frames.items():
            if not path:
                continue
            caption = _caption(path, frame, self.folding)
            if path in self.closed and self._hidden_by(path[:-1]) is None:
                inside = [n for p, f in self.graph.frames.items() if p[: len(path)] == path for n in f.nodes]
                lines = [f"\u25b8 {short_name(path[-1])}", f"loop, {len(inside)} nodes"]
                more = {"name": None, "op": "frame", "kind": "collapsed", "path": path}
                self._box(frame_id(path), path[:-1], lines, [caption], **more)
            elif self._hidden_by(path) is None:
                self.frames[path] = {"id": frame_id(path), "path": path, "caption": caption, "depth": len(path)}

    def _box(self, key: str, frame: Path, lines: list[str], hover: list[str], **more: Any) -> None:
        shown = [shorten(line, 24) for line in lines if line]
        width = max(52.0, max(len(t) for t in shown) * CHAR + 16.0)
        self.boxes[key] = {
            "id": key, "frame": frame, "title": shown[0], "lines": shown[1:], "hover": hover,
            "w": width, "h": len(shown) * LINE + 10.0, **more,
        }  # fmt: skip

    # -- edges ------------------------------------------------------------------------------------------------------
    def _make_edges(self) -> None:
        merged: dict[tuple[str, str, str], dict[str, Any]] = {}
        for name in self.folding.drawn:
            node = self.graph.nodes[name]
            sources: list[tuple[Ref, str]] = []
            for ref in node.inputs:
                real = self.folding.source.get(ref, ref)
                if real is not None:
                    back = node.op == "Merge" and self.graph.nodes[real.node].op == "NextIteration"
                    sources.append((real, "back" if back else "data"))
            drawn = set(self.folding.drawn)
            sources += [(Ref(c, 0), "control") for c in node.control if c in drawn]
            for ref, kind in sources:
                source, target = self._box_of(ref.node), self._box_of(name)
                if source == target:
                    continue
                edge = merged.setdefault(
                    (source, target, kind), {"source": source, "target": target, "kind": kind, "refs": []}
                )
                if ref not in edge["refs"]:
                    edge["refs"].append(ref)
        self.edges = list(merged.values())

    def _level(self, box: str, path: Path) -> str | None:
        """The item at level ``path`` that holds the box: itself, or the child frame around it."""
        where = self.boxes[box]["frame"]
        if where == path:
            return box
        return frame_id(where[: len(path) + 1]) if where[: len(path)] == path else None

    def _place(self, path: Path) -> tuple[float, float]:
        """Lay out one frame; returns its size with borders."""
        room = self.room
        sizes = {key: (box["w"] + room, box["h"]) for key, box in self.boxes.items() if box["frame"] == path}
        for child in self.graph.frames[path].children:
            if child in self.frames:
                sizes[frame_id(child)] = self._place(child)
        pairs = []
        for edge in self.edges:
            source, target = self._level(edge["source"], path), self._level(edge["target"], path)
            if source and target and source != target and edge["kind"] != "back":
                pairs.append((source, target))
        pulls: list[tuple[str, str]] = []
        if path:  # what enters stands at the top and what leaves at the bottom, so that no line crosses a box inside
            ops = {k: self.boxes[k]["op"] for k in sizes if k in self.boxes}
            sizes |= {TOP: (0.0, 0.0), BOTTOM: (0.0, 0.0), DEEP: (0.0, 0.0)}
            pulls = [(TOP, k) for k, op in ops.items() if op in ("Enter", "Switch")]
            # two stand-ins: ranks minimise the length of all lines, and two lines down outweigh the one from the Switch
            pulls += [(k, low) for k, op in ops.items() if op in ("Exit", "NextIteration") for low in (BOTTOM, DEEP)]
        layout = self.layouts[path] = layered(sizes, pairs, pulls)
        if path:
            gap = GAP_Y if layout.centres[TOP][1] == 0 else 0.0
            layout.height -= GAP_Y + gap
            layout.centres = {k: (x, y - gap) for k, (x, y) in layout.centres.items() if k not in (TOP, BOTTOM, DEEP)}
            layout.bends = {e: [(x, y - gap) for x, y in b] for e, b in layout.bends.items()}
        if not path:
            return layout.width + 2 * PAD, layout.height + 2 * PAD
        frame = self.frames[path]
        # room on the right for the lines that lead back to the Merges
        back = sum(1 for e in self.edges if e["kind"] == "back" and self.boxes[e["target"]]["frame"] == path)
        frame["w"] = max(layout.width + 2 * PAD + 12.0 * back, len(frame["caption"]) * CHAR + 2 * PAD)
        frame["h"] = layout.height + HEAD + 2 * PAD
        return frame["w"], frame["h"]

    def _shift(self, path: Path, left: float, top: float) -> None:
        """Turn positions within the frame into positions on the page."""
        layout = self.layouts[path]
        left, top = left + PAD, top + PAD + (HEAD if path else 0.0)
        for key, (x, y) in layout.centres.items():
            if key in self.boxes:
                self.boxes[key].update(x=left + x - self.room / 2, y=top + y)
            else:
                frame = next(f for f in self.frames.values() if f["id"] == key)
                frame.update(x=left + x, y=top + y)
                self._shift(frame["path"], left + x - frame["w"] / 2, top + y - frame["h"] / 2)
        shift = left - self.room / 2
        layout.bends = {e: [(shift + x, top + y) for x, y in b] for e, b in layout.bends.items()}

    def _route(self) -> None:
        lanes: dict[Path, int] = {}
        for edge in self.edges:
            source, target = self.boxes[edge["source"]], self.boxes[edge["target"]]
            if edge["kind"] == "back":
                lane = lanes[target["frame"]] = lanes.get(target["frame"], 0) + 1
                edge["points"] = self._around(source, target, lane)
                continue
            start = (source["x"], source["y"] + source["h"] / 2)
            if source["op"] == "Switch" and len(source.get("title", "")):
                # output 0 (false) leaves on the left, output 1 (true) on the right
                side = {0: -0.25, 1: 0.25}.get(edge["refs"][0].index, 0.0) if len(edge["refs"]) == 1 else 0.0
                start = (source["x"] + side * source["w"], start[1])
            end = (target["x"], target["y"] - target["h"] / 2)
            edge["points"] = [start, *self._bends(edge["source"], edge["target"]), end]

    def _bends(self, source: str, target: str) -> list[tuple[float, float]]:
        """Bends of the line at the innermost level that holds both ends."""
        for path in sorted(self.layouts, key=len, reverse=True):
            ends = self._level(source, path), self._level(target, path)
            if ends in self.layouts[path].bends:
                return self.layouts[path].bends[ends]  # type: ignore[index]
        return []

    def _around(self, source: dict[str, Any], target: dict[str, Any], lane: int) -> list[tuple[float, float]]:
        """Out at the bottom, up along the right side of the frame, and into the Merge from above."""
        frame = self.frames.get(target["frame"])
        right = (frame["x"] + frame["w"] / 2 if frame else target["x"] + target["w"]) - 2.0 - 9.0 * lane
        bottom = source["y"] + source["h"] / 2
        floor = frame["y"] + frame["h"] / 2 - PAD if frame else bottom
        top = target["y"] - target["h"] / 2
        turn, x = top - 6.0 - 3.0 * min(lane, 4), target["x"] + target["w"] / 4
        low = max(bottom, floor) + 3.0 + 3.0 * min(lane, 4)
        return [(source["x"], bottom), (source["x"], low), (right, low), (right, turn), (x, turn), (x, top)]


def _kind(op: str, is_output: bool) -> str:
    if op == "Placeholder":
        return "input"
    if op in CONTROL_FLOW:
        return "control"
    if ":" in op:
        return "foreign"
    return "output" if is_output else "op"


def _caption(path: Path, frame: Any, folding: Folding) -> str:
    name = short_name(path[-1])
    text = name if name.startswith("loop") else f"loop {name}"
    fixed = list(dict.fromkeys(folding.invariants.get(path, [])))
    if fixed:
        text += f" \u00b7 invariant: {shorten(', '.join(fixed), 40)}"
    return text
