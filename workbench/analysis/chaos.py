"""Step 8: bounded and irregular values that follow a rule.

Two tests of a rule: a low-order polynomial map of one or two past values, fitted to the first 60 % and asked for the
last 40 % one step ahead; and nearest neighbours in two and three delay coordinates.  A map found is followed: its
largest Lyapunov exponent along the record, or where its orbit ends.  Otherwise neighbours are followed for about four
periods: CHAOTIC if their distance exceeds five times the initial one, or half the attractor.  (Compared by others: the
0-1 test of Gottwald and Melbourne, Proc. R. Soc. A 460, 2004; it needs longer records.)
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.evolution import Finding, Pattern
from workbench.analysis.history import WINDOW, History
from workbench.analysis.models import Cycle

_MAPS = (((1, 2), 10), ((2, 2), 16), ((1, 3), 14), ((1, 4), 16), ((2, 3), 30))


def irregular(h: History) -> bool:
    """Whether the differences change sign often enough for a map; smooth curves are not asked."""
    s = np.sign(h.d[-WINDOW:])
    return len(s) >= 8 and float(np.mean(s[1:] != s[:-1])) >= 0.2


def _powers(lags: int, degree: int) -> list[tuple[int, ...]]:
    if lags == 1:
        return [(i,) for i in range(degree + 1)]
    return [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i)]


def _terms(X: np.ndarray, powers: list[tuple[int, ...]]) -> np.ndarray:
    out = np.ones((len(X), len(powers)))
    for t, power in enumerate(powers):
        for lag, k in enumerate(power):
            if k:
                out[:, t] *= X[:, lag] ** k
    return out


def polynomial_map(h: History, tolerance: float = 0.01) -> Finding | None:
    """A verdict if a polynomial map predicts the last 40 % one step ahead within 1 % of the differences' size."""
    x = h.x[-WINDOW:]
    middle, size = float(x.mean()), float(x.std())
    if size == 0:
        return None
    y = (x - middle) / size
    step = float(np.sqrt(np.mean(np.diff(y) ** 2)))
    for (lags, degree), least in _MAPS:
        if len(y) < least:
            continue
        X = np.column_stack([y[lags - 1 - i : len(y) - 1 - i] for i in range(lags)])
        target = y[lags:]
        powers = _powers(lags, degree)
        T = _terms(X, powers)
        cut = max(len(powers) + 1, int(0.6 * len(T)))
        if len(T) - cut < 3:
            continue
        a = np.linalg.lstsq(T[:cut], target[:cut], rcond=1e-12)[0]
        error = float(np.sqrt(np.mean((T[cut:] @ a - target[cut:]) ** 2))) / step
        if error < tolerance:
            a = np.linalg.lstsq(T, target, rcond=1e-12)[0]
            return _follow(h, X, a, powers, (lags, degree), error, middle, size)
    return None


def _gradients(X: np.ndarray, a: np.ndarray, powers: list[tuple[int, ...]]) -> np.ndarray:
    out = np.zeros_like(X)
    for c, power in zip(a, powers, strict=True):
        for lag, k in enumerate(power):
            if k:
                lower = tuple(k - 1 if i == lag else other for i, other in enumerate(power))
                out[:, lag] += c * k * _terms(X, [lower])[:, 0]
    return out


def _lyapunov(G: np.ndarray) -> float:
    """Mean logarithmic growth of a perturbation along the record, per iteration."""
    if G.shape[1] == 1:
        return float(np.mean(np.log(np.maximum(np.abs(G[:, 0]), 1e-300))))
    v0, v1, total = 1.0, 0.6, 0.0
    for g0, g1 in G.tolist():
        v0, v1 = g0 * v0 + g1 * v1, v0
        size = max(abs(v0), abs(v1), 1e-300)
        total += np.log(size)
        v0, v1 = v0 / size, v1 / size
    return float(total / len(G))


def _follow(h, X, a, powers, shape, error, middle, size) -> Finding | None:
    exponent = _lyapunov(_gradients(X, a, powers))
    text = (
        f"A polynomial map of {shape[0]} past value(s), degree {shape[1]}, predicts each next value within {error:.1g}"
    )
    # where does the map itself go?
    state = [float(v) for v in [h.x[-1 - i] for i in range(shape[0])]]
    state = [(v - middle) / size for v in state]
    orbit = []
    coefficients = list(zip(a.tolist(), powers, strict=True))
    for _ in range(600):
        value = sum(c * np.prod([state[i] ** k for i, k in enumerate(p) if k]) for c, p in coefficients)
        if not abs(value) < 50:
            break
        state = [value] + state[:-1]
        orbit.append(value)
    ends = np.array(orbit[-256:])
    if len(orbit) == 600:
        for p in range(1, 65):
            if np.max(np.abs(ends[p:] - ends[:-p])) < 1e-6:
                break
        else:
            p = 0
    else:
        p = 0
    if exponent > 0.03 and (p == 0 or len(X) >= 100):
        why = (
            text
            + f"; nearby values separate by {np.exp(exponent):.3g} each iteration (Lyapunov exponent {exponent:.3g})."
        )
        return Finding(Pattern.CHAOTIC, "map", why, rate=float(np.exp(exponent)), doubt=0.2 if len(X) < 24 else 0.0)
    if p == 1:
        limit = float(ends[-1]) * size + middle
        return Finding(
            Pattern.CONVERGING,
            "map",
            text + "; its orbit ends at a fixed point.",
            limit=limit,
            limit_error=abs(limit - float(h.x[-1])) * 0.1,
            doubt=0.3,
        )
    if p > 1:
        cycle = np.array(orbit[:p]) * size + middle
        return Finding(
            Pattern.OSCILLATING,
            "map",
            text + f"; its orbit ends on a cycle of period {p}.",
            Cycle(cycle),
            period=float(p),
            doubt=0.1,
        )
    if len(orbit) < 600:
        return None
    if exponent > 0.005:
        return Finding(Pattern.CHAOTIC, "map", text + f"; nearby values separate slowly ({exponent:.2g}).", doubt=0.4)
    return Finding(Pattern.OSCILLATING, "map", text + "; nearby values stay together: quasi-periodic.", doubt=0.3)


def neighbours(h: History) -> Finding | None:
    """A verdict from delay coordinates, if neighbours predict each other's next value; needs 60 values."""
    x = h.x[-WINDOW:]
    n = len(x)
    turns = np.sign(h.d[-WINDOW:])
    if n < 60 or np.ptp(x) == 0 or np.count_nonzero(turns[1:] != turns[:-1]) < 8:
        return None
    if len(np.unique(x)) < max(12, n // 8):  # of a small alphabet neighbours are equal, which says nothing
        return None
    sign = np.sign(x - x.mean())
    period = 2.0 * n / max(int(np.sum(sign[1:] != sign[:-1])), 1)
    horizon = int(min(max(4 * period, 6), n // 4))
    move = float(np.sqrt(np.mean(np.diff(x) ** 2)))
    for m in (1, 2, 3):
        X = np.column_stack([x[m - 1 - i : n - i] for i in range(m)])
        usable = len(X) - horizon
        P = X[:usable]
        i = np.unique(np.linspace(0, usable - 1, 160).astype(np.int64))
        distance = np.abs(P[i, None, 0] - P[None, :, 0])
        for lag in range(1, m):
            np.maximum(distance, np.abs(P[i, None, lag] - P[None, :, lag]), out=distance)
        distance[np.abs(i[:, None] - np.arange(usable)[None, :]) <= max(2, int(period))] = np.inf
        j = np.argmin(distance, axis=1)
        start = distance[np.arange(len(i)), j]
        ok = np.isfinite(start)
        if ok.sum() < 10:
            return None
        i, j, start = i[ok], j[ok], start[ok]
        ahead = x[m - 1 :]
        one = np.abs(ahead[i + 1] - ahead[j + 1])
        if float(np.median(one)) > 0.3 * move or float(np.quantile(one, 0.75)) > 0.55 * move:
            continue
        later = np.abs(ahead[i[:, None] + np.arange(1, horizon + 1)] - ahead[j[:, None] + np.arange(1, horizon + 1)])
        grown = float(np.median(later[:, -max(1, horizon // 4) :].max(axis=1)))
        begin = max(float(np.median(start)), 1e-12)
        if grown > 0.5 * float(np.ptp(x)) or grown > 5 * begin and grown > 0.05 * float(np.ptp(x)):
            why = (
                "Values follow a rule (neighbours agree one step ahead), "
                f"but their distance grows {grown / begin:.3g} fold in {horizon} iterations."
            )
            return Finding(Pattern.CHAOTIC, "neighbours", why, doubt=0.2)
        why = f"Values follow a rule and neighbours stay together over {horizon} iterations: quasi-periodic."
        return Finding(Pattern.OSCILLATING, "neighbours", why, period=period, doubt=0.3)
    return None
