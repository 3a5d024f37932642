"""The plain twin of ``shape_trie``: the same answers from one dict, slow and obvious. For tests only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.kernels.shape_info import ShapeInfo


class ShapeTrieTwin:
    """A dict of descriptors to [id, references]; ids are never used again. Unbounded."""

    def __init__(self) -> None:
        self._entries: dict[tuple[Any, ...], list[int]] = {}
        self._keys: dict[int, tuple[Any, ...]] = {}
        self._next = 1
        self._hits = self._misses = self._peak = 0

    @staticmethod
    def _key(shape: Any, strides: Any, dtype: Any, order: str, flags: int) -> tuple[Any, ...]:
        kind = None if dtype is None else np.dtype(dtype)
        if strides is not None and kind is not None:
            expected, item = [0] * len(shape), kind.itemsize
            places = range(len(shape)) if order == "F" else reversed(range(len(shape)))
            for i in places:
                expected[i] = item
                item *= max(shape[i], 1)
            if list(strides) == expected:
                strides = None
        return tuple(shape), None if strides is None else tuple(strides), kind, order, flags

    def intern(self, shape: Any, strides: Any = None, dtype: Any = None, order: str = "C", flags: int = 0) -> int:
        key = self._key(shape, strides, dtype, order, flags)
        if key in self._entries:
            self._hits += 1
            self._entries[key][1] += 1
        else:
            self._misses += 1
            self._entries[key] = [self._next, 1]
            self._keys[self._next] = key
            self._next += 1
            self._peak = max(self._peak, len(self._entries))
        return self._entries[key][0]

    def lookup(
        self, shape: Any, strides: Any = None, dtype: Any = None, order: str = "C", flags: int = 0
    ) -> int | None:
        found = self._entries.get(self._key(shape, strides, dtype, order, flags))
        self._hits += found is not None
        self._misses += found is None
        return None if found is None else found[0]

    def release(self, id: int) -> None:
        key = self._keys.get(id)
        if key is None:
            raise ValueError(f"id {id} is unknown or was released")
        self._entries[key][1] -= 1
        if self._entries[key][1] == 0:
            del self._entries[key], self._keys[id]

    def refcount(self, id: int) -> int:
        if id not in self._keys:
            raise ValueError(f"id {id} is unknown or was released")
        return self._entries[self._keys[id]][1]

    def get(self, id: int) -> ShapeInfo:
        if id not in self._keys:
            raise ValueError(f"id {id} is unknown or was released")
        return ShapeInfo(id, *self._keys[id])

    def prefix(self, dims: Sequence[int]) -> list[int]:
        n = len(dims)
        return [id for key, (id, _) in self._entries.items() if key[0][:n] == tuple(dims) and len(key[0]) >= n]

    def stats(self) -> dict[str, int]:
        return {"entries": len(self._entries), "peak": self._peak, "hits": self._hits, "misses": self._misses}
