"""Detects a look-ahead whose operands come no nearer to each other over a long time, so that no end is to be expected.

Two stretches are compared, one at the beginning of the look-ahead and one at its end, thousands of iterations or more
apart.  If the difference of a clause's operands oscillates in both, with the same nearest approach, that approach is a
property of the motion (an orbit around a limit cycle, a chaotic map on its attractor) rather than an accident of one
stretch.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.analysis.series.value_series import changes

#: Minimum number of iterations between the stretches, of values in each, and of turning points in each.
APART, LEAST, TURNS = 10_000, 150, 6
#: Maximum difference of the nearest approaches, as a share of the approach and of the range of the motion.
ALIKE = 0.1
#: Numbers of iterations between the values of a slow motion, which are tried in turn, and number of values.
STRIDES, LOOKS = (8, 64), 400

Pairs = Sequence[tuple[object, object]]


def nearest(early: Pairs, late: Pairs) -> float | None:
    """The nearest approach of a clause's operands, if it is the same in both stretches and both have enough turning
    points; else None.
    """
    found = [_nearest(pairs) for pairs in (early, late)]
    if any(f is None for f in found):
        return None
    (a, wide), (b, other) = (f for f in found if f is not None)
    # a drift would change the nearest approach by more than this
    return min(a, b) if abs(a - b) <= ALIKE * min(a, b, wide, other) else None


def _nearest(pairs: Pairs) -> tuple[float, float] | None:
    try:
        gaps = np.array([float(a) - float(b) for a, b in pairs])  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    gaps = gaps[-max(LEAST, len(gaps) // 2) :]  # the first half may be a transient towards the attractor
    if len(gaps) < LEAST or not np.all(np.isfinite(gaps)) or not (np.all(gaps > 0) or np.all(gaps < 0)):
        return None
    if changes(np.diff(gaps) > 0) < TURNS:
        return None
    return float(np.abs(gaps).min()), float(np.ptp(gaps))
