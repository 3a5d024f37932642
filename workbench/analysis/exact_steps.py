"""Counters and multipliers continued in their own dtype's arithmetic, rounding, absorption and wrapping included.

The rule x(k+1) = fl(x(k) + c) or fl(x(k) * r) is inferred from observations and accepted only if it reproduces every
one of them bit for bit; then NumPy's sequential ``accumulate`` continues it exactly.  As an inference from
observations this makes a forecast, never a proof.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass

import numpy as np

OPS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
#: Names that frontends use for comparisons, mapped to the signs.
NAMES = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!="}
#: Steps simulated one by one at most.
SIMULATED = 400_000


@dataclass
class Steps:
    """First k >= 1 with not (x(k) op threshold); None: never. ``why`` is a slug, ``at`` where it stalls."""

    k: int | None
    why: str
    at: float | None = None
    step: float = 0.0


def integer_steps(xs: list[int], op: str, threshold: float, bits: int | None, signed: bool = True) -> Steps | None:
    """An exact counter of integers; ``bits`` is the dtype's width, None for 64 or more (too far to wrap)."""
    c = xs[-1] - xs[-2]
    if len(xs) < 3 or any(b - a != c for a, b in zip(xs, xs[1:], strict=False)):
        return None
    x = xs[-1]
    if c == 0:
        return Steps(None, "constant", step=0.0)
    if math.isnan(threshold):
        return Steps(None, "nan") if op == "!=" else Steps(0, "nan")
    k = _first_failure(x, c, op, threshold)
    if bits is None:
        return Steps(k, "counter" if k is not None else "steps-over" if op == "!=" else "moves-away", step=c)
    top = (1 << (bits - 1)) - 1 if signed else (1 << bits) - 1
    low = -(1 << (bits - 1)) if signed else 0
    if op in ("<", "<=", ">", ">=") and OPS[op](low, threshold) and OPS[op](top, threshold):
        return Steps(None, "out-of-range", float(top if c > 0 else low), c)
    # up to the edge of the dtype plain arithmetic holds; then the counter wraps
    edge = (top - x) // c if c > 0 else (x - low) // -c
    if k is not None and k <= edge:
        return Steps(k, "counter", step=c)
    modulus = 1 << bits
    done, value = 0, x
    for _ in range(4096):
        edge = (top - value) // c if c > 0 else (value - low) // -c
        done += edge + 1
        value = (value + (edge + 1) * c - low) % modulus + low
        if not OPS[op](value, threshold):
            return Steps(done, "wraps", float(top if c > 0 else low), c)
        k = _first_failure(value, c, op, threshold)
        edge = (top - value) // c if c > 0 else (value - low) // -c
        if k is not None and k <= edge:
            return Steps(done + k, "wraps", float(top if c > 0 else low), c)
        if op != "!=":
            return None
    if op == "!=" and float(threshold).is_integer() and (int(threshold) - x) % math.gcd(abs(c), modulus):
        return Steps(None, "steps-over", step=c)
    return None


def _first_failure(x: int, c: int, op: str, t: float) -> int | None:
    """First k >= 1 at which x + k c fails ``op t`` in unbounded integers; None if never."""
    if math.isinf(t):
        ok = OPS[op](x, t)
        return None if ok else 1
    if op in ("<", "<="):
        if c < 0:
            return None
        limit = math.ceil(t) if op == "<" else math.floor(t) + 1
        return max(1, -((x - limit) // c))
    if op in (">", ">="):
        if c > 0:
            return None
        limit = math.floor(t) if op == ">" else math.ceil(t) - 1
        return max(1, -((limit - x) // -c))
    if op == "!=":
        if not float(t).is_integer() or (int(t) - x) % c or (int(t) - x) // c < 1:
            return None
        return (int(t) - x) // c
    return 1  # '==' fails at the next step, as c is not 0


def float_steps(x: np.ndarray, op: str, threshold: float) -> Steps | None:
    """An exact counter or multiplier of floats in the dtype of x; None if no such rule reproduces the observations."""
    if len(x) < 4 or not np.all(np.isfinite(x)) or x[-1] == x[-2]:
        return None
    dtype = x.dtype.type
    with np.errstate(all="ignore"):
        for kind, ufunc in (("add", np.add), ("multiply", np.multiply)):
            for c in _candidates(x, kind):
                c = dtype(c)
                if np.array_equal(ufunc(x[:-1], c), x[1:]):
                    return _simulate(x[-1], c, kind, ufunc, op, threshold)
    return None


def _candidates(x: np.ndarray, kind: str) -> list[float]:
    wide = x.astype(np.float64)
    if kind == "add":
        i = int(np.argmin(np.maximum(np.abs(wide[1:]), np.abs(wide[:-1]))))
        c = float(wide[i + 1] - wide[i])
    else:
        if np.any(wide[:-1] == 0):
            return []
        c = float(np.median(wide[1:] / wide[:-1]))
    if not math.isfinite(c) or c == 0:
        return []
    # a written constant has few digits, and the plain difference may differ from it by a rounding: shortest first
    return [float(f"{c:.{digits}g}") for digits in (1, 2, 3, 6, 9, 12, 15)] + [c]


def _simulate(x, c, kind: str, ufunc, op: str, threshold: float) -> Steps | None:
    done, value, test = 0, x, OPS[op]
    size = 256
    while done < SIMULATED:
        block = np.full(size + 1, c, dtype=x.dtype)
        block[0] = value
        values = ufunc.accumulate(block)[1:]
        failed = np.flatnonzero(~test(values, threshold))
        if failed.size:
            slug = "counter" if kind == "add" else "geometric"
            return Steps(done + int(failed[0]) + 1, slug, step=float(c))
        if values[-1] == (values[-2] if size > 1 else value) or not np.isfinite(values[-1]):
            slug = "absorbed" if np.isfinite(values[-1]) else "overflow"
            return Steps(None, slug if kind == "add" or slug == "overflow" else "limit", float(values[-1]), float(c))
        done, value = done + size, values[-1]
        size = min(4 * size, 65536)
    if kind != "add":
        return None
    toward = (float(threshold) - float(value)) * float(c) > 0
    if not toward or op in ("!=", "=="):
        return Steps(None, "moves-away" if not toward else "steps-over", step=float(c))
    # beyond the simulated stretch: where does the dtype absorb the step?
    eps = float(np.finfo(x.dtype).eps)
    stall = 2.0 ** math.ceil(math.log2(2.0 * abs(float(c)) / eps))
    if abs(threshold) > stall:
        return Steps(None, "absorbed", math.copysign(stall, float(c)), float(c))
    if abs(threshold) < stall / 1024:
        return Steps(done + math.ceil((float(threshold) - float(value)) / float(c)), "counter-long", step=float(c))
    return None
