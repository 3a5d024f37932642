"""Fixes that add a clause to the condition of a loop: an iteration limit, or a test for finite numbers."""

from __future__ import annotations

import numpy as np

from workbench.analysis.fixes.fix import Fix
from workbench.analysis.fixes.graph_editor import GraphEditor, refuse
from workbench.analysis.root_cause.loop_dependencies import LoopDependencies
from workbench.analysis.text import count, loop_named
from workbench.ir.node import Ref


def cap_trips(edited: GraphEditor, feeds: dict[str, np.ndarray], fix: Fix) -> list[str]:
    """Add a separate trip counter and the clause ``trips < limit``; no other value changes."""
    graph, path = edited.graph, fix.frame or ()
    cond = _loop_cond(edited, fix)
    like = graph.nodes[cond]
    some = graph.nodes[graph.frames[path].enters[0]]
    prefix = cond.rsplit("/", 1)[0] if "/" in cond else cond
    # the counter's start value fires together with that of another loop variable
    sibling = next((v for v in graph.frames[path].variables), None)
    if sibling is None:
        raise refuse("fix-no-clause", "the loop has no variable.", "change the loop itself.", cond)
    enter = graph.nodes[sibling.enter]
    zero = edited.constant(f"{prefix}/cap/zero", np.asarray(0, np.int64), enter.inputs[0], like)
    entered = edited.add(
        f"{prefix}/cap/Enter",
        "Enter",
        [zero],
        like=like,
        frame_name=path[-1],
        is_constant=False,
        parallel_iterations=some.attrs.get("parallel_iterations", 10),
    )
    merge = edited.add(f"{prefix}/cap/Merge", "Merge", [entered], like=like)
    most = np.asarray(min(fix.new, np.iinfo(np.int64).max), np.int64)  # a 64-bit counter does not wrap before that
    limit = edited.add(f"{prefix}/cap/limit", "Const", control=[merge.node], like=like, value=most)
    below = edited.add(f"{prefix}/cap/less", "less", [merge, limit], like=like)
    _also(edited, cond, below)
    switch = edited.add(f"{prefix}/cap/Switch", "Switch", [merge, Ref(cond)], like=like)
    one = edited.constant(f"{prefix}/cap/one", np.asarray(1, np.int64), Ref(switch.node, 1), like)
    more = edited.add(f"{prefix}/cap/add", "add", [Ref(switch.node, 1), one], like=like)
    back = edited.add(f"{prefix}/cap/NextIteration", "NextIteration", [more], like=like)
    edited.change(merge.node, inputs=(entered, back))
    return [f"The {loop_named(path)} makes at most {count(fix.new, 'trip')}."]


def stop_at_nonfinite(edited: GraphEditor, feeds: dict[str, np.ndarray], fix: Fix) -> list[str]:
    """Add the clause ``isfinite(x)`` for every float variable that the condition depends on, and for its operands."""
    graph, loop = edited.graph, LoopDependencies(edited.graph, fix.frame or ())
    cond = _loop_cond(edited, fix)
    names = loop.reads(graph.nodes[cond].inputs[0], True) or list(loop.variables)
    values = {Ref(loop.variables[n].merge): n for n in names}
    clause = graph.nodes.get(str(fix.clause))
    for ref in clause.inputs if clause is not None else ():  # an operand may be the first value that is not finite
        if graph.frame_of(ref.node) == loop.path and loop.always(ref):
            values.setdefault(ref, graph.name_of(ref))
    variables = []
    for ref, name in values.items():
        if graph.type_of(ref).dtype not in ("float16", "float32", "float64"):
            continue
        finite = edited.add(f"{ref.node}/isfinite", "isfinite", [ref], like=graph.nodes[cond])
        if graph.type_of(ref).shape != ():
            finite = edited.add(f"{ref.node}/all", "all", [finite], like=graph.nodes[cond])
        _also(edited, cond, finite)
        variables.append(f"The loop ends where {name} is not finite.")
    if not variables:
        raise refuse("fix-no-clause", "the condition reads no float variable.", "limit the iterations instead.", cond)
    return variables


def _loop_cond(edited: GraphEditor, fix: Fix) -> str:
    cond = edited.graph.frames[fix.frame or ()].loop_cond
    if cond is None:
        raise refuse("fix-no-clause", "the loop is not left by one condition.", "change the loop itself.")
    return cond


def _also(edited: GraphEditor, cond: str, clause: Ref) -> None:
    """Add one more clause to the condition."""
    node = edited.nodes[cond]
    both = edited.add(f"{cond}/and", "logical_and", [node.inputs[0], clause], like=node)
    edited.rewire(cond, 0, both)
