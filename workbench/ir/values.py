"""Values of a graph that are not arrays: lists of arrays, and the optional without a value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from workbench.text import harmless


class ArrayList(Sequence[np.ndarray]):
    """An immutable list of arrays.

    A loop of n iterations that appends one element per iteration takes O(n): lists that grew from each other share one
    buffer, of which each reads its first elements. Appending to the longest list extends the buffer; appending to an
    older one (in a replay or a fork) first copies the elements that it holds.
    """

    __slots__ = ("_buffer", "_count")

    def __init__(self, buffer: list[np.ndarray] | None = None, count: int = 0) -> None:
        self._buffer = [] if buffer is None else buffer
        self._count = count

    def appended(self, value: Any) -> ArrayList:
        """A list with one more element, which is copied because the executor may reuse its memory."""
        element = np.array(value, copy=True)
        element.flags.writeable = False
        buffer = self._buffer
        if len(buffer) == self._count:
            buffer.append(element)
        if len(buffer) == self._count or buffer[self._count] is not element:  # another thread was first, or it is older
            buffer = [*buffer[: self._count], element]
        return ArrayList(buffer, self._count + 1)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._buffer[: self._count][index]
        if not -self._count <= index < self._count:
            raise IndexError(f"list of {self._count} elements has no element {index}")
        return self._buffer[index % self._count]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self._buffer[i] for i in range(self._count))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArrayList) or len(self) != len(other):
            return NotImplemented if not isinstance(other, ArrayList) else False
        return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    @harmless
    def __repr__(self) -> str:
        return f"<ArrayList of {self._count}>"


class Nothing:
    """An optional without a value; :data:`NOTHING` is its only instance."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<no value>"

    def __bool__(self) -> bool:
        return False


NOTHING = Nothing()


def array_list(items: Sequence[Any]) -> ArrayList:
    """A list of copies of these arrays, because the executor may reuse their memory."""
    copies = [np.array(v, copy=True) for v in items]
    for copy in copies:
        copy.flags.writeable = False
    return ArrayList(copies, len(copies))


def to_graph(value: Any) -> Any:
    """The graph's form of a value given by a user: NOTHING for None, an ArrayList for a list or tuple."""
    if value is None:
        return NOTHING
    return array_list(value) if isinstance(value, (list, tuple)) else value


def from_graph(value: Any) -> Any:
    """The user's form of a result: a list for an ArrayList, None for an optional without a value."""
    if isinstance(value, Nothing):
        return None
    return list(value) if isinstance(value, ArrayList) else value
