"""The status of a running or ended loop, recomputed from the recorded operands of its last iterations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.analysis.ends.condition_tree import ConditionLeaf, ConditionTree, Flag, Tree, leaves
from workbench.analysis.ends.tree_values import TreeValues
from workbench.analysis.standing import ClauseAtEnd, LoopEnd, Standing
from workbench.errors import WorkbenchError
from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.node import Ref
from workbench.trace import Trace
from workbench.trace.tail_reader import Reading, newest_of

#: errors that an incomplete record may raise
TROUBLE = (WorkbenchError, LookupError, ValueError, TypeError, AttributeError)
#: ops of a recorded loop: its condition, which only says that the caller continued, and its body
RECORDED, BODY = "recorded:going", "recorded:body"
#: how the library reported the end of a recorded loop -> the loop's status
SAID = {"failed": Standing.FAILED, "gave up": Standing.GAVE_UP, "succeeded": Standing.ENDED}


class Ending(NamedTuple):
    """The state of a loop, and the comparison ``leaf`` that ended it with its evaluator; both None before the end."""

    end: LoopEnd
    values: TreeValues | None = None
    leaf: ConditionLeaf | None = None


def end_of_record(trace: Trace, path: FramePath, around: tuple[int, ...] | None = None) -> LoopEnd:
    """The state, at the end of a record, of a loop's newest activation, or of its activation in iterations ``around``.

    A loop whose last condition is true is IN_PROGRESS: the record does not show how it continues.
    """
    return ending_of_record(trace, path, around).end


def ending_of_record(trace: Trace, path: FramePath, around: tuple[int, ...] | None = None) -> Ending:
    """The state of the activation (see ``end_of_record``), with the comparison that ended it."""
    cond = trace.graph.frames[path].loop_cond
    entered = _entered(trace, path)
    if entered and cond is None:
        return Ending(LoopEnd(Standing.IN_PROGRESS, (_begun(trace, path) or (0,))[-1]))
    if not entered or cond is None or (cond, 0) not in trace.layout.values:
        return Ending(LoopEnd(Standing.NOT_ENTERED, 0))
    begun = _begun(trace, path)
    paths, going = newest_of(trace, Ref(cond))
    if around is not None and len(paths):
        mine = (paths[:, :-1] == np.array(around)).all(axis=1)
        paths, going = paths[mine], going[mine]
    if not len(paths):
        return Ending(LoopEnd(Standing.ABOUT_TO_BEGIN, 0))
    last, newest = tuple(int(i) for i in paths[-1]), bool(np.asarray(going[-1]).reshape(-1)[0])
    if around is None and begun is not None and begun[:-1] > last[:-1]:
        return Ending(LoopEnd(Standing.ABOUT_TO_BEGIN, 0))  # it was entered again, and its condition not yet evaluated
    iteration = max(last[-1], begun[-1] if begun is not None and begun[:-1] == last[:-1] else 0)
    if newest or iteration > last[-1]:
        return Ending(LoopEnd(Standing.IN_PROGRESS, iteration))
    return ended(trace, path, last)


def _entered(trace: Trace, path: FramePath) -> bool:
    frames = enumerate(trace.layout.frames)
    return any(trace.reader.source.begun(number) > 0 for number, frame in frames if frame.path == path)


def _begun(trace: Trace, path: FramePath) -> tuple[int, ...] | None:
    """The newest iteration that was begun, as a path with the outer loops; None for a loop that was not entered."""
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


def ended(trace: Trace, path: FramePath, last: tuple[int, ...]) -> Ending:
    """The end of an activation whose condition was false in iteration ``last`` (a path with the outer loops)."""
    n = last[-1]
    recorded = [trace.graph.nodes[name] for name in trace.graph.frames[path].nodes]
    report = next(
        ((str(b.attrs["end"]), str(b.attrs["words"])) for b in recorded if b.op == BODY and "end" in b.attrs), None
    )
    if report is not None and report[0] in SAID:
        return Ending(LoopEnd(SAID[report[0]], n, how=report[1]))
    if any(node.op == RECORDED for node in recorded):
        return Ending(LoopEnd(*((Standing.STOPPED, n, None, None, report[1]) if report else (Standing.OVER, n))))
    try:
        tree = ConditionTree(trace.graph, path)
        values = TreeValues(trace, tree, last[:-1])
        with np.errstate(all="ignore"):
            return _classified(tree, values, n)
    except TROUBLE:  # a record without its last rows shows that the loop ended, but not how
        return Ending(LoopEnd(Standing.ENDED, n))


def _classified(tree: ConditionTree, values: TreeValues, n: int) -> Ending:
    truths = {part: values.truth(part, n) for part in tree.parts}
    taken = next((f for f in tree.flags if truths[f].holds is False), None)
    if taken is not None:
        return _left(taken, values, n)
    false = [part for part in tree.parts if truths[part].holds is False]
    goal = next((p for p in false if p not in tree.limits), None)
    if goal is not None:
        leaf = values.failing(goal, n)
        standing = Standing.NOT_FINITE if truths[goal].by_nan else Standing.ENDED
        return Ending(LoopEnd(standing, n, _side(values, leaf, n)), values, leaf)
    if not false:
        return _contradicted(tree, values, n)
    leaf = values.failing(false[0], n)
    by = _side(values, leaf, n)
    if tree.goals:
        return Ending(LoopEnd(Standing.CUT_OFF, n, by, _still(values, tree.goals, n)), values, leaf)
    if tree.flags:
        flag = next((f for f in tree.flags if f.statement == "break"), tree.flags[0])
        return Ending(LoopEnd(Standing.CUT_OFF, n, by, _not_taken(flag, values, n), flag.statement), values, leaf)
    return Ending(LoopEnd(Standing.ENDED, n, by), values, leaf)


def _left(flag: Flag, values: TreeValues, n: int) -> Ending:
    """The end by a break or return, which a comparison of the previous iteration caused."""
    leaf = None if flag.taken is None else values.holding(flag.taken, n)
    nan = leaf is not None and values.truth(leaf, n).by_nan
    standing = Standing.NOT_FINITE if nan else Standing.LEFT
    return Ending(LoopEnd(standing, n, _side(values, leaf, n), None, flag.statement), values, leaf)


def _contradicted(tree: ConditionTree, values: TreeValues, n: int) -> Ending:
    """The end of a loop although all recorded parts of its condition hold: the caller of a recorded loop stopped it."""
    nodes = [tree.graph.nodes[name] for name in tree.graph.frames[tree.path].nodes]
    body = next((node for node in nodes if node.op == BODY), None)
    if body is None:
        return Ending(LoopEnd(Standing.ENDED, n))
    return Ending(LoopEnd(Standing.STOPPED, n, None, _still(values, tree.parts, n), str(body.attrs.get("words", ""))))


def _side(values: TreeValues, leaf: ConditionLeaf | None, n: int) -> ClauseAtEnd | None:
    return None if leaf is None else values.side(leaf, n)


def _still(values: TreeValues, goals: tuple[Tree, ...], n: int) -> ClauseAtEnd | None:
    """The first part that holds, in the last iteration in which it was evaluated."""
    for k in (n, n - 1):
        for goal in goals:
            leaf = values.holding(goal, k)
            if leaf is not None:
                return values.side(leaf, k)
    return None


def _not_taken(flag: Flag, values: TreeValues, n: int) -> ClauseAtEnd | None:
    """The comparison that would have set a flag, false in the last iteration in which it was evaluated."""
    for leaf in leaves(flag.taken):
        if values.truth(leaf, n).holds is False:
            return values.side(leaf, n)
    return None
