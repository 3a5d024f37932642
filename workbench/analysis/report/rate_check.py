"""Rates of variables compared with the known end of their loop: which one limits it, and which are refuted.

A rate describes the past. If the loop was run ahead to its end, a rate that leads to another end is not reported.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from workbench.analysis.report.formatting import clean, count, num
from workbench.analysis.report.loop import Loop
from workbench.analysis.report.variable import Variable
from workbench.analysis.series.result import Evolution, Pattern
from workbench.analysis.verdict import Status

#: minimum confidence in a rate that is reported as limiting a loop
LEAST_CONFIDENCE = 0.9
#: maximum ratio of 1 - rate of two variables that count as equally slow
TIED = 1.01
#: labels of variables without a limit
GOES_ON = (Pattern.DIVERGING, Pattern.OSCILLATING, Pattern.CHAOTIC)
#: maximum ratio between the iterations left by a rate and the proved ones
FACTOR = 2.0


def limited_by(loop: Loop, variables: list[Variable]) -> str:
    """The slowest variable of those that decide the end, and the iterations per decimal digit; or ``""``.

    Empty for loops that never end, if the deciding variable grows instead of tending to a limit (a clock, a counter),
    and if the rate does not lead to the proved end.
    """
    if loop.termination.outcome != "terminates" or loop.termination.remaining == 0:
        return ""
    if any(v.name in loop.termination.root[:1] and v.evolution.label in GOES_ON for v in variables):
        return ""
    rates = [
        (rate, v.name)
        for v in variables
        if v.name in loop.termination.root and v.evolution.confidence >= LEAST_CONFIDENCE
        if (rate := _factor(v.evolution)) is not None and agrees(loop, rate) is not False
    ]
    if not rates:
        return ""
    order = loop.termination.root
    limit = 1.0 - TIED * (1.0 - max(rates)[0])
    # of variables with the same rate, such as a residual and its iterate, the deciding one is named
    rate, name = min((r for r in rates if r[0] >= limit), key=lambda r: order.index(r[1]))
    (slowest,) = [v for v in variables if v.name == name]
    return f"{clean(name)}: its distance to the limit is multiplied by {_rate_text(loop, slowest, rate)}"


def _rate_text(loop: Loop, variable: Variable, rate: float) -> str:
    """The rate with its uncertainty and trend, and the number of iterations per decimal digit."""
    late = tail_rate(variable.column.values, variable.evolution.limit)
    more = ""
    if late is not None and late.error >= 5e-5:
        rate, place = late.rate, max(2, -math.floor(math.log10(late.error)))
        trend = "and still rises" if late.rising else "and still falls" if late.falling else ""
        more = f" (within {late.error:.{place}f} by the last {late.values} values{', ' + trend if trend else ''})"
        shown = f"{rate:.{place}f}"
    else:
        shown = num(rate, 4)
    coming = rate_to_come(loop)
    remaining = loop.termination.remaining or 0
    # the end is rounded to a whole iteration, which alone changes the average slightly
    if coming is not None and abs(remaining * math.log(coming) / math.log(rate) - remaining) > 1.0 + 0.01 * remaining:
        more += f", by {num(coming, 4)} on average over the {count(remaining, 'iteration')} to come"
        rate = coming
    digit = max(1, round(math.log(10.0) / -math.log(rate)))
    return f"{shown} each iteration{more}{';' if more else ','} one decimal digit in {count(digit, 'iteration')}"


class TailRate(NamedTuple):
    """The factor by which a distance shrank in the last third of the last ``values``, and its change from before."""

    rate: float
    error: float
    rising: bool
    falling: bool
    values: int


def tail_rate(values: np.ndarray, limit: float | None) -> TailRate | None:
    """The rate at the end of a record (n,), from three parts of its second half; None for a short or uneven record.

    ``error`` is the difference of the last two parts, by which the rate may still change. ``rising`` and ``falling``
    say that it did so from each part to the next.
    """
    x = np.asarray(values, dtype=float)
    if x.ndim != 1 or len(x) < 24 or limit is None:
        return None
    size = len(x) // 6
    away = np.abs(x[-3 * size - 1 :] - limit)
    if not np.all(np.isfinite(away)) or not np.all(away[1:] < away[:-1]) or away[-1] == 0.0:
        return None
    first, middle, last = (float((away[(i + 1) * size] / away[i * size]) ** (1.0 / size)) for i in range(3))
    return TailRate(last, abs(last - middle), first < middle < last, first > middle > last, 3 * size + 1)


def rate_to_come(loop: Loop) -> float | None:
    """The average factor by which a residual shrinks until the proved end; None if no end is proved."""
    t = loop.termination
    if t.status is not Status.PROVED or not t.remaining or len(loop.clauses) != 1:
        return None
    (row,) = loop.clauses
    try:
        left, right = float(row["left"]), float(row["right"])
    except (TypeError, ValueError):
        return None
    if row["op"] not in (">", ">=") or not 0.0 < right < left < math.inf:
        return None
    return float((right / left) ** (1.0 / t.remaining))


def drop_refuted(loop: Loop, name: str, evolution: Evolution) -> None:
    """Remove limit, rate and model from a verdict whose rate does not lead to the end found by running ahead."""
    proof, rate = loop.termination.proof, _factor(evolution)
    if proof is None or proof.kind != "lookahead" or name not in loop.termination.root or rate is None:
        return
    if agrees(loop, rate) is False:
        evolution.limit = evolution.limit_error = evolution.rate = evolution.model = None
        evolution.why.append("The iterations that were run ahead do not continue like this.")


def agrees(loop: Loop, rate: float) -> bool | None:
    """True if a rate leads to the proved end of the loop, within a factor of two; None if that is unknown."""
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
    """The factor by which the distance to a limit is multiplied in each iteration; None if there is none."""
    rate = evolution.rate
    if evolution.label is not Pattern.CONVERGING or evolution.order is not None or rate is None:
        return None
    return rate if 0.0 < rate < 1.0 else None
