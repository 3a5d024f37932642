"""Floats that are a power of the shifted iteration: c (k + w)**p or c (T - k)**p.

Examples are learning rate schedules, areas and volumes that grow with a length, friction that falls with a root of
time. The root of the record, x**(1/p), lies on a straight line: three values determine p, a fourth nearly always
excludes the law, and every value must agree to within a few roundings. A p close to a short decimal is rounded to it.
Because it is inferred from observations, the answer is a forecast, never a proof.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from workbench.analysis.comparisons import OPS
from workbench.analysis.forecast.laws.exact_continuation import Steps, limits

#: Allowed error of each value, in roundings; minimum change of the root over the record; maximum of |q| and 1 / |q|;
#: maximum number of iterations ahead; maximum error of a crossing, in iterations, for which its iteration is certain.
ROUNDINGS, CLEAR, MOST, FARTHEST, OFF = 32.0, 2e-3, 20.0, 1e8, 0.1
#: Maximum relative distance of a power from a short decimal; maximum number of decimals.
SHORT, DECIMALS = 1e-5, 3


class Root(NamedTuple):
    """The line of roots (x / first)**q, which is 1 at index ``at`` and changes by ``slope`` per index."""

    q: float
    at: int
    slope: float


def shifted_power(x: np.ndarray, op: str, threshold: float) -> Steps | None:
    """First k >= 1 at which the power law of x (n,), floats above 0, fails ``op threshold``; None if there is none."""
    n = len(x)
    half = (n - 1) // 2
    at = n - 1 - 2 * half
    first, middle, last = x.item(at), x.item(at + half), x.item(n - 1)
    bend = math.log(last / first) - 2.0 * math.log(middle / first)
    q = _root(math.log(middle / first), math.log(last / first))
    if q is None or bend == 0.0:
        return None
    law = Root(q, at, ((last / first) ** q - 1.0) / (2 * half))
    v, unit = x.astype(np.float64, copy=False), ROUNDINGS * limits(x.dtype)[0]
    if abs(law.slope) * n < CLEAR or not _follows(v, law, unit):
        return None
    short = round(1.0 / q, DECIMALS)
    if short and abs(short * q - 1.0) < SHORT:
        plain = Root(1.0 / short, at, ((last / first) ** (1.0 / short) - 1.0) / (2 * half))
        if _follows(v, plain, unit):
            return _end(v, plain, unit, 0.0, op, threshold)
    return _end(v, law, unit, unit / abs(bend), op, threshold)


def _root(middle: float, last: float) -> float | None:
    """The q for which exp(q ``middle``) is halfway between 1 and exp(q ``last``), by bisection; None if |q| is out of
    range.
    """
    side = 1.0 if 2.0 * middle > last else -1.0
    low, high = 1.0 / MOST, MOST
    excess = lambda q: 1.0 - 2.0 * math.exp(side * q * middle) + math.exp(side * q * last)  # noqa: E731
    if max(abs(middle), abs(last)) * high > 600.0 or not excess(low) < 0.0 < excess(high):
        return None
    for _ in range(60):
        q = 0.5 * (low + high)
        low, high = (q, high) if excess(q) < 0.0 else (low, q)
    return side * 0.5 * (low + high)


def _follows(v: np.ndarray, law: Root, unit: float) -> bool:
    roots = 1.0 + law.slope * (np.arange(len(v)) - law.at)
    if not np.all(roots > 0.0):
        return False
    allowed = unit * (1.0 + abs(1.0 / law.q) * np.maximum(1.0, 1.0 / roots))
    return bool(np.all(np.abs(v[law.at] * roots ** (1.0 / law.q) / v - 1.0) <= allowed))


def _end(v: np.ndarray, law: Root, unit: float, doubt: float, op: str, t: float) -> Steps | None:
    first, now = float(v[law.at]), len(v) - 1 - law.at
    if t / first == 0.0 and law.q < 0.0:
        return None
    ends = []
    for q in (law.q, law.q * (1.0 + doubt), law.q * (1.0 - doubt)):
        slope = ((float(v[-1]) / first) ** q - 1.0) / now
        far = q * math.log(t / first) if t / first > 0.0 else -math.inf
        if far > 600.0:
            return None
        target = math.exp(far)
        ends.append((target - 1.0) / slope - now)
    k = ends[0]
    off = max(ends) - min(ends) + unit * (1.0 + abs(k)) / abs(law.slope)
    if not 0.0 < k < FARTHEST:
        return None
    step = float(v[-1] - v[-2])
    near = round(k)
    if off > OFF:
        span = max(1, math.floor(k - off)), math.ceil(k + off)
        return Steps(max(1, math.ceil(k)), "power", step=step, span=span) if off < 0.5 * k else None
    if near >= 1 and abs(k - near) <= off:
        return Steps(near if not OPS[op](t, t) else near + 1, "power", step=step, span=(near, near + 1))
    return Steps(max(1, math.ceil(k)), "power", step=step)
