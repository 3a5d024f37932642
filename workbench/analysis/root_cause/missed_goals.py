"""Goals that are stepped over, and comparisons that hold for all values of a dtype."""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.claims import clause as clauses
from workbench.analysis.claims.claim import Claim, checked
from workbench.analysis.claims.recompute import holds
from workbench.analysis.root_cause.clause_view import Cause, ClauseView, varies
from workbench.analysis.root_cause.movement import leading_away
from workbench.analysis.root_cause.wrapped import first_wrap


def missed(view: ClauseView) -> Cause | None:
    """The cause of a ``!=`` whose goal is stepped over, or cannot be reached by integer steps."""
    f = view.s.values
    if view.s.op != "!=" or f.late_x.dtype.kind not in "iuf":
        return None
    counts = f.early_x.dtype.kind in "iu" and f.early_t.dtype.kind in "iu" and not varies(f.early_t, f.late_t)
    if counts and not view.resting():
        found = _counter_misses(view)
        if found is not None:
            return found
    xs, ts = f.early_x.astype(np.float64), f.early_t.astype(np.float64)
    steps = np.diff(xs - ts)
    one_way = len(steps) >= 2 and bool(np.all(steps > 0) or np.all(steps < 0))
    even = one_way and bool(np.all(np.abs(steps - steps[0]) <= 1e-6 * abs(steps[0])))
    passed = np.flatnonzero((xs[1:] - ts[1:]) * (xs[:-1] - ts[:-1]) < 0)
    if one_way and len(passed):
        k = int(passed[0]) + 1
        return Cause("steps-over", _steps_over(view, k, float(steps[k - 1]) if even else None))
    return None


def _steps_over(view: ClauseView, k: int, step: float | None) -> list[Claim]:
    x, at = view.s.values.early_x, int(view.s.iterations[k])
    return view.claims(clauses.StepsOver, before=x[k - 1], after=x[k], iteration=at, step=step)


def _counter_misses(view: ClauseView) -> Cause | None:
    f, its = view.s.values, view.s.iterations
    bits = 8 * f.early_x.dtype.itemsize
    xs = [int(v) for v in f.early_x]
    steps = {(b - a) % (1 << bits) for a, b in zip(xs, xs[1:], strict=False)}
    if len(xs) < 3 or len(steps) != 1 or steps == {0}:
        return None
    up = steps.pop()
    step = up - (1 << bits) if up >= 1 << (bits - 1) else up
    way = int(f.early_t[0]) - xs[0]
    if way % math.gcd(step, 1 << bits) == 0:  # it would reach the goal by wrapping
        return leading_away(view) if way * step < 0 else None
    k = -(-way // step) if way * step > 0 else 0
    claims = _steps_over(view, k, float(step)) if 0 < k < len(xs) else []
    claims += view.claims(clauses.Residue, step=step, bits=bits, first=int(its[0]), last=int(its[-1]))
    return Cause("steps-over", claims) if claims else None


def every_number(view: ClauseView) -> Cause | None:
    """The cause of a comparison that holds for all values of the dtype of its moving side."""
    x = view.s.values.early_x
    if view.s.op not in ("<", "<=", ">", ">=") or x.dtype.kind not in "iu" or varies(view.s.values.early_t, view.t):
        return None
    limits, goal = np.iinfo(x.dtype), view.t[-1].item()
    if not (holds(int(limits.min), view.s.op, goal) and holds(int(limits.max), view.s.op, goal)):
        return None
    span = int(limits.min), int(limits.max)
    claims = view.claims(clauses.EveryNumber, variable=view.first_behind(), evidence=span)
    return Cause("wraps", [*claims, *checked(first_wrap(view.firings, view.s, view.clause))], view.behind())
