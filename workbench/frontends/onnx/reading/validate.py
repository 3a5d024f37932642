"""Checks of a model's bytes before the onnx library parses them.

protobuf and the C++ parts of onnx trust a model too much: names that are not UTF-8 are returned as an unexpected type,
and deep nesting recurses. Here such models raise one error, after work in proportion to the size of the file. (For
functions that expand beyond any memory see local_functions.)
"""

from __future__ import annotations

import re
from typing import Any

from workbench.errors import LoadError
from workbench.frontends.onnx.reading.schema import ONNX
from workbench.frontends.protobuf.wire import LENGTH, WireError, fields

#: protobuf's own limit is 100; each nested graph adds three messages
MAX_DEPTH = 96
_TERM = rb"[A-Za-z]*+(?:\.\.\.)?+[A-Za-z]*+"
_EQUATION = re.compile(_TERM + rb"(?:," + _TERM + rb")*+(?:->" + _TERM + rb")?+")
#: fields of one message: (message, field number) -> maximum count. The standard's longest list of attributes has 20;
#: NumPy supports 64 dimensions.
LIMITS = {
    ("NodeProto", 1): 16_384,
    ("NodeProto", 2): 16_384,
    ("NodeProto", 5): 4096,
    ("FunctionProto", 4): 16_384,
    ("FunctionProto", 5): 16_384,
    ("TensorProto", 1): 254,
    ("TensorShapeProto", 1): 254,
}


def check_wire(data: bytes) -> None:
    """Raise WireError if text is not UTF-8, or if messages nest too deeply or contradict their lengths."""
    names: set[bytes] = set()  # strings known to be UTF-8: most names occur several times
    stack: list[tuple[str, Any, dict[int, int]]] = [("ModelProto", fields(data, 0, len(data), True), {})]
    while stack:
        kind, rest, counts = stack[-1]
        table = ONNX[kind]
        for number, wire, value, at in rest:
            limit = LIMITS.get((kind, number))
            if limit is not None:
                packed = wire == LENGTH and kind == "TensorProto"  # a number takes at least a byte
                counts[number] = counts.get(number, 0) + (value[1] - value[0] if packed else 1)
                if counts[number] > (8 * limit if packed else limit):
                    many = f"A {kind} has field {number} more than {limit:,} times"
                    raise WireError(many, offset=at, slug="too-large")
            field = table.get(number) if wire == LENGTH else None
            if field is None:
                continue
            start, end = value
            if field.kind == "string":
                _check_text(data[start:end], start, names)
                continue
            if len(stack) >= MAX_DEPTH:
                raise WireError(f"Messages are nested more than {MAX_DEPTH} deep", offset=at, slug="too-deep")
            stack.append((field.kind, fields(data, start, end, False), {}))
            break
        else:
            stack.pop()


def _check_text(text: bytes, at: int, known: set[bytes]) -> None:
    if text in known:
        return
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        raise WireError("A name is not UTF-8", offset=at) from None
    if len(text) <= 64:
        known.add(text)


def check_attributes(nodes: Any) -> None:
    """Raise LoadError for attributes on which shape inference of onnx 1.23 hangs or exhausts the memory.

    It hangs on an Einsum equation such as ``...{->->`` (only letters, dots, commas, blanks and one arrow are accepted
    here), and fills the memory if Split declares more ``num_outputs`` than it has.
    """
    for node in nodes:
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                check_attributes(graph.node)
            if node.op_type == "Einsum" and attribute.name == "equation":
                if not _EQUATION.fullmatch(attribute.s.replace(b" ", b"")):
                    raise LoadError(
                        f"The equation {attribute.s[:80]!r} of Einsum {node.name!r} makes no sense.",
                        slug="bad-attribute",
                        fix="write it like 'ij,jk->ik'.",
                    )
            elif node.op_type == "Split" and attribute.name == "num_outputs" and attribute.i != len(node.output):
                raise LoadError(
                    f"Split {node.name!r} has {len(node.output)} outputs, but its num_outputs is {attribute.i}.",
                    slug="bad-attribute",
                    fix="give it as many outputs as num_outputs says.",
                )
