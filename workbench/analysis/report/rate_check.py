"""Rates of variables held against what is known about the end of their loop: what limits it, and what is refuted.

A rate is a law of the past. Where the loop was run ahead to its end, a rate that leads to another end is not told.
"""

from __future__ import annotations

import math

from workbench.analysis.report.formatting import clean, count, num
from workbench.analysis.report.loop import Loop
from workbench.analysis.report.variable import Variable
from workbench.analysis.series.result import Evolution, Pattern
from workbench.analysis.verdict import Status

#: confidence in a rate from which it is told as what limits a loop
LEAST_CONFIDENCE = 0.9
#: most by which the iterations left by a rate may differ from those that were proved
FACTOR = 2.0


def limited_by(loop: Loop, variables: list[Variable]) -> str:
    """The variable with the slowest rate of those that decide the end, and how long a decimal digit takes; or ``""``.

    Empty for loops that never end, and where the rate does not lead to the end that is proved.
    """
    if loop.termination.outcome != "terminates" or loop.termination.remaining == 0:
        return ""
    rates = [
        (rate, v.name)
        for v in variables
        if v.name in loop.termination.root and v.evolution.confidence >= LEAST_CONFIDENCE
        if (rate := _factor(v.evolution)) is not None and agrees(loop, rate) is not False
    ]
    if not rates:
        return ""
    rate, name = max(rates)
    digit = max(1, round(math.log(10.0) / -math.log(rate)))
    return (
        f"{clean(name)}: its distance to the limit is multiplied by {num(rate, 4)} each iteration, one decimal "
        f"digit in {count(digit, 'iteration')}"
    )


def drop_refuted(loop: Loop, name: str, evolution: Evolution) -> None:
    """Take the limit, rate and model from a verdict whose rate does not lead to the end that the loop was run to."""
    proof, rate = loop.termination.proof, _factor(evolution)
    if proof is None or proof.kind != "lookahead" or name not in loop.termination.root or rate is None:
        return
    if agrees(loop, rate) is False:
        evolution.limit = evolution.limit_error = evolution.rate = evolution.model = None
        evolution.why.append("The iterations that were run ahead do not go on like this.")


def agrees(loop: Loop, rate: float) -> bool | None:
    """True if a rate leads to the proved end of the loop, within a factor of two; None where that cannot be told."""
    t = loop.termination
    if t.status is not Status.PROVED or not t.remaining:
        return None
    for row in loop.clauses:
        try:
            left, right = abs(float(row["left"])), abs(float(row["right"]))
        except (TypeError, ValueError):
            continue
        if row["op"] in (">", ">=") and 0.0 < right < left < math.inf:
            needed = math.log(left / right) / -math.log(rate)
            return t.remaining / FACTOR <= needed <= t.remaining * FACTOR
    return None


def _factor(evolution: Evolution) -> float | None:
    """The factor by which the distance to a limit is multiplied each iteration, where there is one."""
    rate = evolution.rate
    if evolution.label is not Pattern.CONVERGING or evolution.order is not None or rate is None:
        return None
    return rate if 0.0 < rate < 1.0 else None
