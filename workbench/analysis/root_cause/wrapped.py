"""The first firing behind a clause whose integer result differs from the exact one."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.claims.clause import BlockingClause
from workbench.analysis.claims.numbers import Wraps
from workbench.analysis.claims.recompute import EXACT, exact, item_of, line_of
from workbench.analysis.root_cause.expressions import expression
from workbench.analysis.root_cause.firings import Firings
from workbench.analysis.root_cause.suspect import Suspect
from workbench.ir.node import Node, Ref

#: iterations looked through at most
MOST = 65_536


def first_wrap(firings: Firings, suspect: Suspect, clause: BlockingClause) -> list[Wraps]:
    """The claim about that firing; nothing where none wrapped in what can be looked at."""
    names = [n for n in suspect.root if n in firings.loop.variables]
    nodes = _wrapping_nodes(firings, names)
    best: Wraps | None = None
    for node in nodes:
        found = _first(firings, node, names[0], clause)
        if found is not None and (best is None or found.iteration < best.iteration):
            best = found
    return [] if best is None else [best]


def may_wrap(firings: Firings, suspect: Suspect) -> bool:
    """True if a node of the update of the blocking operand works on integers that can wrap."""
    return bool(_wrapping_nodes(firings, [n for n in suspect.root if n in firings.loop.variables]))


def _wrapping_nodes(firings: Firings, names: list[str]) -> list[Node]:
    nodes = [n for name in names for n in firings.loop.nodes_behind(firings.loop.update(name))]
    return [n for n in dict.fromkeys(nodes) if _can_wrap(firings, n)]


def _can_wrap(firings: Firings, node: Node) -> bool:
    if node.op not in EXACT or node.attrs.get("checked") or firings.graph.frame_of(node.name) != firings.loop.path:
        return False
    type_ = firings.graph.type_of(node.ref())
    return np.dtype(type_.dtype).kind in "iu" and type_.shape == () if type_.dtype != "string" else False


def _first(firings: Firings, node: Node, variable: str, clause: BlockingClause) -> Wraps | None:
    known, read = firings.known(node.ref()), [firings.reader(r) for r in (node.ref(), *node.inputs)]
    for k in known:
        try:
            result, *operands = (value(k) for value in read)
            if exact(node.op, operands) == int(result):
                continue
        except (KeyError, TypeError, ValueError):
            continue
        claim = _wrap(firings, node, variable, clause, k)
        if claim is not None:
            at = claim.iteration
            if at > 0 and at - 1 not in known and firings.found.runner is not None:
                return _earlier(firings, node, variable, clause, at) or claim
            return claim
    return None


def _wrap(firings: Firings, node: Node, variable: str, clause: BlockingClause, k: int) -> Wraps | None:
    try:
        operands = [item_of(v, None) for v in firings.operands(node.name, k)]
        result, wide = int(firings.output(node.name, k)), exact(node.op, operands)
    except (KeyError, TypeError, ValueError):
        return None
    if wide == result:
        return None
    return Wraps(
        node=node.name,
        variable=variable,
        text=expression(firings.loop, node.ref()),
        line=line_of(node.source),
        iteration=k,
        operands=tuple(int(v) for v in operands),
        result=result,
        exact=wide,
        dtype=str(np.asarray(firings.output(node.name, k)).dtype),
        clause=clause,
        op=node.op,
        evidence=firings,
    )


def _earlier(firings: Firings, node: Node, variable: str, clause: BlockingClause, end: int) -> Wraps | None:
    """Between the first look ahead and its end, all iterations once more."""
    refs: list[Any] = [Ref(node.name), *node.inputs]
    for k, values in firings.run_through(refs, min(end, firings.found.base + MOST)):
        if values[0] is None:
            continue
        operands = [firings.value(r, k) if v is None else v for r, v in zip(node.inputs, values[1:], strict=True)]
        if exact(node.op, operands) != int(values[0]):
            firings.remember(node, k, values[0], operands)
            return _wrap(firings, node, variable, clause, k)
    return None


__all__ = ["first_wrap"]
