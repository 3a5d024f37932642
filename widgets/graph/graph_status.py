"""Content of the bar above a graph's picture, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.widgets.graph.graph_texts import WARNING
from workbench.widgets.graph.model.group import ROOT
from workbench.widgets.graph.model.moves import consumers, producers
from workbench.widgets.graph.model.overview import Overview
from workbench.widgets.graph.model.scene import Scene
from workbench.widgets.graph.search_hits import hits_status
from workbench.widgets.text.labels import short_name, shorten, source_text
from workbench.widgets.text.numerals import numeral

#: maximum matches marked in the overview
MAX_MATCHES = 200
LONGEST = 160


def tools_status(
    scene: Scene,
    *,
    node: str | None,
    box: str | None,
    zoom: float,
    matches: Sequence[str],
    match: int,
    query: str,
    armed: bool | None,
    value: str,
    bad: str,
    dead: str,
    error: str,
) -> dict[str, Any]:
    """Status of the tools. ``node`` is selected, or ``box`` if that is a group; ``armed`` is None without a session,
    else True if the node has a breakpoint; ``dead`` is the reason why the node has no value.
    """
    graph = scene.graph
    total = numeral(len(graph.nodes))
    status: dict[str, Any] = {
        "direction": scene.direction,
        "ops": scene.dataflow_ops,
        "zoom": f"{round(100 * zoom)} %",
        "error": shorten(error, 400),
        "boxes": f"{numeral(scene.boxes)} boxes of {total} nodes",
        "found": bool(matches),
        "count": _count(query, matches, match),
        "hits": hits_status(scene, matches, match),
        "crumbs": _crumbs(scene, box or node),
        "flat": len(scene.groups) == 1,
    }
    if box is not None and box in scene.groups:
        group = scene.groups[box]
        opened = box in scene.open
        return status | {
            "title": shorten(group.title, LONGEST),
            "facts": [{"text": group.words}],
            "opens": "Close this box" if opened else "Open this box",
        }
    if node is None:
        return status
    found = graph.nodes[node]
    facts = [shorten(found.op, 60), ", ".join(map(str, found.types[:4])) or "no outputs"]
    if graph.frame_of(node):
        facts.append("in " + shorten(" \u203a ".join(map(short_name, graph.frame_of(node))), 60))
    if found.source is not None:
        facts.append(shorten(source_text(found.source), LONGEST))
    if dead:
        facts.append(dead)
    words: list[dict[str, Any]] = [{"text": fact} for fact in facts]
    if value:
        words.append({"text": f"{WARNING} {value}" if bad else f"= {value}", "bad": bool(bad)})
    return status | {
        "title": shorten(node, LONGEST),
        "facts": words,
        "breakpoint": armed,
        "producers": _links(graph, producers(graph, node)),
        "consumers": _links(graph, consumers(graph, node)),
    }


def overview_marks(
    overview: Overview, scene: Scene, *, node: str | None, current: str | None, matches: Sequence[str], box: str | None
) -> dict[str, Any]:
    """Positions on the overview, as (column, row): selected, current, matches; and the columns of the enclosing box."""
    around = scene.around(box or (scene.folding.home.get(node, node) if node else ROOT))
    inner = box if box in scene.groups else around[-1] if len(around) > 1 else None
    places = [overview.place(name) for name in matches[:MAX_MATCHES]]
    span = overview.span(scene.nodes_in(inner)) if inner else None
    return {
        "selected": overview.place(node) if node else None,
        "current": overview.place(current) if current else None,
        "matches": [p for p in places if p is not None],
        "span": span,
    }


def _count(query: str, matches: Sequence[str], match: int) -> str:
    if not query:
        return ""
    if not matches:
        return "no match"
    total = numeral(len(matches))
    return f"{total} found" if match < 0 else f"{numeral(match + 1)} of {total}"


def _crumbs(scene: Scene, item: str | None) -> list[dict[str, str]]:
    if item is None:
        return []
    item = scene.folding.home.get(item, item)
    keys = [*scene.around(item), *([item] if item in scene.groups else [])]
    if len(keys) < 2:
        return []
    found = []
    for key in keys:
        group = scene.groups[key]
        name = shorten(scene.graph.name, 24) if key == ROOT else shorten(group.title, 24)
        tip = f"{group.kind}: {group.words}; close what is inside"
        found.append({"id": key, "text": name or "graph", "tooltip": tip})
    return found


def _links(graph: Graph, names: Sequence[str]) -> list[dict[str, str]]:
    found = []
    for name in names:
        node = graph.nodes[name]
        public = graph.name_of(Ref(name, 0))
        label = short_name(public) if public != f"{name}:0" else short_name(name)
        tip = f"{name}, {node.op}" + (f": {node.types[0]}" if node.types else "")
        found.append({"name": name, "label": shorten(label, 28), "tooltip": shorten(tip, LONGEST)})
    return found
