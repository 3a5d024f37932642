"""Keeps the bytes of large tensors outside their ModelProto, which holds a mark in their place.

A mark is an entry of ``external_data`` with a key that no file can predict. Copies of a tensor keep it, so that
pruning, functions and shape inference work on a model of a few kilobytes. The array is created once, when a node needs
it, without an intermediate copy: from the ``bytes`` of the caller, from a part of a file that is read then, or, if the
tensors of a model have ``MAPPED_BYTES`` or more together, from the mapped file.
"""

from __future__ import annotations

import functools
import math
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.onnx.library import onnx
from workbench.frontends.onnx.reading.wiring import copy_field, without_graph
from workbench.frontends.onnx.tensors import array_of, dtype_of
from workbench.ir.buffers import LEAST_BYTES, MappedFile
from workbench.ir.types import STRING, numpy_dtype

#: a model's tensors in files are mapped, not read, if they have this many bytes together
MAPPED_BYTES = 1 << 30
#: bits of the dtypes whose elements share a byte in a file
PACKED_BITS = {"uint4": 4, "int4": 4, "float4_e2m1fn": 4, "uint2": 2, "int2": 2}
#: dtypes whose arrays do not hold the bytes of a file unchanged; a bool may be any byte in a file
_ODD = frozenset((STRING, "bool", *PACKED_BITS))


def stored_bytes(dtype: str, dims: Any) -> int:
    """Bytes of a tensor in a file."""
    count = math.prod(dims)
    return -(-count * PACKED_BITS[dtype] // 8) if dtype in PACKED_BITS else count * numpy_dtype(dtype).itemsize


class Weights:
    """The large tensors of one model. Used by one thread, and closed at the end."""

    def __init__(self) -> None:
        self._key = f"workbench.{secrets.token_hex(8)}"
        #: function that returns the bytes of each tensor
        self._sources: list[Callable[[], Any]] = []
        self._files: dict[Path, MappedFile] = {}
        self._total = 0

    # -- keeping ----------------------------------------------------------------------------------------
    def mark(self, tensor: Any, source: Callable[[], Any]) -> None:
        """Remove the bytes of ``tensor``, which ``source`` returns from now on."""
        tensor.ClearField("raw_data")
        del tensor.external_data[:]
        tensor.external_data.add(key=self._key, value=str(len(self._sources)))
        tensor.data_location = onnx().TensorProto.EXTERNAL
        self._sources.append(source)

    def mark_bytes(self, source: Callable[[], Any]) -> bytes:
        """The serialized fields of a TensorProto that form a mark."""
        tensor = onnx().TensorProto()
        self.mark(tensor, source)
        return bytes(tensor.SerializeToString())

    def in_file(self, file: MappedFile, offset: int, length: int) -> Callable[[], Any]:
        """A source that reads a part of a file."""
        self._total += length
        return lambda: self._part(file, offset, length)

    def file(self, path: Path) -> MappedFile:
        """The file at ``path``, mapped once; raises OSError."""
        if path not in self._files:
            self._files[path] = MappedFile.open(path)
        return self._files[path]

    def beside(self, folder: Path, parts: tuple[str, ...]) -> MappedFile:
        """A file in a folder, mapped once, not through a link: its path is opened part by part, so that no link can be
        inserted between check and opening; raises OSError.
        """
        path = folder.joinpath(*parts)
        if path not in self._files:
            opened = [os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)]
            try:
                for k, part in enumerate(parts):
                    kind = os.O_DIRECTORY if k < len(parts) - 1 else os.O_NONBLOCK
                    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | kind
                    opened.append(os.open(part, flags, dir_fd=opened[-1]))
                self._files[path] = MappedFile.of(opened[-1], path)
            finally:
                for number in opened:
                    os.close(number)
        return self._files[path]

    def slimmed(self, model: Any) -> Any:
        """A copy of a ModelProto with marks in place of its large initializers; initializers of subgraphs stay."""
        made = without_graph(model)
        for field, value in model.graph.ListFields():
            if field.name != "initializer":
                copy_field(made.graph, field, value)
        for tensor in model.graph.initializer:
            plain = tensor.HasField("raw_data") and tensor.data_location != onnx().TensorProto.EXTERNAL
            if not plain or tensor.HasField("segment") or tensor.ByteSize() < LEAST_BYTES:
                made.graph.initializer.append(tensor)
                continue
            copy = made.graph.initializer.add()
            for field, value in tensor.ListFields():
                if field.name != "raw_data":
                    copy_field(copy, field, value)
            self.mark(copy, functools.partial(getattr, tensor, "raw_data"))
        return made

    # -- reading ------------------------------------------------------------------------------------
    def has(self, tensor: Any) -> bool:
        """True if ``tensor`` holds a mark."""
        return len(tensor.external_data) == 1 and tensor.external_data[0].key == self._key

    def array(self, tensor: Any, what: str) -> np.ndarray:
        """The array of a TensorProto, with a mark or without; raises LoadError."""
        if not self.has(tensor):
            return array_of(tensor, what)
        data = self._bytes(tensor)
        dtype = dtype_of(tensor.data_type, what)
        if dtype in _ODD or sys.byteorder != "little":
            return array_of(self._whole(tensor), what)
        kind = numpy_dtype(dtype)
        if min(tensor.dims, default=0) < 0 or stored_bytes(dtype, tensor.dims) != len(data):
            raise LoadError(
                f"{what} has {len(data):,} bytes, which are no {dtype} of shape {list(tensor.dims)}.", slug="bad-tensor"
            )
        array = np.frombuffer(data, np.uint8).view(kind).reshape(tuple(tensor.dims))
        return array if array.flags.aligned else array.copy()

    def whole(self, message: Any, tensors: Callable[[Any], Iterator[Any]]) -> Any:
        """A message that contains the bytes of its tensors: the same message if it has no marks, otherwise a copy."""
        if not any(map(self.has, tensors(message))):
            return message
        made = type(message)()
        made.CopyFrom(message)
        for tensor in tensors(made):
            if self.has(tensor):
                tensor.CopyFrom(self._whole(tensor))
        return made

    def close(self) -> None:
        """Release the sources that were not used; arrays already returned keep their data."""
        self._sources.clear()
        self._files.clear()

    def _bytes(self, tensor: Any) -> Any:
        return self._sources[int(tensor.external_data[0].value)]()

    def _whole(self, tensor: Any) -> Any:
        made = type(tensor)()
        made.CopyFrom(tensor)
        del made.external_data[:]
        made.ClearField("data_location")
        made.raw_data = bytes(self._bytes(tensor))
        return made

    def _part(self, file: MappedFile, offset: int, length: int) -> Any:
        if self._total >= MAPPED_BYTES and file.trusted:
            return memoryview(file)[offset : offset + length]
        return file.read(offset, length)
