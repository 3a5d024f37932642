"""Sides that move: steps that overshoot, flip their sign, lead away, stall or wrap around."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.claims import clause as clauses
from workbench.analysis.claims import numbers
from workbench.analysis.claims.claim import Claim, checked
from workbench.analysis.claims.recompute import holds, line_of, same
from workbench.analysis.root_cause.clause_view import Cause, ClauseView
from workbench.analysis.root_cause.wrapped import first_wrap
from workbench.ir.node import Ref
from workbench.trace.aligned_columns import origin

#: iterations at the end of the look-ahead over which movement is judged
WINDOW = 64


def moves(view: ClauseView) -> Cause | None:
    """The cause of a clause whose sides move."""
    away = leading_away(view)
    if away is not None:
        return away
    if stalls := _stalls(view):
        return Cause("absorbed", stalls)
    swing = overshooting(view)
    if swing is not None:
        return Cause("step-too-large", [swing])
    wrapped = checked(first_wrap(view.firings, view.s, view.clause)) if view.whole() else []
    return Cause("wraps", wrapped) if wrapped else None


def leading_away(view: ClauseView, early: bool = False) -> Cause | None:
    """The cause if every step leads away from the threshold, at the end (``early``: the start) of the look-ahead."""
    f = view.s.values
    if view.x.dtype.kind not in "iuf" or view.t.dtype.kind not in "iuf":
        return None
    first = ([int(k) for k in view.s.iterations], f.early_x)
    for its, xs in (first,) if early else ((view.its, view.x), first):
        last = len(its) if its is view.its else min(len(its), WINDOW)
        n = min(last, WINDOW)
        if n < 3:
            continue
        part = xs[last - n : last]
        whole = part.dtype.kind in "iu"
        steps = {int(b) - int(a) if whole else float(b) - float(a) for a, b in zip(part, part[1:], strict=False)}
        facts: dict[str, Any] = {"step": steps.pop() if len(steps) == 1 else None, "value": part[-1]}
        span = {"first": its[last - n], "last": its[last - 1]}
        if claims := view.claims(clauses.MovesAway, **facts, **span, variable=view.first_behind()):
            return Cause("moves-away", claims)
    return None


def _stalls(view: ClauseView) -> list[Claim]:
    """The claim about a float counter whose threshold is beyond the number at which it stalls."""
    if not isinstance(view.refs[0], Ref) or view.x.dtype.kind != "f":
        return []
    name = view.loop.direct(view.refs[0])
    made = view.loop.increment(name) if name is not None else None
    if made is None or name is None:
        return []
    node, other = made
    span = view.firings.window[-WINDOW:]
    try:
        steps = [view.firings.value(other, k) for k in span]
        present = view.firings.value(view.firings.merge(name), span[-1])
    except KeyError:
        return []
    if np.ndim(steps[0]) or not all(same(v, steps[0]) for v in steps) or not steps[0]:
        return []
    kind = np.asarray(present).dtype.type
    step = kind(-steps[0] if node.op == "subtract" else steps[0])
    value = numbers.stall(present, step)
    if value is None or not holds(value, view.s.op, view.t[-1]):
        return []
    facts: dict[str, Any] = {"node": node.name, "line": line_of(node.source), "variable": name, "value": value}
    facts |= {"step": steps[0], "whole": bool(float(step).is_integer()), "dtype": str(np.asarray(present).dtype)}
    return view.claims(numbers.StallsAt, **facts, first=span[0], last=span[-1])


def overshooting(view: ClauseView) -> numbers.Overshoots | None:
    """The claim that a variable jumps from one side of its limit to the other without coming closer."""
    name = view.s.swinger
    if name is None:
        return None
    merge = view.firings.merge(name)
    early, _ = view.found.series(merge)
    for its in ([int(k) for k in early[:WINDOW]], view.firings.window[-WINDOW:]):
        values: list[Any] = []
        for k in its:
            try:
                v = view.firings.value(merge, k)
            except KeyError:
                break
            if np.ndim(v) or not np.isfinite(v):
                break
            values.append(v)
        way = numbers.overshoots(values[-12:])
        if way and np.asarray(values[0]).dtype.kind == "f":
            last = its[len(values) - 1]
            two = way == "keeps" and view.found.settled is not None and view.found.settled[1] == 2
            facts: dict[str, Any] = {"variable": name, "first": last - len(values[-12:]) + 1, "last": last}
            facts |= {"grows": way == "grows", "period": 2 if two else None}
            for claim in view.claims(numbers.Overshoots, **facts, factor=view.s.factor_value(view.found)):
                return claim  # type: ignore[return-value]
    return None


def flipping(view: ClauseView) -> Claim | None:
    """The claim that normalised iterates change sign in each iteration, so that their difference stays large."""
    if view.s.op not in (">", ">=") or view.x.dtype.kind != "f":
        return None
    names = []
    for name in view.s.root[1:]:
        if name in view.loop.variables and not view.loop.copies(name):
            if origin(view.firings.graph, view.loop.update(name)).op != "divide":
                return None  # not a normalised iterate: a step that overshoots also flips the sign
            names.append(name)
    found = view.claims(numbers.FlipsSign, names=tuple(names), iteration=view.firings.window[-1])
    return found[0] if found else None
