"""The picture of a graph as plain data: boxes, frames and edges of the open groups of a scene.

A loop, scope or block is drawn as a frame with its items inside, or closed as one box. Units are CSS pixels at scale 1,
x to the right and y downwards. ``geometry`` computes the positions.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.widgets.graph.model.constant_inlining import label
from workbench.widgets.graph.model.geometry import Places
from workbench.widgets.graph.model.given_outputs import BETWEEN, output_marks
from workbench.widgets.graph.model.group import Group, Path, frame_id
from workbench.widgets.graph.model.node_values import SILENT
from workbench.widgets.graph.model.scene import Scene
from workbench.widgets.text.formulas import formula
from workbench.widgets.text.labels import short_name, shorten, source_text
from workbench.widgets.text.loop_names import is_named, loop_condition

#: width in pixels of a character, plain and bold, and of a digit
CHAR, BOLD, DIGIT = 6.6, 8.0, 7.4
LINE = 15.0
#: minimum width of a box, and of one with the present iteration of a closed loop
NARROW, STATE_ROOM = 56.0, 128.0
#: and of one with "false" and "true" below a Switch
SWITCH_ROOM = 88.0
#: characters of a value in a box: of a number, of one in a loop with its iteration, and the same for an array
NUMBER_ROOM, AGE_ROOM, ARRAY_ROOM, OLD_ARRAY_ROOM = 8, 10, 14, 18
#: characters of a line in a box, in the box of a group, in a caption, and in a tooltip
LINE_LIMIT, GROUP_LIMIT, CAPTION_LIMIT, HOVER_LIMIT = 28, 32, 64, 120
CONTROL_FLOW = ("Enter", "Merge", "LoopCond", "Switch", "NextIteration", "Exit")
#: characters of a condition in a caption
LOOP_LIMIT = 32
OPENED, CLOSED = "\u25be", "\u25b8"

__all__ = ["draw", "frame_id", "graph_model"]


def graph_model(
    graph: Graph, collapsed: Collection[Path] | None = None, direction: str = "down", dataflow_ops: bool = False
) -> dict[str, Any]:
    """The picture of ``graph`` alone; see :func:`draw`.

    ``collapsed`` holds the frame paths that are drawn as one box; None opens a small graph and closes all frames and
    scopes of a large one.
    """
    scene = Scene(graph, dataflow_ops)
    scene.direction = direction
    if collapsed is not None:
        scene.set_closed_frames(collapsed)
    return draw(scene)


def draw(scene: Scene, rough: bool = False) -> dict[str, Any]:
    """Boxes, frames and edges; ``rough`` if only the size matters.

    Result: ``nodes`` (id, name, op, kind, frame, title, lines, hover, size, x, y, w, h; ``name`` is None for a closed
    group), ``frames`` (open groups: id, kind, path, caption, depth, x, y, w, h), ``edges`` (source, target, refs, kind,
    points), ``home`` (node name -> id of the box that stands for it), ``drawn`` (nodes that
    have a box where all is open), ``collapsed`` (paths of closed loops),
    ``direction``, ``width``, ``height``.
    """
    boxes: dict[str, dict[str, Any]] = {}
    marks = output_marks(scene.graph)
    for item in scene.visible():
        group = scene.groups.get(item)
        boxes[item] = _closed(scene, group) if group is not None else _node(scene, item, marks)
    frames = {key: _frame(scene, scene.groups[key]) for key in scene.shown()}
    home = scene.homes()
    edges = _edges(scene, home)
    width, height = Places(scene, boxes, frames, edges, rough).place()
    return {
        "nodes": list(boxes.values()),
        "frames": sorted(frames.values(), key=lambda f: f["depth"]),
        "edges": edges,
        "home": home,
        "drawn": scene.folding.drawn,
        "collapsed": list(scene.closed_frames),
        "direction": scene.direction,
        "width": width,
        "height": height,
    }


# -- boxes ------------------------------------------------------------------------------------------------------------
def _node(scene: Scene, name: str, marks: dict[str, dict[int, list[str]]]) -> dict[str, Any]:
    graph, node = scene.graph, scene.graph.nodes[name]
    lines = label(graph, node, scene.folding)
    if name in marks:
        outputs = [", ".join(names) for names in marks[name].values()]
        lines = [*lines, "output" if lines == outputs else f"\u2192 {BETWEEN.join(outputs)}"]
    types = ", ".join(map(str, node.types[:8])) or "no outputs"
    hover = [name, f"{node.op}: {types}"]
    public = graph.name_of(Ref(name, 0))
    if public not in (name, f"{name}:0"):
        hover.append(f"value {public}")
    if node.source is not None:
        hover.append(source_text(node.source))
    structure = scene.folding.structure
    behind = structure is not None and name in structure.behind
    frame = structure.behind[name] if structure is not None and behind else graph.frame_of(name)
    kind = "variable" if structure is not None and name in structure.rows else _kind(node.op, name in marks)
    if behind:
        kind = "output"
    more: dict[str, Any] = {"name": name, "op": node.op, "kind": kind, "size": 1}
    box = _box(name, lines, hover, frame=frame, room=_room(scene, node), **more)
    if node.op == "Switch":
        box["w"] = max(box["w"], SWITCH_ROOM)
    return box


def _room(scene: Scene, node: Node) -> int:
    """The number of characters for the value of a node."""
    if node.op in SILENT:
        return 0
    scalar = all(t.shape == () for t in node.types[:1])
    rooms = (NUMBER_ROOM, AGE_ROOM) if scalar else (ARRAY_ROOM, OLD_ARRAY_ROOM)
    return rooms[bool(scene.graph.frame_of(node.name))]


def _closed(scene: Scene, group: Group) -> dict[str, Any]:
    times = f" \u00d7{group.blocks}" if group.kind == "repeat" else ""
    name = group.title
    if group.kind in ("loop", "branch") and not scene.dataflow_ops:
        name = _loop_words(scene, group, GROUP_LIMIT - 2) if group.kind == "loop" else _caption(scene, group)
    title = f"{CLOSED} {shorten(name, GROUP_LIMIT - 2 - len(times))}{times}"
    lines = [title, *([group.note] if group.note else []), group.words]
    if group.kind == "loop":
        lines.append(" ")  # for its iteration
    box = _box(
        group.id,
        lines,
        [_caption(scene, group), group.words, "click to open"],
        name=None,
        op=group.kind,
        kind="collapsed",
        size=group.size,
        frame=group.frame,
        limit=GROUP_LIMIT,
    )
    if group.kind == "loop":
        box["w"] = max(box["w"], STATE_ROOM)
    return box


def _frame(scene: Scene, group: Group) -> dict[str, Any]:
    return {
        "id": group.id,
        "kind": group.kind,
        "path": group.frame,
        "caption": _caption(scene, group),
        "depth": len(scene.around(group.id)),
    }


def _box(
    key: str, lines: list[str], hover: list[str], *, limit: int = LINE_LIMIT, room: int = 0, **more: Any
) -> dict[str, Any]:
    """A box; ``room`` is the number of characters for the value at the right end of its last line."""
    shown = [shorten(line, limit) or " " for line in lines if line]
    widths = [len(line) * (CHAR if number else BOLD) for number, line in enumerate(shown)]
    widths[-1] += room * DIGIT + (8.0 if room else 0.0)
    width = max(NARROW, max(widths) + 16.0)
    return {
        "id": key,
        "title": shown[0],
        "lines": shown[1:],
        "hover": [shorten(line, HOVER_LIMIT) for line in hover],
        "room": room,
        "w": width,
        "h": len(shown) * LINE + 10.0,
        **more,
    }


def _kind(op: str, is_output: bool) -> str:
    if op == "Placeholder":
        return "input"
    if op in CONTROL_FLOW:
        return "control"
    if ":" in op:
        return "foreign"
    return "output" if is_output else "op"


def _caption(scene: Scene, group: Group) -> str:
    if group.kind == "repeat":
        return f"{shorten(group.title, CAPTION_LIMIT - 8)} \u00d7{group.blocks}"
    if group.kind == "branch":
        return f"if {shorten(_predicate_text(scene, group), CAPTION_LIMIT)}"
    if group.kind != "loop":
        return shorten(f"{group.title}: {group.note}" if group.note else group.title, CAPTION_LIMIT)
    text = _loop_words(scene, group)
    fixed = list(dict.fromkeys(scene.folding.invariants.get(group.frame, [])))
    if fixed:
        text += f" \u00b7 invariant: {shorten(', '.join(fixed[:20]), 40)}"
    return text


def _loop_words(scene: Scene, group: Group, room: int = CAPTION_LIMIT) -> str:
    """A loop named by its condition, ``while |x × x − a| > 1e-9``, preceded by its name if it has one and both fit."""
    name = shorten(short_name(group.title), 32)
    words = loop_condition(scene.graph, group.frame)
    if scene.dataflow_ops or not words:
        return name if name.startswith("loop") else f"loop {name}"
    return f"{name}: {words}" if is_named((name,)) and len(name) + len(words) + 2 <= room else words


def _predicate_text(scene: Scene, group: Group) -> str:
    """The formula of the predicate of a branch."""
    switch = next((n for n in scene.nodes_in(group.id) if scene.graph.nodes[n].op == "Switch"), None)
    if switch is None:
        return group.title
    predicate = scene.graph.nodes[switch].inputs[1]
    return formula(scene.graph, scene.folding.text, predicate, LOOP_LIMIT) or scene.folding.text.get(
        predicate, predicate.node
    )


# -- edges ------------------------------------------------------------------------------------------------------------
def _edges(scene: Scene, home: dict[str, str]) -> list[dict[str, Any]]:
    """One edge for all values of one kind from one box to another; ``refs`` are those values."""
    merged: dict[tuple[str, str, str], dict[Ref, None]] = {}
    for real, target, kind, ref in scene.edges:
        source, at = home[real.node], home[target]
        if source != at:
            merged.setdefault((source, at, kind), {})[ref] = None
    return [
        {"source": source, "target": target, "kind": kind, "refs": list(refs)}
        for (source, target, kind), refs in merged.items()
    ]
