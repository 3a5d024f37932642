"""Fixes that move a threshold to a number that the values reach, if they settle or cycle."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.analysis.comparisons import NEGATED
from workbench.analysis.fixes.fix import Fix
from workbench.analysis.text import apart, shown

#: ratio of a limit and a threshold above which moving the threshold does not help
FAR = 20.0
#: relative tolerance between a settled value and the value that it was meant to reach
NEAR = 1e-6


def fix_of(clause: Any, sentence: str, kind: str, target: str, old: Any, new: Any, applies: bool = True) -> Fix:
    fix = Fix(sentence, kind, target, old, new, applies and bool(clause.frame), clause.node)
    return fix.placed(clause.frame, clause.mirrored, clause.negated)


def _number(value: Any) -> float:
    return float(np.asarray(value).reshape(-1)[0])


def rests(c: Any) -> list[str]:
    """Move the threshold to the value at which the moving side settles, if it moved there."""
    clause, value = c.clause, c.value
    kind = np.asarray(value).dtype.kind
    if not clause.frame and not c.moved:  # for a loop that is only observed
        return [Fix(f"update {clause.name} in the loop: it does not change.", "update", clause.name)]
    if not c.moved or not clause.fixed or kind not in "iuf" or not np.isfinite(value):
        return []
    if clause.op == "!=":
        return [_beside(clause, _number(value), kind)]
    if kind in "iu":
        met = int(value) + {"<=": -1, ">=": 1}.get(clause.op, 0)
        sentence = f"move the threshold to where {clause.name} comes to rest ({_source_op(clause)} {met:,})."
        return [fix_of(clause, sentence, "tolerance", clause.name, clause.threshold.item(), met)]
    return [_threshold(clause, _number(value), _number(c.start))]


def _source_op(clause: Any) -> str:
    return str(NEGATED[clause.op] if clause.negated else clause.op)


def _threshold(clause: Any, limit: float, start: float) -> Fix:
    op, threshold = clause.op, _number(clause.threshold)
    if op in (">=", "<=") and limit == threshold:
        source = {">=": "<=", "<=": ">="}[op] if clause.negated else op[0]
        instead = f"write {source} instead of {_source_op(clause)}"
        sentence = f"{instead}: {clause.name} comes to {shown(limit)}, the threshold itself."
        return fix_of(clause, sentence, "comparison", clause.name, op, op[0])
    if op in (">", ">=") and 0 <= threshold < limit and limit <= max(FAR * threshold, 1e-2, 0.05 * start):
        return _raised(clause, limit, limit)
    way = abs(limit - start) or max(abs(limit), 1.0)
    back = min(0.01 * way, max(1e-3 * abs(limit), 1e-12 * way))
    moved = limit + back if op in (">", ">=") else limit - back
    (a, b), to = apart(limit, threshold), _beside_of(moved, limit)
    sentence = f"move the threshold from {b} to {to}, or change the update: {clause.name} comes to {a}."
    return fix_of(clause, sentence, "tolerance", clause.name, threshold, moved)


def _beside_of(value: float, limit: float) -> str:
    """A number with the fewest digits, at least six, that put it much nearer to itself than to a limit."""
    texts = (f"{value:.{digits}g}" for digits in range(6, 17))
    return next((t for t in texts if 4.0 * abs(float(t) - value) < abs(value - limit)), f"{value:.17g}")


def _raised(clause: Any, lowest: float, highest: float) -> Fix:
    """A threshold above all later values."""
    raised = float(np.format_float_scientific(2 * highest, precision=0))
    sentence = f"raise the threshold to about {raised:.1g}: {clause.name} comes no lower than {lowest:.3g}."
    return fix_of(clause, sentence, "tolerance", clause.name, _number(clause.threshold), raised)


def _beside(clause: Any, limit: float, kind: str) -> Fix:
    threshold = _number(clause.threshold)
    if kind == "f" and abs(limit - threshold) <= NEAR * max(abs(limit), abs(threshold)):
        with_tolerance = f"compare with a tolerance, abs({clause.name} - {clause.other}) > tol"
        sentence = f"{with_tolerance}: {clause.name} comes to rest near it."
    else:
        sentence = f"{clause.name} comes to rest at {limit:.15g}: compare with that, or change its update."
    return Fix(sentence, "update", clause.name)


def circles(c: Any) -> list[str]:
    clause, who = c.clause, c.variable or c.clause.name
    change = Fix(f"change the update of {who}, so that it settles, or the condition.", "update", who)
    kind = np.asarray(c.lowest).dtype.kind
    if kind != "f" or not clause.fixed or clause.op not in ("<", "<=", ">", ">=") or not c.always:
        return [change]
    low, high, threshold, falls = _number(c.lowest), _number(c.highest), _number(clause.threshold), ">" in clause.op
    if falls and threshold >= 0 and low > max(FAR * threshold, 1e-2):
        return [change]
    if falls and 0 <= threshold < low:
        return [_raised(clause, low, high)]
    inside = 0.05 * (high - low)
    new = low + inside if falls else high - inside
    if not math.isfinite(new):
        return [change]
    to = _beside_of(new, low if falls else high)
    sentence = f"move the threshold in between (to {to}), or change the update of {who}."
    return [fix_of(clause, sentence, "tolerance", clause.name, threshold, new), change]


__all__ = ["circles", "fix_of", "rests"]
