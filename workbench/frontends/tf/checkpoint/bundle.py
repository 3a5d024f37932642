"""A tensor bundle: the variables of a model by name, each read from disk on first use.

``prefix.index`` is a sorted table: the empty key holds a BundleHeaderProto, every other key a BundleEntryProto (dtype,
shape, shard, offset, size, checksum, and for a partitioned tensor its slices, which have separate keys).
``prefix.data-00000-of-00002`` and so on hold the bytes. Source: the documented format of
tensorflow/core/util/tensor_bundle/tensor_bundle.h and core/protobuf/tensor_bundle.proto.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.files import read_bytes
from workbench.frontends.protobuf.wire import Reader, WireError
from workbench.frontends.tf.checkpoint.crc32c import crc32c, masked
from workbench.frontends.tf.checkpoint.slices import Extents, places, slice_key
from workbench.frontends.tf.checkpoint.sstable import TableError, read_table
from workbench.frontends.tf.checkpoint.strings import read_strings
from workbench.frontends.tf.saved_model.schema import SAVED
from workbench.frontends.tf.tensor_proto import DTypeAttr, shape_of
from workbench.ir.types import OPAQUE, STRING, numpy_dtype

#: maximum number of shards of a checkpoint; file names have five digits for it
MAX_SHARDS = 99_999


class Bundle(Mapping[str, np.ndarray]):
    """The tensors of a checkpoint by name. Arrays are read-only; each access reads and checks the file again.

    Raises LoadError: ``bad-checkpoint``, ``bad-checksum``, ``unknown-dtype``, ``no-such-file``, ``no-such-variable``.
    """

    def __init__(self, prefix: str | os.PathLike[str]) -> None:
        self.prefix = Path(prefix)
        self._entries = read_table(read_bytes(self.prefix.with_name(self.prefix.name + ".index")))
        header = self._message(b"", "BundleHeaderProto")
        self.shards = header.get("num_shards", 0)
        if not 1 <= self.shards <= MAX_SHARDS:
            raise TableError(f"The checkpoint claims {self.shards} shards.")
        self._swap = (header.get("endianness", 0) == 1) != (sys.byteorder == "big")
        # keys that begin with \0 belong to slices
        self._names = {k.decode("utf-8", "replace"): k for k in self._entries if k and k[0] != 0}

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> np.ndarray:
        """The tensor ``name``; raises LoadError (instead of KeyError for a missing name)."""
        if name not in self._names:
            raise LoadError(f"The checkpoint has no tensor {name!r}.", slug="no-such-variable")
        entry = self._message(self._names[name], "BundleEntryProto")
        dtype, shape = self._type(entry, name)
        if not entry.get("slices"):
            return self._stored(entry, dtype, shape, name)
        return self._assembled(entry["slices"], dtype, shape, name)

    def _message(self, key: bytes, kind: str) -> dict[str, Any]:
        if key not in self._entries:
            raise TableError(f"The checkpoint's index has no entry {key[:80]!r}.")
        try:
            return Reader(self._entries[key], SAVED).message(kind)
        except WireError as error:
            raise TableError(f"The entry {key[:80]!r} of the checkpoint's index is damaged: {error.message}") from error

    def _type(self, entry: Mapping[str, Any], name: str) -> tuple[str, tuple[int, ...]]:
        dtype = DTypeAttr(entry.get("dtype", 0)).name
        if dtype == OPAQUE:
            raise LoadError(f"The checkpoint's tensor {name!r} is a resource, without values.", slug="unknown-dtype")
        shape = shape_of(entry.get("shape", {}))
        if shape is None or None in shape:
            raise TableError(f"The checkpoint's tensor {name!r} has no definite shape.")
        return dtype, tuple(d for d in shape if d is not None)

    def _stored(self, entry: Mapping[str, Any], dtype: str, shape: tuple[int, ...], name: str) -> np.ndarray:
        raw = self._bytes(entry, name)
        if dtype == STRING:
            return read_strings(raw, shape, entry.get("crc32c", 0), name)
        kind = numpy_dtype(dtype)
        if len(raw) != math.prod(shape) * kind.itemsize:
            raise TableError(f"The checkpoint's tensor {name!r} holds {len(raw):,} bytes for {dtype}{list(shape)}.")
        if masked(crc32c(raw)) != entry.get("crc32c", 0):
            raise TableError(f"The checkpoint's tensor {name!r} does not have its checksum.", slug="bad-checksum")
        if dtype == "bool":
            array = np.frombuffer(raw, np.uint8) != 0
        else:
            array = np.frombuffer(raw, kind)
            array = array.byteswap() if self._swap else array
        array = array.reshape(shape)
        array.flags.writeable = False
        return array

    def _bytes(self, entry: Mapping[str, Any], name: str) -> bytes:
        shard, offset, size = (entry.get(k, 0) for k in ("shard_id", "offset", "size"))
        if not 0 <= shard < self.shards or offset < 0 or size < 0:
            raise TableError(f"The checkpoint's tensor {name!r} claims shard {shard} of {self.shards}, {size} bytes.")
        path = self.prefix.with_name(f"{self.prefix.name}.data-{shard:05}-of-{self.shards:05}")
        try:
            if not path.is_file():
                raise LoadError(f"There is no file {str(path)!r}.", slug="no-such-file", fix="copy the whole folder.")
            with path.open("rb") as file:
                if offset + size > os.fstat(file.fileno()).st_size:
                    raise TableError(f"{str(path)!r} is cut off: it ends before {name!r} does.", slug="truncated")
                file.seek(offset)
                return file.read(size)
        except (OSError, ValueError) as error:
            raise LoadError(f"{str(path)!r} cannot be read: {error}.", slug="unreadable") from error

    def _assembled(self, slices: list[Any], dtype: str, shape: tuple[int, ...], name: str) -> np.ndarray:
        """The whole of a partitioned tensor; its slices must fill it exactly, so that its size is backed by stored
        bytes.
        """
        pieces: list[tuple[tuple[slice, ...], np.ndarray]] = []
        count = 0
        for one in slices:
            extents: Extents = tuple((e.get("start", 0), e.get("length")) for e in one.get("extent", ()))
            where = places(shape, extents)
            part = self._message(slice_key(name, extents), "BundleEntryProto")
            kind, size = self._type(part, name)
            if kind != dtype or size != tuple(s.stop - s.start for s in where):
                raise TableError(f"A slice of the checkpoint's tensor {name!r} is {kind}{list(size)}.")
            pieces.append((where, self._stored(part, kind, size, name)))
            count += pieces[-1][1].size
            if count > math.prod(shape):
                break
        if count != math.prod(shape):
            raise TableError(f"The slices of the checkpoint's tensor {name!r} do not fill {list(shape)} once.")
        whole = np.empty(shape, numpy_dtype(dtype))
        seen = np.zeros(shape, bool)
        for where, piece in pieces:
            if seen[where].any():
                raise TableError(f"Slices of the checkpoint's tensor {name!r} overlap.")
            whole[where], seen[where] = piece, True
        whole.flags.writeable = False
        return whole
