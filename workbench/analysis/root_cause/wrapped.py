"""The first firing upstream of a clause whose integer result differs from the exact one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.analysis.claims.clause import BlockingClause
from workbench.analysis.claims.numbers import Wraps
from workbench.analysis.claims.recompute import EXACT, exact, item_of, line_of
from workbench.analysis.root_cause.clause_diagnosis import ClauseDiagnosis
from workbench.analysis.root_cause.expressions import expression
from workbench.analysis.root_cause.firings import Firings
from workbench.ir.node import Node, Ref

#: maximum number of iterations searched, and number of those compared at once
MOST, BLOCK = 65_536, 64


def first_wrap(firings: Firings, suspect: ClauseDiagnosis, clause: BlockingClause) -> list[Wraps]:
    """The claim about that firing; empty if no known firing wrapped."""
    names = [n for n in suspect.root if n in firings.loop.variables]
    nodes = _wrapping_nodes(firings, names)
    best: Wraps | None = None
    for node in nodes:
        found = _first(firings, node, names[0], clause)
        if found is not None and (best is None or found.iteration < best.iteration):
            best = found
    return [] if best is None else [best]


def may_wrap(firings: Firings, suspect: ClauseDiagnosis) -> bool:
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
    read = [firings.reader(r) for r in node.inputs]
    its, result, operands = firings.known(node.ref()), firings.reader(node.ref()), []
    try:
        operands = [list(map(value, its)) for value in read]
    except KeyError:  # an operand that is not known in all iterations
        return None
    at = _differs(node.op, list(map(result, its)), operands)
    claim = None if at is None else _wrap(firings, node, variable, clause, its[at])
    if claim is None or claim.iteration == 0 or claim.iteration - 1 in its or firings.found.runner is None:
        return claim
    return _earlier(firings, node, variable, clause, claim.iteration) or claim


def _differs(op: str, result: Sequence[Any], operands: list[Any]) -> int | None:
    """The first index at which a result differs from the exact one, searched block by block."""
    for begin in range(0, len(result), BLOCK):
        part = slice(begin, begin + BLOCK)
        try:
            wide = EXACT[op](*(np.asarray(v[part]).astype(object) for v in operands))
        except (TypeError, ValueError, OverflowError):
            return None
        bad = np.flatnonzero(wide != np.asarray(result[part]).astype(object))
        if len(bad):
            return begin + int(bad[0])
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
    """The first wrapped firing before ``end``, found by running the look-ahead again."""
    refs: list[Any] = [Ref(node.name), *node.inputs]
    for begin, (results, *columns) in firings.run_through(refs, min(end, firings.found.base + MOST)):
        fired = [j for j, v in enumerate(results) if v is not None and all(c[j] is not None for c in columns)]
        result, operands = [results[j] for j in fired], [[c[j] for j in fired] for c in columns]
        at = _differs(node.op, result, operands)
        if at is not None:
            k = begin + fired[at]
            firings.remember(node, k, result[at], [v[at] for v in operands])
            return _wrap(firings, node, variable, clause, k)
    return None


__all__ = ["first_wrap"]
