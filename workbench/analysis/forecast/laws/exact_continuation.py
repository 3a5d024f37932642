"""Continues counters and multipliers in the arithmetic of their dtype, with its rounding, absorption and wrapping.

The rule x(k+1) = fl(x(k) + c) or fl(x(k) * r) is inferred from observations and accepted only if it reproduces every
one of them bit for bit; then NumPy's sequential ``accumulate`` continues it exactly.  Because it is inferred from
observations, the answer is a forecast, never a proof.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.analysis.comparisons import OPS
from workbench.kernels.laws import followed


def holds(op: str, a: Any, b: Any) -> bool:
    """``a op b`` for any two scalars; if one is an integer beyond the dtype of the other, they are compared as Python
    numbers.
    """
    try:
        return bool(OPS[op](a, b))
    except OverflowError:
        plain = [v.item() if isinstance(v, np.generic) else v for v in (a, b)]
        return bool(OPS[op](*plain))


#: Maximum number of steps that are simulated one by one.
MAX_STEPS = 400_000
#: Maximum number of wraps of a counter that are followed.
WRAPS = 4096


@dataclass
class Steps:
    """``k`` is the first k >= 1 at which ``x(k) op threshold`` is false, None for never.

    ``why`` is a slug, ``at`` the value at which it stalls, ``span`` the range of k over all rules that fit.
    """

    k: int | None
    why: str
    at: float | None = None
    step: float = 0.0
    span: tuple[int, int] | None = None


def integer_steps(xs: list[int], op: str, threshold: float, bits: int | None, signed: bool = True) -> Steps | None:
    """Continue an integer counter; ``bits`` is the dtype's width, None for 64 or more, where wrapping is too far."""
    c = xs[-1] - xs[-2]
    if bits is not None:  # the last step may itself have wrapped: take the shortest of the congruent steps
        c = min((c % (1 << bits), c % (1 << bits) - (1 << bits)), key=abs)
    modulo = 1 << bits if bits is not None else 1 << 200
    if len(xs) < 3 or any((b - a - c) % modulo for a, b in zip(xs, xs[1:], strict=False)):
        return None
    x = xs[-1]
    if c == 0:
        return Steps(None, "constant", step=0.0)
    if threshold != threshold:
        return Steps(None, "nan") if op == "!=" else Steps(0, "nan")
    k = first_failure(x, c, op, threshold)
    if bits is None:
        return Steps(k, "counter" if k is not None else "steps-over" if op == "!=" else "moves-away", step=c)
    top = (1 << (bits - 1)) - 1 if signed else (1 << bits) - 1
    low = -(1 << (bits - 1)) if signed else 0
    if op in ("<", "<=", ">", ">=") and OPS[op](low, threshold) and OPS[op](top, threshold):
        return Steps(None, "out-of-range", float(top if c > 0 else low), c)
    # plain arithmetic is valid up to the edge of the dtype; then the counter wraps
    edge = (top - x) // c if c > 0 else (x - low) // -c
    if k is not None and k <= edge:
        return Steps(k, "counter", step=c)
    if op == "!=":
        return _meets(x, c, threshold, low, top)
    value = (x + (edge + 1) * c - low) % (1 << bits) + low
    if not OPS[op](value, threshold):
        return Steps(edge + 1, "wraps", float(top if c > 0 else low), c)
    k = first_failure(value, c, op, threshold)
    if k is not None and k <= ((top - value) // c if c > 0 else (value - low) // -c):
        return Steps(edge + 1 + k, "wraps", float(top if c > 0 else low), c)
    return None


def _meets(x: int, c: int, threshold: float, low: int, top: int) -> Steps | None:
    """The step at which a wrapping counter equals ``threshold``; None if it wraps more than WRAPS times before that."""
    modulus = top - low + 1
    if math.isinf(threshold):
        return Steps(None, "steps-over", step=c)
    if threshold != int(threshold):
        return None
    common = math.gcd(abs(c), modulus)
    share, rest = divmod(int(threshold) - x, common)
    if rest:
        return Steps(None, "steps-over", step=c)
    if not low <= threshold <= top:
        return None
    # (threshold - x) / common = k c / common, modulo modulus / common
    small = modulus // common
    k = share * pow(c // common, -1, small) % small or small
    wraps = (x - low + k * c) // modulus if c > 0 else (top - x - k * c) // modulus
    return Steps(k, "wraps", float(top if c > 0 else low), c) if wraps <= WRAPS else None


def first_failure(x: int, c: int, op: str, t: float) -> int | None:
    """First k >= 1 at which ``x + k c op t`` is false in unbounded integers; None if it stays true."""
    if isinstance(t, float) and math.isinf(t):
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
        if t != int(t) or (int(t) - x) % c or (int(t) - x) // c < 1:
            return None
        return (int(t) - x) // c
    return 1  # '==' fails at the next step, as c is not 0


def float_steps(x: np.ndarray, op: str, threshold: float) -> Steps | None:
    """Continue a counter or multiplier of floats in the dtype of x; None if no such rule reproduces the record."""
    if not np.isfinite(x).all():
        return None
    dtype = x.dtype.type
    with np.errstate(all="ignore"):
        for kind, ufunc in (("add", np.add), ("multiply", np.multiply)):
            for c in _candidates(x, kind):
                c = dtype(c)
                if ufunc(x[-2], c) == x[-1] and np.array_equal(ufunc(x[:-1], c), x[1:]):
                    found = _simulate(x[-1], c, kind, ufunc, op, threshold)
                    return _doubted(found, x, c, op, threshold) if kind == "add" and found is not None else found
    return None


def _doubted(found: Steps, x: np.ndarray, c: np.floating, op: str, threshold: float) -> Steps | None:
    """The same answer with the range of k over all steps that round to the observations.

    Near the dtype's resolution a step of 0.2 and one of 0.3 look the same, and only one of them is absorbed later on.
    """
    wide = x.astype(np.float64)
    slack = 0.5 * np.spacing(np.maximum(np.abs(x[1:]), np.abs(x[:-1]))).astype(np.float64)
    low, high = float(np.max(np.diff(wide) - slack)), float(np.min(np.diff(wide) + slack))
    if not high - low > 4 * float(np.spacing(np.abs(c))) or low * high <= 0:
        return found
    inner = (high - low) * 1e-3
    edges = (low + inner, high - inner)
    others = [_simulate(x[-1], x.dtype.type(v), "add", np.add, op, threshold) for v in edges]
    ends = [s.k for s in [found, *others] if s is not None and s.k is not None]
    if not ends or len(ends) == 1 + len(edges) and min(ends) == max(ends):
        return found
    if found.k is None and float(c).is_integer() and float(c) == float(wide[-1] - wide[-2]):
        return found  # a step observed as exactly 1 is not 1.3 in the program
    if found.k is None:  # the simplest step never reaches it, but another one would: no answer is safe
        return Steps(None, "ambiguous", step=float(c))
    return replace(found, span=(min(ends), max(ends)))


@functools.cache
def limits(dtype: np.dtype) -> tuple[float, float]:
    """Relative rounding and smallest normal number of a dtype of floats."""
    info = np.finfo(dtype)
    return float(info.eps), float(info.tiny)


def _candidates(x: np.ndarray, kind: str) -> list[float]:
    wide = x.astype(np.float64)
    if kind == "add":
        i = int(np.argmin(np.maximum(np.abs(wide[1:]), np.abs(wide[:-1]))))
        c = float(wide[i + 1] - wide[i])
    else:
        if np.any(wide[:-1] == 0):
            return []
        c = median(wide[1:] / wide[:-1])
    if not math.isfinite(c) or c == 0:
        return []
    # a constant in a program has few digits, and the difference of two values may deviate from it by a rounding:
    # shortest first
    return [float(f"{c:.{digits}g}") for digits in (1, 2, 3, 6, 9, 12, 15)] + [c]


def median(v: np.ndarray) -> float:
    """The median of values without NaN."""
    middle = len(v) // 2
    if len(v) % 2:
        return float(np.partition(v, middle)[middle])
    low, high = np.partition(v, (middle - 1, middle))[middle - 1 : middle + 1].tolist()
    return 0.5 * (low + high)


def _simulate(x, c, kind: str, ufunc, op: str, threshold: float) -> Steps | None:
    done, value, budget = 0, x, MAX_STEPS
    size, slug = 256, "counter" if kind == "add" else "geometric"
    while budget > 0:
        k, last, before = _followed(value, c, ufunc, size, op, threshold)
        if k:
            return Steps(done + k, slug, step=float(c))
        if last == before or not np.isfinite(last):
            slug = "absorbed" if np.isfinite(last) else "overflow"
            return Steps(None, slug if kind == "add" or slug == "overflow" else "limit", float(last), float(c))
        done, value, budget = done + size, last, budget - size
        if kind == "add" and (float(threshold) - float(value)) * float(c) < 0:
            return Steps(None, "moves-away" if op not in ("!=", "==") else "steps-over", step=float(c))
        size = min(4 * size, 65536)
        if kind == "add" and done >= 1024:
            jumped = _jump(value, c, threshold)
            done, value = done + jumped[0], jumped[1]
            size = 256 if jumped[0] else size
    return None


def _followed(x, c, ufunc, size: int, op: str, threshold: float) -> tuple[int, Any, Any]:
    """(k, last, second to last) of up to ``size`` values; k counts the values up to the first that fails, 0 if none
    does.
    """
    dtype = x.dtype.type
    if dtype is np.float64 or dtype is np.float32:
        single = dtype is np.float32
        k, last, before = followed(float(x), float(c), ufunc is np.multiply, single, size, op, threshold)
        return k, dtype(last), dtype(before)
    block = np.full(size + 1, c, dtype=x.dtype)
    block[0] = x
    values = ufunc.accumulate(block)[1:]
    failed = np.flatnonzero(~OPS[op](values, threshold))
    return int(failed[0]) + 1 if failed.size else 0, values[-1], values[-2]


def _jump(x, c, threshold: float) -> tuple[int, np.floating]:
    """(steps, value) of x + c + c ... for as long as every addition rounds the same way.

    Within one binade the numbers are equally spaced, so fl(x + c) - x is a fixed multiple of the spacing; for a tie,
    which is rounded to even, this holds from the second step on. The jump stops two steps before the end of the binade
    or the threshold.
    """
    one = x + c
    two, step = one + c, float(one + c) - float(one)
    if step == 0 or float(two + c) - float(two) != step or x == 0 or not np.isfinite(two):
        return 0, x
    exponent = math.frexp(float(x))[1]
    grows = (float(x) > 0) == (step > 0)
    edge = math.copysign(2.0 ** (exponent if grows else exponent - 1), float(x))
    steps = int(min(abs(edge - float(x)), abs(float(threshold) - float(x))) / abs(step)) - 2
    if steps < 512 or math.frexp(float(two))[1] != exponent:
        return 0, x
    # a multiple of the spacing, by less than 2**53: exact in float64, and in the operand's dtype by construction
    return steps, x.dtype.type(float(x) + steps * step)
