"""Classifies why a comparison does not turn: a cause slug, from the values of its sides and the update.

The order of the questions is that of the table in ``termination``; each is asked of exact values where the look-ahead
found a recurrence (``late`` holds the values inside it), and of the observed ones else.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.forecast.laws.exact_continuation import OPS
from workbench.analysis.root_cause.clause_features import (
    NOISE,
    Cause,
    ClauseFeatures,
    differences,
    eps_of,
    grows,
    is_infinite,
    is_nan,
    moves,
    period_of,
    swings,
    varies,
    wraps_round,
)


def cause_of(f: ClauseFeatures) -> Cause:
    """The cause; ``recurrence`` where nothing fits."""
    with np.errstate(all="ignore"):
        return _cause(f)


def _cause(f: ClauseFeatures) -> Cause:
    x, t = f.late_x[-1], f.late_t[-1]
    swinging = f.swing is not None and swings(f.swinging)
    if is_nan(x) or is_nan(t):
        return Cause("step-too-large" if swinging and grows(f.swinging) else "nan")
    if f.op == "!=" and not f.flag:
        found = _misses(f)
        if found is not None:
            return found
    if swinging and grows(f.swinging):
        return Cause("step-too-large", details={"growing": True})
    start_x = f.early_x[0]
    if is_infinite(x) and not is_infinite(start_x):
        return Cause("overflow", float(x))
    if _holds_for_all(f):
        return Cause("wraps", float(np.iinfo(f.early_x.dtype).max), step=f.step, details={"always": True})
    if not varies(f.early_x, f.late_x) and not varies(f.early_t, f.late_t):
        return _unmoved(f)
    period = _period(f)
    settled = f.settled or len(f.late_x) >= 32 and period <= len(f.late_x) // 3
    if settled and period > 1:
        return _cycling(f, period)
    if settled:
        return _resting(f)
    return _ongoing(f)


def _period(f: ClauseFeatures) -> int:
    for values in (f.late_x, f.late_t, f.root_late):
        if len(values) > 1 and varies(values):
            return period_of(values) or len(values)
    return 1


def _misses(f: ClauseFeatures) -> Cause | None:
    """``!=``: the values pass the threshold, or their steps cannot meet it."""
    if f.early_x.dtype.kind in "iu" and not moves(f.early_t):
        bits = 8 * f.early_x.dtype.itemsize
        d = np.array([int(b) - int(a) for a, b in zip(f.early_x, f.early_x[1:], strict=False)], object) % (1 << bits)
        if len(d) >= 2 and d[0] and all(d == d[0]):  # a counter, as its dtype counts
            step = int(d[0]) - (1 << bits) if d[0] >= 1 << (bits - 1) else int(d[0])
            way = int(f.early_t[0]) - int(f.early_x[0])
            meets = way % math.gcd(step, 1 << bits) == 0  # it moves away then, and would come round
            return Cause("moves-away" if meets and way * step < 0 and not f.settled else "steps-over", step=float(step))
    gap = f.early_x.astype(np.float64) - f.early_t.astype(np.float64)
    close = np.abs(float(f.late_x[-1]) - float(f.late_t[-1]))
    eps = float(np.finfo(f.late_x.dtype).eps) if f.late_x.dtype.kind == "f" else 0.0
    if f.settled and 0 < close <= NOISE * eps * max(abs(float(f.late_t[-1])), abs(float(f.late_x[-1]))):
        return Cause("floor", float(f.late_x[-1]))
    finite = gap[np.isfinite(gap)]
    if len(finite) < 2:
        return None
    steps = np.diff(finite)
    constant = len(steps) >= 2 and bool(np.all(np.abs(steps - steps[0]) <= 1e-6 * abs(steps[0]))) and steps[0] != 0
    one_way = bool(np.all(steps > 0) or np.all(steps < 0))
    passed = (
        bool(np.any(finite[1:] * finite[:-1] < 0))
        or f.settled
        and finite[0] * (float(f.late_x[-1]) - float(f.late_t[-1])) < 0
    )
    toward = finite[0] * steps[0] < 0
    if constant and (passed or toward):
        return Cause("steps-over", step=float(steps[0]))
    if one_way and passed:
        return Cause("steps-over")
    if constant and not toward:
        return Cause("moves-away", step=float(steps[0]))
    return None


def _unmoved(f: ClauseFeatures) -> Cause:
    """The clause has had one value on both sides all the time."""
    x = f.late_x[-1]
    period = _period(f)
    if not f.updated:
        return Cause("not-updated")
    if f.flag or f.late_x.dtype.kind == "b":
        return Cause("flag-never-set")
    if f.late_x.dtype.kind == "f" and (f.step or f.free_increment and f.increment):
        return Cause("absorbed", float(x), step=f.step or f.increment)
    if period > 1 and (f.settled or period <= len(f.late_x) // 3):
        return _cycling(f, period)
    if _is_residual(f, float(x), float(f.late_t[-1]), float("nan")):
        return Cause("floor", float(x))
    return Cause("no-effect", float(x))


def _cycling(f: ClauseFeatures, period: int) -> Cause:
    x = f.late_x.astype(np.float64)
    t = float(f.late_t[-1])
    for values in (f.late_x, f.root_late):
        if values.dtype.kind in "iu" and wraps_round(values):
            return Cause("wraps", float(np.iinfo(values.dtype).max), period)
    if f.late_x.dtype.kind == "b":
        return Cause("cycle", None, period)
    root = f.root_late.astype(np.float64) if f.root_late.dtype.kind in "fiu" and len(f.root_late) else x
    eps = float(np.finfo(f.root_late.dtype).eps) if f.root_late.dtype.kind == "f" else 0.0
    swing = max(float(np.ptp(x)), float(np.ptp(root)))
    if eps and swing <= NOISE * eps * max(f.scale, 1e-300):
        slug = "floor" if f.op in (">", ">=", "!=") and t >= 0 else "limit-beyond"
        return Cause(slug, float(_nearest(f, x)), period)
    if f.swing is not None and (swings(f.swinging_late) or swings(f.swinging)):
        return Cause("step-too-large", None, period)
    return Cause("cycle", None, period)


def _nearest(f: ClauseFeatures, x: np.ndarray) -> float:
    """Of the values in a cycle the one that a threshold must be moved past for the clause to turn."""
    return float(x.min() if f.op in (">", ">=") else x.max())


def _resting(f: ClauseFeatures) -> Cause:
    """Cause for operands that have come to rest at values at which the clause holds."""
    x, t = float(f.late_x[-1]), float(f.late_t[-1])
    if f.late_x.dtype.kind == "f" and (f.step or f.free_increment and f.increment) and abs(x) > 0:
        step = f.step or f.increment or 0.0
        away = f.op in ("<", "<=") and step < 0 or f.op in (">", ">=") and step > 0
        return Cause("moves-away" if away else "absorbed", x, step=step)
    if f.late_x.dtype.kind == "b":
        return Cause("flag-never-set" if f.flag else "limit-beyond")
    if f.step is None and not f.free_increment and f.late_x.dtype.kind == "f" and _was_counting(f):
        d = differences(f.early_x)
        return Cause("absorbed", x, step=float(d[d != 0][0]))
    if f.late_x.dtype.kind in "iu" and moves(f.early_t):
        return Cause("no-effect", x)  # both sides are updated, and have come to rest before they met
    sizes = [np.abs(v.astype(np.float64)) for v in (f.early_x, f.root) if v.dtype.kind == "f" and len(v)]
    start = max((float(s[np.isfinite(s)].max()) for s in sizes if np.isfinite(s).any()), default=abs(x))
    return Cause("floor" if _is_residual(f, x, t, start) else "limit-beyond", x)


def _was_counting(f: ClauseFeatures) -> bool:
    d = differences(f.early_x)
    d = d[d != 0]
    return len(d) >= 3 and bool(np.all(d * d[0] > 0)) and max(abs(d)) <= 1.5 * min(abs(d))


def _is_residual(f: ClauseFeatures, x: float, t: float, start: float) -> bool:
    """True if an operand at rest is the floor of a residual, not the limit of something that was never to be small."""
    if f.op not in (">", ">=", "!=") or not 0 <= t < x or f.late_x.dtype.kind != "f":
        return False
    eps = float(np.finfo(f.late_x.dtype).eps)
    # rounding noise of the numbers around, or a small part of where it began beside a small tolerance
    return x <= NOISE * eps * f.scale or t < 1e-2 and (x <= 0.05 * start or math.isnan(start) and x < 1e-2)


def _ongoing(f: ClauseFeatures) -> Cause:
    """No recurrence is known: judge by the drift, unless the forecast gave a cause already."""
    x, t = f.late_x.astype(np.float64), f.late_t.astype(np.float64)
    integral = f.early_x.dtype.kind in "iu"
    for values in (f.early_x, f.root, f.late_x, f.root_late):
        if values.dtype.kind in "iu" and wraps_round(values):
            return Cause("wraps", float(np.iinfo(values.dtype).max), step=f.step)
    if f.slug in ("absorbed", "steps-over", "wraps", "floor", "overflow", "nan"):
        return Cause(f.slug, float(x[-1]), step=f.step)
    if f.swing is not None and swings(f.swinging_late):
        return Cause("step-too-large")
    gaps = [np.abs(f.early_x.astype(np.float64) - f.early_t.astype(np.float64)), np.abs(x - t)]
    gaps = [g[np.isfinite(g)] for g in gaps]
    if min(map(len, gaps)) < 3:
        return Cause(f.slug or "recurrence")
    d = np.concatenate([np.diff(g) for g in gaps])
    if not d.any():
        return Cause(f.slug or "clause-invariant")
    # one way, or the other; a way that grows ever shorter has a limit
    up, down = bool(np.all(d >= 0)), bool(np.all(d <= 0))
    if up and (integral or abs(d[-1]) >= 0.5 * abs(d).max() or gaps[1][-1] > 4 * gaps[0][0] + f.scale):
        step = f.step if f.step else float(d[-1]) * (1 if x[-1] > t[-1] else -1) if np.ptp(d) == 0 else None
        return Cause("moves-away", step=step)
    step = f.step or (f.increment if f.free_increment else None)
    if down and step and not integral and max(abs(d)) <= 2 * min(abs(d)):
        stall = math.copysign(2.0 ** math.ceil(math.log2(2 * abs(step) / eps_of(f))), step)
        if abs(t[-1]) > abs(stall):  # it counts, and cannot count so far
            return Cause("absorbed", stall, step=step)
    if up or down:
        residual = _is_residual(f, float(x[-1]), float(t[-1]), float(np.nanmax(np.abs(f.early_x.astype(np.float64)))))
        return Cause("floor" if residual else "limit-beyond", float(x[-1]))
    return Cause(f.slug if f.slug in ("cycle", "moves-away", "limit-beyond") else "cycle", float(x[-1]))


def _holds_for_all(f: ClauseFeatures) -> bool:
    """True if every number of an integer dtype satisfies the clause."""
    if f.op not in ("<", "<=", ">", ">=") or f.early_x.dtype.kind not in "iu" or varies(f.early_t, f.late_t):
        return False
    limits, t = np.iinfo(f.early_x.dtype), f.late_t[-1].item()
    return bool(OPS[f.op](int(limits.min), t) and OPS[f.op](int(limits.max), t))


__all__ = ["cause_of"]
