"""The colour scale of a value: that of the newest half of its run, kept while the run continues, or its own."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

from workbench.widgets.text.numerals import numeral
from workbench.widgets.values.images.colours import Scale, scale_of
from workbench.widgets.values.images.samples import Sample, limits

#: "auto" is that of the run for values, and a separate one for each change, because changes shrink if a loop converges
SCALES = ("auto", "run", "value")
#: percentiles of the finite items of the newest half, the ends of a scale of the run
PERCENTILES = (1.0, 99.0)


class RunColours:
    """Keeps the scale of one value (``key``) for its run, and the iterations from which it was computed, one item in
    ``step`` of each.
    """

    def __init__(self) -> None:
        self._key: Any = None
        self._scale: Scale | None = None
        self._complete = False
        #: from the smallest to the largest item, because the percentiles are equal
        self.whole = False
        self.iterations: list[int] = []
        self.step = 1

    def scale(
        self, key: Any, samples: Mapping[int, Sample], last: int, going: bool, behind: bool, signed: bool = False
    ) -> Scale | None:
        """The scale of the newest half of iterations 0 to ``last``; None until a finite item is read.

        While the run continues or is played (``going``) it does not change once no sample is ``behind``.
        """
        if key == self._key and going and self._complete:
            return self._scale
        newest = {k: s for k, s in samples.items() if 2 * k >= last and s.items.size}
        self._key, self.iterations = key, list(newest)
        self.step = max((s.step for s in newest.values()), default=1)
        self._scale = None
        if newest:
            low, high, self.whole = _ends(np.concatenate([s.items for s in newest.values()]))
            self._scale = _scale(low, high, signed)
        self._complete = not behind and self._scale is not None
        return self._scale

    def forget(self) -> None:
        """Forget the scale, so that the next one is computed anew."""
        self._key = None


def _ends(items: np.ndarray) -> tuple[float, float, bool]:
    """(percentiles of the finite items, False), or (smallest and largest, True) if nearly all are equal."""
    low, high = (float(end) for end in np.percentile(items, PERCENTILES))
    return (low, high, False) if low < high else (float(items.min()), float(items.max()), True)


def value_scale(*parts: np.ndarray, signed: bool = False) -> Scale:
    """The scale for these values alone."""
    ends = np.array([limits(part) for part in parts if part.size])
    if not np.isfinite(ends).any():
        return Scale(0.0, 1.0)
    return _scale(float(np.nanmin(ends)), float(np.nanmax(ends)), signed)


def colour_words(scale: str, run: RunColours, choice: bool) -> dict[str, str]:
    """Text and tooltip of the button for the colours of an image; ``choice`` is False if the run has no scale."""
    if not choice:
        return {"text": "Colours: this value", "tip": "Colours from the smallest to the largest item of this value"}
    if scale == "value":
        tip = "Colours from the smallest to the largest item of this iteration; press for those of the newest half"
        return {"text": "Colours: this iteration", "tip": tip, "to": "run"}
    named = [numeral(k) for k in run.iterations]
    of = f"iterations {', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else f"iteration {named[0]}"
    part = f"one item in {numeral(run.step)} of " if run.step > 1 else ""
    ends = "the smallest to the largest item" if run.whole else "the 1st to the 99th percentile"
    tip = f"Colours from {ends} of {part}{of}, of the newest half; press for this iteration's own"
    text = "Colours: newest half" if run.whole else "Colours: newest half, 99th percentile"
    return {"text": text, "tip": tip, "to": "value"}


def _scale(low: float, high: float, signed: bool) -> Scale:
    """``signed`` is for differences: zero is in the middle even if all of them have one sign."""
    if not signed:
        return scale_of(low, high)
    size = max(abs(low), abs(high))
    return scale_of(-size, size) if isfinite(size) and size else Scale(-1.0, 1.0, True)
