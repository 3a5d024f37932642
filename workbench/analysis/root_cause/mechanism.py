"""The mechanism that keeps a comparison from turning, found in the firings: its claims, each checked, and its slug.

The cause is that of the first of these questions which is answered by a claim that holds:

1. is a side NaN or infinite, and which node produced it?
2. is the value of a ``!=`` stepped over or unreachable?
3. do both sides rest? then their updates are searched for the node at which the change is lost
4. do they repeat with a period? then the steps overshoot, wrap around, flip their sign, or cycle
5. do they move away, or towards a number at which their steps are lost?
6. otherwise the claim only states the observation
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.claims import clause as clauses
from workbench.analysis.claims.claim import Claim, checked
from workbench.analysis.claims.lost import FlagWaits, NotRead, NotUpdated
from workbench.analysis.claims.recompute import holds, line_of
from workbench.analysis.root_cause.at_rest import SPACINGS, last_digits, resting, rests
from workbench.analysis.root_cause.bad_numbers import infinite, not_a_number
from workbench.analysis.root_cause.clause_diagnosis import ClauseDiagnosis, is_written
from workbench.analysis.root_cause.clause_view import KEPT, Cause, ClauseView
from workbench.analysis.root_cause.firings import Firings
from workbench.analysis.root_cause.missed_goals import every_number, missed
from workbench.analysis.root_cause.movement import flipping, moves, overshooting
from workbench.analysis.root_cause.source_text import predicate_text
from workbench.analysis.root_cause.wrapped import first_wrap


def find_cause(firings: Firings, suspect: ClauseDiagnosis, forecast: str = "") -> Cause:
    """The cause of one clause that keeps the loop running."""
    view = ClauseView(firings, suspect, forecast)
    with np.errstate(all="ignore"):
        found = _cause(view)
    flag = view.s.leaf.flag
    if flag is not None and found.claims:
        found.claims[:0] = _flag(view, flag)
    return found


def _cause(view: ClauseView) -> Cause:
    variables = [n for n in view.s.root if n in view.loop.variables]
    if not any(map(view.loop.updated, variables)):
        return _untouched(view)
    for question in (not_a_number, missed, infinite, every_number, resting, _repeats, moves):
        found = question(view)
        if found is not None:
            return found
    return _observed(view)


def _flag(view: ClauseView, flag: str) -> list[Claim]:
    first, last = view.firings.window[0], view.firings.window[-1]
    value = bool(np.asarray(view.firings.value(view.firings.merge(flag), last)).reshape(-1)[0])
    facts: dict[str, Any] = {"flag": flag.split("/")[-1], "variable": flag, "written": is_written(flag)}
    line = line_of(view.nodes[view.s.leaf.node].source)
    return view.claims(FlagWaits, **facts, value=value, first=first, last=last, line=line)


def _untouched(view: ClauseView) -> Cause:
    variables = [n for n in view.s.root if n in view.loop.variables]
    if variables:
        return Cause("not-updated", [*rests(view, True), *view.claims(NotUpdated, variable=variables[0])], variables)
    text = predicate_text(view.firings, view.nodes[view.s.leaf.node], view.s.leaf.op)
    names = tuple(n for n in view.s.root if n not in view.loop.variables)
    claim = NotRead(ref=view.s.moving, text=text, names=names, evidence=view.firings)
    return Cause("not-updated" if names else "always-true", checked([claim]))


def _repeats(view: ClauseView) -> Cause | None:
    n = view.period()
    if n is None:
        return None
    names = view.behind()
    circles = _circles(view, n)
    if (flips := flipping(view)) is not None:
        return Cause("sign-flips", [flips, *circles], names)
    if digits := last_digits(view) if _small(view) else []:
        return Cause("floor", [*circles, *digits], names)
    if (swing := overshooting(view)) is not None:
        return Cause("step-too-large", [swing, *circles], names)
    if wrapped := checked(first_wrap(view.firings, view.s, view.clause)) if view.whole() else []:
        return Cause("wraps", [*wrapped, *circles], names)
    return Cause("cycle", circles, names) if circles else None


def _small(view: ClauseView) -> bool:
    """True if the whole cycle lies within the last digits of its values."""
    sizes = [abs(float(v)) for v in view.x if np.isfinite(v)]
    swings = []
    for name in [n for n in view.behind() if view.dtype(n).startswith("float")]:
        merge = view.firings.merge(name)
        values = [np.asarray(view.firings.value(merge, k), np.float64) for k in view.firings.window]
        size = max((float(np.abs(v).max(initial=0.0)) for v in values), default=0.0)
        eps = float(np.finfo(view.dtype(name)).eps)
        swings.append(np.ptp(np.array(values), axis=0).max(initial=0.0) <= SPACINGS * eps * size)
    return bool(sizes) and bool(swings) and all(swings)


def _circles(view: ClauseView, n: int) -> list[Claim]:
    if view.x.dtype.kind not in "iufb":
        return []
    xs = view.x[-2 * n :]
    always = all(holds(x, view.s.op, t) for x, t in zip(view.x[-n:], view.t[-n:], strict=True))
    facts: dict[str, Any] = {"n": n, "first": view.its[-2 * n :][0], "always": always}
    return view.claims(clauses.Circles, **facts, lowest=xs.min(), highest=xs.max(), variable=view.first_behind())


def _observed(view: ClauseView) -> Cause:
    slug = view.forecast if view.forecast in KEPT else "recurrence"
    if not view.its or view.x.dtype.kind not in "iuf":
        return Cause(slug)
    nearest = min(abs(float(a) - float(b)) for a, b in zip(view.x, view.t, strict=True))
    return Cause(slug, view.claims(clauses.Observed, nearest=nearest, first=view.its[0], last=view.its[-1]))
