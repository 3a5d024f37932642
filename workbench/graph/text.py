"""The stable text form of a graph: one line per node, JSON for every name and value, read back by ``parse``.

::

    graph "newton" version 1
    node "a" = Placeholder() {"dtype": "float64", "shape": []}
    node "while/x/Merge" = Merge("while/x/Enter:0", "while/x/NextIteration:0")
    node "while/half" = Const() ^"while/x/Identity" {"value": {"array": "float64", "shape": [], "data": [0.5]}}
    input "a" = "a:0"
    output "x" = "while/x/Exit:0"
    name "x" = "while/x/Merge:0"

A node may be followed by ``in "region"`` and ``at "file" line "expression"``. Only data is read: nothing is evaluated.
"""

from __future__ import annotations

import base64
import json
import math
from json.encoder import encode_basestring
from typing import Any

import numpy as np

from workbench.errors import GraphError, LoadError
from workbench.graph.graph import Graph
from workbench.graph.node import FrozenAttrs, Node, Ref, Source
from workbench.graph.types import NARROW, NUMERIC, STRING, TensorType, dtype_name, numpy_dtype

VERSION = 1
#: bounds for text that strangers wrote
MAX_TEXT = 512 * 1024 * 1024
#: what to do about a text that cannot be read
NO_GRAPH = "give a file that workbench.graph.text wrote; if it is one, it was changed on its way: get it again."
MAX_ELEMENTS = 1 << 28
_INLINE = 64  # larger arrays are written as base64


def write_graph(graph: Graph, *, sources: bool = True) -> str:
    """Text of a graph; without ``sources`` it is the text that the fingerprint is taken of."""
    lines = [f"graph {_quote(graph.name)} version {VERSION}"]
    for node in graph.nodes.values():
        parts = [f"node {_quote(node.name)} = {node.op if node.op.isidentifier() else _quote(node.op)}"]
        parts.append(f"({', '.join(_quote(str(r)) for r in node.inputs)})")
        parts.extend(f" ^{_quote(c)}" for c in node.control)
        if node.attrs:
            parts.append(" " + _quote({k: _encode(v) for k, v in node.attrs.items()}))
        if node.region is not None:
            parts.append(f" in {_quote(node.region)}")
        if sources and node.source is not None:
            s = node.source
            parts.append(f" at {_quote(s.file)} {s.line} {_quote(s.expression)}")
        lines.append("".join(parts))
    for kind, table in (("input", graph.inputs), ("output", graph.outputs), ("name", graph.names)):
        lines.extend(f"{kind} {_quote(name)} = {_quote(str(ref))}" for name, ref in table.items())
    return "\n".join(lines) + "\n"


def parse(text: str) -> Graph:
    """Read a graph from its text form; raises LoadError with the line number, or the checker's errors."""
    if len(text) > MAX_TEXT:
        raise LoadError(
            f"The text has {len(text):,} characters; at most {MAX_TEXT:,} are read.", slug="too-large", fix=NO_GRAPH
        )
    lines = text.split("\n")  # not splitlines: names may hold other line separators
    if not lines or not lines[0].startswith("graph "):
        raise LoadError(
            'This is no graph text: it does not begin with `graph "name" version 1`.', slug="not-a-graph", fix=NO_GRAPH
        )
    name, nodes = "", []
    tables: dict[str, dict[str, Ref]] = {"input": {}, "output": {}, "name": {}}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        reader = _Line(line)
        try:
            word = reader.word()
            if word == "graph":
                name = reader.text()
                reader.expect("version")
                version = reader.json()
                if number > 1:
                    raise ValueError("a second graph begins here")
                if version is True or version != VERSION:
                    raise ValueError(f"version {version} is not known; this workbench reads version {VERSION}")
            elif word == "node":
                nodes.append(_node(reader))
            elif word in tables:
                label = reader.text()
                reader.expect("=")
                if label in tables[word]:
                    raise ValueError(f"there are two {word}s named {label!r}")
                tables[word][label] = _ref(reader.text())
            else:
                raise ValueError(f"{word!r} begins no line")
            reader.end()
        except (ValueError, TypeError, KeyError, RecursionError, OverflowError, GraphError) as error:
            raise LoadError(
                f"Line {number} of the graph text cannot be read: {error}.", slug="bad-graph-text", fix=NO_GRAPH
            ) from error
    return Graph.from_nodes(name, nodes, inputs=tables["input"], outputs=tables["output"], names=tables["name"])


def _node(reader: _Line) -> Node:
    name = reader.text()
    reader.expect("=")
    op = reader.text() if reader.peek('"') else reader.word(stop="(")
    reader.expect("(")
    inputs = []
    while not reader.peek(")"):
        inputs.append(_ref(reader.text()))
        if not reader.peek(")"):
            reader.expect(",")
    reader.expect(")")
    control, attrs, region, source = [], {}, None, None
    while reader.take("^"):
        control.append(reader.text())
    if reader.peek("{"):
        encoded = reader.json()
        attrs = {k: _decode(v) for k, v in encoded.items()}
    if reader.take("in "):
        region = reader.text()
    if reader.take("at "):
        file, line = reader.text(), reader.json()
        source = Source(file, int(line), reader.text())
    return Node(name, op, tuple(inputs), tuple(control), FrozenAttrs(attrs), (), source, region)


def _ref(text: str) -> Ref:
    node, colon, index = text.rpartition(":")
    if not colon or not index.isdigit():
        raise ValueError(f"{text!r} is no value; expected node:index")
    return Ref(node, int(index))


def _quote(value: Any) -> str:
    if isinstance(value, str) and value.isascii():
        return encode_basestring(value)  # what dumps gives, without its detour: nearly all names are such
    try:
        text = json.dumps(value, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair: no UTF-8 can hold it
        return json.dumps(value)
    return text


def _encode(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": value.hex() if not math.isnan(value) else "nan"}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, TensorType):
        return {"type": str(value)}
    if isinstance(value, tuple):
        return [_encode(v) for v in value]
    if value.dtype.hasobject:
        flat = [_encode(v) if isinstance(v, (str, bytes)) else str(v) for v in value.ravel().tolist()]
        return {"array": STRING, "shape": list(value.shape), "data": flat}
    head = {"array": dtype_name(value.dtype), "shape": list(value.shape)}
    readable = value.dtype.kind in "iub" or (value.dtype.kind == "f" and value.dtype.itemsize >= 4)
    if value.size <= _INLINE and readable and np.isfinite(value).all():
        return {**head, "data": value.ravel().tolist()}
    return {**head, "base64": base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()}


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_decode(v) for v in value)
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float("nan") if value["float"] == "nan" else float.fromhex(value["float"])
    if "bytes" in value:
        return base64.b64decode(value["bytes"], validate=True)
    if "type" in value:
        return TensorType.parse(value["type"])
    if "array" not in value:
        raise ValueError(f"{sorted(value)} describes no attribute value")
    shape = tuple(int(d) for d in value["shape"])
    count = math.prod(shape)
    if any(d < 0 for d in shape) or count > MAX_ELEMENTS:
        raise ValueError(f"an array of shape {shape} is not accepted")
    if value["array"] not in (*NUMERIC, *NARROW, STRING):
        raise ValueError(f"{value['array']!r} is no dtype of an array")
    dtype = numpy_dtype(value["array"])
    if "base64" in value:
        if dtype.hasobject:
            raise ValueError("strings are not written as base64")
        raw = base64.b64decode(value["base64"], validate=True)
        if len(raw) != count * dtype.itemsize:
            raise ValueError(f"{len(raw)} bytes do not fill {dtype} of shape {shape}")
        return np.frombuffer(raw, dtype=dtype).reshape(shape)
    data = [_decode(v) for v in value["data"]]
    if len(data) != count:
        raise ValueError(f"{len(data)} elements do not fill shape {shape}")
    expected = (str, bytes) if dtype.hasobject else (bool, int, float)
    if not all(isinstance(v, expected) for v in data):
        raise ValueError(f"the data of an array of {value['array']} are of another kind")
    out = np.empty(count, dtype=dtype)
    out[:] = data
    return out.reshape(shape)


class _Line:
    """Reads words, punctuation and JSON values from one line."""

    _json = json.JSONDecoder()

    def __init__(self, line: str) -> None:
        self.line, self.at = line, 0

    def _skip(self) -> None:
        while self.at < len(self.line) and self.line[self.at] in " \t":
            self.at += 1

    def peek(self, what: str) -> bool:
        self._skip()
        return self.line.startswith(what, self.at)

    def take(self, what: str) -> bool:
        found = self.peek(what)
        self.at += len(what) if found else 0
        return found

    def expect(self, what: str) -> None:
        if not self.take(what):
            raise ValueError(f"expected {what!r} at column {self.at + 1}")

    def word(self, stop: str = " ") -> str:
        self._skip()
        end = self.line.find(stop, self.at)
        end = len(self.line) if end < 0 else end
        word, self.at = self.line[self.at : end], end
        return word

    def json(self) -> Any:
        self._skip()
        value, self.at = self._json.raw_decode(self.line, self.at)
        return value

    def text(self) -> str:
        value = self.json()
        if not isinstance(value, str):
            raise ValueError(f"expected a quoted name at column {self.at}")
        return value

    def end(self) -> None:
        self._skip()
        if self.at != len(self.line):
            raise ValueError(f"unexpected {self.line[self.at :][:20]!r} at column {self.at + 1}")
