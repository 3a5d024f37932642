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

import numpy as np

KINDS = ("tolerance", "dtype", "step", "sign", "comparison", "stop-at-nan", "cap", "update", "inspect")


#: factor between a limit and a threshold from which moving the threshold does not help
FAR = 20.0


#: share by which a number at rest may differ from one that it was meant to meet
NEAR = 1e-6


class Fix(str):
    """A proposed fix: a sentence that is also data.

    Attributes
    ----------
    kind : str
        "tolerance", "dtype", "step", "sign", "comparison", "stop-at-nan", "cap", "update" or "inspect".
    target : str
        The variable, value or clause that it changes.
    old, new : object
        The present and the proposed setting.
    applies : bool
        Whether :meth:`workbench.Session.apply_fix` can try it.
    clause : object
        The node of the comparison.
    frame : tuple of str or None
        Path of the loop.
    mirrored, negated : bool
        How the comparison in the sentence differs from the one in the graph.
    """

    kind: str
    target: str
    old: Any
    new: Any
    applies: bool
    clause: Any
    frame: tuple[str, ...] | None
    mirrored: bool
    negated: bool

    def __new__(
        cls,
        sentence: str,
        kind: str = "inspect",
        target: str = "",
        old: Any = None,
        new: Any = None,
        applies: bool = False,
        clause: Any = None,
    ) -> Fix:
        self = super().__new__(cls, sentence)
        self.kind, self.target, self.old, self.new, self.applies, self.clause = kind, target, old, new, applies, clause
        self.frame, self.mirrored, self.negated = None, False, False
        return self

    def placed(self, frame: tuple[str, ...], mirrored: bool, negated: bool) -> Fix:
        """The same fix with its place in the graph."""
        self.frame, self.mirrored, self.negated = frame, mirrored, negated
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (str(self), self.kind, self.target, self.old, self.new, self.applies, self.clause)

    def table(self) -> dict[str, Any]:
        """The fix as plain data."""
        plain = {
            k: v if isinstance(v, (int, float, str, bool)) or v is None else str(v)
            for k, v in (("old", self.old), ("new", self.new))
        }
        return {"sentence": str(self), "kind": self.kind, "target": self.target, **plain, "applies": self.applies}

    def __repr__(self) -> str:
        return f"<Fix {self.kind} of {self.target or 'the loop'}: {str(self)}>"


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
        return _beyond(slug, name, who, op, threshold, limit, dtype, value, kind, moving, fix)
    if slug in ("floor", "limit-beyond") and limit is not None and op == "!=":
        return [_beside(name, other, who, threshold, limit, kind)]
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
        return [_round(name, who, op, threshold, period, kind, reach, fix)]
    if slug in ("cycle", "step-too-large"):
        return _halved(slug, name, who, step if factor is None else factor, period, factor is not None, fix)
    if slug == "overflow":
        sentence = (
            f"{name} overflows its {dtype}: stop at the first number that is not finite, and find out why the update "
            "makes it grow."
        )
        return [fix(sentence, "stop-at-nan", name)]
    if slug == "flag-never-set":
        return [Fix(f"{who} stays {t}: check the condition that should set it.", "inspect", who)]
    return []


def _beyond(
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


def _beside(name: str, other: str, who: str, threshold: float, limit: float, kind: str) -> Fix:
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


def _round(
    name: str,
    who: str,
    op: str,
    threshold: float,
    period: float | None,
    kind: str,
    reach: tuple[float, float] | None,
    fix: Any,
) -> Fix:
    """A fix for an operand that goes round a cycle for ever, without a step that could be damped."""
    again = f"{name} keeps turning" if period is None else f"{name} repeats its values with period {period:.6g}"
    ordered = op in ("<", "<=", ">", ">=")
    if reach is not None and ordered:
        again += f" between {reach[0]:.6g} and {reach[1]:.6g}"
    if kind != "f" or reach is None or not ordered:
        sentence = f"{again}, and none of them ends the loop: change the update of {who}, or the condition."
        return Fix(sentence if period is not None else sentence.replace("none of them", "no value"), "update", who)
    low, high = reach
    if op in (">", ">=") and threshold >= 0 and low > FAR * threshold:
        sentence = f"{again} and comes no nearer to {threshold:.6g}: change the update of {who}, so that it settles."
        return Fix(sentence, "update", who)
    inside = 0.05 * (high - low)
    new = low + inside if op in (">", ">=") else high - inside
    sentence = (
        f"{again}, and none of them ends the loop: move the threshold in between (to {new:.6g}), or change the update "
        f"of {who}."
    )
    return fix(sentence, "tolerance", name, threshold, new)


def _short_of(limit: float, start: float, op: str) -> float:
    """A threshold that the values meet on their way from ``start`` to ``limit``."""
    way = abs(limit - start) or max(abs(limit), 1.0)
    back = min(0.01 * way, max(1e-3 * abs(limit), 1e-12 * way))
    return limit + back if op in (">", ">=") else limit - back


def _halved(
    slug: str, name: str, who: str, step: float | None, period: float | None, known: bool, fix: Any
) -> list[str]:
    """Fixes for oscillations: damp the step."""
    p = "" if period is None else f" with period {period:.6g}"
    if slug == "step-too-large":
        old = "" if step is None else f" from {step:.6g} to {step / 2:.6g}"
        new = None if step is None else step / 2
        sentence = f"the step of {who} is too large, it overshoots{p}: halve it{old}."
        return [fix(sentence, "step", who, step, new, known)]
    sentence = (
        f"{name} repeats its values{p} and none of them ends the loop: "
        "damp the step (halve it), or raise the tolerance."
    )
    return [fix(sentence, "step", who, step, None if step is None else step / 2, known)]


def cap(iterations: int, appliable: bool) -> Fix:
    """An iteration limit: the fix that works for every loop that does not end."""
    sentence = f"limit the loop to {iterations:,} iteration{'' if iterations == 1 else 's'}."
    return Fix(sentence, "cap", "", None, iterations, appliable)


__all__ = ["KINDS", "Fix", "cap", "fixes", "power_of_two"]
