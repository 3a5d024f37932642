"""Sides that are NaN or infinite, and the nodes from which the NaN or infinity originates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.analysis.claims import numbers
from workbench.analysis.claims.claim import Claim, checked
from workbench.analysis.claims.recompute import line_of
from workbench.analysis.diff.trace_side import HANDS_ON
from workbench.analysis.precision.nan_origin import origin_of
from workbench.analysis.precision.result import NanOrigin
from workbench.analysis.root_cause.clause_view import Cause, ClauseView, is_infinite, is_nan
from workbench.analysis.root_cause.expressions import turned
from workbench.analysis.root_cause.movement import overshooting
from workbench.analysis.root_cause.source_text import nan_compared, node_text, predicate_text
from workbench.ir.node import Ref


def not_a_number(view: ClauseView) -> Cause | None:
    if not (is_nan(view.x[-1]) or is_nan(view.t[-1])):
        return None
    node = view.nodes[view.s.leaf.node]
    if len(node.inputs) != 2 or not view.its:
        return None
    op = turned(view.s.leaf.op, False, view.s.leaf.negated)
    text = predicate_text(view.firings, node, op)
    truth = not view.s.leaf.negated
    try:
        claim = nan_compared(view.firings, node.name, op, truth, view.its[-1], view.s.item, text, view.clause)
    except KeyError:
        return None
    claims = checked([c for c in (overshooting(view), claim, *origins(view, view.refs)) if c is not None])
    return Cause("step-too-large" if claims and claims[0].kind == "overshoots" else "nan", claims)


def infinite(view: ClauseView) -> Cause | None:
    swing = overshooting(view)
    if swing is not None and swing.grows:
        return Cause("step-too-large", [swing, *checked(origins(view, view.refs))])
    if not is_infinite(view.x[-1]) or is_infinite(view.s.values.early_x[0]):
        return None
    known = dict(zip((int(k) for k in view.s.iterations), view.s.values.early_x, strict=False))
    k = next((k for k in sorted(known) if is_infinite(known[k])), None)
    since = k if k is not None and k - 1 in known else None
    infinite = view.claims(numbers.Infinite, ref=view.refs[0], last=view.its[-1], since=since)
    return Cause("overflow", [*infinite, *checked(origins(view, view.refs))])


def origins(view: ClauseView, refs: Iterable[Any]) -> list[Claim]:
    """Claims about the chain of origins of the first of these values that is not finite, as all screens show it."""
    found = view.found
    for columns in (found.record, found.early, found.late):
        if columns is None:
            continue
        base = found.base_of(columns)
        made = (origin_of(columns.trace, ref) for ref in refs if isinstance(ref, Ref))
        chain = next((link for link in made if link is not None and link.op not in HANDS_ON), None)
        claims: list[Claim] = []
        while chain is not None:
            claims += _made(view, chain, base)
            chain = chain.because
        if claims:
            return claims
    return []


def _made(view: ClauseView, made: NanOrigin, base: int) -> list[Claim]:
    """The claim about one link of the chain, if its node is in this loop."""
    what = "NaN" if made.kind == "nan" else "infinity"
    if made.edited:
        name = made.name.removesuffix(":0")
        return [numbers.WrittenBad(node=made.node, name=name, what=what, evidence=made.value)]
    node = view.nodes[made.node]
    if made.frame != view.loop.path or not node.inputs:
        return []
    k = made.iteration[-1] + base
    try:
        operands, result = view.firings.operands(node.name, k), view.firings.output(node.name, k)
        largest = tuple(numbers.largest(v) for v in operands)
    except (KeyError, ValueError, TypeError):
        return []
    facts: dict[str, Any] = {"node": node.name, "op": node.op, "line": line_of(node.source), "what": what}
    evidence = node.op, operands, result
    text = node_text(view.firings, node)
    return [numbers.MadeBad(**facts, text=text, iteration=k, operands=largest, evidence=evidence)]
