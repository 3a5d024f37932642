"""Selection of a law for a record: each is fitted without the last quarter and scored by its prediction of it.

A record of one direction is asked for maps, power laws and recurrences, one that turns for recurrences and for those of
its square; on all of it, on its latter half and, if long enough, on its last third.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from workbench.analysis.forecast.laws.damped_oscillation import rectified
from workbench.analysis.forecast.laws.law import Law
from workbench.analysis.forecast.laws.map_laws import map_laws
from workbench.analysis.forecast.laws.power_and_recurrence_laws import power_laws, recurrences, squares

#: Laws that are tried together, of a record that is monotone or not.
Group = Callable[[np.ndarray, bool], Iterator[Law]]
#: A free run this good (shift per iteration held out) is arithmetic: nothing else is tried.
EXACT = 1e-12
#: And this good, that shorter windows are not asked.
FINE = 1e-7


@dataclass
class FittedLaw:
    """A law as fitted without the last quarter, and how its free run went."""

    law: Law
    group: Group
    monotone: bool
    start: int
    error: float
    score: float


def _shift(law: Law, x: np.ndarray, held: int, eps: float) -> float:
    """Error of the free run over the last ``held`` values, as shift in iterations per iteration."""
    truth, values = x[-held:], law.values(held)
    if not np.all(np.isfinite(values)):
        return math.inf
    step = np.abs(np.diff(x[-held - 4 :]))
    local = np.convolve(step, np.full(3, 1 / 3), "valid") if len(step) >= held + 2 else step[-held:]
    local = np.maximum(local[-held:], 1e-300)
    rounding = 4 * eps * (1 + math.sqrt(held)) * np.abs(truth)
    off = np.minimum(np.maximum(np.abs(values - truth) - rounding, 0.0) / local, 1e100)
    late = off[held // 2 :]
    return float(np.sqrt(np.mean(late * late))) / held


#: The laws by group, cheap and exact ones first; a group is left out where the record has not the shape for it.
GROUPS: tuple[Group, ...] = (
    lambda x, monotone: map_laws(x, 4 if monotone else 1),
    lambda x, monotone: power_laws(x) if monotone else iter(()),
    lambda x, monotone: recurrences(x, (1, 2, 3) if monotone else (1, 2, 3, 4)),
    lambda x, monotone: squares(x),
    lambda x, monotone: iter(()) if monotone else rectified(x),
)


def try_all(
    x: np.ndarray, held: int, eps: float, groups: tuple[Group, ...] = GROUPS, starts: list[int] | None = None
) -> list[FittedLaw]:
    """All laws that a record of this shape can follow, the best first."""
    n, out = len(x), []
    d = np.diff(x[n // 2 :] if n >= 8 else x)
    monotone = bool(np.all(d > 0) or np.all(d < 0))
    for start in starts or ([0] if n < 16 else [0, n // 2] if n < 64 else [0, n // 2, n - n // 3]):
        for group in groups:
            for law in group(x[start : n - held], monotone):
                error = _shift(law, x, held, eps)
                if math.isfinite(error):
                    score = (error + EXACT) * (1.0 + 0.2 * law.parameters)
                    out.append(FittedLaw(law, group, monotone, start, error, score))
            if out and min(o.error for o in out) < EXACT:
                return sorted(out, key=lambda o: o.score)
        if out and min(o.error for o in out) < FINE:
            break
    return sorted(out, key=lambda o: o.score)


def again(x: np.ndarray, tried: FittedLaw) -> Law | None:
    """The same law fitted to the whole window."""
    group = tried.group(x[tried.start :], tried.monotone)
    return next((law for law in group if law.name == tried.law.name), None)
