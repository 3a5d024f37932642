"""Reads graphs from their text form, which ``text_writer`` describes. Only data is read: nothing is evaluated."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import numpy as np

from workbench.errors import GraphError, LoadError
from workbench.ir.graph import Graph
from workbench.ir.node import FrozenAttrs, Node, Ref, Source
from workbench.ir.text_writer import FLUSHES, VERSION
from workbench.ir.types import NARROW, NUMERIC, STRING, TensorType, numpy_dtype

#: limits for untrusted text
MAX_TEXT = 512 * 1024 * 1024
#: the fix for a text that cannot be read
NO_GRAPH = "give a file that workbench.ir.text wrote; if it is one, it was changed on its way: get it again."
MAX_ELEMENTS = 1 << 28


def parse(text: str) -> Graph:
    """Read a graph from the text form that ``graph.text()`` writes. Nothing in the text is evaluated.

    Parameters
    ----------
    text : str
        The text, at most 512 Mi characters.

    Returns
    -------
    Graph
        A graph equal to the one that was written.

    Raises
    ------
    LoadError
        For a text that is not a graph (``not-a-graph``), a line that cannot be read (``bad-graph-text``, with its
        number) or too many characters (``too-large``).
    GraphError
        If the graph breaks a rule; see :meth:`workbench.Graph.from_nodes`.

    Examples
    --------
    >>> wb.parse(graph.text()) == graph
    True
    """
    if len(text) > MAX_TEXT:
        raise LoadError(
            f"The text has {len(text):,} characters; at most {MAX_TEXT:,} are read.", slug="too-large", fix=NO_GRAPH
        )
    lines = text.split("\n")  # not splitlines: names may hold other line separators
    if not lines or not lines[0].startswith("graph "):
        raise LoadError(
            'The text is not a graph: it does not begin with `graph "name" version 1`.',
            slug="not-a-graph",
            fix=NO_GRAPH,
        )
    name, nodes, notes, flushes = "", [], [], False
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
                flushes = reader.take(FLUSHES)
            elif word == "node":
                nodes.append(_node(reader))
            elif word == "note":
                notes.append(reader.text())
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
    return Graph.from_nodes(
        name,
        nodes,
        inputs=tables["input"],
        outputs=tables["output"],
        names=tables["name"],
        notes=notes,
        flushes_subnormals=flushes,
    )


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
        raise ValueError(f"{text!r} is not a value; expected node:index")
    return Ref(node, int(index))


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
        raise ValueError(f"{value['array']!r} is not a dtype of an array")
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
