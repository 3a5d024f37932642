"""The colour scale of a value: one for the whole run, which stays while the run goes on, or one for each value."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

import numpy as np

from workbench.widgets.values.images.colours import Scale, scale_of
from workbench.widgets.values.images.samples import limits

#: "auto" is that of the run for values, and one for each for changes, which shrink where a loop converges
SCALES = ("auto", "run", "value")


class RunColours:
    """Remembers the limits of one value (``key``) for its run."""

    def __init__(self) -> None:
        self._key: Any = None
        self._low, self._high = np.inf, -np.inf

    def scale(
        self, key: Any, part: np.ndarray, samples: Iterable[tuple[float, float]], going: bool, signed: bool = False
    ) -> Scale:
        """The scale of the run: of its samples and, where it is new, of the value ``part``.

        While the run goes on or is played (``going``) it stays as it is; at a stop it may become wider, never narrower.
        """
        fresh = key != self._key or not self._low < self._high
        if key != self._key:
            self._key, self._low, self._high = key, np.inf, -np.inf
        if fresh or not going:
            self._take(samples)
        if fresh:
            self._take([limits(part)] if part.size else [])
        return _scale(self._low, self._high, signed)

    def forget(self) -> None:
        """The next scale is a new one."""
        self._key = None

    def _take(self, samples: Iterable[tuple[float, float]]) -> None:
        for low, high in samples:
            if isfinite(low) and isfinite(high):
                self._low, self._high = min(self._low, low), max(self._high, high)


def value_scale(part: np.ndarray, signed: bool = False) -> Scale:
    """The scale for one value alone."""
    return _scale(*limits(part), signed) if part.size else Scale(0.0, 1.0)


def _scale(low: float, high: float, signed: bool) -> Scale:
    """``signed`` is for differences: zero is in the middle also where all of them have one sign."""
    if not signed:
        return scale_of(low, high)
    size = max(abs(low), abs(high))
    return scale_of(-size, size) if isfinite(size) and size else Scale(-1.0, 1.0, True)
