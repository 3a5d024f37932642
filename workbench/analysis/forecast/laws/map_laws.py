"""One-dimensional maps x' = f(x) fitted to an operand: the law of a scalar loop without hidden state.

Polynomials through the origin or not (fixed-point iterations near their limit, logistic growth), the ratios
x / x' = b0 + b1 x (Moebius maps: 1/k decay, multiple roots) and x*x / x' = b0 + b1 x (Newton's residual, which goes
from linear far off to quadratic), the product x x' = b0 + b1 x*x (Newton's square root), and x - x' = c x**q (sublinear
decay).  All are fitted to relative errors by least squares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from workbench.analysis.forecast.laws.law import Map

#: name, target as a function of (x, x'), powers of x on the other side
_FORMS: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("linear", "next", (1,)),
    ("affine", "next", (0, 1)),
    ("origin-2", "next", (1, 2)),
    ("ratio-1", "ratio", (0, 1)),
    ("newton-1", "newton", (0, 1)),
    ("square-root", "product", (0, 2)),
    ("quadratic", "next", (0, 1, 2)),
    ("origin-3", "next", (1, 2, 3)),
    ("ratio-2", "ratio", (0, 1, 2)),
    ("newton-2", "newton", (0, 1, 2)),
    ("cubic", "next", (0, 1, 2, 3)),
)


def solve(columns: np.ndarray, target: np.ndarray) -> np.ndarray | None:
    """Least squares with columns brought to one size; None where they are not independent.

    By the normal equations, refined twice, where they are well enough conditioned for that; else by QR.
    """
    size = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    if not (0.0 < float(size.min()) and math.isfinite(float(size.sum())) and math.isfinite(float(target.sum()))):
        return None
    a = columns / size
    gram = a.T @ a
    try:
        low = np.linalg.cholesky(gram)
        if float(low.diagonal().min()) > 1e-4:
            inverse = np.linalg.inv(gram)
            answer = inverse @ (a.T @ target)
            for _ in range(2):
                answer = answer + inverse @ (a.T @ (target - a @ answer))
            return np.asarray(answer / size)
    except np.linalg.LinAlgError:
        pass
    q, r = np.linalg.qr(a)
    d = np.abs(np.diagonal(r))
    if d.min() < 1e-13 * d.max():
        return None
    return np.asarray(np.linalg.solve(r, q.T @ target) / size)


def map_laws(x: np.ndarray, most: int = 4) -> Iterator[Map]:
    """Every form of up to ``most`` parameters that can be fitted to the values; needs more values than parameters."""
    a, b = x[:-1], x[1:]
    if np.any(b == 0) or np.any(a == 0):
        keep = (a != 0) & (b != 0)
        a, b = a[keep], b[keep]
    n, last = len(a), float(x[-1])
    if n < 2:
        return
    targets = {"next": b, "ratio": a / b, "newton": a * a / b, "product": a * b}
    for name, target, powers in _FORMS:
        if len(powers) > most or n < len(powers) + (1 if len(powers) < 3 else 2):
            continue
        y = targets[target]
        w = 1.0 / np.abs(y)
        columns = np.stack([w if p == 0 else a * w if p == 1 else a**p * w for p in powers], axis=1)
        c = solve(columns, np.sign(y))
        if c is not None:
            yield Map(name, len(powers), _step(target, powers, c.tolist()), last)
    law = _decrement(a, b, last) if most > 1 else None
    if law is not None:
        yield law


def _step(target: str, powers: tuple[int, ...], c: list[float]) -> Callable[[float], float]:
    full = [0.0] * 4
    for p, v in zip(powers, c, strict=True):
        full[p] = v
    c0, c1, c2, c3 = full
    if target == "next":
        return lambda x: c0 + x * (c1 + x * (c2 + x * c3))
    if target == "ratio":
        return lambda x: x / (c0 + x * (c1 + x * c2))
    if target == "product":
        return lambda x: (c0 + c2 * x * x) / x
    return lambda x: x * x / (c0 + x * (c1 + x * c2))


def _decrement(a: np.ndarray, b: np.ndarray, last: float) -> Map | None:
    """x - x' = c x**q with c and q from the logarithms."""
    d = a - b
    if len(a) < 4 or np.any(d * a <= 0) or np.any(a * last <= 0):
        return None
    lx, ld = np.log(np.abs(a)), np.log(np.abs(d))
    c = solve(np.stack([np.ones_like(lx), lx], axis=1), ld)
    if c is None or abs(c[1] - 1.0) < 1e-3 or abs(c[1]) > 20:
        return None
    q, scale = float(c[1]), math.exp(min(float(c[0]), 600.0))
    return Map("decrement", 2, lambda v: v - math.copysign(scale * abs(v) ** q, v), last)
