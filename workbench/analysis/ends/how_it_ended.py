"""How a loop has ended, or stands, read from its record: recomputed from the operands of the last iterations."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.ends.condition_tree import ConditionTree, Flag, Leaf, Tree, leaves
from workbench.analysis.ends.tree_values import TreeValues
from workbench.analysis.standing import LoopEnd, Side, Standing
from workbench.errors import WorkbenchError
from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.node import Ref
from workbench.trace import Trace
from workbench.trace.tail_reader import Reading, newest_of

#: what a record that is not whole may answer with
TROUBLE = (WorkbenchError, LookupError, ValueError, TypeError, AttributeError)
#: op of a recorded loop's own condition, of which nothing is known but that its caller went on
RECORDED = "recorded:going"


def end_of_record(trace: Trace, path: FramePath, around: tuple[int, ...] | None = None) -> LoopEnd:
    """How the newest activation of a loop stands at the end of a record; that in iterations ``around``, if given.

    A loop whose last condition is true is PAUSED: nothing is known of what comes after the record.
    """
    cond = trace.graph.frames[path].loop_cond
    entered = any(trace.reader.source.begun(i) > 0 for i, f in enumerate(trace.layout.frames) if f.path == path)
    if not entered or cond is None or (cond, 0) not in trace.layout.values:
        return LoopEnd(Standing.NOT_ENTERED, 0)
    begun = _begun(trace, path)
    paths, going = newest_of(trace, Ref(cond))
    if around is not None and len(paths):
        mine = (paths[:, :-1] == np.array(around)).all(axis=1)
        paths, going = paths[mine], going[mine]
    if not len(paths):
        return LoopEnd(Standing.ABOUT_TO_BEGIN, 0)
    last, newest = tuple(int(i) for i in paths[-1]), bool(np.asarray(going[-1]).reshape(-1)[0])
    if around is None and begun is not None and begun[:-1] > last[:-1]:
        return LoopEnd(Standing.ABOUT_TO_BEGIN, 0)  # it was entered again, and its condition not asked since
    iteration = max(last[-1], begun[-1] if begun is not None and begun[:-1] == last[:-1] else 0)
    if newest or iteration > last[-1]:
        return LoopEnd(Standing.PAUSED, iteration)
    return ended(trace, path, last)


def _begun(trace: Trace, path: FramePath) -> tuple[int, ...] | None:
    """The newest iteration that was begun, with those of the loops around; None for a loop that was not entered."""
    found = []
    for variable in trace.graph.frames[path].variables:
        if (variable.merge, 0) in trace.layout.values:
            try:
                paths, _ = Reading(trace, Ref(variable.merge)).newest(1)
            except TROUBLE:
                continue
            if len(paths):
                found.append(tuple(int(i) for i in paths[-1]))
    return max(found, default=None)


def ended(trace: Trace, path: FramePath, last: tuple[int, ...]) -> LoopEnd:
    """How an activation ended whose condition was false in the iteration ``last`` (iterations of all loops around)."""
    n = last[-1]
    if any(trace.graph.nodes[name].op == RECORDED for name in trace.graph.frames[path].nodes):
        return LoopEnd(Standing.OVER, n)
    try:
        tree = ConditionTree(trace.graph, path)
        values = TreeValues(trace, tree, last[:-1])
        with np.errstate(all="ignore"):
            return _classified(tree, values, n)
    except TROUBLE:  # a record without its last rows: that it ended is known, how is not
        return LoopEnd(Standing.ENDED, n)


def _classified(tree: ConditionTree, values: TreeValues, n: int) -> LoopEnd:
    truths = {part: values.truth(part, n) for part in tree.parts}
    taken = next((f for f in tree.flags if truths[f].holds is False), None)
    if taken is not None:
        return _left(taken, values, n)
    false = [part for part in tree.parts if truths[part].holds is False]
    goal = next((p for p in false if p not in tree.limits), None)
    if goal is not None:
        by_nan = truths[goal].by_nan
        return LoopEnd(Standing.NOT_FINITE if by_nan else Standing.ENDED, n, _side(values, goal, n))
    if not false:
        return _contradicted(tree, values, n)
    by = _side(values, false[0], n)
    if tree.goals:
        return LoopEnd(Standing.CUT_OFF, n, by, _still(values, tree.goals, n))
    if tree.flags:
        flag = next((f for f in tree.flags if f.statement == "break"), tree.flags[0])
        return LoopEnd(Standing.CUT_OFF, n, by, _not_taken(flag, values, n), flag.statement)
    return LoopEnd(Standing.ENDED, n, by)


def _left(flag: Flag, values: TreeValues, n: int) -> LoopEnd:
    """It was left by a break, to which a comparison of the iteration before led."""
    leaf = None if flag.taken is None else values.holding(flag.taken, n)
    by = None if leaf is None else values.side(leaf, n)
    nan = leaf is not None and values.truth(leaf, n).by_nan
    return LoopEnd(Standing.NOT_FINITE if nan else Standing.LEFT, n, by, None, flag.statement)


def _contradicted(tree: ConditionTree, values: TreeValues, n: int) -> LoopEnd:
    """All that is recorded of the condition holds, and yet it was not gone on: the caller of a recorded loop."""
    recorded = any(node.op.startswith("recorded:") for node in _body(tree))
    if not recorded:
        return LoopEnd(Standing.ENDED, n)
    return LoopEnd(Standing.STOPPED, n, None, _still(values, tree.parts, n))


def _body(tree: ConditionTree) -> list[Any]:
    graph = tree.graph
    return [graph.nodes[name] for name in graph.frames[tree.path].nodes]


def _side(values: TreeValues, part: Tree, n: int) -> Side | None:
    leaf = values.failing(part, n)
    return None if leaf is None else values.side(leaf, n)


def _still(values: TreeValues, goals: tuple[Tree, ...], n: int) -> Side | None:
    """The first part that holds, in the iteration in which it was looked at last."""
    for k in (n, n - 1):
        for goal in goals:
            leaf = values.holding(goal, k)
            if leaf is not None:
                return values.side(leaf, k)
    return None


def _not_taken(flag: Flag, values: TreeValues, n: int) -> Side | None:
    """What was to set a flag, and was false in the last iteration in which it was looked at."""
    for leaf in leaves(flag.taken):
        if isinstance(leaf, Leaf) and values.truth(leaf, n).holds is False:
            return values.side(leaf, n)
    return None
