"""The magnitude of a damped oscillation above a floor: x = floor + r**k |a cos(w k) + b sin(w k)|.

So do errors and residuals of second order behave: momentum, damped systems, complex pairs of eigenvalues.  With its
floor taken off, the square obeys a linear recurrence of order three; that of the record itself is linear in the
recurrence's coefficients times powers of the floor, which gives a start, and Gauss and Newton's method the rest
(Bjoerck 1996, Numerical Methods for Least Squares Problems, section 9.2).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.analysis.forecast.laws.law import Closed
from workbench.analysis.forecast.laws.map_laws import solve

#: Fewest values, and rounds of refinement at most.
LEAST, ROUNDS = 20, 12


def rectified(x: np.ndarray) -> Iterator[Closed]:
    """The law fitted to the values, if they can follow it."""
    n, scale = len(x), float(np.ptp(x))
    d = np.sign(np.diff(x))
    if n < LEAST or not 0 < scale < 1e150 or np.count_nonzero(d[1:] != d[:-1]) < 4:
        return
    base = float(x.min())
    start = _start((x - base) / scale)
    if start is None:
        return
    found = _refined((x - base) / scale, *start)
    if found is None:
        return
    floor, log_r, w, a, b = found

    def at(j: np.ndarray) -> np.ndarray:
        k = (n - 1) + np.asarray(j, dtype=float)
        return np.asarray(base + scale * (floor + np.exp(log_r * k) * np.abs(a * np.cos(w * k) + b * np.sin(w * k))))

    if log_r < 0:
        yield Closed("rectified", 5, at)


def _start(u: np.ndarray) -> tuple[float, float, float] | None:
    """(floor, log r, w) by linear least squares."""
    n, q = len(u), u * u
    past = [q[2 - i : n - 1 - i] for i in range(3)] + [u[2 - i : n - 1 - i] for i in range(3)]
    c = solve(np.stack([*past, u[3:], np.ones(n - 3)], axis=1), q[3:])
    if c is None or not np.all(np.isfinite(c)):
        return None
    floor = float(c[6]) / 2
    y = (u - floor) ** 2
    a = solve(np.stack([y[2 - i : n - 1 - i] for i in range(3)], axis=1), y[3:])
    if a is None or not np.all(np.isfinite(a)):
        return None
    z = np.roots(np.concatenate([[1.0], -a]))
    pair = z[z.imag > 1e-12]
    return (floor, float(np.log(np.abs(pair[0]))) / 2, float(np.angle(pair[0])) / 2) if len(pair) == 1 else None


def _refined(u: np.ndarray, floor: float, log_r: float, w: float) -> tuple[float, ...] | None:
    """All five parameters by Gauss and Newton's method; None where it does not settle."""
    k = np.arange(len(u), dtype=float)
    signed = _signed(u - floor, k, log_r, w)
    if signed is None:
        return None
    p = np.array([floor, log_r, w, *signed])
    size = np.inf
    for _ in range(ROUNDS):
        grown = np.exp(p[1] * k)
        cos, sin = grown * np.cos(p[2] * k), grown * np.sin(p[2] * k)
        inner = p[3] * cos + p[4] * sin
        rest = u - p[0] - np.abs(inner)
        now = float(rest @ rest)
        if not now < size:
            break
        size, best = now, p
        side = np.sign(inner)[:, None]
        turned = k * (p[4] * cos - p[3] * sin)
        columns = side * np.stack([side[:, 0], k * inner, turned, cos, sin], axis=1)
        change = solve(columns, rest)
        if change is None or not np.all(np.isfinite(change)):
            break
        p = p + change
    return tuple(best.tolist()) if np.isfinite(size) else None


def _signed(y: np.ndarray, k: np.ndarray, log_r: float, w: float) -> tuple[float, float] | None:
    """(a, b) of the oscillation whose square is that of y: from the square's part of twice the frequency."""
    grown = np.exp(2 * log_r * k)
    c = solve(np.stack([grown, grown * np.cos(2 * w * k), grown * np.sin(2 * w * k)], axis=1), y * y)
    if c is None or not np.all(np.isfinite(c)) or c[0] <= 0:
        return None
    # (a cos + b sin)**2 = (a a + b b) / 2 + (a a - b b) / 2 cos 2 + a b sin 2
    phase, size = 0.5 * np.arctan2(c[2], c[1]), np.sqrt(2 * c[0])
    return float(size * np.cos(phase)), float(size * np.sin(phase))
