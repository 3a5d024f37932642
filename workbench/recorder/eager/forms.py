"""The form of an iteration: its calls and their tensors, without the numbers among the arguments.

A slice ``data[k : k + 32]``, a row ``order[k]`` or a step count ``x * k`` has another number in each iteration: the
offset of a part of a storage, or an integer among the arguments. These are not part of the form.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple


class StoragePart(NamedTuple):
    """A strided part of a storage; storages are numbered by their first appearance in the iteration."""

    storage: int
    dtype: str
    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int


class FloatArgument(NamedTuple):
    """A float among the arguments; its value may change from iteration to iteration."""

    value: float


def differing(calls: list[Any], known: list[Any]) -> list[int] | None:
    """The calls of an iteration that differ from the ``known`` ones in integers only; None if others differ too."""
    if len(calls) != len(known):
        return None
    found = []
    for n, (mine, theirs) in enumerate(zip(calls, known, strict=True)):
        if mine != theirs:
            if not _alike(mine, theirs):
                return None
            found.append(n)
    return found


def _alike(mine: Any, theirs: Any) -> bool:
    """True if two arguments are the same except for integers."""
    kind = type(mine)
    if kind is not type(theirs):
        return False
    if kind is StoragePart:
        return bool(mine[:4] == theirs[:4])
    if kind is int:
        return True
    if kind is list or kind is tuple:
        return len(mine) == len(theirs) and all(map(_alike, mine, theirs))
    return bool(mine == theirs)


def parts_of(value: Any) -> Iterator[StoragePart]:
    """The parts of storages among arguments."""
    if isinstance(value, StoragePart):
        yield value
    elif isinstance(value, tuple) and not isinstance(value, FloatArgument):
        for item in value:
            yield from parts_of(item)


def integers_of(value: Any) -> Iterator[tuple[int, int]]:
    """The integers among arguments, in order: (integer, the storage if it is the offset of a part, else -1)."""
    if isinstance(value, StoragePart):
        yield value.offset, value.storage
    elif type(value) is int:
        yield value, -1
    elif isinstance(value, tuple) and not isinstance(value, FloatArgument):
        for item in value:
            yield from integers_of(item)
