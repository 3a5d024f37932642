"""Histories that settle: solvers of higher order, linear rates, integers that shrink, low precision, ways to a ball."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.evaluation.heldout.common import orbit, rng_of, scales
from tests.evaluation.scoring.cases import C, Case


def powers_of_order() -> Iterator[Case]:
    """Errors r^(p^k): the order is p exactly. Newton and Schulz's reciprocal has p = 2, its extensions 3 and 4."""
    for i, (p, r) in enumerate([(2, 0.97), (2, -0.95), (2, 0.999), (3, 0.97), (3, -0.9), (4, 0.98), (3, 0.995)]):
        for scale, offset in ((1.0, 1.0), (1e-280, 3.0), (1e250, -2.0), (7.0, 0.125)):
            errors = [r]
            while abs(errors[-1]) > 1e-15 and len(errors) < 14:
                errors.append(errors[-1] ** p)
            x = np.array(errors + [0.0] * (i % 3))
            if len(x) >= 8:
                limit = offset * scale
                yield Case("order", (offset - x) * scale, C, facts={"limit": limit, "order": float(p)})
    for a in (3.0, 0.07, 190.0):  # x (2 - a x): the residual squares exactly
        x0 = 0.05 / a
        yield Case("schulz", orbit(lambda x, a=a: x * (2 - a * x), x0, 13), C, facts={"limit": 1 / a, "order": 2.0})


def solvers() -> Iterator[Case]:
    """Halley's cube root, the arithmetic-geometric mean, bisection, regula falsi."""
    for a in (5.0, 0.3, 1e12):
        start = 40 * a ** (1 / 3)
        v = orbit(lambda y, a=a: y * (y**3 + 2 * a) / (2 * y**3 + a), start, 12)
        yield Case("halley", v, C, facts={"limit": a ** (1 / 3)})
    a, b, means = 1.0, math.sqrt(2.0), []
    for _ in range(9):
        means.append(a)
        a, b = (a + b) / 2, math.sqrt(a * b)
    yield Case("agm", np.array(means), C, facts={"limit": 1.1981402347355922})
    for root in (0.3141, 0.77, 0.123456):
        lo, hi, mid = 0.0, 1.0, []
        for _ in range(40):
            m = (lo + hi) / 2
            mid.append(m)
            lo, hi = (m, hi) if m < root else (lo, m)
        yield Case("bisection", np.array(mid), C, True, {"limit": root})
        yield Case("bisection_width", 0.5 ** np.arange(40) * root, C, facts={"limit": 0.0, "rate": 0.5})
    for p in (2, 4):  # the right end stays: linear with a rate that follows from the secant
        lo, hi, left = 0.0, 2.0, []
        for _ in range(60):
            f = lambda x, p=p: x**p - 2.0  # noqa: E731
            left.append(lo)
            lo = lo - f(lo) * (hi - lo) / (f(hi) - f(lo))
        root = 2.0 ** (1 / p)
        rate = 1 - p * root ** (p - 1) * (2 - root) / (2.0**p - 2)
        yield Case("regula_falsi", np.array(left), C, facts={"limit": root, "rate": rate})


def matrices() -> Iterator[Case]:
    """Jacobi, Gauss and Seidel and SOR on the tridiagonal model problem: all spectral radii are known."""
    for n in (6, 10, 16):
        mu = math.cos(math.pi / (n + 1))
        a = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
        rng = rng_of("matrices", n)
        b, x0 = rng.normal(size=n), rng.normal(size=n)
        for name, omega, rate in (("gauss_seidel", 1.0, mu**2), ("jacobi", 0.0, mu), ("sor_over", 1.5, None)):
            x, norms = x0.copy(), []
            for _ in range(500):
                norms.append(float(np.linalg.norm(b - a @ x)))
                if not omega:
                    x = x + (b - a @ x) / 2
                    continue
                for i in range(n):
                    x[i] += omega * (b[i] - a[i] @ x) / 2
            facts = {} if rate is None else {"rate": rate}
            cut = next((i for i, r in enumerate(norms) if r < 1e-12 * norms[0]), 500)
            yield Case(name, np.array(norms[:cut]), C, False, facts)
            yield Case(name, np.array(norms[:40]), C, True)
    a = np.diag([5.0, 2.0, 1.0]) + 0.1
    w, _ = np.linalg.eigh(a)
    v, quotients = np.array([1.0, 0.4, 0.3]), []
    for _ in range(60):
        v = np.linalg.solve(a, v)
        v /= np.linalg.norm(v)
        quotients.append(v @ a @ v)
    yield Case("inverse_iteration", np.array(quotients), C, facts={"limit": w[0], "rate": float((w[0] / w[1]) ** 2)})


def ratios() -> Iterator[Case]:
    """Fractions of recurrences: alternating with a known rate; polygons of Archimedes."""
    for p in (1, 2, 3, 5):
        top = (p + math.sqrt(p * p + 4)) / 2
        rate = 1 / top**2
        v = orbit(lambda x, p=p: p + 1 / x, float(p), 30)
        cut = int(min(30, 30 / -math.log10(rate) / 2))
        yield Case("continued_fraction", v[: max(cut, 8)], C, facts={"limit": top, "rate": rate})
        yield Case("continued_fraction", v, C, facts={"limit": top})
    sides, polygons = 1.0, []
    for k in range(12):
        polygons.append(3 * 2.0**k * sides)
        sides = sides / math.sqrt(2 + math.sqrt(4 - sides**2))
    yield Case("archimedes", np.array(polygons), C, facts={"limit": math.pi, "rate": 0.25})


def modes() -> Iterator[Case]:
    """Sums of geometric terms, a double eigenvalue, alternation, complex pairs; all scales and offsets."""
    for i in range(24):
        rng = rng_of("modes", i)
        n = int(rng.choice([9, 14, 30, 70, 150, 400]))
        rate = float(rng.choice([0.2, 0.55, 0.75, 0.88, 0.93, 0.97]))
        if rate**n > 0.3:
            n = math.ceil(math.log(0.3) / math.log(rate))
        k, (scale, offset) = np.arange(n), scales(rng)
        kind = i % 6
        if kind == 0:
            e = rate**k
        elif kind == 1:
            e = (-rate) ** k
        elif kind == 2:
            e = rate**k - 0.6 * (0.6 * rate) ** k
        elif kind == 3:
            e = rate**k * np.cos(float(rng.uniform(0.3, 2.8)) * k + 0.4)
        elif kind == 4:
            e = (1 + 0.3 * k) * rate**k
        else:
            e = rate**k + 0.5 * (-0.9 * rate) ** k
        hard = n < 20 or kind in (4, 5)
        facts = {"limit": offset * scale} | ({"rate": rate} if n >= 30 and kind != 4 else {})
        yield Case("modes", (offset + float(rng.choice([-1, 1])) * e) * scale, C, hard, facts)


def saturating() -> Iterator[Case]:
    """S-curves seen to their end, clipped ramps, staircases that halve, remainders and quotients."""
    for n, q in ((60, 0.3), (200, 0.1), (1000, 0.02)):
        k = np.arange(n)
        yield Case("logistic_curve", 9 / (1 + 200 * np.exp(-q * k)), C, True, {"limit": 9.0}, False)
        yield Case("gompertz", 2 * np.exp(-5 * np.exp(-q * k)), C, True, {"limit": 2.0}, False)
        yield Case("tanh", np.tanh(q * k), C, True, {"limit": 1.0}, False)
        yield Case("clipped", np.clip(3.0 - 0.5 * k, -4.0, None), C, quarter=False)
        yield Case("stairs", 0.1 * 0.5 ** (k // 12), C, True, {"limit": 0.0}, n > 100)
    for base, top in ((3, 10**15), (2, 2**61), (7, 10**17)):
        v = [top]
        while v[-1]:
            v.append(v[-1] // base)
        yield Case("integer_division", np.array(v + [0] * 5), C, facts={"limit": 0.0})
    yield Case("late_flag", np.r_[np.zeros(30, bool), np.ones(200, bool)], C, quarter=False)
    for seed in range(3):
        rng = rng_of("best", seed)
        yield Case("best_of", np.minimum.accumulate(rng.integers(0, 40, 400)), C, True, quarter=False)


def low_precision() -> Iterator[Case]:
    for dtype in (np.float16, np.float32):
        for rate in (0.7, 0.95):
            x, v = dtype(4), []
            for _ in range(400):
                v.append(x)
                x = dtype(dtype(rate) * x + dtype(1 - rate))
            yield Case("average_low", np.array(v), C)
            yield Case("average_low", np.array(v[:24]), C, True)
        yield Case("schulz_low", np.array(orbit(lambda x: x * (2 - 3 * x), 0.01, 20)).astype(dtype), C)


def to_a_ball() -> Iterator[Case]:
    """The way to a level is in the record; the noise then stays, shrinks, or multiplies the error."""
    for i in range(8):
        rng = rng_of("to_a_ball", i)
        n = int(rng.choice([300, 800, 3000]))
        k, e = np.arange(n), rng.standard_t(6, n) if i % 2 else rng.uniform(-1.7, 1.7, n)
        scale, offset = scales(rng)
        yield Case("ball", (offset + 6 / (1 + 0.1 * k) + 0.05 * e) * scale, C, True, quarter=False)
        x, v = 8.0, []
        for j in range(n):
            v.append(x)
            x = 0.92 * x + 0.08 * 1.0 + 0.05 * e[j]
        yield Case("ornstein", np.array(v) * scale, C, True, quarter=n >= 800)
        yield Case("robbins_monro", (offset + np.cumsum(e) / (k + 1)) * scale, C, True, quarter=False)
        logs = np.cumsum(-0.1 + 0.05 * e[:250])
        yield Case("random_rate", (offset + np.exp(logs)) * scale, C, True, {"limit": offset * scale}, True)


GENERATORS = (powers_of_order, solvers, matrices, ratios, modes, saturating, low_precision, to_a_ball)
