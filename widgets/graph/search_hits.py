"""Hits of a search as rows: the selected one and its neighbours, with place and type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.ir.node import Ref
from workbench.widgets.graph.model.group import ROOT
from workbench.widgets.graph.model.scene import Scene
from workbench.widgets.text.labels import short_name, shorten
from workbench.widgets.text.numerals import numeral

#: maximum visible rows
ROWS = 6


def hits_status(scene: Scene, matches: Sequence[str], match: int) -> dict[str, Any]:
    """``words`` ("29 to 34 of 58") and ``rows``: index, name, op, where (the boxes around it), type, and True for the
    selected one. Without matches there are no rows.
    """
    first = max(0, min(match - ROWS // 2, len(matches) - ROWS))
    shown = matches[first : first + ROWS]
    if not shown:
        return {"words": "", "rows": []}
    words = f"{numeral(first + 1)} to {numeral(first + len(shown))} of {numeral(len(matches))}"
    rows = [_row(scene, first + k, name, first + k == match) for k, name in enumerate(shown)]
    return {"words": words, "rows": rows}


def _row(scene: Scene, number: int, name: str, here: bool) -> dict[str, Any]:
    graph = scene.graph
    node = graph.nodes[name]
    public = graph.name_of(Ref(name, 0))
    boxes = [scene.groups[key].title for key in scene.around(scene.folding.home.get(name, name)) if key != ROOT]
    return {
        "number": number,
        "name": shorten(short_name(public if public != f"{name}:0" else name), 28),
        "full": name,
        "op": shorten(node.op, 24),
        "where": shorten(", ".join(boxes[-2:]), 40),
        "type": shorten(str(node.types[0]), 32) if node.types else "",
        "here": here,
    }
