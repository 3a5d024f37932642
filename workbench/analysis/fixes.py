"""What to change, computed from the numbers: one sentence per kind of trouble."""

from __future__ import annotations

import math

import numpy as np


def power_of_two(value: float) -> str:
    """2^24 for 16777216, else plain digits."""
    exponent = math.log2(abs(value)) if value and math.isfinite(value) else 0.5
    return f"2^{int(exponent)}" if exponent == int(exponent) and exponent > 9 else f"{value:.9g}"


def fixes(
    slug: str,
    *,
    name: str,
    op: str,
    threshold: float,
    other: str,
    value: float | None = None,
    step: float | None = None,
    dtype: str = "",
    limit: float | None = None,
    period: float | None = None,
) -> list[str]:
    """Sentences for one blocking clause ``name op other``, whose other side is ``threshold``."""
    t = f"{threshold:.6g}"
    wider = "float64" if dtype in ("float16", "float32", "bfloat16") else "a tolerance relative to the values' size"
    if slug == "absorbed" and limit is not None and step is not None:
        return [
            f"the {dtype} counter {name} absorbs {'+' if step > 0 else '-'} {abs(step):.6g} "
            f"at {power_of_two(limit)}: use int64."
        ]
    if slug == "clause-invariant":
        return [f"clause {name} {op} {other} never changes: {name} is not updated in the body."]
    if slug == "no-effect":
        return [f"clause {name} {op} {other} does not change any more: the update of {name} leaves it as it is."]
    if slug in ("floor", "limit-beyond") and limit is not None and op in (">", ">=", "<", "<="):
        if op in (">", ">=") and 0 <= threshold < limit:
            kind = "floors" if slug == "floor" else "tends to a limit"
            raised = float(np.format_float_scientific(2 * limit, precision=0))
            return [
                f"{name} {kind} at {limit:.3g}, above the threshold {t}: "
                f"raise the threshold to about {raised:.1g} or use {wider}."
            ]
        side = "above" if limit > threshold else "below"
        return [
            f"{name} tends to {limit:.9g}, {side} the threshold {t}: "
            "move the threshold past the limit or change the update."
        ]
    if slug == "moves-away":
        by = "" if step is None else f" by {step:.6g} each iteration"
        return [f"{name} moves away from {t}{by}: reverse the step's sign or the comparison."]
    if slug == "steps-over":
        by = "" if step is None else f" in steps of {abs(step):.6g}"
        better = ">" if step is not None and step < 0 else "<"
        return [f"{name} steps over {t}{by} and never equals it: write {name} {better} {other} instead of {op}."]
    if slug == "wraps":
        return [
            f"the {dtype} counter {name} wraps before the loop ends: "
            "use a wider integer, or check the sign of its step."
        ]
    if slug == "out-of-range":
        return [f"every {dtype} number satisfies {name} {op} {t}: use a wider integer for {name}."]
    if slug == "nan":
        return [
            f"{name} {op} {other} compares with NaN, which is {'always true' if op == '!=' else 'always false'}: "
            "stop at the first NaN, and look at what made it."
        ]
    if slug == "cycle":
        p = "" if period is None else f" with period {period:.6g}"
        return [
            f"{name} repeats its values{p} and none of them ends the loop: "
            "damp the step (halve it), or raise the tolerance."
        ]
    if slug == "overflow":
        return [f"{name} overflows its dtype {dtype}: halve the step, or clip the update."]
    return []
