"""Limits of convergent tails, each with an error estimate, and never claimed beyond the rounding noise.

Aitken's delta squared (A. C. Aitken, 1926) is exact for one geometric mode; Shanks' transform in the form of Wynn's
epsilon algorithm (1956) removes several; Richardson's extrapolation with a fitted exponent serves power laws
(``models.PowerLaw``).  The error is the difference to the estimate without the newest values, plus the noise that
the extrapolation amplifies by 1 / (1 - rho).
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.history import History


def aitken(x: np.ndarray) -> float:
    """Limit of the last three values under one geometric mode; the last value where the formula breaks down."""
    a, b, c = x[-3], x[-2], x[-1]
    d1, d2 = b - a, c - b
    if d1 == d2:
        return float(c)
    return float(c - d2 * d2 / (d2 - d1))


def wynn_epsilon(x: np.ndarray) -> float:
    """Shanks' limit by Wynn's epsilon algorithm, over up to nine last values; stops where it would divide by zero."""
    row = np.asarray(x[-9:], dtype=float)
    before, best = np.zeros(len(row) + 1), float(row[-1])
    for column in range(1, len(row)):
        gap = np.diff(row)
        if np.any(gap == 0) or not np.all(np.isfinite(gap)):
            break
        new = before[1 : len(gap) + 1] + 1.0 / gap
        before, row = row, new
        if column % 2 == 0:
            best = float(row[-1])
    return best


def geometric_tail(h: History, d: np.ndarray, last: float, alternating: bool) -> tuple[float, float, float]:
    """(signed rate, limit, error) of differences of one geometric mode, in scaled numbers.

    The rate is the median ratio of the last differences, extrapolated by Aitken where the ratios still move.
    """
    ratios = d[1:] / d[:-1]
    if not len(ratios):
        return float("nan"), last, abs(float(d[-1]))
    recent = ratios[-min(len(ratios), 8) :]
    grain = float(h.ulp(last)) / max(abs(float(d[-1])), 1e-300)  # rounding noise of one ratio
    averaged = 1
    if (
        abs(float(recent[-1] - recent[0])) < 20 * grain or grain > 1e-3
    ):  # only noise left in the ratios: average over more
        averaged = min(len(d) - 1, 256)
        rho = float(abs(d[-1] / d[-1 - averaged]) ** (1.0 / averaged)) * (-1.0 if alternating else 1.0)
    else:
        rho = float(recent[-1])
        if len(recent) >= 3:
            better = aitken(recent)
            if np.isfinite(better) and abs(better - rho) < 0.2 * abs(1.0 - abs(rho)):
                rho = better
    if not -1.0 < rho < 1.0:
        return rho, last, float("inf")
    limit = last + float(d[-1]) * rho / (1.0 - rho)
    step = max(1, len(d) // 5)
    previous = last - float(d[-step:].sum()) + float(d[-1 - step]) * rho / (1.0 - rho) if len(d) > step else last
    noise = 2.0 * float(h.ulp(last)) / (1.0 - abs(rho)) + abs(float(d[-1])) * grain / averaged / (1.0 - abs(rho)) ** 2
    return rho, limit, abs(limit - previous) * abs(rho) ** step + noise
