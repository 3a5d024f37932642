"""Recognise the kind of a file from its bytes alone."""

from __future__ import annotations

import re
from pathlib import Path

from workbench.frontends.protobuf.wire import LENGTH, VARINT, WireError, scan
from workbench.frontends.samediff.containers.kinds import container_of
from workbench.frontends.samediff.layout import is_flatgraph
from workbench.frontends.stablehlo.content import is_program

#: of a file of BIG_BYTES or more, only the first HEAD_BYTES are examined
BIG_BYTES, HEAD_BYTES = 1 << 24, 1 << 16
_CONTROL = frozenset(range(32)) - {9, 10, 12, 13}

#: outermost fields of each format: field number -> wire type
_MODELPROTO = {
    1: VARINT,
    2: LENGTH,
    3: LENGTH,
    4: LENGTH,
    5: VARINT,
    6: LENGTH,
    7: LENGTH,
    8: LENGTH,
    14: LENGTH,
    20: LENGTH,
    25: LENGTH,
    26: LENGTH,
}
_GRAPHDEF = {1: LENGTH, 2: LENGTH, 3: VARINT, 4: LENGTH, 5: LENGTH}
_SAVEDMODEL = {1: VARINT, 2: LENGTH}
#: schema version 1, then the first graph; ONNX models of version 1 were never in use
_SAVEDMODEL_HEAD = b"\x08\x01\x12"
#: the beginning of a message in text form, after comments: the name of a field, then a colon or a message
_FIRST_FIELD = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t\n\v\f\r]++|#[^\n]*+)*+([a-z_]{1,40}+)[ \t\r\n]*+[:{<]")
_TEXT_KINDS = {
    b"node": "graphdef-text",
    b"library": "graphdef-text",
    b"version": "graphdef-text",
    b"versions": "graphdef-text",
    b"saved_model_schema_version": "saved-model-text",
    b"meta_graphs": "saved-model-text",
}


def is_big_model(path: Path) -> bool:
    """True for a large file that begins as an ONNX model; such a file is mapped, not read."""
    try:
        if not path.is_file() or path.stat().st_size < BIG_BYTES:
            return False
        with path.open("rb") as file:
            return kind_of(file.read(HEAD_BYTES)) == "onnx"
    except OSError:  # reported when the file is read
        return False


def is_text(data: bytes) -> bool:
    """True if the bytes read as text. Protobuf's field keys are control characters, so a message never does."""
    head = data[:4096]
    if _CONTROL.intersection(head):
        return False
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(head) - 3 and len(data) > len(head)  # a character cut in two by the slice
    return True


def kind_of(data: bytes) -> str:
    """``empty``, ``graph-text``, ``graphdef-text``, ``saved-model-text``, ``text``, ``zip``, ``onnx``, ``graphdef``,
    ``saved-model``, ``samediff``, ``sdnb``, ``sdz``, ``stablehlo`` or ``unknown``.

    The kind of a truncated file is that of its beginning.
    """
    if not data:
        return "empty"
    if is_text(data):
        if data.startswith(b'graph "'):
            return "graph-text"
        kind = _text_kind(data)
        return "stablehlo" if kind == "text" and is_program(data) else kind
    if container := container_of(data):
        return container
    if data.startswith(b"PK\x03\x04"):
        return "zip"
    kind = _message_kind(data)
    if kind == "unknown" and is_program(data):
        return "stablehlo"
    return "samediff" if kind == "unknown" and is_flatgraph(data) else kind


def _message_kind(data: bytes) -> str:
    seen: dict[int, set[int]] = {}
    try:
        for number, wire in scan(data):
            seen.setdefault(number, set()).add(wire)
    except WireError as error:
        if error.slug != "truncated":
            return "unknown"
        if error.field is not None:
            seen.setdefault(error.field[0], set()).add(error.field[1])
    if _fits(seen, _GRAPHDEF) and 1 in seen:
        return "graphdef"
    if _fits(seen, _SAVEDMODEL) and data.startswith(_SAVEDMODEL_HEAD):
        return "saved-model"
    return "onnx" if _fits(seen, _MODELPROTO) and (1 in seen or 7 in seen) else "unknown"


def is_message_text(text: str) -> bool:
    """True if a string, which might be a path, is a TensorFlow message in text form."""
    opens = "{" in text or "<" in text
    return opens and _text_kind(text[:4096].encode("utf-8", "replace")).endswith("-text")


def _text_kind(data: bytes) -> str:
    first = _FIRST_FIELD.match(data)
    return "text" if first is None else _TEXT_KINDS.get(first[1], "text")


def _fits(seen: dict[int, set[int]], shape: dict[int, int]) -> bool:
    return all(shape.get(number) in wires and len(wires) == 1 for number, wires in seen.items())
