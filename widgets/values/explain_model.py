"""The chain of values that lead to a value as rows of a tree, and the origin of a NaN, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.analysis.precision import NanOrigin, Wrap
from workbench.ir.node import Ref
from workbench.text import printable
from workbench.trace.provenance import Explanation, ProvenanceLink
from workbench.widgets.text.display_names import EITHER, Spoken
from workbench.widgets.text.labels import shorten, value_text
from workbench.widgets.text.loop_names import place_words
from workbench.widgets.text.numerals import spaced
from workbench.widgets.values.nan_chain import chain_of

if TYPE_CHECKING:
    from workbench.ir.graph import Graph

#: maximum rows of a tree; a chain may pass the same values many times
MAX_ROWS = 400
#: rows up to this depth are open at first
OPEN = 3


def explain_rows(found: Explanation, spoken: Spoken) -> list[dict[str, Any]]:
    """The links as rows in depth-first order: ``number`` of the link, ``depth`` from 0 on, strings (``shown``, the
    display name, with the internal ``tag`` if that differs; ``name``, ``where``, ``value``, ``op``, ``note``,
    ``line``), ``frame`` and ``iteration`` of its place, ``bad`` ("NaN", "Inf" or ""), ``root`` (an input or a
    constant), ``edited`` (set by hand), ``again`` (its own rows are above), ``kids`` (rows right below it). Nothing is
    escaped."""
    rows: list[dict[str, Any]] = []
    seen: set[int] = set()
    stack = [(0, 0)]
    while stack and len(rows) < MAX_ROWS:
        number, depth = stack.pop()
        link = found.links[number]
        again = number in seen and bool(link.sources)
        rows.append(_row(link, depth, again, spoken))
        if not again:
            seen.add(number)
            stack.extend((source, depth + 1) for source in reversed(link.sources))
    return rows


def _row(link: ProvenanceLink, depth: int, again: bool, spoken: Spoken) -> dict[str, Any]:
    ref, node = Ref(link.tag.node, link.tag.output), spoken.graph.nodes[link.tag.node]
    shown, made = spoken.called(ref), spoken.made(link.tag.node)
    notes = [spaced(link.note)] if link.note else []
    if node.op == "Switch" and link.note.startswith("alive where "):
        side = "true" if ref.index else "false"
        decides = node.inputs[1]
        notes = [f"alive where {spoken.called(decides)} is {side}"]
        if spoken.graph.nodes[decides.node].op == "LoopCond":
            notes = ["the loop goes on" if ref.index else "the loop ends"]
    if shown == EITHER:  # the row below names the value
        notes, made = [], shown
    if link.edited:
        notes.insert(0, link.edited)
    if again:
        notes.append("see above")
    if not link.complete:
        notes.append("the chain continues")
    return {
        "number": link.number,
        "depth": depth,
        "node": link.tag.node,
        "ref": f"{link.tag.node}:{link.tag.output}",
        "name": printable(link.name),
        "shown": shorten(printable(shown), 48),
        "tag": "" if shown == link.name else shorten(printable(link.name), 60),
        "op": "" if made == shown else printable(made),
        "where": printable(place_words(spoken.graph, link.tag.frame, link.tag.iteration)),
        "frame": list(link.tag.frame),
        "iteration": list(link.tag.iteration),
        "value": "?" if link.value is None else value_text(link.value),
        "bad": bad_word(link.value),
        "note": printable("; ".join(notes)),
        "edited": bool(link.edited),
        "root": not link.sources and link.complete,
        "again": again,
        "kids": 0 if again else len(link.sources),
        "line": "" if link.source is None else printable(link.source.place),
        "expression": "" if link.source is None else shorten(printable(link.source.expression), 80),
    }


def bad_word(value: Any) -> str:
    """ "NaN" or "Inf" for a value with such items; else ""."""
    if not isinstance(value, np.ndarray | np.generic):
        return ""
    array = np.asarray(value)
    if array.dtype.isbuiltin == 2:
        array = array.astype(np.float32)
    if array.dtype.kind not in "fc":
        return ""
    return "NaN" if np.isnan(array).any() else "Inf" if np.isinf(array).any() else ""


def origin_model(found: NanOrigin | None, graph: Graph, wrap: Wrap | None = None) -> dict[str, Any]:
    """Origin of the first NaN or infinity: ``lines``, from it back to its cause as in the pane of the card, and its
    place; if there is none the first wrap of an integer, or a line that there is none.
    """
    if found is None and wrap is not None:
        return {
            "lines": ["No NaN or infinity so far.", spaced(printable(str(wrap)))],
            "node": wrap.node,
            "frame": list(wrap.frame),
            "iteration": list(wrap.iteration),
        }
    if found is None:
        return {"lines": ["No NaN or infinity so far."], "node": "", "frame": [], "iteration": []}
    return {
        "lines": [
            *([spaced(printable(f"{found.headline}."))] if found.headline else []),
            *(_link(row) for row in reversed(chain_of(found, graph))),
            *([spaced(printable(found.note))] if found.note else []),
        ],
        "node": found.node,
        "frame": list(found.frame),
        "iteration": list(found.iteration),
    }


def _link(row: Mapping[str, Any]) -> str:
    """``sqrt(x = −1) gives NaN in iteration 4 (line 3). x is −1, and has no square root.``"""
    where = f" in {row['where']}" if row["where"] else ""
    line = f" ({row['line']})" if row["line"] else ""
    return " ".join([f"{row['formula']} gives {row['gives']}{where}{line}.", *([row["why"]] if row["why"] else [])])


def blank(headline: str, names: Sequence[str] = ()) -> dict[str, Any]:
    """The model without a chain, and a line with the reason."""
    return {
        "headline": headline,
        "rows": [],
        "edits": [],
        "more": "",
        "error": "",
        "bad": False,
        "open": OPEN,
        "origin": None,
        "name": "",
        "iteration": "",
        "names": list(names),
    }


def path_of(iteration: int | tuple[int, ...] | None) -> tuple[int, ...] | None:
    """An iteration, or the path of one, as a path."""
    if iteration is None:
        return None
    return (iteration,) if isinstance(iteration, int) else tuple(int(i) for i in iteration)


def typed_path(text: Any) -> Any:
    """An iteration path from typed text; None for an empty one, False for an invalid one."""
    if not isinstance(text, str) or not text.strip():
        return None
    parts = text.replace(",", " ").split()
    if len(parts) > 64 or not all(p.isascii() and p.isdigit() and len(p) <= 15 for p in parts):
        return False
    return tuple(map(int, parts))
