"""Evenly spaced iterations of one value, for the film strip below an image and the run's colours.

Only recorded values are read, for a bounded time per update; samples are kept while the history is the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.widgets.values.images.colours import Scale, indexes
from workbench.widgets.values.images.reduced import matrix, real, reduced

#: maximum images of a film strip, without the present one
FRAMES = 8
#: pixels of the longer side of one
SIDE = 48
#: maximum items kept in a sample
ITEMS = 10_000
#: seconds for reading per update, while the run is paused and while it continues or is played
STANDS_S, GOES_S = 0.1, 0.015
MISSING = (KeyError, IndexError, TypeError, ValueError, WorkbenchError)


@dataclass(slots=True)
class Sample:
    """A small image of a value, and its finite items, one in ``step``: at most ``ITEMS``, evenly spaced."""

    image: np.ndarray | None
    items: np.ndarray
    step: int = 1
    _drawn: tuple[Scale, np.ndarray] | None = None

    def drawn(self, scale: Scale) -> np.ndarray:
        """The colour indices of the image, cached because a film strip does not change with the moment shown."""
        assert self.image is not None
        if self._drawn is None or self._drawn[0] != scale:
            self._drawn = scale, indexes(self.image, scale)
        return self._drawn[1]


def sample(part: np.ndarray) -> Sample:
    """A sample of the shown part of a value."""
    if part.dtype.kind not in "biufc" or not part.size:
        return Sample(None, np.empty(0))
    values = np.ravel(real(part))
    step = -(-values.size // ITEMS)
    while step > 1 and gcd(step, part.shape[-1]) > 1:  # other columns in each row
        step += 1
    items = values[::step].astype(np.float64)
    view = matrix(part)
    return Sample(None if view is None else reduced(view, SIDE)[0], items[np.isfinite(items)], step)


def limits(part: np.ndarray) -> tuple[float, float]:
    """The smallest and largest finite item; NaN if there is none."""
    values = real(part)
    if values.dtype.kind == "f":
        low, high = float(values.min()), float(values.max())
        if np.isfinite(low) and np.isfinite(high):
            return low, high
        values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if values.size else (np.nan, np.nan)


def spaced(last: int) -> list[int]:
    """At most ``FRAMES`` iterations before ``last``, in steps that rarely change: 0, 50, 100 ..."""
    step, factors = 1, (1, 2, 5)
    while -(-last // step) > FRAMES:
        power = 10 ** (len(str(step)) - 1)
        step = next((f * power for f in factors if f * power > step), 10 * power)
    return list(range(0, last, step))


class FilmSamples:
    """Keeps the samples of one value; ``behind`` is true while some are not read yet."""

    def __init__(self) -> None:
        self.behind = False
        self._key: Any = None
        self._kept: dict[int, Sample | None] = {}

    def at(
        self, key: Any, iterations: list[int], read: Callable[[int], np.ndarray], brief: bool
    ) -> dict[int, Sample | None]:
        """Iteration -> sample, or None for a value that is not recorded; ``key`` identifies the history."""
        if key != self._key:
            self._key, self._kept = key, {}
        until = time.perf_counter() + (GOES_S if brief else STANDS_S)
        found: dict[int, Sample | None] = {}
        self.behind = False
        for iteration in iterations:
            if iteration not in self._kept:
                if time.perf_counter() > until:
                    self.behind = True
                    break
                try:
                    self._kept[iteration] = sample(read(iteration))
                except MISSING:
                    if iteration == iterations[-1]:
                        continue  # not computed yet
                    self._kept[iteration] = None
            found[iteration] = self._kept[iteration]
        self._kept = {k: kept for k, kept in self._kept.items() if k in iterations}
        return found
