"""Immutable lists whose changed copies share nearly everything: the state of TensorArrays, TensorLists and stacks.

A run steps back, replays and forks, so no op may change a value of an earlier firing. Copying a list on every write
would take O(n * n) in a loop of n trips. Here a list is a tree of 32-way blocks; a write copies the log32(n) blocks on
the path to one element, and leaves every older list unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

_BITS = 5
_WIDTH = 1 << _BITS
_EMPTY: tuple[Any, ...] = (None,) * _WIDTH
#: maximum number of elements of a list, because sizes requested by a graph are not trusted
MAX_ELEMENTS = 1 << 24


class Elements:
    """A list of ``len`` elements, None if unwritten.

    ``set``, ``append`` and ``sized`` return a new list in O(log n); a tree without elements takes no memory.
    """

    __slots__ = ("_count", "_height", "_root")

    def __init__(self, count: int = 0) -> None:
        self._count, self._height, self._root = count, _height(count), None

    @classmethod
    def of(cls, items: Iterable[Any]) -> Elements:
        """A list of these elements, in O(n)."""
        row: list[Any] = list(items)
        new = cls(len(row))
        for _ in range(new._height):
            row = [_block(row[i : i + _WIDTH]) for i in range(0, len(row), _WIDTH)]
        return _made(new._count, new._height, row[0] if row else None)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Any:
        """The element at 0 <= index < len; IndexError elsewhere."""
        if not 0 <= index < self._count:
            raise IndexError(f"a list of {self._count} elements has no element {index}")
        node = self._root
        for level in range(self._height - 1, -1, -1):
            if node is None:
                return None
            node = node[index >> level * _BITS & _WIDTH - 1]
        return node

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self._count))

    def set(self, index: int, item: Any) -> Elements:
        """This list with a new element at ``index``."""
        if not 0 <= index < self._count:
            raise IndexError(f"a list of {self._count} elements has no element {index}")
        return _made(self._count, self._height, _with(self._root, self._height, index, item))

    def append(self, item: Any) -> Elements:
        return self.sized(self._count + 1).set(self._count, item)

    def sized(self, count: int) -> Elements:
        """The first ``count`` elements, or this list extended with empty elements to ``count``."""
        if count == self._count - 1:  # the usual way to shorten a list: a pop
            return _made(count, self._height, _with(self._root, self._height, count, None))
        if count < self._count:
            return Elements.of(self[i] for i in range(count))
        root, height = self._root, self._height
        while height < _height(count):
            root = None if root is None else (root, *_EMPTY[1:])
            height += 1
        return _made(count, height, root)

    def merged(self, other: Elements, both: Callable[[Any, Any], Any]) -> Elements:
        """The elements of both lists, combined by ``both(a, b)`` where both have one. Shared and empty parts are
        skipped.
        """
        count = max(len(self), len(other))
        a, b = self.sized(count), other.sized(count)
        height = max(a._height, b._height)
        return _made(count, height, _merged(_lifted(a, height), _lifted(b, height), height, both))


def _made(count: int, height: int, root: Any) -> Elements:
    new = Elements.__new__(Elements)
    new._count, new._height, new._root = count, height, root
    return new


def _height(count: int) -> int:
    height = 1
    while count > 1 << height * _BITS:
        height += 1
    return height


def _lifted(elements: Elements, height: int) -> Any:
    root = elements._root
    for _ in range(height - elements._height):
        root = None if root is None else (root, *_EMPTY[1:])
    return root


def _block(items: list[Any]) -> tuple[Any, ...] | None:
    return None if all(i is None for i in items) else (*items, *_EMPTY[len(items) :])


def _with(node: Any, height: int, index: int, item: Any) -> Any:
    if height == 0:
        return item
    block = list(_EMPTY if node is None else node)
    at = index >> (height - 1) * _BITS & _WIDTH - 1
    block[at] = _with(block[at], height - 1, index, item)
    return _block(block)


def _merged(a: Any, b: Any, height: int, both: Callable[[Any, Any], Any]) -> Any:
    if a is None or b is None:
        return b if a is None else a
    if height == 0:
        return both(a, b)
    return tuple(_merged(x, y, height - 1, both) for x, y in zip(a, b, strict=True))
