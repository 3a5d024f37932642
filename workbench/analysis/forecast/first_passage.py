"""First passage time of a noisy operand over its threshold: its distribution, not the crossing of the trend.

Two kinds of noise are told apart by the lag-one correlation of the steps and the variance about the trend: independent
noise around a trend (its steps lean back, correlation -1/2) ends the loop at its first dip, before the trend does;
independent steps (correlation 0) make a random walk with a drift.  The uncertainty of the fitted trend is averaged
over nine normal quantiles.  First passage of a walk: the inverse Gaussian law (Schroedinger 1915, Wald 1945).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from workbench.kernels.laws import power_fit, slope, walks

#: Nine equally likely standard normal numbers: the middles of nine slices.
_NORMAL = np.array([-1.593, -0.967, -0.589, -0.282, 0.0, 0.282, 0.589, 0.967, 1.593])
_LONGEST = 2_000_000


class FirstPassage(NamedTuple):
    """Median and 5 and 95 % quantiles of the first passage, in iterations from now; inf: not within reach."""

    low: float
    median: float
    high: float
    what: str
    kind: str = "walk"


def _log_phi(z: np.ndarray) -> np.ndarray:
    """Logarithm of the normal distribution function, by Abramowitz and Stegun 26.2.17 (error below 1e-7 of Phi).

    Below -8, where only the first term of the asymptotic series 26.2.12 counts, by that.
    """
    a = np.minimum(np.abs(z), 40.0)
    t = 1.0 / (1.0 + 0.2316419 * a)
    poly = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    log_tail = -a * a / 2.0 + np.log(poly / math.sqrt(2 * math.pi))
    far = -z * z / 2.0 - np.log(np.maximum(np.abs(z), 1.0) * math.sqrt(2 * math.pi))
    return np.where(z > 0, np.log1p(-np.exp(log_tail)), np.where(z < -8.0, far, log_tail))


def changed_at_last(y: np.ndarray) -> np.ndarray:
    """The latter half of the record, again and again, as long as its trend differs from that of the whole."""
    while len(y) >= 24:
        half = len(y) // 2
        (b1, e1), (b2, e2) = slope(y[:half]), slope(y[half:])
        if not (b1 < 0 and b2 > 0.4 * b1 and b2 - b1 > 4.0 * math.hypot(e1, e2)):
            break
        whole, late = _power(y), _straight(y[half:])
        if whole is not None and late is not None and whole.sd < 1.25 * late.sd:
            break  # one power law holds all through: it only looks as if its trend had changed
        y = y[half:]
    return y


def trends(y: np.ndarray) -> list[Trend]:
    """The straight trend and the power law that lead down significantly."""
    return [t for t in (_straight(y), _power(y) if len(y) >= 16 else None) if t is not None]


def passage(y: np.ndarray, threshold: float) -> FirstPassage | None:
    """First passage of y below the threshold; None where no significant trend leads there."""
    down = trends(y)
    d = np.diff(y)
    if not down or walks(y, min(t.sd for t in down) ** 2):
        return _walk(y, d, threshold)
    return _around(y, down, threshold)


def _walk(y: np.ndarray, d: np.ndarray, threshold: float) -> FirstPassage | None:
    n, gap = len(d), float(y[-1]) - threshold
    mean, sd = float(d.mean()), float(d.std(ddof=1))
    se = sd / math.sqrt(n)
    if gap <= 0 or not sd > 0 or mean > -3.0 * se or _drift_changes(d):
        return None
    rates = -(mean + se * _NORMAL)
    centre = gap / -mean
    k = np.geomspace(max(centre / 30, 0.5), 30 * centre, 200)
    far = gap + 0.583 * sd  # discrete steps overshoot: the barrier is farther by 0.583 sd (Siegmund 1979)
    with np.errstate(all="ignore"):
        root = sd * np.sqrt(k)
        g = np.maximum(rates, 0.05 * -mean)[:, None]  # a row for each
        mirrored = _log_phi(-(far + g * k) / root) + 2 * g * far / (sd * sd)
        mirrored = np.minimum(mirrored, 0.0)
        mirrored[np.isnan(mirrored)] = -np.inf  # nothing of the mirror image is left
        passed = np.minimum(np.exp(_log_phi((g * k - far) / root)) + np.exp(mirrored), 1.0)
    return _quantiles(k, 1.0 - passed.sum(axis=0) / len(rates), "independent steps with a mean", "walk")


def _drift_changes(d: np.ndarray) -> bool:
    """True if the steps' mean differs from the first half to the second by three standard errors (Welch 1947)."""
    first, second = np.array_split(d, 2)
    error = math.sqrt(float(first.var(ddof=1)) / len(first) + float(second.var(ddof=1)) / len(second))
    return abs(float(second.mean() - first.mean())) > 3.0 * error


class Trend(NamedTuple):
    """A fitted trend: its line and gradient at iterations, covariance up to the variance, and deviation."""

    name: str
    line: Callable[[np.ndarray], np.ndarray]
    gradient: Callable[[np.ndarray], np.ndarray]
    sd: float
    slope: float
    parameters: int


def _straight(y: np.ndarray) -> Trend | None:
    n, mid = len(y), (len(y) - 1) / 2
    k = np.arange(n) - mid
    a, b = float(y.mean()), float(k @ y / (k @ k))
    rest = y - a - b * k
    sd = math.sqrt(float(rest @ rest) / max(n - 2, 1))
    if sd == 0 or b > -3.0 * sd / math.sqrt(float(k @ k)):
        return None
    return Trend(
        "noise-line", lambda at: a + b * (at - mid), lambda at: np.stack([np.ones_like(at), at - mid], axis=1), sd, b, 2
    )


def _power(y: np.ndarray) -> Trend | None:
    n = len(y)
    fit = power_fit(np.arange(n, dtype=float), y)
    if fit is None or fit[1] <= 0:
        return None
    a, s, k0, rms = fit
    if n * math.log(max(float(np.var(y)), 1e-300) / max(rms * rms, 1e-300)) < 14.0:
        return None  # no better than a level, to three standard errors
    sd = rms * math.sqrt(n / max(n - 3, 1))
    return Trend(
        "noise-power",
        lambda at: a - s * np.log(at + k0),
        lambda at: np.stack([np.ones_like(at), -np.log(at + k0), -s / (at + k0)], axis=1),
        sd,
        -s / (n - 1 + k0),
        3,
    )


def _around(y: np.ndarray, down: list[Trend], threshold: float) -> FirstPassage | None:
    """Independent noise around a trend; two trends are mixed by their Bayesian information (Schwarz 1978)."""
    n = len(y)
    k = np.arange(n, dtype=float)
    scores = np.array([2 * n * math.log(t.sd) + t.parameters * math.log(n) for t in down])
    weights = np.exp(-(scores - scores.min()) / 2)
    weights /= weights.sum()
    grid = np.unique(np.geomspace(1, _LONGEST, 400).astype(np.int64)).astype(float)
    width = np.diff(grid, prepend=0.0)
    alive = np.zeros(len(grid))
    for trend, weight in zip(down, weights, strict=True):
        columns = trend.gradient(k)
        try:
            inverse = np.linalg.inv(columns.T @ columns)
        except np.linalg.LinAlgError:
            return None
        g = trend.gradient(n - 1 + grid)
        doubt = trend.sd * np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", g, inverse, g), 0.0))
        middle = trend.line(n - 1 + grid) - threshold
        each = _log_phi((middle + _NORMAL[:, None] * doubt) / trend.sd) * width
        for row in np.exp(np.cumsum(each, axis=1)):
            alive += weight / len(_NORMAL) * row
    best = down[int(np.argmax(weights))].name
    return _quantiles(grid, alive, "independent noise around a trend", best)


def _quantiles(k: np.ndarray, alive: np.ndarray, what: str, kind: str) -> FirstPassage:
    marks = []
    for share in (0.95, 0.5, 0.05):
        i = int(np.argmax(alive <= share))
        if alive[i] > share:
            marks.append(math.inf)
            continue
        before, start = (float(alive[i - 1]), float(k[i - 1])) if i else (1.0, 0.0)
        marks.append(math.ceil(start + (k[i] - start) * (before - share) / max(before - float(alive[i]), 1e-12)))
    return FirstPassage(marks[0], marks[1], marks[2], what, kind)
