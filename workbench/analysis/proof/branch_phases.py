"""Counters that are updated under a condition: x + c while a branch is taken, up to a known time.

A loop whose body chooses (``where``, or a branch) goes the way that it goes now until one of its predicates turns.
Under that assumption the variables are counters like any other, and what is proved holds up to the first time at which
a predicate may have turned: the state at time t rests on the choices at the times before t.
"""

from __future__ import annotations

from workbench.analysis.intervals.interval import Interval
from workbench.analysis.proof.counter_detection import Taken
from workbench.analysis.slicing.formulas import Env, SliceProgram
from workbench.ir.node import Ref

#: choices one inside the other, and nodes that one side of a branch may have
DEPTH, NODES = 4, 60


def ways(program: SliceProgram, start: Env) -> tuple[dict[str, Ref], Taken]:
    """(the update of each variable on the ways that are taken now, the predicates with the way that they go)."""
    taken: set[tuple[Ref, bool]] = set()
    updates = {name: _way(program, ref, start, taken, DEPTH) for name, ref in program.updates.items()}
    return updates, frozenset(taken)


def _way(program: SliceProgram, ref: Ref, start: Env, taken: set[tuple[Ref, bool]], depth: int) -> Ref:
    """The value that a choice gives now; the value itself where it is none, or is not known."""
    at = ref
    node = program.graph.nodes[at.node]
    while program.passes_on(node):
        at = node.inputs[0]
        node = program.graph.nodes[at.node]
    if depth == 0 or program.graph.frame_of(at.node) != program.frame or at.node in program.merges:
        return ref
    if node.op == "where" and program.graph.type_of(node.inputs[0]).shape == ():
        goes = _goes(program, node.inputs[0], start)
        if goes is None:
            return ref
        taken.add((program.origin(node.inputs[0]), goes))
        return _way(program, node.inputs[1 if goes else 2], start, taken, depth - 1)
    if node.op == "Merge" and at.index == 0 and len(node.inputs) == 2:
        for side in node.inputs:
            guards = _guards(program, side)
            if guards and all(_goes(program, predicate, start) == goes for predicate, goes in guards):
                taken |= {(program.origin(predicate), goes) for predicate, goes in guards}
                return _way(program, side, start, taken, depth - 1)
    return ref


def _goes(program: SliceProgram, predicate: Ref, start: Env) -> bool | None:
    """Value of a predicate in the present state, where that is certain."""
    found: Interval | None = program.evaluate(predicate, start)
    if found is None or found.dtype != "bool" or found.lo[0] != found.hi[0] or found.dead.any():
        return None
    return bool(found.lo[0])


def _guards(program: SliceProgram, side: Ref) -> set[tuple[Ref, bool]] | None:
    """The branches on which one input of a Merge depends; None where another Merge is on the way."""
    out: set[tuple[Ref, bool]] = set()
    seen: set[Ref] = set()
    todo = [side]
    while todo:
        ref = todo.pop()
        if ref in seen:
            continue
        seen.add(ref)
        node = program.graph.nodes[ref.node]
        if ref.node in program.merges or program.graph.frame_of(ref.node) != program.frame:
            continue
        if node.op == "Merge" or len(seen) > NODES:
            return None
        if node.op == "Switch" and not program.by_loop(node):
            out.add((node.inputs[1], bool(ref.index)))
            todo.append(node.inputs[0])
        elif node.op not in ("Const", "Enter"):
            todo += node.inputs
        for name in node.control:
            waits = program.graph.nodes[name]
            if waits.op == "Identity" and program.graph.nodes[waits.inputs[0].node].op == "Switch":
                todo.append(Ref(name))
    return out
