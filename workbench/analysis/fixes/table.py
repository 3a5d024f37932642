"""The fixes of each kind of claim: one table. All of them are proposals; ``trial`` tries them before they are shown.

The proposals follow from the claim's numbers: a threshold is moved to a number that the values reach, a dtype is only
widened if a wider one has enough digits, and an integer dtype is only proposed for integer steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.analysis.claims.claim import FIXES, Claim, fixes_for
from workbench.analysis.claims.sentences import at_line, written
from workbench.analysis.fixes.fix import Fix
from workbench.analysis.fixes.thresholds import circles, fix_of, rests
from workbench.analysis.text import listed, shown

WIDER = {"float16": "float32", "bfloat16": "float32", "float32": "float64"}
#: the kinds of claims in the order in which their fixes are proposed
ORDER = (
    "absorbed stalls steps-over residue moves-away wraps every-number overshoots sign-flips nan infinite origin "
    "truncated "
    "saturated guard flag-guard neutral zero rests circles observed last-digits fixed-point not-updated not-read flag"
).split()
#: minimum iteration limit that is proposed
FUSE = 1000


def proposed(claims: Iterable[Claim]) -> list[str]:
    """The fixes of all claims, each once; those of the cause come before those that only work around it."""
    found: dict[tuple[str, str], str] = {}
    known = [c for c in claims if c.kind in FIXES]
    if any(c.kind == "last-digits" for c in known):  # the update already does its best
        known = [c for c in known if c.kind != "fixed-point"]
    for claim in sorted(known, key=lambda c: ORDER.index(c.kind)):
        for fix in claim.fixes():
            key = (getattr(fix, "kind", ""), f"{getattr(fix, 'target', '')} {getattr(fix, 'new', '')}")
            found.setdefault(key if key[0] not in ("update", "inspect") else (key[0], fix), fix)
    return list(found.values())


def fuse(frame: tuple[str, ...], reached: int, appliable: bool) -> Fix:
    """An iteration limit beyond all observed iterations: it does not fix a cause, but ends every loop."""
    most = 10 ** len(str(max(reached, FUSE - 1)))
    sentence = f"limit the loop to {most:,} iteration{'' if most == 1 else 's'}."
    return Fix(sentence, "cap", "", None, most, appliable).placed(frame, False, False)


def _widened(c: Any, why: str) -> list[Fix]:
    """The fix to use float64 instead of a narrower float; nothing if the dtype is already the widest."""
    if c.clause is None or c.dtype not in WIDER:
        return []
    sentence = f"{why}: compute it in float64 instead of {c.dtype}."
    return [fix_of(c.clause, sentence, "dtype", c.variable, c.dtype, "float64")]


@fixes_for("absorbed", "stalls")
def absorbed(c: Any) -> list[str]:
    if c.clause is None:
        return []
    at = c.operand if c.kind == "absorbed" else c.value
    whole = c.whole and float(at).is_integer() and abs(float(at)) < 2**62 and abs(float(c.step)) < 2**62
    if whole and (c.kind == "stalls" or c.op in ("add", "subtract")):
        sentence = f"count {c.variable} with whole numbers (int64), which lose no step of {shown(abs(c.step))}."
        return [fix_of(c.clause, sentence, "dtype", c.variable, c.dtype, "int64")]
    made: list[str] = [*_widened(c, f"{c.variable} has no digits left for its step")]
    if not made and (c.kind == "stalls" or c.op in ("add", "subtract")):
        made = _update(c, f"add up {c.variable} with compensated summation, or with larger steps.")
    return made


@fixes_for("steps-over", "residue")
def steps_over(c: Any) -> list[str]:
    falls = c.step < 0 if c.step is not None else c.kind == "steps-over" and c.after < c.before
    name, other, better = c.clause.name, c.clause.other, ">" if falls else "<"
    sentence = f"write {name} {better} {other} instead of {written(c.clause)}."
    return [fix_of(c.clause, sentence, "comparison", f"{name} != {other}", "!=", better)]


@fixes_for("moves-away")
def moves_away(c: Any) -> list[str]:
    who = c.variable or c.clause.name
    if c.step is None:
        return [Fix(f"reverse the direction of {who}, or the comparison {written(c.clause)}.", "update", who)]
    sentence = f"reverse the step of {who}: {shown(-c.step)} instead of {shown(c.step)} in each iteration."
    return [fix_of(c.clause, sentence, "sign", who, float(c.step), -float(c.step))]


@fixes_for("wraps")
def wraps(c: Any) -> list[str]:
    if c.clause is None or c.dtype in ("int64", "uint64"):
        return _update(c, f"use a wider number for {c.variable}: {c.exact:,} does not fit into {c.dtype}.")
    sentence = f"compute {c.variable} in int64 instead of {c.dtype}."
    return [fix_of(c.clause, sentence, "dtype", c.variable, c.dtype, "int64")]


@fixes_for("every-number")
def every_number(c: Any) -> list[str]:
    who, dtype = c.clause.name, c.clause.dtype
    applies = dtype not in ("int64", "uint64")
    sentence = f"every {dtype} number satisfies {written(c.clause)}: compute {who} in a signed, wider integer (int64)."
    return [fix_of(c.clause, sentence, "dtype", c.variable or who, dtype, "int64", applies)]


@fixes_for("overshoots")
def overshoots(c: Any) -> list[str]:
    if c.clause is None:
        return []
    half = None if c.factor is None else c.factor / 2
    by = "" if half is None else f", from {shown(c.factor)} to {shown(half)}"
    sentence = f"halve the step of {c.variable}{by}: it overshoots its goal."
    return [fix_of(c.clause, sentence, "step", c.variable, c.factor, half, half is not None)]


@fixes_for("sign-flips")
def sign_flips(c: Any) -> list[str]:
    who = listed(list(c.names))
    sentence = (
        f"compare {who} up to the sign, as in min(|new - old|, |new + old|), or give the iterate a fixed sign after "
        "each step."
    )
    return [Fix(sentence, "update", who)]


@fixes_for("nan", "infinite")
def not_finite(c: Any) -> list[str]:
    if c.clause is None:
        return [Fix("stop at the first number that is not finite, and look at the node that made it.", "inspect")]
    sentence = f"stop at the first number that is not finite: {c.clause.name} leaves the range of {c.clause.dtype}."
    if c.kind == "nan":
        sentence = f"stop at the first NaN: {c.text} is always {'true' if c.holds else 'false'} with NaN."
    return [fix_of(c.clause, sentence, "stop-at-nan", c.clause.name, None, None)]


@fixes_for("origin")
def made_bad(c: Any) -> list[str]:
    sentence = f"keep the {c.what} out of {c.text}{at_line(c.line)}: look at what it is computed from."
    return [Fix(sentence, "inspect", c.text)]


fixes_for("rests")(rests)
fixes_for("circles")(circles)


@fixes_for("last-digits")
def last_digits(c: Any) -> list[str]:
    return [*_widened(c, f"{c.clause.name} is made of last digits")]


def _update(c: Any, sentence: str) -> list[str]:
    """The fix to change the variable's update, which only the author can write."""
    return [Fix(sentence, "update", c.variable)]


@fixes_for("truncated")
def truncated(c: Any) -> list[str]:
    return _update(
        c, f"keep the fraction in {c.text}{at_line(c.line)}: {shown(c.operand)} is cut to {shown(c.result)}."
    )


@fixes_for("saturated")
def saturated(c: Any) -> list[str]:
    return _update(c, f"move the bound {shown(c.bound)} in {c.text}{at_line(c.line)}, or the threshold.")


@fixes_for("guard", "flag-guard")
def guarded(c: Any) -> list[str]:
    stays = f"{c.predicate}{at_line(c.line)}, which stays {'true' if c.holds else 'false'}"
    return _update(c, f"change {stays}, or change {c.variable} in the other case, too.")


@fixes_for("neutral")
def neutral(c: Any) -> list[str]:
    want = "more or less than 0" if c.neutral == 0 else "other than 1"
    return _update(c, f"make {c.part} in {c.text}{at_line(c.line)} {want}.")


@fixes_for("zero")
def zero(c: Any) -> list[str]:
    again = f"begin with another {c.part} than 0: {c.text}{at_line(c.line)} keeps it 0."
    return [] if c.reached else _update(c, again)


@fixes_for("fixed-point")
def fixed_point(c: Any) -> list[str]:
    sentence = f"compare the update of {c.variable}{at_line(c.line)} with the condition: is a sign or a factor wrong?"
    return [Fix(sentence, "inspect", c.variable)]


@fixes_for("not-updated")
def not_updated(c: Any) -> list[str]:
    return _update(c, f"assign {c.variable} in the loop.")


@fixes_for("not-read")
def not_read(c: Any) -> list[str]:
    who = listed(list(c.names)) if c.names else f"what {c.text} reads"
    return [Fix(f"assign {who} in the loop.", "update", who)]


__all__ = ["fuse", "proposed"]
