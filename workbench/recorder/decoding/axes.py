"""Axes of the tensors of a decoding step: which one has the positions of the call, and which one has all keys so far.

They are found from shapes alone: the number of new positions and the number of keys change from call to call. An axis
whose length is a multiple of the number of positions has positions; any other axis that changes has keys. If a call
computes only the last rows, as of logits, the axis has the last positions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

#: tags of axes: positions of the call, its last positions, all keys
POSITIONS, LAST, KEYS = "q", "t", "k"

Shape = tuple[int, ...]


class Axes(NamedTuple):
    """Axis of positions and axis of keys of one op, or None; ``last`` is True if only the last positions are there.

    ``folded`` is True if a call of one position has other axes: all its elements belong to that position.
    """

    positions: int | None
    keys: int | None
    last: bool = False
    folded: bool = False


def axes_of(seen: Iterable[tuple[int, Shape]]) -> Axes | None:
    """The axes of an op, from the pairs (positions of the call, shape) of its calls; None if these fit no axes."""
    pairs = list(dict.fromkeys(seen))
    found = _axes(pairs)
    more = [(s, shape) for s, shape in pairs if s > 1]
    if found is None and len(more) < len(pairs) and len({math.prod(shape) / s for s, shape in pairs}) == 1:
        found = _axes(more) if more else None  # as of grouped queries, which attention concatenates
        return found._replace(folded=True) if found is not None and found.keys is None else None
    return found


def _axes(pairs: list[tuple[int, Shape]]) -> Axes | None:
    if len({len(shape) for _, shape in pairs}) != 1:
        return None
    if len(pairs) == 1:
        return _one_call(*pairs[0])
    found: dict[str, int] = {}
    for axis in range(len(pairs[0][1])):
        sizes = [(s, shape[axis]) for s, shape in pairs]
        if len({n for _, n in sizes}) == 1:
            continue
        tag = _tag(sizes)
        if tag == POSITIONS and tag in found:
            tag = KEYS  # in a run without a cache both have one length
        if tag in found:
            return None
        found[tag] = axis
    last = LAST in found and POSITIONS not in found
    return Axes(found.get(POSITIONS, found.get(LAST)), found.get(KEYS), last)


def _tag(sizes: Sequence[tuple[int, int]]) -> str:
    multiples = {n / s for s, n in sizes}
    if len(multiples) == 1 and next(iter(multiples)).is_integer():
        return POSITIONS
    return LAST if all(n <= s for s, n in sizes) else KEYS


def _one_call(positions: int, shape: Shape) -> Axes | None:
    """The axes of an op in one call: those as long as the positions, if they can be identified."""
    found = [axis for axis, n in enumerate(shape) if n == positions and positions > 1]
    if len(found) > 2 or (len(found) == 2 and found[1] != len(shape) - 1):
        return None
    return Axes(found[0] if found else None, found[1] if len(found) == 2 else None)


def by_position(array: np.ndarray, axis: int, rows: int, batch: int) -> np.ndarray:
    """The array with the axis of ``rows`` first and the batch axis second, of length 1 if there is no batch.

    >>> by_position(np.zeros((2 * 5, 8)), 0, 5, 2).shape, by_position(np.zeros((2, 4, 5, 8)), 2, 5, 2).shape
    ((5, 2, 8), (5, 2, 4, 8))
    """
    shape, folded = array.shape, array.shape[axis] // max(rows, 1)
    batched = batch > 1
    if folded == 1:
        middle, place, has_batch = [rows], axis, False
    elif batched and axis == 0 and folded % batch == 0:
        middle, place, has_batch = [batch, rows, folded // batch], 1, True
    else:
        middle, place, has_batch = [rows, folded], axis, False
    array = array.reshape(*shape[:axis], *middle, *shape[axis + 1 :])
    if batched and not has_batch and axis > 0 and shape[0] % batch == 0:
        array = array.reshape(batch, shape[0] // batch, *array.shape[1:])
        place, has_batch = place + 1, True
    moved = np.moveaxis(array, place, 0)
    return moved if has_batch else moved[:, None]
