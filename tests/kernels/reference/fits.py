"""Plain NumPy of what ``fits`` computes, for tests: the same definitions, none of the speed."""

from __future__ import annotations

import math

import numpy as np


def scan(raw: np.ndarray) -> tuple[int, int, int, int, int]:
    finite = np.isfinite(raw)
    top = np.max(np.abs(raw[finite]), initial=0.0)
    first = [int(w[0]) if w.size else -1 for w in (np.flatnonzero(np.isnan(raw)), np.flatnonzero(np.isinf(raw)))]
    bad = np.flatnonzero(~finite)
    return (int(np.frexp(top)[1]) if top else 0, len(bad), *first, int(bad[-1]) if bad.size else -1)  # type: ignore[return-value]


def ulp(x: np.ndarray, digits: int, tiny: int) -> np.ndarray:
    return np.ldexp(1.0, np.maximum(np.frexp(x)[1] - digits, tiny))


def usable(x: np.ndarray, d: np.ndarray, digits: int, tiny: int) -> int:
    ulps, best = ulp(np.maximum(np.abs(x[1:]), np.abs(x[:-1])), digits, tiny), 0
    for factor in (100, 25, 8, 2):
        where = np.flatnonzero(np.abs(d) > factor * ulps)
        best = int(where[-1]) + 1 if where.size else 0
        if best >= min(12, len(d)):
            break
    return best


def smooth_tail(d: np.ndarray, end: int) -> tuple[int, bool] | None:
    signs = np.sign(d[:end])
    if end < 3 or signs[-1] == 0:
        return None
    for alternating, want in ((False, 1.0), (True, -1.0)):
        wrong = np.flatnonzero(signs[1:] * signs[:-1] != want)
        first = int(wrong[-1]) + 1 if wrong.size else 0
        if end - first >= 3 and (end - first >= end / 3 or end - first >= 32):
            return first, alternating
    return None


def repeats(values: np.ndarray) -> tuple[int, int]:
    n = len(values)
    _, counts = np.unique(values[-2048:], return_counts=True)
    share = counts / counts.sum()
    entropy = max(float(-(share * np.log2(share)).sum()), 1e-3)
    for j in np.flatnonzero(values[:-1] == values[-1])[::-1][:64].tolist():
        p = n - 1 - j
        if p > n // 2:
            break
        wrong = np.flatnonzero(values[p:] != values[:-p])
        run = n - p - 1 - int(wrong[-1]) if wrong.size else n - p
        if run < max(3, (p + 1) // 2) or p == 1 and run < n or np.all(values[-p:] == values[-1]):
            continue
        cost = math.log2(p) + 2.0 if run + p == n else math.log2(n) + math.log2(p) + 8.0
        if run * entropy > cost:
            return p, run
    return 0, 0


def hold_out(d: np.ndarray, p: int) -> float:
    """Relative error of the free run of AR(p) over the last 40 %, the worse of its halves."""
    n, cut = len(d), 6 * len(d) // 10
    X = np.column_stack([d[p - 1 - i : cut - 1 - i] for i in range(p)])
    w = 1.0 / np.maximum(np.maximum(np.abs(X).max(axis=1), np.abs(d[p:cut])), 1e-300)
    a = np.linalg.lstsq(X * w[:, None], d[p:cut] * w, rcond=1e-13)[0]
    out = list(d[:cut])
    for _ in range(n - cut):
        out.append(math.fsum(a * np.array(out[::-1][:p])))
    half, e = cut + (n - cut) // 2, np.array(out) - d
    parts = (slice(cut, half), slice(half, n))
    return max(float(np.sqrt(np.mean(e[s] ** 2) / np.mean(d[s] ** 2))) for s in parts)


def power_law(d: np.ndarray) -> tuple[float, float, float]:
    """(s, a, k0) of the least squares log|d| = a - s log(k + k0), by a fine grid."""
    k, y = np.arange(len(d)), np.log(np.abs(d))
    best = (math.inf, 0.0, 0.0, 0.0)
    for k0 in np.geomspace(0.02, 3.0 * len(d), 40_000):
        u = np.log(k + k0)
        s, a = np.polyfit(u, y, 1) if len(d) < 3 else _line(u, y)
        sse = float(np.sum((y - a - s * u) ** 2))
        if sse < best[0]:
            best = (sse, -s, a, float(k0))
    return best[1:]


def _line(u: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    du = u - u.mean()
    s = float(du @ (y - y.mean())) / float(du @ du)
    return s, float(y.mean()) - s * float(u.mean())


def wynn_epsilon(s: np.ndarray) -> float:
    """The end of the last even column of Wynn's table."""
    before, row = np.zeros(len(s) + 1), np.asarray(s, dtype=float)
    best = float(row[-1])
    for column in range(1, len(s)):
        before, row = row, before[1 : len(row)] + 1.0 / np.diff(row)
        if column % 2 == 0:
            best = float(row[-1])
    return best


def neighbours(x: np.ndarray, m: int, horizon: int, exclude: int) -> list[tuple[float, float]]:
    """(distance at the start, one step ahead) of every point and its nearest neighbour in m delay coordinates."""
    X = np.column_stack([x[m - 1 - i : len(x) - i] for i in range(m)])
    n, ahead, out = len(X) - horizon, x[m - 1 :], []
    for i in range(n):
        distance = np.max(np.abs(X[:n] - X[i]), axis=1)
        distance[max(0, i - exclude) : i + exclude + 1] = np.inf
        j = int(np.argmin(distance))
        if np.isfinite(distance[j]):
            out.append((float(distance[j]), float(abs(ahead[i + 1] - ahead[j + 1]))))
    return out


def sine_share(x: np.ndarray, frequency: float) -> float:
    """Share of the variance that the best sine of this frequency explains."""
    k, y = np.arange(len(x)), x - x.mean()
    basis = np.column_stack([np.cos(2 * np.pi * frequency * k), np.sin(2 * np.pi * frequency * k)])
    fit = basis @ np.linalg.lstsq(basis, y, rcond=None)[0]
    return float(fit @ y / (y @ y))
