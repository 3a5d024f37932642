"""Oscillations and rests whose nearest approach to the threshold no longer improves."""

from __future__ import annotations

import numpy as np


def no_progress(x: np.ndarray, keep: str, t: float) -> tuple[float, bool] | None:
    """(nearest approach, whether it rests there) of an oscillating or resting record whose nearest approach does not
    improve from quarter to quarter; else None.

    The remaining progress is summed as a geometric series over the quarters (Aitken), and multiplied by eight for
    safety.
    """
    if len(x) < 32 or keep not in (">", ">=", "<", "<="):
        return None
    side = 1.0 if keep in (">", ">=") else -1.0
    y = side * (x - t)
    quarters = np.array_split(y, 4)[1:]
    gap = float(y.min())
    (a, b), spans = -np.diff([float(q.min()) for q in quarters]), [float(np.ptp(q)) for q in quarters]
    turns = [int(np.count_nonzero(np.diff(np.sign(np.diff(q))))) for q in quarters]
    if gap <= 0:
        return None
    far = [float(q.max()) for q in quarters]
    smooth = 4 <= min(turns) and max(turns) < 0.45 * len(quarters[0])
    if smooth and far[1] < 0.95 * far[0] and far[2] < 0.95 * far[1]:
        return None  # the swings themselves become smaller
    rests = spans[2] < 1e-3 * gap and spans[2] <= 0.3 * spans[1] and spans[1] <= 0.5 * spans[0]
    back = b <= 1e-9 * gap and abs(b) < 0.05 * gap and abs(a) < 0.3 * gap
    slower = 0 < b < 0.8 * a and gap > 8 * b * b / (a - b)
    if rests or min(turns) >= 4 and (back or slower):
        return gap, rests
    return None
