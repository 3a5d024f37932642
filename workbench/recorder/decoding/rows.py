"""Values of one position: the result of an op for a token, in a form that does not depend on the call."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.recorder.decoding.axes import Axes, by_position
from workbench.recorder.decoding.record import DecodingRecord, ModelCall

#: values above it are masks, or practically infinite
HUGE = 1e30


class PositionRows:
    """The values of a run by position."""

    def __init__(self, run: DecodingRecord) -> None:
        self.run = run
        self._sorted: dict[int, np.ndarray] = {}

    def axes(self, op: int, like: Axes | None = None) -> Axes | None:
        """The axes of an op; a cache of fixed length, or one that was emptied, takes its partner's axis of keys."""
        found = self.run.axes(op)
        if found is not None and like is not None and like.positions is None and found.positions == like.keys:
            return like
        if found is not None and found.keys is None and like is not None and like.keys is not None:
            return found._replace(keys=like.keys) if found.positions == like.positions else found
        return found

    def at(self, call: ModelCall, place: int, row: int, position: int, like: Axes | None = None) -> np.ndarray | None:
        """The values of a position; an op without positions has all its values at the last position of the call."""
        value, pad = call.values[place], int(self.run.pads[row])
        at, axes = position + pad, self.axes(value.op, like)
        if axes is None:
            return None
        if axes.folded and call.positions == 1:
            return self._whole(value, row) if at == call.start else None
        if axes.positions is None:
            if axes.keys is None:
                return self._whole(value, row) if at == call.start + call.positions - 1 else None
            keys = self._by(value, axes.keys, value.array.shape[axes.keys])[pad : at + 1]
            return np.asarray(keys[:, row if keys.shape[1] > 1 else 0])
        rows = self._by(value, axes.positions, call.positions)
        first = call.positions - len(rows) if axes.last else value.first
        if not 0 <= at - call.start - first < len(rows):
            return None
        found = rows[at - call.start - first]
        found = found[row if len(found) > 1 else 0]
        if axes.keys is None:
            return np.asarray(found)
        return _cut(found, axes.keys - self.run.ndim(value.op), pad, at)

    def _by(self, value: Any, axis: int, positions: int) -> np.ndarray:
        if value.sorted:
            return np.asarray(value.array)
        found = self._sorted.get(id(value))
        if found is None:
            n = value.array.shape[axis]
            rows = positions if positions and n % positions == 0 else n
            found = self._sorted[id(value)] = by_position(value.array, axis, rows, len(self.run.pads))
        return found

    def _whole(self, value: Any, row: int) -> np.ndarray:
        array, batch = value.array, len(self.run.pads)
        if batch > 1 and array.ndim and array.shape[0] % batch == 0 and array.shape[0]:
            return np.asarray(array.reshape(batch, -1, *array.shape[1:])[row])
        return np.asarray(array)

    def gathered(self, op: int, row: int, position: int) -> np.ndarray | None:
        """The rows of all positions so far of an op that computes each row once or anew."""
        found = []
        for p in range(position + 1):
            call = self.run.call_of(row, p)
            place = None if call is None else call.places.get(op)
            one = None if call is None or place is None else self.at(call, place, row, p)
            if one is None:
                return None
            found.append(one)
        return np.stack(found)


def _cut(found: np.ndarray, axis: int, first: int, at: int) -> np.ndarray:
    """The keys after the padding, up to that of the position."""
    index: list[Any] = [slice(None)] * found.ndim
    index[axis] = slice(first, at + 1)
    return np.asarray(found[tuple(index)])


def same_form(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Both in one shape; if one has fewer keys, they are compared with the newest of the other. None if they do not
    fit.
    """
    if x.shape == y.shape:
        return x, y
    if x.size == y.size:
        return x.reshape(-1), y.reshape(-1)
    if x.ndim != y.ndim:
        return None
    apart = [k for k, (m, n) in enumerate(zip(x.shape, y.shape, strict=True)) if m != n]
    if len(apart) != 1:
        return None
    axis = apart[0]
    n = min(x.shape[axis], y.shape[axis])
    if not n:
        return None
    newest = [slice(None)] * x.ndim
    newest[axis] = slice(-n, None)
    return x[tuple(newest)], y[tuple(newest)]


def distance(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """(largest distance relative to the size of the values, largest distance); infinite where only one of two elements
    is finite.
    """
    x, y = np.asarray(x).reshape(-1), np.asarray(y).reshape(-1)
    if not x.size:
        return 0.0, 0.0
    with np.errstate(all="ignore"):
        same = (x == y) | ((x != x) & (y != y)) | ((np.abs(x) > HUGE) & (np.abs(y) > HUGE) & (x * y > 0))
        apart = np.where(same, 0.0, np.abs(x - y))
        plain = np.abs(np.concatenate([x, y]))
        plain = plain[plain < HUGE]
        size = float(np.sqrt(np.mean(plain * plain))) if plain.size else 0.0
        scale = np.maximum(np.maximum(np.abs(x), np.abs(y)), size)
        relative = np.where(same, 0.0, apart / np.where(scale > 0, scale, 1.0))
    if not np.isfinite(apart).all():
        return float("inf"), float("inf")
    return float(relative.max()), float(apart.max())
