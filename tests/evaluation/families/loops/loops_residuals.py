"""Loops for the black box that wait for a residual, a sum or an orbit: geometric, slow, mixed, of solvers, endless."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform, orbit
from tests.evaluation.families.loop_cases import loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched

K = np.arange(6002.0)


@loop_family(WATCHED)
def geometric_residual(rng: Rng) -> Watched:
    rate, tol = float(rng.uniform(0.8, 0.997)), log_uniform(rng, 1e-14, 1e-2)
    scale = log_uniform(rng, 1e-3, 1e3)
    return watched([("r", scale * rate**K, ">", scale * tol)])


@loop_family(WATCHED)
def change_of_a_contraction(rng: Rng) -> Watched:
    """|x - previous x| of x = a x + b, in half of the draws alternating about the limit."""
    a, b, tol = float(rng.uniform(0.8, 0.98)), float(rng.uniform(1, 9)), log_uniform(rng, 1e-8, 1e-3)
    a = -a if rng.random() < 0.5 else a

    def step(k: int, x: Any, d: Any) -> dict[str, Any]:
        return {"x": a * x + b, "d": abs(a * x + b - x)}

    return observed({"x": 0.0, "d": b / abs(a)}, step, lambda x, d: [("d", d, ">", tol)])


@loop_family(WATCHED)
def two_modes(rng: Rng) -> Watched:
    """The slower mode decides, and is the smaller one for long."""
    slow, fast = float(rng.uniform(0.95, 0.995)), float(rng.uniform(0.5, 0.93))
    tol = log_uniform(rng, 1e-9, 1e-4)
    return watched([("r", fast**K + float(rng.uniform(0.01, 0.5)) * slow**K, ">", tol)], exact=False)


@loop_family(WATCHED)
def annealing(rng: Rng) -> Watched:
    """A power of a counter: t0 / (1 + a k)^p."""
    p, a, n = float(rng.choice([0.5, 1.0, 1.0, 2.0])), float(rng.uniform(0.01, 2)), int(log_uniform(rng, 60, 4000))
    t = 50.0 / (1 + a * K) ** p
    return watched([("T", t, ">", 0.5 * (t[n] + t[n - 1]))])


@loop_family(WATCHED)
def flat_minimum(rng: Rng) -> Watched:
    """Gradient descent on x^4 or x^6: the distance falls as a power, in the end."""
    p, rate, tol = int(rng.choice([3, 5])), float(rng.uniform(0.05, 0.2)), float(rng.uniform(0.05, 0.3))
    return observed({"x": 1.5}, lambda k, x: {"x": x - rate * x**p}, lambda x: [("x", x, ">", tol)], exact=False)


@loop_family(WATCHED)
def newton_from_afar(rng: Rng) -> Watched:
    """x^p = a from a far start: a long linear phase, then quadratic."""
    p, a = int(rng.integers(3, 20)), float(rng.uniform(2, 9))

    def step(k: int, x: Any, r: Any) -> dict[str, Any]:
        new = x - (x - a * x ** (1 - p)) / p
        return {"x": new, "r": abs(new - x)}

    start = log_uniform(rng, 1e3, 1e9)
    return observed({"x": start, "r": start}, step, lambda x, r: [("r", r, ">", 1e-9)], exact=False)


@loop_family(WATCHED)
def newton_at_a_multiple_root(rng: Rng) -> Watched:
    """Linear with rate 1 - 1/m; Halley's method has (m - 1) / (m + 1)."""
    m, tol, root = int(rng.integers(2, 12)), log_uniform(rng, 1e-12, 1e-4), float(rng.normal())
    factor = 1 - 1 / m if rng.random() < 0.5 else 1 - 2 / (m + 1)
    e = orbit(lambda e: e * factor * (1 + 0.05 * e), float(rng.uniform(0.2, 1)), 600)
    return watched([("|dx|", np.abs(np.diff(root + e)), ">", tol)], exact=False)


@loop_family(WATCHED)
def momentum_residual(rng: Rng) -> Watched:
    """Heavy ball on a quadratic: a damped oscillation in |x|."""
    beta, rate, tol = float(rng.uniform(0.8, 0.99)), float(rng.uniform(0.02, 0.5)), log_uniform(rng, 1e-8, 1e-2)

    def step(k: int, x: Any, v: Any) -> dict[str, Any]:
        return {"v": beta * v - rate * x, "x": x + beta * v - rate * x}

    return observed({"x": 1.0, "v": 0.0}, step, lambda x, v: [("max", max(abs(x), abs(v)), ">", tol)], exact=False)


@loop_family(WATCHED)
def spiral_inwards(rng: Rng) -> Watched:
    z = powers(float(rng.uniform(0.9, 0.99)), float(rng.uniform(0.1, 3)))
    return watched([("max", np.maximum(abs(z.real), abs(z.imag)), ">", log_uniform(rng, 1e-8, 1e-2))], exact=False)


@loop_family(WATCHED)
def spiral_to_a_circle(rng: Rng) -> Watched:
    """max(|x|, |y|) is at least r / sqrt(2) on a circle of radius r."""
    z = powers(1.0, float(rng.uniform(0.1, 3))) * (1 + float(rng.uniform(1, 9)) * 0.9**K)
    return watched([("max", np.maximum(abs(z.real), abs(z.imag)), ">", float(rng.uniform(0.1, 0.6)))], ends=False)


def powers(rate: float, angle: float) -> np.ndarray:
    """Powers of one complex number."""
    return (rate**K) * np.exp(1j * angle * K)


@loop_family(WATCHED)
def interval_halved(rng: Rng) -> Watched:
    """Bisection or the golden section: the width shrinks by a fixed factor."""
    factor = (0.5, (math.sqrt(5) - 1) / 2)[rng.integers(2)]
    return watched([("width", log_uniform(rng, 1, 1e12) * factor ** K[:1000], ">", log_uniform(rng, 1e-15, 1e-3))])


@loop_family(WATCHED)
def terms_of_leibniz(rng: Rng) -> Watched:
    """|s - previous s| of 4 - 4/3 + 4/5 ...: the terms themselves, as far as rounding goes."""
    s = np.cumsum(4.0 * (-1.0) ** K / (2 * K + 1))
    n = int(log_uniform(rng, 60, 5000))
    return watched([("|ds|", np.abs(np.diff(s)), ">", 4 / (2 * n + 2.0))])


@loop_family(WATCHED)
def sum_reaches(rng: Rng) -> Watched:
    """Partial sums of 1/k^2 or 1/k against a bound below their limit."""
    if rng.random() < 0.5:
        return watched(
            [("s", np.cumsum(1 / (K + 1) ** 2), "<", math.pi**2 / 6 - log_uniform(rng, 3e-4, 1e-2))], exact=False
        )
    return watched([("s", np.cumsum(1 / (K + 1)), "<", float(rng.uniform(5, 9)))], exact=False)


@loop_family(WATCHED)
def sum_stays_below(rng: Rng) -> Watched:
    """The bound lies beyond the limit of the series: zeta(2) < 1.7, zeta(3) < 1.25, ln 2 < 0.8."""
    sums = (1 / (K + 1) ** 2, 1 / (K + 1) ** 3, (-1) ** K / (K + 1), 1 / (K + 1) ** 4)
    pick = int(rng.integers(4))
    limit = (math.pi**2 / 6, 1.2020569, math.log(2), math.pi**4 / 90)[pick]
    bound = max(limit, 1.0) + float(rng.uniform(0.05, 0.5))
    return watched([("s", np.cumsum(sums[pick]), "<", bound)], ends=False)


@loop_family(WATCHED)
def bounded_away(rng: Rng) -> Watched:
    """Monotone to a limit on the wrong side, geometric or as a power."""
    limit = float(rng.uniform(1, 5))
    tail = float(rng.uniform(0.3, 0.9)) ** K if rng.random() < 0.6 else 1 / (K + 1) ** float(rng.uniform(1, 3))
    if rng.random() < 0.5:
        return watched([("x", limit + tail, ">", 0.8 * limit)], ends=False)
    return watched([("x", limit - tail, "<", 1.2 * limit)], ends=False)


@loop_family(WATCHED)
def rounding_floor(rng: Rng) -> Watched:
    """A residual that stays at a few ulp, above a tolerance that its dtype cannot reach; it is there by step 42."""
    ulp, dtype = ((1.2e-7, np.float32), (2.2e-16, np.float64))[rng.integers(2)]
    floor = ulp * rng.integers(1, 5, 100)
    residual = np.maximum(floor, float(rng.uniform(0.1, 0.42)) ** K[:100]).astype(dtype)
    return watched([("r", residual, ">", dtype(0.05 * ulp))], ends=False)


@loop_family(WATCHED)
def periodic_for_ever(rng: Rng) -> Watched:
    """A cycle of period p, after a transient or from the start, that stays on one side."""
    p, lead = int(rng.integers(2, 13)), int(rng.integers(0, 12))
    values = np.r_[rng.uniform(5, 9, lead), np.resize(rng.uniform(1, 4, p), 90)]
    return watched([("x", values, ">", 0.5) if rng.random() < 0.5 else ("x", values, "!=", 17.0)], ends=False)


@loop_family(WATCHED)
def bounded_chaos(rng: Rng) -> Watched:
    r = float(rng.uniform(3.7, 3.99))
    x = orbit(lambda x: r * x * (1 - x), float(rng.uniform(0.1, 0.9)), 90)
    return watched([("x", x, "<", float(rng.uniform(1.01, 2.0)))], ends=False)


@loop_family(WATCHED)
def wrong_way(rng: Rng) -> Watched:
    """Floats that leave the threshold for good: steadily, faster and faster, or swinging."""
    grown = (1.0 + 0.5 * K[:90], 1.1 ** K[:90], np.cumsum(1 + rng.random(90)))[rng.integers(3)]
    return watched([("x", grown * log_uniform(rng, 1e-3, 1e3), ">", 0.0)], ends=False)
