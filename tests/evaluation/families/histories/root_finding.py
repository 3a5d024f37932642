"""Root finding and fixed points: orders, rates and limits from numerical analysis, and methods that fail to settle."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import optimize

from tests.evaluation.families.base import (
    HISTORY,
    C,
    O,
    Rng,
    X,
    case,
    family,
    log_uniform,
    orbit,
    placed,
    scale,
    sign,
    size,
)
from tests.evaluation.scoring.cases import Case


def _until(step: Callable[[float], float], x: float, least: float = 1e-280, most: int = 40) -> np.ndarray:
    """An orbit that tends to 0, while it is a normal float."""
    out = [x]
    while len(out) < most and abs(x := step(x)) > least:
        out.append(x)
    return np.array(out)


@family(HISTORY)
def newton_to_zero(rng: Rng) -> Case:
    """Newton on x exp(a x): x <- a x^2 / (1 + a x), order 2; the root 0 shows all of it."""
    a = rng.uniform(0.3, 1.5)
    v = _until(lambda x: a * x * x / (1 + a * x), rng.uniform(0.5, 3) / a)
    return case(v, C, quarter=False, order=2.0, limit=0.0)


@family(HISTORY)
def newton_square_root(rng: Rng) -> Case:
    a = log_uniform(rng, 0.01, 1e4)
    v = orbit(lambda x: (x + a / x) / 2, math.sqrt(a) * rng.uniform(1.5, 4), int(rng.integers(6, 9)))
    return case(v, C, quarter=False, limit=math.sqrt(a))


@family(HISTORY)
def newton_far_start(rng: Rng) -> Case:
    """Halves for many steps, then squares."""
    a = rng.uniform(0.5, 5)
    v = orbit(lambda x: (x + a / x) / 2, log_uniform(rng, 1e4, 1e12), 60)
    return case(
        v[: int(np.argmax(np.abs(np.diff(v)) < 1e-14 * v[1:])) + 2], C, hard=True, quarter=False, limit=math.sqrt(a)
    )


@family(HISTORY)
def newton_multiple_root(rng: Rng) -> Case:
    """A root of multiplicity m: linear, 1 - 1/m."""
    m, root = int(rng.integers(2, 9)), rng.normal()
    k = np.arange(int(rng.uniform(8, 25) / -math.log(1 - 1 / m)))
    return placed(rng, rng.uniform(0.5, 3) * (1 - 1 / m) ** k + root, C, rate=1 - 1 / m, limit=root)


@family(HISTORY)
def newton_cubic_order(rng: Rng) -> Case:
    """Newton on sin(x), whose second derivative vanishes at the root: order 3; -x^3 / 3 once x is small."""
    step: Callable[[float], float] = lambda x: x - math.tan(x) if abs(x) > 1e-3 else -(x**3) / 3  # noqa: E731
    v = _until(step, sign(rng) * rng.uniform(0.7, 1.1))
    return case(v, C, hard=True, quarter=False, order=3.0, limit=0.0)


@family(HISTORY)
def halley_to_zero(rng: Rng) -> Case:
    """Halley on x exp(a x): order 3."""
    a = rng.uniform(0.4, 1.5)

    def step(x: float) -> float:
        f, d, dd = x, 1 + a * x, a * (2 + a * x)  # divided by exp(a x)
        # x - 2 f f' / (2 f'^2 - f f''), multiplied out so that no digits cancel
        return x * (2 * d * d - f * dd - 2 * d) / (2 * d * d - f * dd)

    small = _until(lambda x: step(x) if abs(x) > 1e-5 else a * a * x**3 / 2, rng.uniform(1, 4) / a)
    return case(small, C, hard=True, quarter=False, order=3.0, limit=0.0)


@family(HISTORY)
def halley_residuals(rng: Rng) -> Case:
    """|e| of a method of order 3 with its constant."""
    c = rng.uniform(0.2, 0.95)
    return case(_until(lambda e: c * e**3, rng.uniform(0.8, 1)), C, hard=True, quarter=False, order=3.0, limit=0.0)


@family(HISTORY)
def ostrowski_residuals(rng: Rng) -> Case:
    """Order 4: four to six values."""
    c = rng.uniform(0.3, 0.95)
    return case(_until(lambda e: c * e**4, rng.uniform(0.9, 1)), C, hard=True, quarter=False, order=4.0, limit=0.0)


@family(HISTORY)
def secant_to_zero(rng: Rng) -> Case:
    """The error is about a constant times the product of the last two: order 1.618."""
    a, e = rng.uniform(0.3, 1.0), [1.0, rng.uniform(0.6, 0.9)]
    while abs(a * e[-1] * e[-2]) > 1e-280:
        e.append(a * e[-1] * e[-2])
    return case(e, C, quarter=False, order=(1 + math.sqrt(5)) / 2, limit=0.0)


@family(HISTORY)
def muller_residuals(rng: Rng) -> Case:
    """Product of the last three errors: order 1.839."""
    a, e = rng.uniform(0.3, 1.0), [1.0, 0.9, rng.uniform(0.6, 0.8)]
    while abs(a * e[-1] * e[-2] * e[-3]) > 1e-280:
        e.append(a * e[-1] * e[-2] * e[-3])
    return case(e, C, hard=True, quarter=False, order=1.8392867552, limit=0.0)


@family(HISTORY)
def scipy_newton_iterates(rng: Rng) -> Case:
    """``scipy.optimize.newton`` without derivative (secant) on exp(x) = b: one step a unit, then fast."""
    b = log_uniform(rng, 0.1, 10)
    seen: list[float] = []

    def f(x: float) -> float:
        seen.append(float(x))
        return math.exp(x) - b

    optimize.newton(f, math.log(b) + rng.uniform(2, 5), tol=1e-14)
    return case(seen[2:], C, quarter=False, limit=math.log(b))


@family(HISTORY)
def brentq_iterates(rng: Rng) -> Case:
    """Points that Brent's method evaluates, after the two ends of its interval."""
    seen: list[float] = []
    c, w = rng.uniform(-3, 3), rng.uniform(0.5, 3)

    def f(x: float) -> float:
        seen.append(float(x))
        return math.atan(w * (x - c)) + 0.1 * (x - c) ** 3

    optimize.brentq(f, c - rng.uniform(4, 9), c + rng.uniform(2, 20), xtol=1e-13)
    return case(seen[2:], C, hard=True, quarter=False, limit=c)


@family(HISTORY)
def bisection_midpoints(rng: Rng) -> Case:
    """Midpoints: the step halves exactly, its sign is that of a coin."""
    root = rng.uniform(0, 1)
    low, high, out = 0.0, 1.0, []
    for _ in range(int(rng.integers(20, 50))):
        middle = (low + high) / 2
        out.append(middle)
        low, high = (middle, high) if middle < root else (low, middle)
    return placed(rng, np.array(out), C, hard=True, quarter=False, limit=root)


@family(HISTORY)
def bracket_width(rng: Rng) -> Case:
    v = scale(rng) * 0.5 ** np.arange(int(rng.integers(10, 60)))
    return case(v, C, rate=0.5, limit=0.0)


@family(HISTORY)
def regula_falsi(rng: Rng) -> Case:
    """One end stays: linear with 1 - f'(r) (b - r) / f(b)."""
    a, b, r = rng.uniform(0.3, 1.5), rng.uniform(1, 2), 0.4
    f: Callable[[float], float] = lambda x: math.exp(a * x) - math.exp(a * r)  # noqa: E731
    rate = 1 - a * math.exp(a * r) * (b - r) / f(b)
    v = orbit(lambda x: x - f(x) * (b - x) / (f(b) - f(x)), -0.5, max(12, int(rng.uniform(8, 24) / -math.log(rate))))
    return case(v, C, hard=len(v) < 16, quarter=False, rate=rate, limit=r)


@family(HISTORY)
def cosine_fixed_point(rng: Rng) -> Case:
    """x <- a cos(x): alternates around the fixed point, with |a sin(x)|."""
    a = rng.uniform(0.5, 1.2)
    limit = float(optimize.brentq(lambda x: a * math.cos(x) - x, 0, 2, xtol=1e-15))
    rate = a * math.sin(limit)
    v = orbit(lambda x: a * math.cos(x), limit + rng.uniform(0.2, 0.6), int(rng.uniform(6, 28) / -math.log(rate)) + 8)
    return placed(rng, v, C, quarter=False, rate=rate, limit=limit)


@family(HISTORY)
def reciprocal_without_division(rng: Rng) -> Case:
    """x <- x (2 - a x): order 2."""
    a = log_uniform(rng, 0.1, 100)
    v = orbit(lambda x: x * (2 - a * x), rng.uniform(0.005, 0.1) / a, 14)
    return case(v[: int(np.argmax(np.abs(v * a - 1) < 1e-15)) + 1 or 14], C, quarter=False, limit=1 / a)


@family(HISTORY)
def newton_two_cycle(rng: Rng) -> Case:
    """Newton on x^3 - 2x + 2 near 0: attracted, quadratically, by the cycle 0, 1."""
    n = size(rng, 24, 400)
    v = orbit(lambda x: x - (x**3 - 2 * x + 2) / (3 * x * x - 2), rng.uniform(-0.08, 0.08), n)
    return case(v, O, quarter=n > 60, period=2.0)


@family(HISTORY)
def newton_without_a_root(rng: Rng) -> Case:
    """Newton on x^2 + c: the cotangent's doubling map, chaotic, with heavy tails."""
    c = rng.uniform(0.2, 5)
    return case(orbit(lambda x: (x - c / x) / 2, rng.uniform(0.2, 2), size(rng, 200, 3000)), X, hard=True)
