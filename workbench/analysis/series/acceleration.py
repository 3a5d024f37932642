"""Convergence acceleration: limits of convergent tails with error estimates, never below the rounding noise.

Aitken's delta squared (A. C. Aitken, 1926) is exact for one geometric mode; Shanks' transform in the form of Wynn's
epsilon algorithm (1956) removes several; Richardson's extrapolation with a fitted exponent applies to power laws
(``models.PowerLaw``).  The error is the difference to the estimate without the newest values, plus the noise that the
extrapolation amplifies by 1 / (1 - rho).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from workbench.analysis.series.models import Model
from workbench.analysis.series.result import Finding
from workbench.analysis.series.value_series import History
from workbench.kernels import fits


@dataclass
class RescaledModel:
    """A model rescaled to tend to a better limit: the same shape from the same last value."""

    inner: Model
    old: float
    limit: float
    stretch: float
    spread: float = 0.0

    def predict(self, j: np.ndarray) -> np.ndarray:
        return self.limit + (self.inner.predict(j) - self.old) * self.stretch


def refine(h: History, found: Finding, end: int) -> None:
    """Give a converging finding the limit with the smaller error estimate: that of its model, or an accelerated one.

    If neither error is smaller than the limit's distance from the last value, the last value becomes the limit.
    """
    if found.limit is None or not math.isfinite(found.limit):
        return
    last = float(h.x[end])
    grain = 2.0 * h.ulp(max(abs(last), 1e-300))
    error = found.limit_error if found.limit_error is not None else math.inf
    newest = float(h.x[-1])
    steps = h.d[max(0, end - 5) : end].tolist()
    ratios = [b / a for a, b in zip(steps, steps[1:], strict=False)] if 0.0 not in steps else []
    departs = _departs(ratios)
    found.limit_error = error = max(error, _least_error(h, found, end, ratios))
    # acceleration would treat a departing tail as if it followed a steady law
    limit, accelerated_error = (last, math.inf) if departs else fits.accelerated(h.x, end, h.start)
    # acceleration amplifies the noise of the last bits
    accelerated_error = max(4.0 * accelerated_error + 2.0 * grain, _least_error(h, found, end, ratios, limit))
    if accelerated_error < error and _ahead(h, limit - last, end):
        found.limit, found.limit_error = limit, accelerated_error
        error = accelerated_error
        model = found.model
        old = model.limit if model is not None else None
        if model is not None and old is not None and abs(old - last) > 2.0 * abs(limit - old):
            found.model = RescaledModel(model, old, limit, (last - limit) / (last - old), model.spread)
    if error > abs(found.limit - newest):
        found.limit_error = error + abs(found.limit - newest)
        found.limit = newest


def _least_error(h: History, found: Finding, end: int, ratios: list[float], limit: float | None = None) -> float:
    """Minimum error of a limit (None: the finding's): rounding of the largest values, up to a share of the remaining
    distance; for an alternating power law, the movement of the middle of its swings; for geometric steps with
    scattering ratios, the effect of the scatter on the remaining distance.
    """
    limit = found.limit if limit is None else limit
    if limit is None:
        return 0.0
    left = abs(limit - float(h.x[-1]))
    least = min(2.0 * h.eps * max(abs(h.low), abs(h.high)), 0.05 * left) if not h.integral else 0.0
    if found.method == "power" and end >= 16 and np.all(h.d[end - 9 : end - 1] * h.d[end - 8 : end] < 0):
        middle, before = (float(h.x[k - 2] + 2.0 * h.x[k - 1] + h.x[k]) / 4.0 for k in (end, end // 2))
        least = max(least, abs(limit - middle) + abs(middle - before))
    if found.method == "geometric" and len(ratios) == 4:
        moves = [b - a for a, b in pairwise(ratios)]
        steady = abs(moves[0]) >= abs(moves[1]) >= abs(moves[2]) and (moves[0] * moves[2] > 0)
        size = max(map(abs, ratios))
        if not steady and size < 1.0:
            least = max(least, min(0.3 * max(map(abs, moves)) / (1.0 - size) ** 2 * abs(float(h.d[end - 1])), left))
    return least


def _ahead(h: History, left: float, end: int) -> bool:
    """True if the remaining steps can add up to ``left``. If they have one sign and shrink more and more slowly, their
    sum is at least that of a geometric sequence with the last ratio, of which a quarter is required.
    """
    d = h.d[max(0, end - 9) : end]
    if len(d) < 5 or not (np.all(d > 0) or np.all(d < 0)):
        return True
    half = len(d) // 2
    early, late = abs(float(np.sum(d[:half]))), abs(float(np.sum(d[len(d) - half :])))
    if not late < early or late < 100 * h.ulp(float(h.x[end])):
        return left * float(d[-1]) >= 0
    ratio = (late / early) ** (1.0 / (len(d) - half))
    return left * math.copysign(1.0, float(d[-1])) >= 0.25 * abs(float(d[-1])) * ratio / (1.0 - ratio)


def geometric_tail(h: History, d: np.ndarray, last: float, alternating: bool) -> tuple[float, float, float]:
    """(signed rate, limit, error) from the differences of a single geometric mode, in scaled numbers.

    The rate is the last ratio of differences, extrapolated by Aitken while the ratios still move, and their geometric
    mean once they differ only by rounding.
    """
    if len(d) < 2:
        return math.nan, last, abs(float(d[-1]))
    recent = d[-min(len(d), 9) :].tolist()
    ratios = [b / a for a, b in zip(recent, recent[1:], strict=False)]
    newest = recent[-1]
    grain = h.ulp(last) / max(abs(newest), 1e-300)  # rounding noise of one ratio
    averaged, departs = 1, False
    if abs(ratios[-1] - ratios[0]) < 20 * grain or grain > 1e-3:
        # the ratios differ only by noise: average over more
        averaged = min(len(d) - 1, max(8, min(len(d) // 3, 256)))
        rho = abs(newest / float(d[-1 - averaged])) ** (1.0 / averaged) * (-1.0 if alternating else 1.0)
    else:
        rho = ratios[-1]
        departs = _departs(ratios)
        if len(ratios) >= 3 and not departs:
            better = aitken(*ratios[-3:])
            if math.isfinite(better) and abs(better - rho) < 0.2 * abs(1.0 - abs(rho)):
                rho = better
    if not -1.0 < rho < 1.0:
        return rho, last, math.inf
    limit = last + newest * rho / (1.0 - rho)
    step = max(1, len(d) // 5)
    previous = last
    if len(d) > step:
        previous = last - float(d[-step:].sum()) + float(d[-1 - step]) * rho / (1.0 - rho)
    noise = 2.0 * h.ulp(last) / (1.0 - abs(rho)) + abs(newest) * grain / averaged / (1.0 - abs(rho)) ** 2
    error = abs(limit - previous) * abs(rho) ** step + noise
    return rho, limit, max(error, abs(limit - last)) if departs else error


def _departs(ratios: list[float]) -> bool:
    """True if ratios of differences leave their level faster and faster, as in Newton's method far from a root, which
    halves the value before it converges: no law of the ratios gives the limit, and Aitken's formula would give that of
    the earlier phase.
    """
    if len(ratios) < 4:
        return False
    moves = [b - a for a, b in zip(ratios[-4:], ratios[-3:], strict=False)]
    same = all(m > 0 for m in moves) or all(m < 0 for m in moves)
    return same and abs(moves[2]) > 1.5 * abs(moves[1]) > 2.25 * abs(moves[0])


def aitken(a: float, b: float, c: float) -> float:
    """Limit of three values under one geometric mode; the last value if the formula breaks down."""
    bend = c - b - (b - a)
    return c - (c - b) ** 2 / bend if bend != 0 else c
