"""A writer of SameDiff's containers, written from their description and independent of the reader; and graphs
for them.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence

import numpy as np

from tests.frontends.flatbytes import CONSTANT, DTYPES, VARIABLE, SameDiff, Table, flatbuffer

#: header of java.io.ObjectOutputStream; the rest is never read
MANIFEST = b"\xac\xed\x00\x05sr\x00\x17java.util.LinkedHashMap"


def plain(value: np.ndarray, at: int | None = None, order: str = "c") -> Table:
    """An array in the form of the containers: plain shape, little-endian, the order in the field of the byte order.
    With ``at`` its bytes are appended, at this offset.
    """
    raw = value.astype(value.dtype.newbyteorder("<")).tobytes("F" if order == "f" else "C")
    fields = {0: ("q*", list(value.shape)), 2: ("b", DTYPES[value.dtype.name]), 3: ("b", int(order == "f"))}
    if at is None:
        return Table({**fields, 1: ("B", raw)})
    return Table({**fields, 8: ("q", at), 9: ("q", len(raw))})


def raw_of(value: np.ndarray, order: str = "c") -> bytes:
    return value.astype(value.dtype.newbyteorder("<")).tobytes("F" if order == "f" else "C")


def sdnb(graph: bytes, data: bytes = b"", *, version: int = 1, manifest: bytes = MANIFEST) -> bytes:
    end = 32 + len(graph) + len(data)
    return struct.pack(">4siqqq", b"SDNB", version, end, len(manifest), 32) + graph + data + manifest


def sdz(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, raw in files.items():
            archive.writestr(name, raw)
    return out.getvalue()


class Model:
    """out = (x w + b), with w of order f; the test chooses which of the arrays are appended, inline or left out."""

    W = np.arange(6, dtype=np.float32).reshape(3, 2) - 2
    B = np.array([0.5, -1.5], np.float32)

    @classmethod
    def graph(cls, w: Table | None, b: Table | None) -> bytes:
        sd = SameDiff()
        sd.placeholder("x", shape=[-1, 3])
        sd.variable("w", VARIABLE, array=w)
        sd.variable("b", CONSTANT, array=b)
        sd.op("mmul", "product", ["x", "w"], ints=[0, 0, 0])
        sd.op("add", "out", ["product", "b"])
        return sd.bytes()

    @classmethod
    def variables(cls, arrays: Mapping[str, Table]) -> bytes:
        """The graph of a shard: only variables."""
        sd = SameDiff()
        for name, array in arrays.items():
            sd.variable(name, VARIABLE, array=array)
        return flatbuffer(sd.table())

    @classmethod
    def single(cls) -> bytes:
        """Both arrays appended, the second one of order f."""
        graph = cls.graph(plain(cls.W, 8, "f"), plain(cls.B, 0))
        return sdnb(graph, raw_of(cls.B) + raw_of(cls.W, "f"))

    @classmethod
    def shards(cls, base: str = "model") -> dict[str, bytes]:
        parts: Sequence[bytes] = (
            sdnb(cls.graph(None, None)),
            sdnb(cls.variables({"w": plain(cls.W, 0)}), raw_of(cls.W)),
            sdnb(cls.variables({"b": plain(cls.B)})),
        )
        return {f"{base}.shard{i}-of-{len(parts)}.sdnb": raw for i, raw in enumerate(parts)}

    @classmethod
    def expected(cls, x: np.ndarray) -> np.ndarray:
        return x @ cls.W + cls.B
