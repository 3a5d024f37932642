"""Growing lists of items of one size, and of references, that track the bytes they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.kernels import columns


class BlockColumn:
    """A list of items of one size, in blocks of ``block`` items."""

    def __init__(self, size: int, block: int) -> None:
        self.size, self.block = size, block
        self.length, self.bytes = 0, 0
        self._blocks: list[np.ndarray] = []
        self.dtype = np.dtype({1: "u1", 2: "u2", 4: "u4", 8: "u8"}.get(size, f"V{size}"))

    def growth(self, count: int) -> int:
        """Additional bytes for ``count`` more items."""
        return max(0, -(-(self.length + count) // self.block) - len(self._blocks)) * self.block * self.size

    def room(self, count: int) -> list[np.ndarray]:
        """Space for the next ``count`` items, contiguous; the caller fills it."""
        found = []
        while count:
            used = self.length - max(0, len(self._blocks) - 1) * self.block
            if not self._blocks or used == self.block:
                self._blocks.append(columns.memory(self.block * self.size).view(self.dtype))
                self.bytes += self._blocks[-1].nbytes
                used = 0
            found.append(self._blocks[-1][used : used + count])
            self.length += len(found[-1])
            count -= len(found[-1])
        return found

    def extend(self, items: np.ndarray) -> None:
        at = 0
        for part in self.room(len(items)):
            part[...] = items[at : at + len(part)]
            at += len(part)

    def drain(self) -> Any:
        """The items, block by block; each block is freed before the next is yielded."""
        left, self.length = self.length, 0
        blocks, self._blocks = self._blocks, []
        blocks.reverse()
        while blocks:
            last = blocks.pop()
            yield last[:left]
            left -= len(last)
            self.bytes -= last.nbytes

    def cut(self, length: int) -> None:
        self.length = min(self.length, length)
        needed = -(-self.length // self.block)
        self.bytes -= sum(b.nbytes for b in self._blocks[needed:])
        del self._blocks[needed:]

    def take(self, index: np.ndarray) -> np.ndarray:
        """Items at ascending indices."""
        out = np.empty(len(index), self.dtype)
        ends = np.searchsorted(index, np.arange(1, len(self._blocks) + 1) * self.block)
        start = 0
        for number, end in enumerate(ends.tolist()):
            if end > start:
                out[start:end] = self._blocks[number][index[start:end] - number * self.block]
                start = end
        return out

    def slice(self, start: int, stop: int, step: int) -> np.ndarray:
        """Items start, start + step, ... below stop."""
        out = np.empty(max(0, -(-(stop - start) // step)), self.dtype)
        done = 0
        while done < len(out):
            at = start + done * step
            number, inside = divmod(at, self.block)
            part = self._blocks[number][inside : min(self.block, stop - number * self.block) : step]
            out[done : done + len(part)] = part
            done += len(part)
        return out


class Objects:
    """The same for references to objects, including the objects' own bytes."""

    def __init__(self) -> None:
        self._items: list[Any] = []
        self._sizes: list[int] = []
        self.bytes = 0

    @property
    def length(self) -> int:
        return len(self._items)

    def extend(self, items: Sequence[Any]) -> None:
        sizes = [object_bytes(i) for i in items]
        self._items += items
        self._sizes += sizes
        self.bytes += sum(sizes)

    def drain(self) -> Any:
        items, self._items, self._sizes, self.bytes = self._items, [], [], 0
        yield items

    def cut(self, length: int) -> None:
        self.bytes -= sum(self._sizes[length:])
        del self._items[length:], self._sizes[length:]

    def take(self, index: np.ndarray) -> list[Any]:
        return [self._items[k] for k in index.tolist()]

    def slice(self, start: int, stop: int, step: int) -> list[Any]:
        return self._items[start:stop:step]


def object_bytes(item: Any, depth: int = 4) -> int:
    """Bytes that a reference may keep alive, including the reference and the object: for an array those of the array it
    is a view of, for a sequence those of its items."""
    if isinstance(item, np.ndarray):
        base = item
        while isinstance(base.base, np.ndarray):
            base = base.base
        return max(base.nbytes, item.nbytes) + 128
    if isinstance(item, list | tuple) and depth:
        return 64 + sum(object_bytes(i, depth - 1) for i in item)
    if isinstance(item, dict) and depth:
        return 64 + sum(object_bytes(i, depth - 1) for i in item.values())
    return 64
