"""Edits of a run in a trace file: the firings whose values a user replaced, the new values and the old ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.trace.edited_firings import Path, Written
from workbench.trace.saved.items import read_item, write_item
from workbench.trace.saved.layout import whole
from workbench.trace.saved.members import MemberReader, MemberWriter

#: maximum edits of a file, and firings of one edit, that are read
MAX_EDITS, MAX_TAGS = 10_000, 10_000


class SavedEdit(NamedTuple):
    """An edit read from a file; see :class:`~workbench.trace.edited_firings.Written`."""

    event: int
    ref: Ref
    tags: tuple[tuple[Ref, Path], ...]
    stand: tuple[tuple[str, ...], int, Path]
    value: Any
    before: Any


def write_edits(file: MemberWriter, edits: Sequence[Written]) -> list[dict[str, Any]]:
    """Write the values of the edits and return their entries; if there are too many, of the newest."""
    entries = []
    for k, edit in enumerate(edits[-MAX_EDITS:]):
        frame, ip, iteration = edit.stand
        entries.append(
            {
                "event": edit.event,
                "ref": [edit.ref.node, edit.ref.index],
                "tags": [[ref.node, ref.index, list(map(int, path))] for ref, path in edit.tags[:MAX_TAGS]],
                "stand": [list(frame), ip, list(map(int, iteration))],
                "value": write_item(file, f"e{k}.value", _array(edit.value)),
                "before": write_item(file, f"e{k}.before", _array(edit.before)),
            }
        )
    return entries


def _array(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, (bool, int, float, complex)) else value


def read_edits(file: MemberReader, head: dict[str, Any], graph: Graph) -> tuple[SavedEdit, ...]:
    """The edits of a file; none if the file has none. ValueError if they do not fit the graph."""
    entries = head.get("edits", [])
    if not isinstance(entries, list) or len(entries) > MAX_EDITS:
        raise ValueError(f"the edits are not a list of at most {MAX_EDITS:,}")
    return tuple(_edit(file, entry, graph) for entry in entries)


def _edit(file: MemberReader, entry: dict[str, Any], graph: Graph) -> SavedEdit:
    frame, ip, iteration = entry["stand"]
    if not all(isinstance(name, str) for name in frame) or len(entry["tags"]) > MAX_TAGS:
        raise ValueError("an edit has the wrong format")
    tags = tuple((_ref(node, index, graph), _path(path)) for node, index, path in entry["tags"])
    value, before = (read_item(file, entry[name]) for name in ("value", "before"))
    node, index = entry["ref"]
    stand = (tuple(frame), whole(ip, "ip", -1), _path(iteration))
    return SavedEdit(whole(entry["event"]), _ref(node, index, graph), tags, stand, value, before)


def _ref(node: Any, index: Any, graph: Graph) -> Ref:
    if not isinstance(node, str) or node not in graph.nodes or whole(index) >= max(1, len(graph.nodes[node].types)):
        raise ValueError("an edit belongs to a value that the graph does not have")
    return Ref(node, index)


def _path(path: Any) -> Path:
    if not isinstance(path, list) or len(path) > 10_000:
        raise ValueError("an iteration is a list of numbers")
    return tuple(whole(i) for i in path)
