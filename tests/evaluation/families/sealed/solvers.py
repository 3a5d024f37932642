"""Textbook iterations: linear systems, roots, fitted models, quadrature, steppers of differential equations."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import HISTORY, C, Rng, case, family, log_uniform, orbit
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=10)
def preconditioned_gradients_on_layers(rng: Rng) -> Case:
    """The residual of conjugate gradients, with the diagonal as preconditioner, on a rod of layers that leak."""
    m = int(rng.integers(60, 160))
    c = np.exp(rng.uniform(0, 2) * rng.normal(size=m + 1))
    a = np.diag((c[:-1] + c[1:]) * rng.uniform(1.01, 1.2)) - np.diag(c[1:-1], 1) - np.diag(c[1:-1], -1)
    b, x = rng.normal(size=m), np.zeros(m)
    r, out = b.copy(), [float(np.linalg.norm(b))]
    z = r / np.diag(a)
    p, rho = z, float(r @ z)
    while out[-1] > 1e-9 * out[0] and len(out) < 6 * m:
        image = a @ p
        x, r = x + rho / (p @ image) * p, r - rho / (p @ image) * image
        z = r / np.diag(a)
        before, rho = rho, float(r @ z)
        p = z + rho / before * p
        out.append(float(np.linalg.norm(r)))
    return case(out, C, hard=True, quarter=False, limit=0.0)


@family(HISTORY, new=10)
def alternating_schwarz_interface(rng: Rng) -> Case:
    """The value on an interface of two overlapping rods, solved in turn: each turn leaves one share of the error."""
    left = rng.uniform(0.3, 0.6)
    right = left + rng.uniform(0.02, 0.3)
    rate = left / right * (1 - right) / (1 - left)
    n = int(rng.uniform(8, 24) / -math.log(rate)) + 10
    limit = rng.uniform(-3, 3)
    return case(orbit(lambda u: limit + rate * (u - limit), limit + rng.uniform(1, 5), n), C, rate=rate, limit=limit)


@family(HISTORY, new=10)
def gauss_newton_with_a_residual(rng: Rng) -> Case:
    """Gauss and Newton's steps for two equations that cannot both hold: linear, by curvature times what is left."""
    while True:
        a, b = rng.uniform(0.5, 2), rng.uniform(-0.5, 3)
        full = np.roots([2.0, 0, 1 - 2 * b, -a])  # (x - a) + 2 x (x^2 - b) = 0
        for x in full[np.abs(full.imag) < 1e-12].real:
            rate = abs(2 * (x * x - b)) / (1 + 4 * x * x)
            if 0.15 < rate < 0.9 and 1 + 6 * x * x - 2 * b > 0.2:
                step = lambda y, a=a, b=b: y - ((y - a) + 2 * y * (y * y - b)) / (1 + 4 * y * y)  # noqa: E731
                n = int(rng.uniform(8, 22) / -math.log(rate)) + 8
                v = orbit(step, float(x) + 0.05, n)
                if abs(v[-1] - x) < 1e-3:
                    return case(v, C, rate=rate, limit=float(x))


@family(HISTORY, new=10)
def householder_reciprocal_errors(rng: Rng) -> Case:
    """|1 - a x| of the reciprocal by a polynomial of third degree: it is raised to the fourth power each time."""
    e = rng.uniform(0.75, 0.96)
    out = [e]
    while out[-1] > 1e-60:
        out.append(out[-1] ** 4)
    return case(out, C, hard=True, quarter=False, order=4.0, limit=0.0)


@family(HISTORY, new=10)
def trust_region_radius_to_its_cap(rng: Rng) -> Case:
    """A radius that is doubled until it has its greatest value, and kept there."""
    first, times = log_uniform(rng, 1e-3, 1), int(rng.integers(4, 12))
    cap = first * 2 ** (times - rng.uniform(0, 1))
    return case(np.minimum(cap, first * 2.0 ** np.arange(times * int(rng.integers(4, 9)))), C, hard=True, quarter=False,
                limit=cap)  # fmt: skip


@family(HISTORY, new=10)
def alternating_least_squares_loss(rng: Rng) -> Case:
    """The loss of the best matrix of rank one, row and column in turn: nearer by the fourth power of the next share."""
    m = int(rng.integers(3, 9))
    share = rng.uniform(0.5, 0.95)
    s = np.r_[1.0, share, share * rng.uniform(0.1, 0.9, m - 2)]
    u, out = np.r_[1.0, rng.uniform(1, 3) * rng.normal(size=m - 1)], []
    for _ in range(int(rng.uniform(6, 12) / (-4 * math.log(share))) + 8):
        w = s * u / (u @ u)
        out.append(float((s**2).sum() - (s * u) @ (s * u) / (u @ u)))
        u = s * w / (w @ w)
    return case(out, C, hard=True, quarter=False, limit=float((s[1:] ** 2).sum()))


@family(HISTORY, new=10)
def romberg_diagonal(rng: Rng) -> Case:
    """Romberg's estimates of the integral of exp(a x): eight or nine, the last ones alike to rounding."""
    a = rng.uniform(2, 5)
    row, out = [], []
    for k in range(int(rng.integers(8, 10))):
        x = np.linspace(0, 1, 2**k + 1)
        new = [float(np.trapezoid(np.exp(a * x), x))]
        for j, old in enumerate(row):
            new.append(new[-1] + (new[-1] - old) / (4 ** (j + 1) - 1))
        row = new
        out.append(new[-1])
    return case(out, C, hard=True, quarter=False, limit=math.expm1(a) / a)
