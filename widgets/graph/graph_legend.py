"""The legend of a graph's picture: the colours and lines that are on the screen, and their meaning.

The most important signs come first: a line has space for about nine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.widgets.base import theme
from workbench.widgets.graph.graph_shapes import COLOURS, LINES, looks

if TYPE_CHECKING:
    from workbench.widgets.graph.graph_spec import Marks

KINDS = {
    "input": "input",
    "op": "operation",
    "variable": "loop variable",
    "control": "control flow",
    "output": "output",
    "foreign": "run by another library",
    "collapsed": "closed box: click to open",
}
EDGES = {
    "taken": "branch taken",
    "older": "taken in an earlier iteration",
    "dead": "branch not taken",
    "back": "way back",
    "data": "data",
    "control": "order only",
}


def legend(picture: Mapping[str, Any], state: Mapping[str, Any], marks: Marks) -> list[dict[str, str]]:
    """The signs of a picture: ``sign`` ("box", "line", "text" or "point"), ``colour``, ``style`` and ``text``."""
    dead = set(state["dead"])
    kinds = {box["kind"] for box in picture["nodes"] if box["id"] not in dead}
    found = [_sign("box", theme.VERMILION, "bold", "next")] if state["current"] or state.get("caption") else []
    if state["bad"]:
        found.append(_sign("box", theme.BAD, "bold", " or ".join(sorted(set(state["bad"].values())))))
    if marks.selected is not None:
        found.append(_sign("box", theme.PURPLE, "dash", "selected"))
    if marks.matches - {""}:
        found.append(_sign("box", theme.GREEN, "dot", "found"))
    look = looks(state["dead_edges"], state["taken_edges"], state["older_edges"])
    if state["ages"]:
        found.append(_sign("text", theme.GREY, "1.74 (4)", "from an earlier iteration"))
    if marks.points:
        found.append(_sign("point", theme.BREAKPOINT, "solid", "breakpoint"))
    found += [_sign("box", COLOURS[kind], "solid", words) for kind, words in KINDS.items() if kind in kinds]
    if dead:
        found.append(_sign("box", theme.GREY, "dot", "not executed"))
    lines = {look.get(k) or edge["kind"] for k, edge in enumerate(picture["edges"])}
    for kind, words in EDGES.items():
        if kind in lines:
            colour, _, dash = LINES[kind]
            found.append(_sign("line", colour, "bold" if kind == "taken" else dash, words))
    return found


def _sign(sign: str, colour: str, style: str, text: str) -> dict[str, str]:
    return {"sign": sign, "colour": colour, "style": style, "text": text}
