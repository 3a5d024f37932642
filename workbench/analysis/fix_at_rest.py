"""Fixes for an operand that comes to rest, or tends to a limit, where its clause still holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.proposed_fix import Fix

#: factor between a limit and a threshold from which moving the threshold does not help
FAR = 20.0
#: share by which a number at rest may differ from one that it was meant to meet
NEAR = 1e-6


def beyond(
    slug: str,
    name: str,
    who: str,
    op: str,
    threshold: float,
    limit: float,
    dtype: str,
    value: float | None,
    kind: str,
    moving: bool,
    fix: Any,
) -> list[str]:
    """Fixes for an operand with limit ``limit``: move the threshold past it, or lower the floor."""
    t = f"{threshold:.6g}"
    if kind in "iu":
        met = limit + {"<=": -1, ">=": 1}.get(op, 0)  # the threshold that it meets when it has come to rest
        there = f"move the threshold there ({op} {met:.15g}) or change the update."
        sentence = f"{name} comes to rest at {limit:.15g}: {there}"
        return [fix(sentence, "tolerance", name, threshold, met)]
    wider = {"float16": "float32", "bfloat16": "float32", "float32": "float64"}.get(dtype)
    if op in (">", ">=") and 0 <= threshold < limit:
        comes = "floors" if slug == "floor" else "tends to a limit"
        raised = float(np.format_float_scientific(2 * limit, precision=0))
        if slug == "limit-beyond" and limit > FAR * threshold:
            sentence = (
                f"{name} tends to {limit:.3g}, far above the threshold {t}: {who} converges to another point than the "
                "condition asks for. Compare the update with the condition: is a sign or a factor wrong?"
            )
            return [Fix(sentence, "inspect", who)]
        better = "float64" if wider else "a tolerance relative to the values' size"
        sentence = (
            f"{name} {comes} at {limit:.3g}, above the threshold {t}: "
            f"raise the threshold to about {raised:.1g} or use {better}."
        )
        found = [fix(sentence, "tolerance", name, threshold, raised)]
        if wider and slug == "floor":
            found.append(fix(f"compute {who} in float64 instead of {dtype}.", "dtype", who, dtype, "float64"))
        return found
    if op in (">=", "<=") and limit == threshold:
        strict = op[0]
        sentence = f"{name} tends to {limit:.9g}, which is the threshold itself: write {strict} instead of {op}."
        return [fix(sentence, "comparison", name, op, strict)]
    side = "above" if limit > threshold else "below"
    moved = _short_of(limit, limit if value is None else value, op)
    past = "short of it" if moving else "past the limit"
    sentence = (
        f"{name} {'comes as far as' if moving else 'tends to'} {limit:.9g}, {side} the threshold {t}: "
        f"move the threshold {past} (to {moved:.6g}) or change the update."
    )
    return [fix(sentence, "tolerance", name, threshold, moved)]


def beside(name: str, other: str, who: str, threshold: float, limit: float, kind: str) -> Fix:
    """A fix for ``name != other`` where the operand has come to rest at another number, be it the next one."""
    if kind == "f" and abs(limit - threshold) <= NEAR * max(abs(limit), abs(threshold)):
        sentence = (
            f"{name} comes to rest beside {other}, not at it: compare with a tolerance, abs({name} - {other}) > tol."
        )
        return Fix(sentence, "update", who)
    sentence = (
        f"{name} comes to rest at {limit:.15g} and is never {other}: compare with what it comes to, or change the "
        f"update of {who}."
    )
    return Fix(sentence, "update", who)


def _short_of(limit: float, start: float, op: str) -> float:
    """A threshold that the values meet on their way from ``start`` to ``limit``."""
    way = abs(limit - start) or max(abs(limit), 1.0)
    back = min(0.01 * way, max(1e-3 * abs(limit), 1e-12 * way))
    return limit + back if op in (">", ">=") else limit - back


__all__ = ["FAR", "beside", "beyond"]
