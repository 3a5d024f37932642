"""Fixes for an operand that goes round a cycle, or swings over its goal."""

from __future__ import annotations

from typing import Any

from workbench.analysis.fix_at_rest import FAR
from workbench.analysis.proposed_fix import Fix


def around(
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
    none = "no value" if period is None else "none of them"
    if kind != "f" or reach is None or not ordered:
        return Fix(f"{again}, and {none} ends the loop: change the update of {who}, or the condition.", "update", who)
    low, high = reach
    if op in (">", ">=") and threshold >= 0 and low > FAR * threshold:
        sentence = f"{again} and comes no nearer to {threshold:.6g}: change the update of {who}, so that it settles."
        return Fix(sentence, "update", who)
    inside = 0.05 * (high - low)
    new = low + inside if op in (">", ">=") else high - inside
    sentence = (
        f"{again}, and {none} ends the loop: move the threshold in between (to {new:.6g}), or change the update "
        f"of {who}."
    )
    return fix(sentence, "tolerance", name, threshold, new)


def halved(
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


__all__ = ["around", "halved"]
