"""A growing series in blocks with their extremes, so that any stretch of a very long one can be drawn at once.

::

    points ──► open end (all of them) ──► blocks of 1024: first, last, smallest and largest point
                                             └──► pairs are merged when there are too many blocks

A stretch of ten million points is read from a few thousand blocks instead of from the record, with all extremes. Memory
is bounded: at most ``MOST`` blocks of four points. Extremes of extremes are extremes, so that merging loses none.
"""

from __future__ import annotations

import numpy as np

SIZE = 1024
MOST = 1 << 14


class Pyramid:
    """Points with ascending ``x``; ``y`` may contain NaN and infinities, which are not counted as extremes."""

    def __init__(self, size: int = SIZE, most: int = MOST) -> None:
        self.size, self._least, self._most = size, size, most
        self._open_x, self._open_y = np.empty(0), np.empty(0)
        self._x, self._y = np.empty((0, 4)), np.empty((0, 4))

    def extend(self, x: np.ndarray, y: np.ndarray) -> None:
        """Append points; the cost is proportional to their number."""
        self._open_x = np.concatenate([self._open_x, x])
        self._open_y = np.concatenate([self._open_y, y])
        many = len(self._open_x) // self.size - 1  # the newest block stays open: steps back cut it exactly
        if many < 1:
            return
        end = many * self.size
        shape = (many, self.size)
        new = _extremes(self._open_x[:end].reshape(shape), self._open_y[:end].reshape(shape))
        self._open_x, self._open_y = self._open_x[end:].copy(), self._open_y[end:].copy()
        self._x, self._y = np.concatenate([self._x, new[0]]), np.concatenate([self._y, new[1]])
        while len(self._x) > self._most:
            self._merge()

    def _merge(self) -> None:
        """Merge blocks in pairs; an odd last one returns to the open end as its four points."""
        even = len(self._x) // 2 * 2
        if even < len(self._x):
            self._open_x = np.concatenate([self._x[-1], self._open_x])
            self._open_y = np.concatenate([self._y[-1], self._open_y])
        self._x, self._y = _extremes(self._x[:even].reshape(-1, 8), self._y[:even].reshape(-1, 8))
        self.size *= 2

    def cut(self, x: float) -> None:
        """Forget all points from ``x`` on."""
        keep = int(np.searchsorted(self._x[:, -1], x))  # whole blocks before x
        if keep < len(self._x):
            self._open_x, self._open_y = self._x[keep:].reshape(-1), self._y[keep:].reshape(-1)
            self._x, self._y = self._x[:keep], self._y[:keep]
        stays = int(np.searchsorted(self._open_x, x))
        self._open_x, self._open_y = self._open_x[:stays], self._open_y[:stays]
        if not len(self._x):
            self.size = self._least

    def end(self) -> tuple[np.ndarray, np.ndarray]:
        """All newest points that are in no block yet."""
        return self._open_x, self._open_y

    def between(self, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
        """Points of the blocks that touch ``low`` .. ``high``: all extremes there, and a neighbour on each side."""
        first = int(np.searchsorted(self._x[:, -1], low))
        last = int(np.searchsorted(self._x[:, 0], high, side="right"))
        begin = max(0, int(np.searchsorted(self._open_x, low)) - 1)
        end = int(np.searchsorted(self._open_x, high, side="right")) + 1
        x = np.concatenate([self._x[first:last].reshape(-1), self._open_x[begin:end]])
        y = np.concatenate([self._y[first:last].reshape(-1), self._open_y[begin:end]])
        single = np.concatenate([[True], np.diff(x) > 0]) if len(x) else np.empty(0, bool)
        return x[single], y[single]


def _extremes(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First, smallest, largest and last point of each row, in the order of x."""
    good = np.isfinite(y)
    places = np.zeros((len(y), 4), np.int64)
    places[:, 1] = np.where(good, y, np.inf).argmin(axis=1)
    places[:, 2] = np.where(good, y, -np.inf).argmax(axis=1)
    places[:, 3] = y.shape[1] - 1
    places.sort(axis=1)
    return np.take_along_axis(x, places, 1), np.take_along_axis(y, places, 1)
