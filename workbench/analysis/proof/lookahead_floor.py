"""A look-ahead whose operands keep coming as near to each other as before, far apart in time: no end is in sight.

Two stretches are compared, one at the beginning of the look-ahead and one at its end, thousands of iterations or more
apart.  Where the operands of a clause turn again and again in both, and come as near in the one as in the other, their
nearest approach is a bound of the motion (an orbit around a limit cycle, a chaotic map on its attractor) rather than a
chance of one stretch.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.analysis.series.value_series import changes

#: Iterations between the stretches, values in each, and turns in each, at least.
APART, LEAST, TURNS = 10_000, 150, 6
#: By what share of it, and of the width of the motion, the nearest approach may differ.
ALIKE = 0.1
#: Iterations between the values of a slow motion, tried in turn, and how many of them are looked at.
STRIDES, LOOKS = (8, 64), 400

Pairs = Sequence[tuple[object, object]]


def nearest(early: Pairs, late: Pairs) -> float | None:
    """The nearest approach of a clause's operands, if both stretches have it and turn often; else None."""
    found = [_nearest(pairs) for pairs in (early, late)]
    if any(f is None for f in found):
        return None
    (a, wide), (b, other) = (f for f in found if f is not None)
    # what drifts comes nearer by more than it moves to and fro
    return min(a, b) if abs(a - b) <= ALIKE * min(a, b, wide, other) else None


def _nearest(pairs: Pairs) -> tuple[float, float] | None:
    try:
        gaps = np.array([float(a) - float(b) for a, b in pairs])  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    gaps = gaps[-max(LEAST, len(gaps) // 2) :]  # a way to the attractor at the start
    if len(gaps) < LEAST or not np.all(np.isfinite(gaps)) or not (np.all(gaps > 0) or np.all(gaps < 0)):
        return None
    if changes(np.diff(gaps) > 0) < TURNS:
        return None
    return float(np.abs(gaps).min()), float(np.ptp(gaps))
