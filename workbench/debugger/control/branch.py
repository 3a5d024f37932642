"""Branch commands: to the next or previous change of a branch's direction, or to a given side of a branch.

A Switch *flips* if its decision differs from the previous one in the same activation of its loop; the end of a loop is
a flip, because its condition turns false. Switches with the same predicate form one branch: the run stops before the
first of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.debugger.control.backward import last_stop
from workbench.debugger.control.run_control import Command, RunControl, RunGoal
from workbench.debugger.iteration_path import short_repr
from workbench.debugger.stop import StopReason
from workbench.errors import SessionError
from workbench.execution import Position, Run
from workbench.ir.node import Ref

#: rows searched first for the previous decision; more are searched until it is found
FIRST_LOOK = 4


# -- commands ----------------------------------------------------------------------------------------------------------
def next_branch(control: RunControl, name: str | None = None) -> Command:
    """Run to the next flip of any branch, or of the Switch ``name``."""
    return (yield from _run_to_probe(control, _switches(control, name), lambda at: _flip(control.run, at), flips=True))


def run_to_branch(control: RunControl, name: str | None = None, side: bool | None = None) -> Command:
    """Run to the next firing of a branch, or of the Switch ``name``, that goes to this ``side``, or to either."""
    if side not in (True, False, None):
        raise SessionError(
            f"run_to_branch: side must be True, False or None, got {short_repr(side)}.",
            slug="bad-side",
            fix="pass True or False, or None for both sides.",
        )

    def takes_side(position: Position) -> str:
        now = _decision(control.run, position)
        return f"{position.node} goes to its {_word(now)} side." if side is None or now == side else ""

    return (yield from _run_to_probe(control, _switches(control, name), takes_side))


def previous_branch(control: RunControl, name: str | None = None) -> Command:
    """Go back to the last flip of any branch, or of the Switch ``name``; breakpoints are ignored."""
    point = control.breakpoints.probe(_switches(control, name), lambda at: _flip(control.run, at), flips=True)
    try:
        return (yield from last_stop(control, [point]))
    finally:
        control.breakpoints.remove(point)


# -- parts -------------------------------------------------------------------------------------------------------------
def _run_to_probe(
    control: RunControl, refs: tuple[Ref, ...], reason_to_stop: Callable[[Position], str], flips: bool = False
) -> Command:
    """Run to the first of these nodes before which ``reason_to_stop`` returns a non-empty string."""
    point = control.breakpoints.probe(refs, reason_to_stop, flips)
    try:
        return (yield from control.run_until(RunGoal(StopReason.NOT_REACHED)))
    finally:
        control.breakpoints.remove(point)


def _switches(control: RunControl, name: str | None) -> tuple[Ref, ...]:
    """One Switch for each branch, or for the branch of the Switch or predicate ``name``."""
    plan = control.run.plan
    graph, switches = plan.graph, dict[Any, Ref]()
    wanted = None
    if name is not None:
        ref = control.breakpoints.ref(name)
        is_switch = graph.nodes[ref.node].op == "Switch"
        wanted = _root(control.run, graph.nodes[ref.node].inputs[1] if is_switch else ref)
    for node in plan.layout.nodes:
        if node.op != "Switch" or node.silent:
            continue
        root = _root(control.run, graph.nodes[node.name].inputs[1])
        if wanted in (None, root):
            switches.setdefault((root, node.frame, node.guard), Ref(node.name))
    if not switches:
        what = "This run has no branches" if name is None else f"{str(name)[:200]!r} decides no branch"
        raise SessionError(f"{what}.", slug="no-branch", fix="session.trace.branch_counts() lists every Switch.")
    return tuple(switches.values())


def _root(run: Run, ref: Ref) -> Ref:
    """The value that a predicate is an alias of."""
    graph = run.plan.graph
    while graph.nodes[ref.node].op in ("LoopCond", "Identity"):
        ref = graph.nodes[ref.node].inputs[0]
    return ref


def _predicate(run: Run, switch: str) -> Ref:
    return run.plan.graph.nodes[switch].inputs[1]


def _decision(run: Run, position: Position) -> bool:
    """The side to which the next node, a Switch, goes; its predicate has already fired."""
    assert position.node is not None
    return bool(np.asarray(run.value_now(_predicate(run, position.node))))


def _flip(run: Run, position: Position) -> str:
    """A sentence if the next node, a Switch, goes to a different side from last time; otherwise an empty string."""
    assert position.node is not None
    if not position.iteration or position.iteration[-1] == 0:
        return ""
    now, before = _decision(run, position), _decision_before(run, position)
    if before is None or before == now:
        return ""
    return f"{position.node} goes to its {_word(now)} side; last time it went to the other."


def _decision_before(run: Run, position: Position) -> bool | None:
    """The previous decision in the same activation, as far back as rows are kept; None if there is none."""
    reader = run.trace.reader
    node = reader.node[position.node or ""]
    layout = run.plan.layout.values[_predicate(run, node.name)]
    stop, look = run.view.rows(node.frame)[1], FIRST_LOOK
    first = stop - position.iteration[-1]
    while True:
        rows = reader.readable(layout, range(max(first, stop - look), stop))
        fired = reader.fired(node, node.guard, rows)
        if len(fired):
            return bool(np.asarray(reader.values(layout, fired[-1:]))[0])
        if stop - look <= first:
            return None
        look *= 8


def _word(side: bool) -> str:
    return "true" if side else "false"
