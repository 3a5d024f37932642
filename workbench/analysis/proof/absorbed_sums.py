"""Bounds sums whose terms shrink with a counter, up to the iteration at which rounding absorbs the terms for good.

An example is ``s = s + 1 / (k * k)`` with ``k = k + 1``: the terms are bounded by the counters' closed forms on longer
and longer ranges of iterations, and the bounds are added up. In exact arithmetic such a sum grows for ever; in floats a
term below a quarter of the spacing at the sum leaves it unchanged, so the last range, which has no end, adds nothing.

The error of an addition that is rounded to nearest is at most half the spacing at its result (IEEE 754-2019, section
4.3.1); the bounds allow for a whole spacing at the largest number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.analysis.intervals.interval import Interval, bounds, spread
from workbench.analysis.proof.counter_detection import Counter
from workbench.analysis.slicing.formulas import Env, SliceProgram
from workbench.ir.node import Ref

#: Number of single iterations at the start; each later stretch has the length of its start divided by the second.
SINGLE, PART = 64, 16
#: Beginning of the last stretch.
FAR = 1 << 55


def sums(
    program: SliceProgram, state: Mapping[str, np.ndarray], counters: Mapping[str, Counter], held: Env
) -> dict[str, Interval]:
    """Boxes that contain the sums of the state in all later iterations; for float64 and float32 scalars only."""
    if not counters:
        return {}
    times = _stretches()
    env = {**held, **{name: counter.box(times) for name, counter in counters.items()}}
    out = {}
    for name in program.state:
        if name not in counters and (found := _sum(program, name, state[name], env, times)) is not None:
            out[name] = found
    return out


def _stretches() -> list[tuple[int, int | None]]:
    """Consecutive ranges of iterations, both ends included, that together cover all of them."""
    times: list[tuple[int, int | None]] = [(t, t) for t in range(SINGLE)]
    t = SINGLE
    while t < FAR:
        end = t + t // PART
        times.append((t, end))
        t = end + 1
    return [*times, (t, None)]


def _sum(
    program: SliceProgram, name: str, value: np.ndarray, env: Env, times: list[tuple[int, int | None]]
) -> Interval | None:
    dtype = str(value.dtype)
    term, sign = _term(program, name)
    if term is None or dtype not in ("float64", "float32") or value.shape != () or not np.isfinite(value):
        return None
    found = program.evaluate(term, {n: box for n, box in env.items() if n != name}, len(times))
    if found is None or found.dtype != dtype:
        return None
    wide = spread(found, len(times))
    if wide.nan.any() or wide.dead.any():
        return None
    lo, hi = (np.asarray(v, float) for v in (wide.lo, wide.hi))
    lo, hi = (lo, hi) if sign > 0 else (-hi, -lo)
    return _added(float(value), lo, hi, times, dtype)


def _term(program: SliceProgram, name: str) -> tuple[Ref | None, int]:
    """The term that an iteration adds to the variable, and its sign; (None, 1) for any other update."""
    node = program.graph.nodes[program.origin(program.updates[name]).node]
    if node.op not in ("add", "subtract") or len(node.inputs) != 2:
        return None, 1
    left, right = node.inputs
    if program.variable(left) == name and program.variable(right) != name:
        return right, 1 if node.op == "add" else -1
    if node.op == "add" and program.variable(right) == name and program.variable(left) != name:
        return left, 1
    return None, 1


def _added(
    start: float, lo: np.ndarray, hi: np.ndarray, times: list[tuple[int, int | None]], dtype: str
) -> Interval | None:
    """The box of the sum that begins at ``start``, if the terms in each stretch lie between ``lo`` and ``hi``."""
    kind: Any = np.dtype(dtype).type
    low = high = least = most = start
    for (t, end), a, b in zip(times, lo.tolist(), hi.tolist(), strict=True):
        size = max(abs(a), abs(b))
        if not math.isfinite(size):
            return None
        if _absorbed(low, high, size, kind):
            continue
        if end is None:
            return None
        n = end - t + 1
        largest = 2.0 * (max(abs(low), abs(high)) + n * size)
        if largest >= float(np.finfo(kind).max) / 4 or n * float(np.finfo(kind).eps) > 0.125:
            return None
        off = n * float(np.spacing(kind(largest)))
        # the additions here are rounded too: this relative margin is far larger
        low += (min(n * a, 0.0) if end > t else a) - off - 1e-12 * n * size
        high += (max(n * b, 0.0) if end > t else b) + off + 1e-12 * n * size
        least, most = min(least, low), max(most, high)
    return bounds(dtype, np.nextafter(kind(least), kind(-np.inf)), np.nextafter(kind(most), kind(np.inf)))


def _absorbed(low: float, high: float, size: float, kind: Any) -> bool:
    """True if adding a term of that size leaves every number from low to high unchanged."""
    if size == 0.0:
        return True
    if low <= 0.0 <= high:
        return False
    smallest = np.nextafter(kind(min(abs(low), abs(high))), kind(0))
    return size < float(np.spacing(smallest)) / 4.0


__all__ = ["sums"]
