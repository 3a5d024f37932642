"""``.sdnb``: a FlatGraph followed by its large arrays as raw bytes.

::

    byte  0  "SDNB", int32 version 1, int64 offset and length of the manifest, int64 offset of the FlatGraph byte 32 the
    FlatGraph; for an appended array it gives the number of bytes, and their offset in the data
             the data: the bytes of those arrays, one after the other, little-endian the manifest: a Java object with
             the same facts, which is not read

Numbers of the header are big-endian. The data ends where the manifest begins and is filled by the arrays, whose total
size determines where it begins. Source: org.nd4j.autodiff.samediff.serde.SameDiffSerializer of deeplearning4j, a branch
of 2025 and 2026; no release writes these files yet.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.flatbuffers.tables import FlatError, FlatReader
from workbench.frontends.samediff.arrays import plain_array
from workbench.frontends.samediff.containers.kinds import MAGIC
from workbench.frontends.samediff.flatgraph import FlatGraph, graph_of, not_samediff
from workbench.frontends.samediff.schema import schema
from workbench.frontends.tf.tensor_proto import Budget

_HEADER = struct.Struct(">4siqqq")
VERSION = 1


class _Parts(NamedTuple):
    message: dict[str, Any]
    data: bytes


def read_sdnb(raw: bytes) -> FlatGraph:
    """The graph of one file. Raises LoadError ``truncated``, ``not-samediff``, ``bad-tensor``, ``external-data`` or
    ``unsupported-format`` for another version."""
    message, data = _parts(raw)

    def array(fields: Mapping[str, Any], dtype: str | None, budget: Budget, what: str) -> np.ndarray:
        return plain_array(fields, _bytes_of(fields, data, what), what)

    return graph_of(message, "current", array, Budget())


def _parts(raw: bytes) -> _Parts:
    if len(raw) < _HEADER.size:
        raise _cut_off(f"its header has {_HEADER.size} bytes, and {len(raw)} are there")
    magic, version, manifest, length, start = _HEADER.unpack_from(raw)
    if magic != MAGIC:
        raise not_samediff("it does not begin with SDNB.")
    if version != VERSION:
        raise LoadError(
            f"This .sdnb file is of version {version}; version {VERSION} is read.",
            slug="unsupported-format",
            fix="save the model as a FlatBuffers file: sd.asFlatFile.",
        )
    if not _HEADER.size <= start <= manifest or length < 0:
        raise not_samediff(f"its graph is at byte {start}, its manifest of {length} bytes at byte {manifest}.")
    if manifest + length > len(raw):
        raise _cut_off(f"its manifest ends at byte {manifest + length}, of {len(raw)}")
    graph = raw[start:manifest]
    reader = FlatReader(graph, schema("current"))
    try:
        message = reader.root("FlatGraph")
    except FlatError as error:
        raise not_samediff(error.message) from error
    size = max((_end_of(v.get("array", {})) for v in message.get("variables", ())), default=0)
    if size > len(graph) - reader.extent:
        raise LoadError(
            f"The arrays of the .sdnb file need {size:,} bytes; {len(graph) - reader.extent:,} are behind its graph.",
            slug="bad-tensor",
            fix="write the file again.",
        )
    return _Parts(message, graph[len(graph) - size :])


def _end_of(array: Mapping[str, Any]) -> int:
    begin, size = array.get("appended_at", 0), array.get("appended_bytes", 0)
    return begin + size if begin >= 0 and size > 0 else 0


def _bytes_of(array: Mapping[str, Any], data: bytes, what: str) -> bytes:
    """The bytes of an array: its own buffer, or the bytes appended for it."""
    if array.get("external"):
        raise LoadError(
            f"{what} has its values in another file, {array.get('external_file', '')!r}.",
            slug="external-data",
            fix="save the model with all values in one file.",
        )
    begin, size = array.get("appended_at", 0), array.get("appended_bytes", 0)
    if size == 0:
        return bytes(array.get("buffer", b""))
    if begin < 0 or size < 0 or begin + size > len(data):
        raise LoadError(
            f"{what} claims the bytes {begin} to {begin + size} of {len(data)}.",
            slug="bad-tensor",
            fix="write the file again.",
        )
    return data[begin : begin + size]


def _cut_off(why: str) -> LoadError:
    return LoadError(f"The .sdnb file is cut off: {why}.", slug="truncated", fix="fetch or write the file again.")
