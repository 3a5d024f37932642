"""One activation of a nested loop: its iterations within one iteration of the enclosing loop."""

from __future__ import annotations

from typing import Any

import numpy as np

Path = tuple[int, ...]


def firing_of(series: Any, path: Path) -> int:
    """Index of the first firing in or after the iteration path (or a prefix of it), by a binary search."""
    low, high = 0, len(series)
    while low < high:
        middle = (low + high) // 2
        found = series.window(middle, middle + 1)[0]
        if not len(found):  # rows were dropped meanwhile
            high = middle
        elif tuple(int(i) for i in found[0][: len(path)]) < path:
            low = middle + 1
        else:
            high = middle
    return low


class Activation:
    """The firings of a series within the iteration ``outer`` of the enclosing frames, as a series of depth one.

    It has the part of a series' interface that :class:`~workbench.widgets.series.series_reader.SeriesReader` and
    verdicts use.
    """

    def __init__(self, series: Any, outer: Path) -> None:
        self.series, self.outer = series, outer
        self.name, self.type, self.frame = series.name, series.type, series.frame
        self._known = (-1, 0, 0)

    def _span(self) -> tuple[int, int]:
        """Indices of its first firing and of the first one after it; usually cached."""
        count = len(self.series)
        if self._known[0] == count and count:
            return self._known[1:]
        after = (*self.outer[:-1], self.outer[-1] + 1)
        low, high = self._known[1], count
        if self._before(low, self.outer) or (low and not self._before(low - 1, self.outer)):
            low = firing_of(self.series, self.outer)
        if count and not self._before(count - 1, after):
            high = firing_of(self.series, after)
        self._known = (count, low, high)
        return low, high

    def _before(self, firing: int, path: Path) -> bool:
        """True if a firing precedes an iteration path, or if there is no such firing."""
        found = self.series.window(firing, firing + 1)[0]
        return not len(found) or tuple(int(i) for i in found[0][: len(path)]) < path

    def __len__(self) -> int:
        low, high = self._span()
        return max(0, high - low)

    @property
    def gaps(self) -> bool:
        return bool(self.series.gaps)

    def window(self, start: int, stop: int, step: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """(iterations of the loop itself (n, 1), values) of firings start, start + step, ... below stop."""
        low, high = self._span()
        begin, end = low + max(0, start), min(high, low + stop)
        paths, values = self.series.window(begin, max(begin, end), step)
        return paths[:, -1:], values

    def __getitem__(self, index: slice) -> np.ndarray:
        start, stop, step = index.indices(len(self))
        return self.window(start, stop, step)[1]


class Spread:
    """A value of an enclosing loop, repeated for each firing of an inner value: the values of a loop invariant."""

    def __init__(self, series: Any, inner: Any) -> None:
        self.series, self.inner = series, inner
        self.name, self.type, self.frame = series.name, series.type, inner.frame

    def __len__(self) -> int:
        return len(self.inner)

    @property
    def gaps(self) -> bool:
        return bool(self.inner.gaps or self.series.gaps)

    def window(self, start: int, stop: int, step: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """(iterations, values) of firings start, start + step, ... below stop of the value inside. Raises IndexError if
        the outer value is not kept.
        """
        paths = self.inner.window(start, stop, step)[0]
        around = paths[:, : len(self.series.frame)]
        if not len(around):
            return paths, self.series.window(0, 0)[1]
        new = np.concatenate([[True], np.any(around[1:] != around[:-1], axis=1)])
        activations = around[new]  # one of each activation, in order
        low = firing_of(self.series, tuple(int(i) for i in activations[0]))
        high = firing_of(self.series, tuple(int(i) for i in activations[-1])) + 1
        known, values = self.series.window(low, high)
        place = {tuple(p): k for k, p in enumerate(known.tolist())}
        try:
            found = np.array([place[tuple(p)] for p in activations.tolist()])
        except KeyError:
            raise IndexError("only a part was kept") from None
        return paths, np.asarray(values)[found][np.cumsum(new) - 1]


def of_activation(series: Any, outer: Path | None) -> Any:
    """The series itself, or its part in one activation if it belongs to a nested loop."""
    return series if not outer or len(series.frame) != len(outer) + 1 else Activation(series, outer)
