"""Long series made short for drawing, with every extreme kept.

Method: M4 (Jugel et al., VLDB 2014; tsdownsample's compiled form): first, last, smallest and largest point of each
bucket, so that the drawn line covers the same pixels as the full one. ``Thinned`` does it while the series grows:
new points are thinned on arrival and the whole is thinned again when it exceeds its budget, which keeps minima and
maxima exactly, because extremes of extremes are extremes. Cost per update follows the new points only.
"""

from __future__ import annotations

import numpy as np
from tsdownsample import NaNM4Downsampler

BUDGET = 1200


def thin(x: np.ndarray, y: np.ndarray, budget: int = BUDGET) -> tuple[np.ndarray, np.ndarray]:
    """At most about ``budget`` of the points (x ascending, y float64), with extremes and the first NaN of a bucket."""
    if len(y) <= budget:
        return x, y
    n_out = max(4, budget // 4 * 4)
    finite = np.where(np.isinf(y), np.nan, y)  # an infinity in a bucket would hide the extremes beside it
    # buckets of equal width in x and not in count, or old parts would lose their points again and again
    x = np.ascontiguousarray(x, dtype=np.float64)
    keep = NaNM4Downsampler().downsample(x, np.ascontiguousarray(finite), n_out=n_out)
    keep = np.unique(np.concatenate([[0], keep.astype(np.int64), [len(y) - 1]]))
    bad = ~np.isfinite(y[keep])
    if bad.any():  # a bucket with a NaN yields only the NaN: add the extremes of its finite values
        ok = np.flatnonzero(np.isfinite(y))
        if len(ok) > 4:
            extra = NaNM4Downsampler().downsample(x[ok], np.ascontiguousarray(y[ok]), n_out=n_out)
            keep = np.unique(np.concatenate([keep, ok[extra.astype(np.int64)]]))
    return x[keep], y[keep]


class Thinned:
    """A growing series, thinned; ``x`` and ``y`` are float64 arrays of at most about twice the budget."""

    def __init__(self, budget: int = BUDGET) -> None:
        self.budget = budget
        self.clear()

    def clear(self) -> None:
        self.seen = 0
        self.x = np.empty(0)
        self.y = np.empty(0)
        self.first_bad: tuple[float, float] | None = None

    def cut(self, x: float) -> None:
        """Forget all points from ``x`` on."""
        stays = int(np.searchsorted(self.x, x))
        if self.first_bad is not None and self.first_bad[0] >= x:
            self.first_bad = None
        self.x, self.y = self.x[:stays], self.y[:stays]

    def extend(self, x: np.ndarray, y: np.ndarray) -> None:
        """Append points; ``y`` may contain NaN and infinities, the first of which is kept."""
        x = np.asarray(x, dtype=np.float64)
        y = np.asarray(y, dtype=np.float64)
        if self.first_bad is None:
            bad = np.flatnonzero(~np.isfinite(y))
            if len(bad):
                self.first_bad = (float(x[bad[0]]), float(y[bad[0]]))
        self.seen += len(y)
        x, y = thin(x, y, self.budget)
        self.x = np.concatenate([self.x, x])
        self.y = np.concatenate([self.y, y])
        if len(self.y) > 2 * self.budget:
            self.x, self.y = thin(self.x, self.y, self.budget)
