"""Fixes that change one operator: another comparison, or a step in the other direction."""

from __future__ import annotations

import numpy as np

from workbench.analysis.comparisons import NAMES, NODES
from workbench.analysis.fixes.change_number import clause_of
from workbench.analysis.fixes.fix import Fix
from workbench.analysis.fixes.graph_editor import GraphEditor, refuse
from workbench.analysis.root_cause.expressions import turned
from workbench.analysis.root_cause.loop_dependencies import LoopDependencies


def other_comparison(edited: GraphEditor, feeds: dict[str, np.ndarray], fix: Fix) -> list[str]:
    """Compare with the new operator, mirrored and negated from the sentence back to the graph."""
    node = clause_of(edited.graph, fix)
    op = turned(str(fix.new), fix.mirrored, fix.negated)
    if node.op not in NAMES:
        raise refuse("fix-no-clause", f"{node.name} is not a comparison.", "change the condition itself.", node.name)
    edited.change(node.name, op=NODES[op])
    return [f"{node.name} is {NODES[op]} instead of {node.op}."]


def reverse_step(edited: GraphEditor, feeds: dict[str, np.ndarray], fix: Fix) -> list[str]:
    """Replace an addition by a subtraction, or a subtraction by an addition."""
    loop = LoopDependencies(edited.graph, fix.frame or ())
    found = loop.increment(fix.target) if fix.target in loop.variables else None
    if found is None:
        raise refuse("fix-no-step", f"the update of {fix.target!r} is not a sum with a step.", "change its update.")
    node, other = found
    if node.op == "subtract":
        edited.change(node.name, op="add")
    else:
        own = next(r for r in node.inputs if r != other)
        edited.change(node.name, op="subtract", inputs=(own, other))
    return [f"{node.name} is {edited.nodes[node.name].op} instead of {node.op}."]
