"""Values as bars: what of a record takes how many bytes, and from where to where a plan needs each array."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.ir.node import Ref
from workbench.ir.types import numpy_dtype
from workbench.widgets.memory.shape_trie_model import size_text
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.trace import Trace

MAX_BARS = 24
#: names in the hover text of a bar of several values
MAX_NAMES = 12


class RecordedBytes(NamedTuple):
    """One value of a record: ``rows`` items of ``size`` bytes each."""

    node: str
    output: int
    frame: int
    size: int
    rows: int

    @property
    def name(self) -> str:
        """The value as ``node:output``."""
        return f"{self.node}:{self.output}"

    @property
    def bytes(self) -> int:
        """Bytes of all items."""
        return self.size * self.rows


def recorded(trace: Trace) -> tuple[list[RecordedBytes], int]:
    """The values of a record, those of most bytes first, and how many are objects, whose size is not known. Values that
    share one place (a Merge, its Switch and Exit) are one.
    """
    found: list[RecordedBytes] = []
    seen: set[tuple[int, int]] = set()
    unknown = 0
    for (node, output), layout in trace.layout.values.items():
        place = layout.place
        if layout.kind != "slot" or place is None or place.base == 0:
            continue
        if (place.base, place.offset) in seen:
            continue
        seen.add((place.base, place.offset))
        if place.dtype is None:
            unknown += 1
            continue
        extent = trace.source.extent(layout.frame)
        rows = 1 if layout.frame == 0 else max(0, extent.stop - max(extent.first, trace.source.first(place)))
        size = math.prod(place.shape) * np.dtype(place.dtype).itemsize
        found.append(RecordedBytes(node, output, layout.frame, size, rows))
    return sorted(found, key=lambda one: (-one.bytes, one.name)), unknown


def bar(name: str, called: str, size: int, count: int, note: str = "") -> dict[str, Any]:
    """A bar of bytes."""
    return {
        "name": name,
        "label": called,
        "start": 0,
        "stop": size,
        "bytes": size,
        "op": "",
        "frame": "",
        "count": count,
        "told": note,
    }


def variable_bars(trace: Trace) -> list[dict[str, Any]]:
    """A record by variable: a bar for each value with a name, and one for all others of one frame and size,
    which are computed on the way and have no name."""
    graph = trace.graph
    named = {v.merge: v.name for frame in graph.frames.values() for v in frame.variables}
    outputs = {str(ref) for ref in graph.outputs.values()}
    bars: list[dict[str, Any]] = []
    others: dict[tuple[int, int, int], list[RecordedBytes]] = {}
    for one in recorded(trace)[0]:
        if not one.bytes:
            continue
        public = graph.name_of(Ref(one.node, one.output))
        if one.node in named or public != one.name:
            called = named.get(one.node, public) + (" (output)" if one.name in outputs else "")
            bars.append(bar(one.name, called, one.bytes, one.rows, _items(one.rows, one.size, one.bytes)))
        else:
            others.setdefault((one.frame, one.size, one.rows), []).append(one)
    for (_, size, count), group in others.items():
        together, items = sum(one.bytes for one in group), count * len(group)
        called = (
            label(graph, group[0].node, group[0].output) if len(group) == 1 else f"{numeral(len(group))} other values"
        )
        names = ", ".join(label(graph, one.node, one.output) for one in group[:MAX_NAMES])
        more = f" and {numeral(len(group) - MAX_NAMES)} more" if len(group) > MAX_NAMES else ""
        note = _items(items, size, together)
        bars.append(bar(group[0].name if len(group) == 1 else names + more, called, together, items, note))
    return sorted(bars, key=lambda b: -b["bytes"])[:MAX_BARS]


def _items(count: int, size: int, together: int) -> str:
    """``27 rows of 8 B: 216 B``."""
    return size_text(size) if count == 1 else f"{numeral(count)} rows of {size_text(size)}: {size_text(together)}"


def lifetime_bars(dag: Any) -> list[dict[str, Any]]:
    """Which value is needed from where to where in the plan's order: the largest, by their first position.

    ``start`` is the position of the node that makes it, ``stop`` that of the last node that reads it (the end, for an
    output); of a loop it is one iteration. ``bytes`` is None where the shape is not known before the run. Single
    numbers are left out: they take a few bytes each, however long they are needed.
    """
    graph, nodes = dag.graph, dag.frame_aware_order()
    at = {n.name: n.position for n in nodes}
    outputs = {ref.node for ref in graph.outputs.values()} | {r.node for r in dag.plan.outputs.values()}
    found = []
    for n in nodes:
        kind = graph.nodes[n.name].types[0] if graph.nodes[n.name].types else None
        if kind is not None and kind.shape == ():
            continue
        readers = [at[d] for d in n.dependents if d in at]
        stop = len(nodes) if n.name in outputs else max(readers, default=n.position + 1)
        found.append(
            {
                "name": n.name,
                "label": label(graph, n.name, 0),
                "start": n.position,
                "stop": max(stop, n.position + 1),
                "bytes": _type_bytes(kind),
                "op": n.op,
                "frame": "/".join(n.frame),
            }
        )
    largest = sorted(found, key=lambda b: (-(b["bytes"] or 0), b["start"] - b["stop"]))[:MAX_BARS]
    return sorted(largest, key=lambda b: (b["start"], b["stop"]))


def label(graph: Graph, node: str, output: int | str) -> str:
    """The public name of a value, or the last two parts of its node's: ``x/Merge``."""
    ref = Ref(node, int(output))
    name = graph.name_of(ref)
    return name if name != str(ref) else "/".join(node.rstrip("/").split("/")[-2:])


def _type_bytes(kind: Any) -> int | None:
    if kind is None or kind.shape is None or any(d is None for d in kind.shape):
        return None
    try:
        return math.prod(kind.shape) * numpy_dtype(kind.dtype).itemsize
    except (TypeError, ValueError, KeyError):
        return None
