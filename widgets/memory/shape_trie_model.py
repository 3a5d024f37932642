"""The shape trie as plain data for a picture: its statistics, and a tree of bounded size with one row per node.

Chains of single children become one row (``3 × 224 × 224``): a picture shows where shapes part, not how long they are.
The ``weight`` of a row is the room that it gets: what is summed up grows with its logarithm only, so that it does not
push aside what is shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from workbench.kernels import ShapeInfo, ShapeTrie
from workbench.widgets.text.numerals import numeral

MAX_NODES = 160
MAX_CHILDREN = 12


def shapetrie_model(trie: Any, max_nodes: int = MAX_NODES, max_children: int = MAX_CHILDREN) -> dict[str, Any]:
    """``rows`` (dicts of id, parent, label, path, kind, entries, references, weight; the root first) and ``stats``."""
    stats = trie.stats()
    rows: list[dict[str, Any]] = []
    _add(rows, trie.tree(max_nodes=max_nodes, max_children=max_children), "", "")
    places = {row["id"]: row for row in rows}
    for row in reversed(rows):  # children come after their parents
        row["weight"] = row["weight"] or 1.0 + math.log2(max(row["entries"], 1))
        if row["parent"]:
            places[row["parent"]]["weight"] += row["weight"]
    return {"rows": rows, "stats": stats, "headline": headline(stats)}


def own_shapes(found: Sequence[ShapeInfo]) -> ShapeTrie:
    """A trie of the shapes of one run alone: that of the process holds those of all runs."""
    trie = ShapeTrie()
    for info in found:
        trie.intern(info.shape, info.strides, info.dtype, info.order, info.flags)
    return trie


def own_headline(own: int, everywhere: int) -> str:
    """``2 shapes of this run · 12 of all runs in this kernel``."""
    mine = f"{numeral(own)} shape{'' if own == 1 else 's'} of this run"
    return f"{mine} \u00b7 {numeral(max(own, everywhere))} of all runs in this kernel"


def headline(stats: dict[str, Any]) -> str:
    """``12 shapes · 23.1 KB · 97.2 % hits``."""
    lookups = stats["hits"] + stats["misses"]
    parts = [f"{numeral(stats['entries'])} shape{'' if stats['entries'] == 1 else 's'}"]
    if stats["capacity"] is not None:
        parts[0] += f" of at most {numeral(stats['capacity'])}"
    parts += [f"peak {numeral(stats['peak'])}"] if stats["peak"] != stats["entries"] else []
    parts.append(size_text(stats["bytes"]))
    rate = 100 * stats["hits"] / max(lookups, 1)
    parts.append(f"{rate:.1f} % of {numeral(lookups)} lookups hit" if lookups else "no lookups yet")
    if stats["evictions"]:
        parts.append(f"{numeral(stats['evictions'])} evicted")
    return " \u00b7 ".join(parts)


def size_text(size: int) -> str:
    """Bytes for reading: ``640 B``, ``23.1 KiB``, ``61.5 MiB``, as the report of the memory has them."""
    value = float(size)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def _shown(node: dict[str, Any], label: str, path: str) -> str:
    """Words of a row: ``1 axis``, ``[3 x ...]`` for shapes that begin so, ``[3 x 224]`` for a whole one."""
    if node["kind"] == "rank":
        axes = label.removeprefix("rank ")
        return f"{axes} {'axis' if axes == '1' else 'axes'}" if axes.isdigit() else label
    if node["kind"] != "dim":
        return label
    goes_on = any(child["kind"] in ("dim", "more") for child in node["children"])
    return f"[{path} \u00d7 \u2026]" if goes_on else f"[{path}]"


def _add(rows: list[dict[str, Any]], node: dict[str, Any], parent: str, path: str) -> None:
    labels = [node["label"]]
    while node["kind"] == "dim" and len(node["children"]) == 1 and node["children"][0]["kind"] == "dim":
        node = node["children"][0]
        labels.append(node["label"])
    label = " \u00d7 ".join(labels)
    if node["kind"] == "dim":
        path = f"{path} \u00d7 {label}" if path else label
    row = f"{parent}/{len(rows)}"
    rows.append(
        {
            "id": row,
            "parent": parent,
            "label": label,
            "path": path or label,
            "kind": node["kind"],
            "shown": _shown(node, label, path),
            "entries": node["entries"],
            "references": node["references"],
            "weight": 0.0,
        }
    )
    for child in node["children"]:
        _add(rows, child, row, path)
