"""A textbook pipeline: least-squares fits of exponential, power and line, autocorrelation, and the 0-1 test.

G. A. Gottwald and I. Melbourne, "On the implementation of the 0-1 test for chaos", SIAM J. Appl. Dyn. Syst. 8 (2009),
https://arxiv.org/abs/0906.1418: the growth rate K of the mean square displacement, as a median over frequencies c.
"""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.methods.method import finite, joined
from tests.evaluation.scoring.cases import Watched

FREQUENCIES = np.linspace(math.pi / 5, 4 * math.pi / 5, 30)


def zero_one(x: np.ndarray) -> float:
    """K of the 0-1 test by correlation: near 1 for chaos, near 0 for regular motion."""
    x = x[-1000:]
    n = len(x)
    lags = np.arange(1, n // 10 + 1)
    if len(lags) < 3 or np.ptp(x) == 0:
        return 0.0
    j, found = np.arange(1, n + 1), []
    for c in FREQUENCIES:
        p, q = np.cumsum(x * np.cos(j * c)), np.cumsum(x * np.sin(j * c))
        top = n - lags[-1]
        m = np.array([np.mean((p[i : top + i] - p[:top]) ** 2 + (q[i : top + i] - q[:top]) ** 2) for i in lags])
        m -= x.mean() ** 2 * (1 - np.cos(lags * c)) / (1 - math.cos(c))
        found.append(float(np.corrcoef(lags, m)[0, 1]) if np.ptp(m) > 0 else 0.0)
    return float(np.median(found))


def autocorrelation(x: np.ndarray) -> tuple[float, int]:
    """Highest autocorrelation behind the first zero crossing, and its lag."""
    y = x[-1000:] - x[-1000:].mean()
    n = len(y)
    power = np.abs(np.fft.rfft(y, 2 * n)) ** 2
    r = np.fft.irfft(power)[: n // 2]
    if r[0] <= 0:
        return 0.0, 0
    r = r / r[0] * n / (n - np.arange(n // 2))
    below = np.flatnonzero(r < 0)
    if not below.size or below[0] + 1 >= len(r):
        return 0.0, 0
    lag = int(below[0] + np.argmax(r[below[0] :]))
    return float(r[lag]), lag


def _line(t: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Slope, intercept, R squared."""
    slope, level = np.polyfit(t, y, 1)
    rest = float(np.sum((y - slope * t - level) ** 2))
    total = float(np.sum((y - y.mean()) ** 2))
    return float(slope), float(level), 1 - rest / total if total > 0 else 0.0


class Textbook:
    name = "textbook: fits, autocorrelation, 0-1 test"

    def label(self, values: np.ndarray) -> str:
        x = finite(values)
        if not np.all(np.isfinite(x)):
            return "DIVERGING"
        if np.ptp(x) <= 1e-13:
            return "STABLE"
        d = np.abs(np.diff(x))
        k = np.flatnonzero(d > 1e-14)
        if len(k) < len(d) // 2:
            return "CONVERGING"
        t = k + 1.0
        if len(k) >= 4:
            logs = np.log(d[k])
            fast, slow = _line(t, logs), _line(np.log(t), logs)
            if max(fast[2], slow[2]) > 0.8 or float(np.std(logs)) < 1e-6:
                if fast[2] >= slow[2]:
                    return "CONVERGING" if fast[0] < -1e-9 else "DIVERGING"
                return "CONVERGING" if slow[0] < -1.0 else "DIVERGING"
        slope, _, good = _line(np.arange(float(len(x))), x)
        if good > 0.8 and slope != 0:
            return "DIVERGING"
        half = len(x) // 2
        early, late = float(np.std(x[:half])), float(np.std(x[half:]))
        if late < 0.4 * early:
            return "CONVERGING"
        if late > 2.5 * early:
            return "DIVERGING"
        peak, _ = autocorrelation(x)
        if peak > 0.8:
            return "OSCILLATING"
        lag_one = float(np.corrcoef(x[:-1], x[1:])[0, 1])
        return "CHAOTIC" if zero_one(x) > 0.5 and self._ruled(x) else "OSCILLATING" if abs(lag_one) > 0.9 else "STABLE"

    @staticmethod
    def _ruled(x: np.ndarray) -> bool:
        """Is the next value a function of the present one? Nearest neighbours have near successors."""
        order = np.argsort(x[:-1])
        jumps = np.abs(np.diff(x[1:][order]))
        return float(np.median(jumps)) < 0.2 * float(np.std(x))

    def end(self, loop: Watched, upto: int) -> int | str | None:
        return joined(loop, upto, self._fit)

    @staticmethod
    def _fit(g: np.ndarray, op: str) -> int | str | None:
        """The best of line, exponential and power through the gap, extrapolated to its zero crossing or 1e-12."""
        if len(g) < 5 or not np.all(np.isfinite(g)):
            return None
        if np.ptp(g) == 0:
            return "never"
        t = np.arange(1.0, len(g) + 1)
        slope, level, straight = _line(t, g)
        if straight > 0.999999:
            if slope >= 0:
                return "never"
            k = -level / slope - len(g)
            return max(1, math.floor(k + 1e-6) + 1 if op in ("<=", ">=") else math.ceil(k - 1e-6))
        d = np.abs(np.diff(g))
        if np.any(d <= 0):
            return "never" if autocorrelation(g)[0] > 0.9 else None
        rate, start, good = _line(t[1:], np.log(d))
        if good > 0.99 and rate < 0:
            rho = math.exp(rate)
            limit = g[-1] - math.exp(start + rate * len(g)) * rho / (1 - rho) * (1 if g[-1] < g[-2] else -1)
            if limit > 1e-3 * abs(g[0]):
                return "never"
            amplitude = g[-1] - limit
            if limit < 0 < amplitude:
                return max(1, math.ceil(math.log(-limit / amplitude) / rate))
            return None
        return "never" if autocorrelation(g)[0] > 0.9 else None
