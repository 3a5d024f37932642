"""The stable text form of a graph: one line per node, JSON for every name and value, read back by ``text.parse``.

::

    graph "newton" version 1
    node "a" = Placeholder() {"dtype": "float64", "shape": []}
    node "while/x/Merge" = Merge("while/x/Enter:0", "while/x/NextIteration:0")
    node "while/half" = Const() ^"while/x/Identity" {"value": {"array": "float64", "shape": [], "data": [0.5]}}
    input "a" = "a:0"
    output "x" = "while/x/Exit:0"
    name "x" = "while/x/Merge:0"

For graphs that flush subnormal numbers to zero, the first line has ``version 1 flushes subnormals``. A node may be
followed by ``in "region"`` and ``at "file" line "expression"``; ``note "sentence"`` is one of the graph's notes.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.ir.buffers import LEAST_BYTES, digests_of
from workbench.ir.types import STRING, TensorType, dtype_name

if TYPE_CHECKING:
    from workbench.ir.graph import Graph

VERSION = 1
FLUSHES = "flushes subnormals"
_INLINE = 64  # larger arrays are written as base64


def write_graph(graph: Graph, *, sources: bool = True) -> str:
    """The text of a graph. Without ``sources``, which also omits notes, and with digests in place of the bytes of large
    arrays, it is the input of the fingerprint.
    """
    digests = {} if sources else digests_of(_large(graph))
    mode = f" {FLUSHES}" if graph.flushes_subnormals else ""
    lines = [f"graph {_quote(graph.name)} version {VERSION}{mode}"]
    for node in graph.nodes.values():
        parts = [f"node {_quote(node.name)} = {node.op if node.op.isidentifier() else _quote(node.op)}"]
        parts.append(f"({', '.join(_quote(str(r)) for r in node.inputs)})")
        parts.extend(f" ^{_quote(c)}" for c in node.control)
        if node.attrs:
            parts.append(" " + _quote({k: _encode(v, digests) for k, v in node.attrs.items()}))
        if node.region is not None:
            parts.append(f" in {_quote(node.region)}")
        if sources and node.source is not None:
            s = node.source
            parts.append(f" at {_quote(s.file)} {s.line} {_quote(s.expression)}")
        lines.append("".join(parts))
    for kind, table in (("input", graph.inputs), ("output", graph.outputs), ("name", graph.names)):
        lines.extend(f"{kind} {_quote(name)} = {_quote(str(ref))}" for name, ref in table.items())
    if sources:
        lines.extend(f"note {_quote(note)}" for note in graph.notes)
    return "\n".join(lines) + "\n"


def _quote(value: Any) -> str:
    if isinstance(value, str) and value.isascii():
        text = encode_basestring(value)  # the same as dumps, but faster: nearly all names are plain
    else:
        text = json.dumps(value, ensure_ascii=False)
    # half a surrogate pair, which UTF-8 cannot represent, and characters that affect a terminal
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(c: str) -> str:
    return json.dumps(c)[1:-1] if c != "\x7f" else "\\u007f"


def _large(graph: Graph) -> Iterator[np.ndarray]:
    """The large arrays in the attributes of nodes."""
    for node in graph.nodes.values():
        for value in node.attrs.values():
            if isinstance(value, np.ndarray) and value.nbytes >= LEAST_BYTES and not value.dtype.hasobject:
                yield value


def _encode(value: Any, digests: Mapping[int, str]) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": value.hex() if not math.isnan(value) else "nan"}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, TensorType):
        return {"type": str(value)}
    if isinstance(value, tuple):
        return [_encode(v, digests) for v in value]
    if value.dtype.hasobject:
        flat = [_encode(v, digests) if isinstance(v, (str, bytes)) else str(v) for v in value.ravel().tolist()]
        return {"array": STRING, "shape": list(value.shape), "data": flat}
    head = {"array": dtype_name(value.dtype), "shape": list(value.shape)}
    if id(value) in digests:
        return {**head, "sha256": digests[id(value)]}
    readable = value.dtype.kind in "iub" or (value.dtype.kind == "f" and value.dtype.itemsize >= 4)
    if value.size <= _INLINE and readable and np.isfinite(value).all():
        return {**head, "data": value.ravel().tolist()}
    return {**head, "base64": base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()}
