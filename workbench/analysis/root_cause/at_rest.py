"""Sides that keep their values: the node at which a change of their inputs is lost."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.analysis.claims import clause as clauses
from workbench.analysis.claims import numbers
from workbench.analysis.claims.claim import Claim, checked
from workbench.analysis.claims.clause import BlockingClause
from workbench.analysis.claims.recompute import item_of, line_of
from workbench.analysis.root_cause.bad_numbers import origins
from workbench.analysis.root_cause.clause_view import KEPT, Cause, ClauseView
from workbench.analysis.root_cause.lost_value import LostValue
from workbench.analysis.root_cause.movement import flipping, leading_away, overshooting
from workbench.analysis.root_cause.source_text import node_text
from workbench.analysis.root_cause.wrapped import first_wrap
from workbench.ir.node import Ref

#: kind of the most specific claim -> slug of the cause
SLUGS = {
    "not-updated": "not-updated",
    "not-read": "always-true",
    "absorbed": "absorbed",
    "neutral": "no-effect",
    "zero": "no-effect",
    "saturated": "saturated",
    "truncated": "truncated",
    "guard": "guard",
    "flag-guard": "guard",
    "nan": "nan",
    "fixed-point": "limit-beyond",
    "last-digits": "floor",
}
#: maximum distance, in spacings, of the operands of a difference that consists of their last digits
SPACINGS = 1024


def resting(view: ClauseView) -> Cause | None:
    """The cause of a clause whose sides keep their values; None if one of them moves."""
    if not view.resting() or not view.its:
        return None
    names = view.behind()
    closed = view.closed(names)
    claims = rests(view, closed)
    if not claims:
        return None
    walk = LostValue(view.firings, closed, view.s.item)
    at_rest = [n for n in names if view.variable_rests(n)]
    behind = walk.of_variables(at_rest) if len(at_rest) == len(names) else walk.of_value(view.refs, names)
    digits = last_digits(view)
    kind = behind[0].kind if behind else ""
    if digits and kind in ("fixed-point", "guard", ""):
        behind = [*digits, *(c for c in behind if c.kind == "fixed-point")]
    if kind == "absorbed" and (away := leading_away(view, early=True)) is not None:
        return Cause("moves-away", [*away.claims, *claims, *(of_clause(c, None) for c in behind)], at_rest)
    if kind in ("", "fixed-point") and not any(getattr(c, "recursive", False) for c in behind):
        if (flips := flipping(view)) is not None:
            return Cause("sign-flips", [*claims, flips], names)
        if (swing := overshooting(view)) is not None:
            return Cause("step-too-large", [swing, *claims], names)
    if not behind and view.period() is not None:
        return Cause("cycle", claims, names)
    if not behind and not closed:
        return Cause(view.forecast if view.forecast in KEPT else "recurrence", claims, names)
    wrapped = first_wrap(view.firings, view.s, view.clause) if view.x.dtype.kind in "iu" else []
    slug = SLUGS.get(behind[0].kind, "recurrence") if behind else "recurrence"
    if slug in ("no-effect", "limit-beyond") and isinstance(claims[0], clauses.Rests):
        # it moved to a point where nothing is added any more, or has been there from the beginning
        slug = "limit-beyond" if claims[0].moved else "no-effect"
    compared = [c.data["node"] for c in behind if c.kind == "nan"]
    behind += checked(origins(view, [r for node in compared for r in view.nodes[node].inputs]))
    behind = [of_clause(c, view.clause) for c in behind]
    return Cause(slug, [*claims, *behind, *checked(wrapped)], at_rest)


def rests(view: ClauseView, closed: bool) -> list[Claim]:
    """The claim that both sides keep their values, with ``closed`` for ever."""
    if not view.resting() or not view.its:
        return []
    span = {"first": view.its[0], "last": view.its[-1]}
    value, start, variable = view.x[-1], view.s.values.early_x[0], view.first_behind()
    return view.claims(clauses.Rests, **span, value=value, start=start, closed=closed, variable=variable)


def last_digits(view: ClauseView) -> list[Claim]:
    """The claim about a difference behind the moving side whose operands differ only in their last digits."""
    if view.s.op not in (">", ">=", "!=") or not isinstance(view.refs[0], Ref) or view.x.dtype.kind != "f":
        return []
    behind = [(node, view.its[-1]) for node in view.loop.nodes_behind(view.refs[0])]
    for name in view.loop.reads(view.refs[0]):  # a carried change was computed one iteration earlier
        if view.loop.updated(name) and not view.loop.recursive(name):
            behind += [(node, view.its[-1] - 1) for node in view.loop.nodes_behind(view.loop.update(name))]
    for node, k in behind:
        if node.op != "subtract" or view.firings.graph.frame_of(node.name) != view.loop.path:
            continue
        try:
            left, right = view.firings.operands(node.name, k)
            item = _widest(left, right)
            left, right = item_of(left, item), item_of(right, item)
        except (KeyError, IndexError, ValueError):
            continue
        apart = numbers.spacings(left, right)
        if 0 < apart <= SPACINGS:
            facts: dict[str, Any] = {"node": node.name, "line": line_of(node.source), "item": item, "iteration": k}
            facts |= {"text": node_text(view.firings, node), "variable": next(iter(view.s.root), "")}
            sides = {"left": left, "right": right, "ulps": math.ceil(apart), "dtype": str(left.dtype)}
            return view.claims(numbers.LastDigits, **facts, **sides, value=view.x[-1])
    return []


def of_clause(claim: Any, clause: BlockingClause | None) -> Claim:
    """The claim with the clause that it keeps from turning, so that its fixes know the clause."""
    found: Claim = replace(claim, clause=clause)
    return found


def _widest(left: Any, right: Any) -> tuple[int, ...] | None:
    """The index of the item at which two arrays are farthest apart; None for scalars."""
    gap = np.abs(np.subtract(left, right))
    return None if gap.ndim == 0 else tuple(int(i) for i in np.unravel_index(int(np.nanargmax(gap)), gap.shape))
