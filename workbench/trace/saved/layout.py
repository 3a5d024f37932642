"""The layout in a trace file: read with every type checked, and compared with the graph in the same file.

Readers rely on these checks: every node of the layout is in the graph and in the same frame, the values that a node
reads are in the layout, a place is in a frame from which it can be read, and conditions are single bytes or numbers. A
mismatch is a ValueError.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.ir.graph import Graph
from workbench.ir.types import DTYPES
from workbench.kernels.layout import Condition, FrameLayout, Layout, NodeLayout, Place, ValueLayout

#: upper limit of whole numbers in a file: rows and offsets are int64, and sums of a few must fit too
MAX_WHOLE = 1 << 48
#: dtypes of conditions: a byte, or (the index of a Merge) a number
DECIDING = {0: "bool", 1: "bool", 2: "int32", 3: "int32"}
KINDS = ("slot", "loop-index", "branch-index")
#: fields written by kernels.statistics
STATISTICS = ("float64", (7,))


def whole(value: Any, what: str = "a number", least: int = 0) -> int:
    """A whole number of at least ``least``; ValueError for anything else, including 2.0 and True."""
    if type(value) is not int or not least <= value < MAX_WHOLE:
        raise ValueError(f"{what} is {repr(value)[:40]}, not a whole number from {least} to {MAX_WHOLE}")
    return value


def text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError(f"{repr(value)[:40]} is not a name")
    return value


def flag(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError(f"{repr(value)[:40]} is neither true nor false")
    return value


def place_of(entry: Any) -> Place:
    """A place as stored in the file."""
    dtype = entry["dtype"]
    if dtype is not None and dtype not in DTYPES:
        raise ValueError(f"{repr(dtype)[:40]} is not a dtype of a slot")
    shift = whole(entry["shift"], "a shift", -1)
    if shift > 0:
        raise ValueError("a place is in a later row")
    shape = tuple(whole(d) for d in entry["shape"])
    return Place(
        whole(entry["base"]), whole(entry["offset"]), shift, dtype, shape, whole(entry.get("until", -1), "until", -1)
    )


def read_layout(head: dict[str, Any]) -> Layout:
    """The layout of a file; raises ValueError, TypeError or KeyError for invalid data."""
    frames = tuple(_frame(f) for f in head["frames"])
    nodes = tuple(_node(n) for n in head["nodes"])
    values = [_value(v) for v in head["values"]]
    stores = tuple(whole(f) for f in head["stores"])
    if stores[: len(frames)] != tuple(range(len(frames))) or any(f >= len(frames) for f in stores):
        raise ValueError("the stores do not fit the frames")
    layout = Layout(frames, nodes, {(v.node, v.output): v for v in values}, stores)
    if len(layout.values) < len(values):
        raise ValueError("duplicate value")
    _check_frames(layout)
    _check_nodes(layout)
    for value in values:
        _check_value(layout, value)
    return layout


def _frame(f: Any) -> FrameLayout:
    return FrameLayout(
        tuple(text(n) for n in f["path"]),
        whole(f["parent"], "a parent", -1),
        whole(f["row_bytes"]),
        whole(f["start"], "a start", -1),
        whole(f["stop"], "a stop", -1),
        None if f["cond"] is None else _condition(f["cond"]),
    )


def _node(n: Any) -> NodeLayout:
    return NodeLayout(
        text(n["name"]),
        text(n["op"]),
        whole(n["frame"], "the frame of a node"),
        whole(n["ip"], "an instruction", -1),
        _guard(n["guard"]),
        flag(n["silent"]),
        flag(n["first"]),
    )


def _value(v: Any) -> ValueLayout:
    places = {name: None if v[name] is None else place_of(v[name]) for name in ("place", "statistics")}
    return ValueLayout(
        text(v["node"]),
        whole(v["output"]),
        whole(v["frame"], "the frame of a value"),
        text(v["kind"]),
        places["place"],
        _guard(v["guard"]),
        tuple((whole(i), _guard(guard)) for i, guard in v["branches"]),
        places["statistics"],
    )


def _guard(conditions: Any) -> tuple[Condition, ...]:
    return tuple(_condition(c) for c in conditions)


def _condition(c: Any) -> Condition:
    condition = Condition(place_of(c["place"]), whole(c["expect"]))
    if condition.place.shape or condition.place.dtype != DECIDING.get(condition.expect):
        raise ValueError("a condition is not on a byte or an index")
    return condition


def _check_frames(layout: Layout) -> None:
    frames = layout.frames
    if not frames or frames[0].path or frames[0].parent > 0:
        raise ValueError("the first frame is not the outermost level")
    for number, frame in enumerate(frames[1:], 1):
        if not 0 <= frame.parent < number or frame.path[:-1] != frames[frame.parent].path or not frame.path:
            raise ValueError(f"frame {number} has no proper parent")
        outer = frames[frame.parent]
        if not outer.start <= frame.start <= frame.stop <= outer.stop:
            raise ValueError(f"the instructions of frame {number} are not among those of its parent")
        if frame.cond is not None:
            _check_seen(layout, number, (frame.cond.place,))


def _check_nodes(layout: Layout) -> None:
    names = {n.name for n in layout.nodes}
    if len(names) < len(layout.nodes):
        raise ValueError("duplicate node")
    for node in layout.nodes:
        if node.frame >= len(layout.frames):
            raise ValueError(f"node {node.name} is in a frame that does not exist")
        frame = layout.frames[node.frame]
        if not frame.start <= node.ip <= frame.stop:
            raise ValueError(f"node {node.name} is not among the instructions of its frame")
        _check_seen(layout, node.frame, (c.place for c in node.guard))


def _check_value(layout: Layout, value: ValueLayout) -> None:
    if value.frame >= len(layout.frames):
        raise ValueError(f"a value of {value.node} is in a frame that does not exist")
    if value.kind not in KINDS or (value.kind == "loop-index" and value.frame == 0):
        raise ValueError(f"a value of {value.node} is of kind {value.kind[:40]!r}")
    if any(index >= 1 << 31 for index, _ in value.branches):
        raise ValueError(f"a branch of {value.node} has a number that is too large")
    guards = (value.guard, *(guard for _, guard in value.branches))
    _check_seen(layout, value.frame, (c.place for guard in guards for c in guard))
    for place in (value.place, value.statistics):
        if place is not None:
            _check_seen(layout, value.frame, (place,))
    if value.statistics is not None and (value.statistics.dtype, value.statistics.shape) != STATISTICS:
        raise ValueError(f"the statistics of {value.node} are not seven numbers")


def _check_seen(layout: Layout, frame: int, places: Iterable[Place]) -> None:
    """A place must be a constant, or in a row of the reading frame or an enclosing one."""
    for place in places:
        if place.base == 0:
            continue
        if place.base > len(layout.stores):
            raise ValueError("a place is in a store that does not exist")
        home, around = layout.frame_of(place), frame
        while around > 0 and around != home:
            around = layout.frames[around].parent
        if around != home:
            raise ValueError("a place is in a frame that cannot be seen from where it is used")


def check_graph(layout: Layout, graph: Graph) -> None:
    """Compare a layout with its graph; ValueError if they do not fit."""
    nodes = {n.name: n for n in layout.nodes}
    for frame in layout.frames:
        if frame.path not in graph.frames:
            raise ValueError(f"the graph has no frame {'/'.join(frame.path)[:200]}")
    for node in layout.nodes:
        known = graph.nodes.get(node.name)
        if known is None or known.op != node.op:
            raise ValueError(f"the graph has no {node.op[:40]} named {node.name[:200]}")
        path = graph.frame_of(node.name)
        if layout.frames[node.frame].path != (path[:-1] if node.op == "Exit" else path):
            raise ValueError(f"{node.name[:200]} is in another frame than in the graph")
        if node.op != "Merge" and any(ref not in layout.values for ref in known.inputs):
            raise ValueError(f"a value that {node.name[:200]} reads is missing")
    for value in layout.values.values():
        node = nodes.get(value.node)
        if node is None or value.frame != node.frame:
            raise ValueError(f"a value belongs to a node that is missing or in another frame: {value.node[:200]}")
        if value.output >= len(graph.nodes[value.node].types):
            raise ValueError(f"{value.node[:200]} has no output {value.output}")
