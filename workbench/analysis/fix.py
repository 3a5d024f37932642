"""Fixes computed from the numbers: a sentence for the user, and the data by which a program applies it.

Both the prover and the monitor call :func:`fixes`.  Kinds of :class:`Fix`:

===========  ======================================================================================================
tolerance    move the threshold of a clause from ``old`` to ``new``
dtype        compute the variable ``target`` with the dtype ``new``
step         make the step of ``target`` smaller: the factor ``old`` becomes ``new``
sign         reverse the step of ``target``
comparison   write the comparison ``new`` instead of ``old``
stop-at-nan  end the loop at the first number that is not finite
cap          end the loop after ``new`` iterations
update       write an update of ``target``: only the author can
inspect      look at ``target``; no number says what to write
===========  ======================================================================================================
"""

from __future__ import annotations

import math
from typing import Any

from workbench.analysis.fix_at_rest import beside, beyond
from workbench.analysis.fix_of_cycle import around, halved
from workbench.analysis.proposed_fix import KINDS, Fix


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
    variable: str | None = None,
    appliable: bool = False,
    integral: bool = True,
    clause: Any = None,
    factor: float | None = None,
    moving: bool = False,
    kind: str = "f",
    reach: tuple[float, float] | None = None,
) -> list[str]:
    """Fixes for one blocking clause ``name op other``, whose other side is ``threshold``.

    ``variable`` is the loop variable from which ``name`` is computed; ``factor`` the factor of its step;
    ``appliable``: a graph is available; ``integral`` that start, step and threshold are whole numbers; ``moving`` that
    the limit is only what the operand has come to so far; ``kind`` is the kind of the operand's dtype, and ``reach``
    the least and the largest value of a cycle.
    """
    who = variable or name
    t = f"{threshold:.6g}"
    wider = {"float16": "float32", "bfloat16": "float32", "float32": "float64"}.get(dtype)

    def fix(sentence: str, kind: str, target: str, old: Any = None, new: Any = None, can: bool = True) -> Fix:
        return Fix(sentence, kind, target, old, new, appliable and can, clause)

    if slug == "absorbed" and limit is not None and step is not None:
        head = f"the {dtype} counter {who} absorbs {'+' if step > 0 else '-'} {abs(step):.6g} at {power_of_two(limit)}"
        if integral or wider is None:
            return [fix(f"{head}: use int64.", "dtype", who, dtype, "int64", integral)]
        return [fix(f"{head}: use float64, or count in int64.", "dtype", who, dtype, "float64")]
    if slug == "absorbed":
        better = "float64" if wider else "compensated summation"
        return [
            fix(
                f"the {dtype} value {who} absorbs its step: use {better}.",
                "dtype",
                who,
                dtype,
                "float64",
                wider is not None,
            )
        ]
    if slug in ("clause-invariant", "not-updated", "always-true"):
        return [Fix(f"clause {name} {op} {other} never changes: update {who} in the loop body.", "update", who)]
    if slug == "no-effect":
        sentence = f"clause {name} {op} {other} no longer changes: the update of {who} has no effect, correct it."
        return [Fix(sentence, "update", who)]
    if slug in ("floor", "limit-beyond") and limit is not None and op in ("<", "<=", ">", ">="):
        return beyond(slug, name, who, op, threshold, limit, dtype, value, kind, moving, fix)
    if slug in ("floor", "limit-beyond") and limit is not None and op == "!=":
        return [beside(name, other, who, threshold, limit, kind)]
    if slug == "sign-flips":
        sentence = (
            f"{who} flip{'' if ' and ' in who else 's'} the sign each time: compare up to the sign, as in "
            "min(|new - old|, |new + old|), or give the iterate a fixed sign after each step."
        )
        return [Fix(sentence, "update", who)]
    if slug == "moves-away":
        by = "" if step is None else f" by {step:.6g} each iteration"
        new = None if step is None else -step
        return [
            fix(
                f"{name} moves away from {t}{by}: reverse the step's sign or the comparison.",
                "sign",
                who,
                step,
                new,
                step is not None,
            )
        ]
    if slug == "steps-over":
        by = "" if step is None else f" in steps of {abs(step):.6g}"
        better = ">" if step is not None and step < 0 else "<"
        sentence = f"{name} steps over {t}{by} and is never equal to it: write {name} {better} {other} instead of {op}."
        return [fix(sentence, "comparison", f"{name} {op} {other}", op, better, op == "!=")]
    if slug == "wraps":
        sentence = (
            f"the {dtype} counter {who} wraps before the loop ends: use a wider integer, or check the sign of its step."
        )
        return [fix(sentence, "dtype", who, dtype, "int64", dtype not in ("int64", "uint64", ""))]
    if slug == "out-of-range":
        sentence = f"every {dtype} number satisfies {name} {op} {t}: use a wider integer for {who}."
        return [fix(sentence, "dtype", who, dtype, "int64", dtype not in ("int64", "uint64", ""))]
    if slug == "nan":
        always = "always true" if op == "!=" else "always false"
        sentence = (
            f"{name} {op} {other} compares with NaN, which is {always}: stop at the first NaN, and find the node "
            "that made it."
        )
        return [fix(sentence, "stop-at-nan", name)]
    if slug == "cycle" and (kind != "f" or period != 2 or factor is None):
        return [around(name, who, op, threshold, period, kind, reach, fix)]
    if slug in ("cycle", "step-too-large"):
        return halved(slug, name, who, step if factor is None else factor, period, factor is not None, fix)
    if slug == "overflow":
        sentence = (
            f"{name} overflows its {dtype}: stop at the first number that is not finite, and find out why the update "
            "makes it grow."
        )
        return [fix(sentence, "stop-at-nan", name)]
    if slug == "flag-never-set":
        return [Fix(f"{who} stays {t}: check the condition that should set it.", "inspect", who)]
    return []


def cap(iterations: int, appliable: bool) -> Fix:
    """An iteration limit: the fix that works for every loop that does not end."""
    sentence = f"limit the loop to {iterations:,} iteration{'' if iterations == 1 else 's'}."
    return Fix(sentence, "cap", "", None, iterations, appliable)


__all__ = ["KINDS", "Fix", "cap", "fixes", "power_of_two"]
