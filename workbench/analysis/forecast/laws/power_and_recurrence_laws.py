"""Laws with a closed form fitted to an operand: power laws in the iteration, and linear recurrences.

Power laws are fitted to the values (1/k decay) and to their steps (sums); the offset of the iteration is a parameter.
Linear recurrences are fitted to the steps, to the logarithm's steps with a drift (residuals of several modes: the
slower ones die out of the slope) and to the square (the norm of a linear iteration: its square is a linear
recurrence itself, its dips included).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from workbench.analysis.forecast.laws.law import Closed
from workbench.analysis.forecast.laws.map_laws import solve

At = Callable[[np.ndarray], np.ndarray]


def power_fit(k: np.ndarray, y: np.ndarray) -> tuple[float, float, float, float] | None:
    """y = a - s log(k + k0), k from 0: (a, s, k0, rms); the grid on k0 is refined by Gauss and Newton's method."""
    n = float(k[-1] + 1)
    low, high = np.log(0.05), np.log(40.0 * n)
    best = None
    for _ in range(3):
        grid = np.exp(np.linspace(low, high, 17))
        u = np.log(k[None, :] + grid[:, None])
        du, dy = u - u.mean(axis=1, keepdims=True), y - y.mean()
        s = -(du @ dy) / np.maximum(np.einsum("ij,ij->i", du, du), 1e-300)
        sse = np.einsum("ij,ij->i", dy + s[:, None] * du, dy + s[:, None] * du)
        i = int(np.argmin(sse))
        step = (high - low) / 16
        low, high = np.log(grid[i]) - step, np.log(grid[i]) + step
        best = (float(s[i]), float(grid[i]))
    s1, k0 = best  # type: ignore[misc]
    a, rms = float(np.mean(y + s1 * np.log(k + k0))), float("inf")
    for _ in range(8):
        u = np.log(k + k0)
        du, dy = u - u.mean(), y - y.mean()
        s2 = -float(du @ dy) / max(float(du @ du), 1e-300)
        rest = dy + s2 * du
        before, now = rms, float(np.sqrt(np.mean(rest * rest)))
        if now > 0.9999 * before:
            break
        a, s1, rms, best = float(y.mean() + s2 * u.mean()), s2, now, (s2, k0)
        change = solve(np.stack([np.ones_like(u), -u, -s2 / (k + k0)], axis=1), rest)
        if change is None or not np.isfinite(change[2]) or abs(change[2]) < 1e-13 * k0:
            break
        k0 = max(k0 + float(change[2]), 1e-3, 0.3 * k0)
    s1, k0 = best  # type: ignore[misc]
    if not k0 < 39.0 * n or not np.isfinite(a + s1):
        return None  # an exponential in disguise
    return a, s1, k0, rms


def _thin(n: int) -> np.ndarray:
    """Up to about 100 indices, denser at both ends."""
    if n <= 96:
        return np.arange(n)
    half = np.unique(np.geomspace(1, n, 40).astype(np.int64)) - 1
    return np.unique(np.concatenate([half, n - 1 - half, np.linspace(0, n - 1, 40).astype(np.int64)]))


def power_laws(x: np.ndarray) -> Iterator[Closed]:
    """Values and steps that go like a power of the iteration."""
    n, last = len(x), float(x[-1])
    if n < 6:
        return
    if np.all(x * last > 0):
        index = _thin(n)
        fit = power_fit(index.astype(float), np.log(np.abs(x[index])))
        if fit is not None:
            a, s, k0, _ = fit
            sign, top = np.sign(last), n - 1 + k0
            # continue from the last value: the fit's own error there is not carried on
            yield Closed("power", 3, lambda j: last * ((top + j) / top) ** -s if s else sign * np.exp(a) + 0 * j)
    d = np.diff(x)
    if np.all(d * d[-1] > 0):
        index = _thin(n - 1)
        fit = power_fit(index.astype(float), np.log(np.abs(d[index])))
        if fit is not None:
            _, s2, k2, _ = fit
            yield Closed("power-steps", 3, _sum(last, float(d[-1]), s2, n - 2 + k2))
            if s2 > 1.0:
                yield from _power_to_limit(x, index, s2 - 1.0, k2)


def _power_to_limit(x: np.ndarray, index: np.ndarray, s: float, k0: float) -> Iterator[Closed]:
    """x = limit + c (k + k0)**-s by Gauss and Newton's method, each value weighted by the step there."""
    k, y = index.astype(float), x[index]
    w = 1.0 / np.maximum(np.abs(np.gradient(x)[index]), 1e-300)
    for _ in range(10):
        power = (k + k0) ** -s
        linear = solve(np.stack([w, power * w], axis=1), y * w)
        if linear is None:
            return
        limit, c = linear.tolist()
        rest = (y - limit - c * power) * w
        columns = [w, power * w, -c * power * np.log(k + k0) * w, -c * s * power / (k + k0) * w]
        change = solve(np.stack(columns, axis=1), rest)
        if change is None or not np.all(np.isfinite(change)):
            break
        s, k0 = max(s + float(change[2]), 0.3 * s), max(k0 + float(change[3]), 0.3 * k0, 1e-3)
        if abs(change[3]) < 1e-11 * k0 and abs(change[2]) < 1e-11 * s:
            break
    top, last = len(x) - 1 + k0, float(x[-1])
    if k0 < 39.0 * len(x):
        yield Closed("power-to-limit", 4, lambda j: limit + (last - limit) * ((top + j) / top) ** -s)


def _sum(last: float, d: float, s: float, top: float) -> At:
    """last + sum over i <= j of d ((top + i) / top)**-s: term by term up to 4096, then by Euler and Maclaurin."""

    def at(j: np.ndarray) -> np.ndarray:
        most = int(min(np.max(j), 4096))
        terms = np.cumsum(d * ((top + np.arange(1, most + 1)) / top) ** -s)
        out = terms[np.minimum(j, most) - 1]
        low, high = top + most + 0.5, top + np.maximum(j, most) + 0.5
        if abs(s - 1.0) < 1e-9:
            rest = np.log(high / low) * top
        else:
            rest = ((high / top) ** (1 - s) - (low / top) ** (1 - s)) / (1 - s) * top
        return last + out + np.where(j > most, d * rest, 0.0)

    return at


def _modes(v: np.ndarray, p: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Roots z and shares c with v[n - 1 + j] = sum c z**j; each equation weighted by the local size."""
    n = len(v)
    if n < 2 * p + 1:
        return None
    rows = np.stack([v[p - 1 - i : n - 1 - i] for i in range(p)], axis=1)
    w = 1.0 / np.maximum(np.maximum(np.abs(rows).max(axis=1), np.abs(v[p:])), 1e-300)
    a = solve(rows * w[:, None], v[p:] * w)
    if a is None:
        return None
    z = np.roots(np.concatenate([[1.0], -a])) if p > 1 else a.astype(complex)
    z = z[np.abs(z) > 1e-10]
    if not len(z):
        return None
    m = min(n, max(2 * len(z), 4))
    with np.errstate(all="ignore"):
        table = (1.0 / z)[None, :] ** np.arange(m)[:, None]
        w = 1.0 / np.maximum(np.abs(table).max(axis=1), 1e-300)
        if not np.all(np.isfinite(table)):
            return None
        c = np.linalg.lstsq(table * w[:, None], v[::-1][:m] * w, rcond=1e-14)[0]
    return z, c


def _powers(z: np.ndarray, j: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.exp(np.log(z)[:, None] * np.asarray(j, dtype=float)[None, :])


def _sums(z: np.ndarray, c: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Sum over i = 1 .. j of sum c z**i."""
    one = np.abs(z - 1.0) < 1e-9
    safe = np.where(one, 0.5, z)
    total = ((c * safe / (safe - 1.0))[:, None] * (_powers(safe, j) - 1.0))[~one].sum(axis=0)
    total = total + (c[one].sum() * j if np.any(one) else 0.0)
    return np.asarray(total.real)


def _stepping(last: float, z: np.ndarray, c: np.ndarray) -> At:
    return lambda j: last + _sums(z, c, j)


def _growing(last: float, drift: float, z: np.ndarray, c: np.ndarray) -> At:
    def at(j: np.ndarray) -> np.ndarray:
        return np.asarray(last * np.exp(drift * j + _sums(z, c, j)))

    return at


def recurrences(x: np.ndarray, orders: tuple[int, ...]) -> Iterator[Closed]:
    """Linear recurrences of the steps, and of the logarithm's steps about a drift."""
    last, d = float(x[-1]), np.diff(x)
    for p in orders:
        found = _modes(d, p)
        if found is not None and np.any(d):
            yield Closed(f"steps-{p}", 2 * p, _stepping(last, *found))
    if np.all(x * last > 0):
        dy = np.diff(np.log(np.abs(x)))
        for p in orders[:3]:
            drift = _drift(dy, p)
            if drift is None:
                continue
            found = _modes(dy - drift, p)
            if found is not None:
                yield Closed(f"log-{p}", 2 * p + 1, _growing(last, drift, *found))


def squares(x: np.ndarray) -> Iterator[Closed]:
    """Linear recurrences of the square: norms of linear iterations, with their dips."""
    last, scale = float(x[-1]), float(np.max(np.abs(x)))
    if 0 < scale < 1e150 and np.all(x * last >= 0):
        square = (x / scale) ** 2
        for p in (3, 4, 6):
            found = _modes(square, p)
            if found is not None:
                yield Closed(f"square-{p}", 2 * p, _rooted(np.sign(last) * scale, *found))


def _rooted(scale: float, z: np.ndarray, c: np.ndarray) -> At:
    def at(j: np.ndarray) -> np.ndarray:
        return np.asarray(scale * np.sqrt(np.maximum((c[:, None] * _powers(z, j)).sum(axis=0).real, 0.0)))

    return at


def _drift(dy: np.ndarray, p: int) -> float | None:
    """Limit of the steps dy = b + (a recurrence of order p)."""
    n = len(dy)
    if n < 2 * p + 2:
        return None
    rows = np.stack([np.ones(n - p)] + [dy[p - 1 - i : n - 1 - i] for i in range(p)], axis=1)
    a = solve(rows, dy[p:])
    if a is None or abs(1.0 - a[1:].sum()) < 1e-9:
        return None
    return float(a[0] / (1.0 - a[1:].sum()))
