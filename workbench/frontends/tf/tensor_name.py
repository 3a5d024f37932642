"""Names of node inputs in a GraphDef."""

from __future__ import annotations

from typing import NamedTuple


class TensorName(NamedTuple):
    """An input of a NodeDef: ``node``, ``node:output`` or ``^node`` (control; output -1)."""

    node: str
    output: int

    @classmethod
    def parse(cls, text: str) -> TensorName:
        if text.startswith("^"):
            return cls(text[1:], -1)
        node, colon, index = text.rpartition(":")
        if colon and index.isascii() and index.isdigit() and len(index) < 7:
            return cls(node, int(index))
        return cls(text, 0)
